//! What is typed into programs that take lines: interpreters, databases, a debugger, a calculator.

use super::scenario::Output::{Any, Ends, Holds};
use super::scenario::{Scenario, Step, Typed, awaits, awaits_secret, done, runs, steps};
use super::shells::numbers;

/// A line of a program that has no exit codes.
fn line(line: &str, output: impl Into<super::scenario::Output>) -> Step {
    done(line, output).exits_somehow()
}

fn interrupted(output: super::scenario::Output) -> Step {
    line("", output).typed(Typed::Key("ctrl-c"))
}

pub(crate) fn python() -> Vec<Scenario> {
    vec![
        line("1+1", "2").alone("expression"),
        line("print('hi')", "hi").alone("print"),
        line("x = 1", "").alone("silent"),
        line("def f(n):\n    y = n * 2\n    return y\n", "").alone("several_lines"),
        line("print('a')\nprint('b')", "a\nb").alone("two_lines"),
        line("for i in range(3):\n    print(i)\n", "0\n1\n2").alone("block"),
        steps("state", vec![line("y = 20", ""), line("y + 1", "21")]),
        steps(
            "rest_of_a_block",
            vec![
                awaits("if True:", ""),
                awaits("    print('in')", ""),
                line("", "in"),
            ],
        ),
        line("1/0", Holds("ZeroDivisionError: division by zero")).alone("traceback"),
        line("1 +", Holds("SyntaxError")).alone("syntax_error"),
        line("import sys; _ = sys.stdout.write('nonl')", "nonl").alone("no_newline"),
        line(
            "print('\\n'.join(map(str, range(1, 151))))",
            numbers(1, 150),
        )
        .alone("some_output"),
        line(
            "print('\\n'.join(map(str, range(1, 30001))))",
            Ends("1\n2\n", "\n30000"),
        )
        .alone("big_output"),
        line("import time; time.sleep(2); print('late')", "late")
            .takes(2_000)
            .alone("late"),
        steps(
            "input",
            vec![
                awaits("n = input('who? ')", ""),
                line("me", ""),
                line("n * 2", "'meme'"),
            ],
        ),
        steps(
            "password",
            vec![
                awaits_secret("import getpass; p = getpass.getpass()", ""),
                line("", "").typed(Typed::Secret("secret")),
                line("len(p)", "6"),
            ],
        ),
        line("print('äöü 日本')", "äöü 日本").alone("utf8"),
        line("print('a\\tb')", "a\tb").alone("tab"),
        line("# a remark", "").alone("comment"),
        line("", "").alone("empty"),
        steps(
            "ctrl_c",
            vec![
                runs("import time; time.sleep(30)", ""),
                interrupted(Holds("KeyboardInterrupt")),
            ],
        ),
        line(
            "import time; print('>>> ', end='', flush=True); time.sleep(1); print('end')",
            ">>> end",
        )
        .takes(1_000)
        .alone("output_like_the_prompt"),
        steps(
            "output_like_the_prompt_so_far",
            vec![
                runs(
                    "import time; print('>>> ', end='', flush=True); time.sleep(1.5); print('end')",
                    ">>> ",
                ),
                line("", "end").typed(Typed::Nothing).takes(1_500),
            ],
        ),
    ]
}

pub(crate) fn node() -> Vec<Scenario> {
    vec![
        line("1+1", "2").alone("expression"),
        line("console.log('hi')", "hi\nundefined").alone("print"),
        line("var x = 20", "undefined").alone("silent"),
        steps(
            "state",
            vec![line("var y = 2", "undefined"), line("y + 1", "3")],
        ),
        line("function f(n) {\n  return n * 2;\n}", "undefined").alone("several_lines"),
        line("var a = 4\na + 1", "undefined\n5").alone("two_lines"),
        line("[1, 2].map(\n  n => n + 1\n)", "[ 2, 3 ]").alone("several_lines_value"),
        steps(
            "rest_of_a_block",
            vec![awaits("if (true) {", ""), awaits("7", ""), line("}", "7")],
        ),
        line("nope", Holds("ReferenceError: nope is not defined")).alone("error"),
        line("1 +* 2", Holds("SyntaxError")).alone("syntax_error"),
        line("'äöü 日本'", "'äöü 日本'").alone("utf8"),
        line(
            "for (let i = 1; i <= 150; i++) console.log(i)",
            numbers(1, 150) + "\nundefined",
        )
        .alone("some_output"),
        line(
            "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)",
            "'timed-out'",
        )
        .takes(2_000)
        .alone("late"),
        line("process.stdout.write('nonl')", Holds("nonl")).alone("no_newline"),
        line("// a remark", "undefined").alone("comment"),
    ]
}

