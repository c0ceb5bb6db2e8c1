//! What is typed into shells.

use super::scenario::Output::{Any, Ends, Holds, OneOf};
use super::scenario::{Scenario, Step, Typed, awaits, awaits_secret, done, runs, screen, steps};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Dash,
    /// bash on another machine: nothing tells what it sleeps in, nor its exit codes.
    Remote,
}

/// What ^C leaves of a command: the tty may show the key.
const INTERRUPTED: &[&str] = &["", "^C"];
const SECRET: &str = "correct horse";

pub(crate) fn scenarios(shell: Shell) -> Vec<Scenario> {
    let mut all = output(shell);
    all.extend(lines(shell));
    all.extend(exit_codes(shell));
    all.extend(nothing_run(shell));
    all.extend(times(shell));
    all.extend(input(shell));
    all.extend(programs());
    all
}

/// What commands print.
fn output(shell: Shell) -> Vec<Scenario> {
    let long = "0123456789".repeat(50);
    vec![
        done("echo hi", "hi").alone("echo"),
        done("echo a; echo b", "a\nb").alone("two_commands"),
        done("echo err >&2", "err").alone("stderr"),
        done("true", "").alone("silent"),
        done("printf nonl", "nonl").alone("no_newline"),
        done("printf '%080d' 7", format!("{:080}", 7)).alone("no_newline_at_the_edge"),
        done("printf '%080d\\n' 7", format!("{:080}", 7)).alone("line_to_the_edge"),
        done(&format!("echo {long}"), long.as_str()).alone("long_line"),
        done("printf '\\n\\na\\n\\n'", "\n\na\n\n").alone("empty_lines"),
        done("seq 1 150", numbers(1, 150)).alone("some_output"),
        done("seq 1 30000", Ends("1\n2\n3\n", "\n29999\n30000")).alone("big_output"),
        done("printf '%s\\n' 'a\tb'", "a\tb").alone("tab"),
        done("printf '\\033[31mred\\033[0m\\n'", "red").alone("colours"),
        done("printf '10%%\\r50%%\\r100%%\\n'", "100%").alone("bar"),
        done("printf 'abc\\b\\bX\\n'", "aXc").alone("backspaces"),
        done("echo 'äöü 日本 🦀 é'", "äöü 日本 🦀 é").alone("utf8"),
        done("clear; echo after", "after").alone("clear"),
        done("echo echo", "echo").alone("output_like_the_line"),
        done("echo '$ '; echo '> '", "$ \n> ").alone("lines_like_prompts"),
        done("echo '<html>'; echo 100%", "<html>\n100%").alone("lines_with_signs"),
        done("seq 3 | tail -1", "3").alone("pipe"),
        done("cat /proc/self/comm", "cat").alone("file"),
        match shell {
            Shell::Fish => done("string repeat -n 3 ab", "ababab").alone("builtin"),
            _ => done("echo $((40 + 2))", "42").alone("builtin"),
        },
    ]
}

/// Lines of several kinds.
fn lines(shell: Shell) -> Vec<Scenario> {
    let mut all = vec![
        done("echo one\necho two", "one\ntwo").alone("several_lines"),
        done("true\nfalse", "").exits(1).alone("several_lines_code"),
        done("printf '%s\\n' 'a\tb'\necho c", "a\tb\nc").alone("several_lines_tab"),
        done("echo a \\\n  b", "a b").alone("continued"),
        done("echo 'it is' \"a  'b'\"", "it is a  'b'").alone("quotes"),
        done("echo '\nx\n'", "\nx\n\n").alone("quoted_lines"),
        done(
            &format!("echo {} | wc -c", "abcdefghij".repeat(12)),
            OneOf(&["121"]),
        )
        .alone("wrapped_line"),
        done(
            &format!("echo {} | wc -c", "abcdefghij".repeat(200)),
            OneOf(&["2001"]),
        )
        .alone("long_typed_line"),
        steps(
            "directory",
            vec![done("cd /tmp", ""), done("pwd", "/tmp"), done("cd", "")],
        ),
    ];
    if shell == Shell::Fish {
        all.extend([
            done("for i in 1 2\n  echo $i\nend", "1\n2").alone("loop"),
            done("if true\n  echo yes\nelse\n  echo no\nend", "yes").alone("condition"),
            steps(
                "function",
                vec![
                    done("function f\n  echo f$argv\nend", ""),
                    done("f 1", "f1"),
                ],
            ),
            steps("state", vec![done("set x 42", ""), done("echo $x", "42")]),
            steps(
                "environment",
                vec![done("set -x A b", ""), done("sh -c 'echo $A'", "b")],
            ),
            done("false; or echo rescued", "rescued").alone("either"),
        ]);
    } else {
        all.extend([
            done("for i in 1 2; do\n  echo $i\ndone", "1\n2").alone("loop"),
            done("if true; then\n  echo yes\nelse\n  echo no\nfi", "yes").alone("condition"),
            steps(
                "function",
                vec![done("f() {\n  echo f$1\n}", ""), done("f 1", "f1")],
            ),
            steps("state", vec![done("x=42", ""), done("echo $x", "42")]),
            steps(
                "environment",
                vec![done("export A=b", ""), done("sh -c 'echo $A'", "b")],
            ),
            done("false || echo rescued", "rescued").alone("either"),
            done("cat <<EOF\na  b\n$((1+1))\nEOF", "a  b\n2").alone("heredoc"),
            done("cat <<'EOF'\n$x\n\n\ttab\nEOF", "$x\n\n\ttab").alone("quoted_heredoc"),
        ]);
    }
    all
}

