//! No text takes long to be judged, whatever is repeated in it.

use std::time::{Duration, Instant};

use super::*;

/// Texts that repeat a part up to a length, with what stands before and behind it, and the program that
/// they are typed into.
const REPEATED: &[(&str, &str, &str, &str)] = &[
    ("sh", "sed 's/a/b/e;", "s/a/b/e;", "' x"),
    ("sh", "sed '", "e ls;e\n", "' x"),
    ("sh", "python3 -c '", "a=\"x\"+a=", "'"),
    ("sh", "python3 -c 'a=", "\"x\"+", "\"x\"'"),
    ("sh", "node -e 'a=", "`${", "1'"),
    ("sh", "node -e 'a=", "`${`", "1'"),
    ("sh", "perl -e 'a=", "qx(`", "1'"),
    ("sh", "perl -e '", "system(\"ls\");", "'"),
    ("sh", "python3 -c '", "os.system(\"ls\");", "'"),
    ("sh", "python3 -c '", "os.system(", "'"),
    ("sh", "python3 -c '", "exec(\"", "'"),
    ("sh", "ruby -e '", "%x(ls)+", "'"),
    ("sh", "awk '", "{system(\"ls\")}", "'"),
    ("sh", "awk '", "print | \"sh\";", "'"),
    ("python3", "", "'a'\"b\"$'c'", ""),
    ("node", "", "'a'\"b\"$'c'", ""),
    ("perl", "", "'a'\"b\"$'c'", ""),
    ("ruby", "", "'a'+\"b\"+", ""),
    ("python3", "", "a=b=", ""),
    ("python3", "x=[", "[", ""),
    ("python3", "", "f(\"a\",", ""),
    ("python3", "", "import os as a;", ""),
    ("sh", "printf -v x '%s' ", "a ", "; $x"),
    ("sh", "printf -v x '", "%s", "' a; $x"),
    ("sh", "", "a=$a$a;", ""),
    ("sh", "", "a=$a$b;b=$b$a;", "$a"),
    ("sh", "", "a+=(x);", "${a[@]}"),
    ("sh", "", "x=${x:-", ""),
    ("sh", "echo ", "{a,b}", ""),
    ("sh", "vim -c '", "!ls|", "'"),
    ("sh", "gdb -ex '", "shell ls\n", "'"),
    ("psql", "", "select 1;", ""),
    ("sh", "psql -c '", "\\! ls\n", "'"),
    ("sh", "find . ", "-exec ls ; ", ""),
    ("sh", "", "cat > w; sh w;", ""),
    ("sh", "", "echo ls > w; sh w;", ""),
    ("sh", "", "f(){ f;};", "f"),
    ("sh", "eval ", "eval ", "ls"),
];

/// How long one text may take here: a build without optimization takes some twenty times as long as a
/// release, on a machine that does other things. Without the bounds many take minutes.
const MAX_TIME: Duration = Duration::from_secs(15);
const LENGTH: usize = 16 << 10;

#[test]
fn no_text_takes_long_to_be_judged() {
    for (program, begin, part, end) in REPEATED {
        let parts = part.repeat((LENGTH - begin.len() - end.len()) / part.len());
        let started = Instant::now();
        judge_line(program, &format!("{begin}{parts}{end}"));
        let took = started.elapsed();
        assert!(took < MAX_TIME, "{program} {begin}{part}{end}: {took:?}");
    }
}

#[test]
fn what_is_not_read_is_unknown() {
    for (begin, part, end) in [
        ("python3 -c '", "f(", "'"),
        ("python3 -c 'a=", "\"x\"+a=", "'"),
        ("perl -e '", "system(\"ls\");", "'"),
        ("ruby -e '", "%x(ls)+", "'"),
        ("node -e '", "exec(\"ls\");", "'"),
    ] {
        let judged = judge_line("sh", &format!("{begin}{}{end}", part.repeat(2_000)));
        assert_eq!(
            judged.verdict,
            Verdict::Unknown,
            "{begin}{part}: {judged:?}"
        );
        let few = judge_line("sh", &format!("{begin}{}{end}", part.repeat(20)));
        assert_eq!(few.verdict, Verdict::Safe, "{begin}{part}: {few:?}");
    }
}

fn judge_line(program: &str, text: &str) -> Judgement {
    let request = Request {
        invocation: Invocation::Line(text),
        program: Some(program),
        front: Front::Mcp,
        client: None,
        uid: None,
        cwd: Some("/home/u/src"),
        env: &[],
    };
    judge(&request, &CompiledGate::default(), &Policy::default())
}