pub(crate) fn sqlite() -> Vec<Scenario> {
    vec![
        line("select 1;", "1").alone("select"),
        line("create table t(a, b);", "").alone("silent"),
        line("insert into t values (1, 'x'), (2, 'y');", "").alone("insert"),
        line("select * from t;", "1|x\n2|y").alone("rows"),
        line("select 1;\nselect 2;", "1\n2").alone("two_lines"),
        line("select a,\n  a + 1\nfrom (select 1 as a);", "1|2").alone("several_lines"),
        steps(
            "rest_of_a_statement",
            vec![awaits("select 3", ""), line(";", "3")],
        ),
        line("select nope;", Holds("no such column: nope")).alone("error"),
        line("selec 1;", Holds("syntax error")).alone("syntax_error"),
        line(".tables", "t").alone("dot_command"),
        line(".headers on\nselect 4 as n;\n.headers off", "n\n4").alone("dot_commands"),
        line("select 'äöü 日本';", "äöü 日本").alone("utf8"),
        line(
            "with recursive c(n) as (select 1 union all select n+1 from c where n<150) select n from c;",
            numbers(1, 150),
        )
        .alone("some_output"),
        line(
            "with recursive c(n) as (select 1 union all select n+1 from c where n<30000) select n from c;",
            Ends("1\n2\n", "\n30000"),
        )
        .alone("big_output"),
        line("-- a remark", "").alone("comment"),
        line("select 'sqlite> ';", "sqlite> ").alone("output_like_the_prompt"),
        line("", "").alone("empty"),
        line(".shell sleep 2; echo late", "late").takes(2_000).alone("late"),
    ]
}

pub(crate) fn psql() -> Vec<Scenario> {
    vec![
        line("select 1 as a;", " a \n---\n 1\n(1 row)\n\n").alone("select"),
        line("create temp table t(a int, b text);", "CREATE TABLE").alone("create"),
        line("insert into t values (1, 'x'), (2, 'y');", "INSERT 0 2").alone("insert"),
        line("select count(*) as n from t;", " n \n---\n 2\n(1 row)\n\n").alone("rows"),
        line(
            "select 1 as a;\nselect 2 as b;",
            " a \n---\n 1\n(1 row)\n\n b \n---\n 2\n(1 row)\n\n",
        )
        .alone("two_lines"),
        line(
            "select a\nfrom (values (1)) as v(a)\nlimit 1;",
            " a \n---\n 1\n(1 row)\n\n",
        )
        .alone("several_lines"),
        steps(
            "rest_of_a_statement",
            vec![
                awaits("select 3 as c", ""),
                line(";", " c \n---\n 3\n(1 row)\n\n"),
            ],
        ),
        line("select nope;", Holds("column \"nope\" does not exist")).alone("error"),
        line("selec 1;", Holds("syntax error")).alone("syntax_error"),
        line("\\echo hi", "hi").alone("backslash_command"),
        line("\\pset format unaligned", "Output format is unaligned.").alone("setting"),
        line("\\t", "Tuples only is on.").alone("tuples"),
        line("select 'äöü 日本';", "äöü 日本").alone("utf8"),
        line("select generate_series(1, 150);", numbers(1, 150)).alone("some_output"),
        line(
            "select generate_series(1, 30000);",
            Ends("1\n2\n", "\n30000"),
        )
        .alone("big_output"),
        line("select pg_sleep(2);", "").takes(2_000).alone("late"),
        line("-- a remark", "").alone("comment"),
        line("select 'postgres=# ';", "postgres=# ").alone("output_like_the_prompt"),
        line("", "").alone("empty"),
        steps(
            "ctrl_c",
            vec![
                runs("select pg_sleep(30);", ""),
                interrupted(Holds("canceling statement due to user request")),
            ],
        ),
    ]
}

pub(crate) fn gdb() -> Vec<Scenario> {
    vec![
        line("print 1+1", "$1 = 2").alone("expression"),
        line("echo hi\\n", "hi").alone("print"),
        line("echo nonl", "nonl").alone("no_newline"),
        line("set $x = 41", "").alone("silent"),
        steps(
            "state",
            vec![line("set $y = 1", ""), line("output $y + 1", "2")],
        ),
        line("set $z = 5\noutput $z + 1\necho \\n", "6").alone("several_lines"),
        line("echo a\\n\necho b\\n", "a\nb").alone("two_lines"),
        steps(
            "rest_of_a_definition",
            vec![
                awaits("define hello", Any),
                awaits("echo hello\\n", ""),
                line("end", ""),
                line("hello", "hello"),
            ],
        ),
        line("nope", "Undefined command: \"nope\".  Try \"help\".").alone("error"),
        line("print 1 +* 2", Any).alone("syntax_error"),
        line("print \"abc\"", Holds("= \"abc\"")).alone("string"),
        line("# a remark", "").alone("comment"),
        line("shell sleep 2; echo late", "late")
            .takes(2_000)
            .alone("late"),
        line("shell seq 1 150", numbers(1, 150)).alone("some_output"),
        line("python print('hi from python')", "hi from python").alone("python"),
        line("echo (gdb) \\n", "(gdb) ").alone("output_like_the_prompt"),
    ]
}

/// It has no prompt: that it reads is all there is to know.
pub(crate) fn bc() -> Vec<Scenario> {
    vec![
        awaits("1+1", "2").alone("expression"),
        awaits("x = 41", "").alone("silent"),
        awaits("x + 1", "42").alone("state"),
        awaits("1\n2", "1\n2").alone("two_lines"),
        awaits("define f(n) {\n  return n * 2\n}", "").alone("several_lines"),
        awaits("f(21)", "42").alone("function"),
        awaits("1/0", Any).alone("error"),
        awaits("for (i = 1; i <= 150; i++) i", numbers(1, 150)).alone("some_output"),
        awaits("/* a remark */", "").alone("comment"),
        awaits("print \"nonl\"", "nonl").alone("no_newline"),
    ]
}