fn exit_codes(shell: Shell) -> Vec<Scenario> {
    let subshell = match shell {
        Shell::Fish => "sh -c 'exit 3'",
        _ => "(exit 3)",
    };
    vec![
        done("false", "").exits(1).alone("code_1"),
        done(subshell, "").exits(3).alone("code_3"),
        done("sh -c 'exit 255'", "").exits(255).alone("code_255"),
        done("no_such_command_x", Holds("no_such_command_x"))
            .exits(127)
            .alone("not_found"),
        done("/dev/null", Holds("/dev/null"))
            .exits(126)
            .alone("not_executable"),
        done("cat /no/such", "cat: /no/such: No such file or directory")
            .exits(1)
            .alone("no_file"),
        done("sh -c 'kill -TERM $$'", Any)
            .exits(143)
            .alone("signal"),
        done("sh -c 'kill -HUP $$'", Any)
            .exits(129)
            .alone("hung_up"),
        match shell {
            // It keeps the line, to be mended.
            Shell::Fish => steps(
                "syntax_error",
                vec![
                    awaits(
                        "if )",
                        "fish: Expected a command, but found an incomplete token\nif )\n   ^",
                    ),
                    done("", OneOf(INTERRUPTED))
                        .typed(Typed::Key("ctrl-c"))
                        .exits_somehow(),
                ],
            ),
            // It says 1 where the command before has ended well, else the code of that one.
            Shell::Zsh => steps(
                "syntax_error",
                vec![
                    done("true", ""),
                    done("if )", "zsh: parse error near `)'").exits(1),
                ],
            ),
            // The gate does not know that it is over: what is typed next counts as the rest of it.
            Shell::Remote => steps(
                "syntax_error",
                vec![
                    done("if )", Holds("yntax error")),
                    done("", OneOf(INTERRUPTED))
                        .typed(Typed::Key("ctrl-c"))
                        .exits_somehow(),
                ],
            ),
            Shell::Bash | Shell::Dash => done("if )", Holds("yntax error"))
                .exits(2)
                .alone("syntax_error"),
        },
    ]
}

/// Lines that run nothing.
fn nothing_run(shell: Shell) -> Vec<Scenario> {
    let remark = match shell {
        // By default it takes remarks in files alone.
        Shell::Zsh => done("# a remark", "zsh: command not found: #").exits(127),
        _ => done("# a remark", "").exits_somehow(),
    };
    let behind = match shell {
        Shell::Zsh => "c # note",
        _ => "c",
    };
    vec![
        remark.alone("comment"),
        done("echo c # note", behind).alone("comment_behind"),
        done("   ", "").exits_somehow().alone("blanks"),
        done("", "").exits_somehow().alone("empty"),
    ]
}

/// Commands that take their time, and what only looks like their end.
fn times(shell: Shell) -> Vec<Scenario> {
    let dribble = match shell {
        Shell::Fish => "for i in 1 2 3; echo $i; sleep .3; end",
        _ => "for i in 1 2 3; do echo $i; sleep .3; done",
    };
    let mut all = vec![
        done("sleep 1; echo late", "late")
            .takes(1_000)
            .alone("late"),
        done("sleep .6", "").takes(600).alone("silent_for_a_while"),
        done(dribble, "1\n2\n3").takes(900).alone("dribble"),
        done("printf .; sleep .4; printf .; sleep .4; echo", "..")
            .takes(800)
            .alone("dots"),
        done("printf 'root@vm:~$ '; sleep 1; echo end", "root@vm:~$ end")
            .takes(1_000)
            .alone("output_like_a_prompt"),
        done("sleep .3 & echo front", Holds("front")).alone("job"),
        done("wait", Any).alone("wait"),
        steps(
            "boundary",
            vec![
                runs("sleep 1.3; echo over", ""),
                // What it has printed meanwhile was read with the end of the other one.
                done("", "over").typed(Typed::Nothing).takes(1_000),
            ],
        ),
    ];
    // A shell's further prompt looks the same, and ssh does not say who reads.
    if shell != Shell::Remote {
        let line = "printf '> '; sleep .6; echo end";
        all.push(done(line, "> end").takes(600).alone("output_like_a_sign"));
    }
    all
}

/// Commands that read.
fn input(shell: Shell) -> Vec<Scenario> {
    let secret = match shell {
        Shell::Bash | Shell::Zsh | Shell::Remote => {
            "printf 'Password: '; read -s x; echo; echo ${#x}"
        }
        Shell::Fish => "read -s -P 'Password: ' x; string length $x",
        Shell::Dash => "stty -echo; printf 'Password: '; read x; stty echo; echo; echo ${#x}",
    };
    let read = match shell {
        Shell::Fish => "read -P '' x; echo \"<$x>\"",
        _ => "read x; echo \"<$x>\"",
    };
    let twice = match shell {
        Shell::Fish => "read -P '' a; read -P '' b; echo $a-$b",
        _ => "read a; read b; echo $a-$b",
    };
    let yes = match shell {
        Shell::Fish => "read -P 'Go? [y/N] ' a; echo got $a",
        _ => "printf 'Go? [y/N] '; read a; echo got $a",
    };
    // Nobody sees what a program on another machine sleeps in.
    let reads = |line: &str, output: &str| -> Step {
        match shell {
            Shell::Remote => runs(line, output),
            _ => awaits(line, output),
        }
    };
    let password = match shell {
        // It edits the line, and shows a dot for each character.
        Shell::Fish => vec![awaits(secret, ""), done("correct horse", Holds("13"))],
        Shell::Remote => vec![awaits(secret, ""), done("correct horse", "\n13")],
        _ => vec![
            awaits_secret(secret, ""),
            done("", "\n13").typed(Typed::Secret(SECRET)),
        ],
    };
    let mut all = vec![
        steps("password", password),
        steps("yes_or_no", vec![awaits(yes, ""), done("y", "got y")]),
        steps("read", vec![reads(read, ""), done("a b", "<a b>")]),
        steps(
            "read_twice",
            vec![reads(twice, ""), reads("x", ""), done("y", "x-y")],
        ),
        steps(
            "cat",
            vec![
                reads("cat", ""),
                reads("line", "line"),
                done("", "").typed(Typed::Key("ctrl-d")),
            ],
        ),
        steps(
            "ask_of_a_child",
            vec![
                awaits("sh -c 'printf \"Name: \"; read n; echo hello $n'", ""),
                done("me", "hello me"),
            ],
        ),
        steps(
            "ctrl_c",
            vec![
                runs("sleep 30", ""),
                done("", OneOf(INTERRUPTED))
                    .typed(Typed::Key("ctrl-c"))
                    .exits(130),
            ],
        ),
        steps(
            "ctrl_c_at_read",
            vec![
                reads("cat", ""),
                done("", OneOf(INTERRUPTED))
                    .typed(Typed::Key("ctrl-c"))
                    .exits(130),
            ],
        ),
        steps(
            "rest_of_a_string",
            vec![awaits("echo \"abc", ""), done("def\"", "abc\ndef")],
        ),
    ];
    all.push(if shell == Shell::Fish {
        steps(
            "rest_of_a_loop",
            vec![
                awaits("for i in 1 2", ""),
                awaits("echo $i", ""),
                done("end", "1\n2"),
            ],
        )
    } else {
        steps(
            "rest_of_a_loop",
            vec![
                awaits("for i in 1 2; do", ""),
                awaits("echo $i", ""),
                done("done", "1\n2"),
            ],
        )
    });
    all
}

/// Programs within the shell that take lines themselves, or the screen.
fn programs() -> Vec<Scenario> {
    let inner = |line: &str, output: &str| -> Step { done(line, output).exits_somehow() };
    vec![
        steps(
            "nested_bash",
            vec![
                inner("bash --norc", ""),
                inner("echo in", "in"),
                inner("echo a; echo b", "a\nb"),
                done("exit", "exit"),
            ],
        ),
        steps(
            "nested_sh",
            vec![
                inner("env -u ENV sh", ""),
                inner("echo in", "in"),
                done("exit 4", "").exits(4),
            ],
        ),
        steps(
            "nested_python",
            vec![
                inner("python3 -q", ""),
                inner("1+1", "2"),
                done("", "").typed(Typed::Key("ctrl-d")),
            ],
        ),
        steps(
            "pager",
            vec![
                screen("seq 1 99 | less", "23"),
                done("", "").typed(Typed::Keys("q")),
            ],
        ),
    ]
}

pub(crate) fn numbers(from: u32, to: u32) -> String {
    let lines: Vec<String> = (from..=to).map(|number| number.to_string()).collect();
    lines.join("\n")
}
