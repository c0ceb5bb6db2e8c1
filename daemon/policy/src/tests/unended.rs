//! What was typed and not ended, which a program may have read as keys.

use termd_proto::policy::Verdict::{Dangerous, Safe, Unknown};

use super::forbidden::Forbidden;
use super::typed::{typed, typed_at};
use crate::TypedLines;

#[test]
fn a_line_is_read_with_and_without_what_was_typed_before() {
    for (pushes, verdict) in [
        (&["y", "rm -rf x\r"][..], Dangerous),
        (&["#", "rm -rf x\r"], Dangerous),
        (&["y", "n", "#", "rm -rf x\r"], Dangerous),
        (&["y", "r", "m", " -rf", " x", "\r"], Dangerous),
        (&["\"", "rm -rf x\r"], Dangerous),
        (&["(", "rm -rf x\r"], Dangerous),
        (&["<<", "rm -rf x\r"], Dangerous),
        (&["<<", "ls\r", "rm -rf x\r"], Dangerous),
        (&["\u{1b}", "dd if=/dev/zero of=x\r"], Dangerous),
        (&["\u{1b}", "d", "d if=/dev/zero of=x\r"], Dangerous),
        (&["y", "alias g=rm\r", "g -rf x\r"], Dangerous),
        (&["y", "r=rm\r", "$r -rf x\r"], Dangerous),
        (&["y", "sqlite3 t\r", "DROP TABLE t;\r"], Dangerous),
        (&["rm -r", "f x\r"], Dangerous),
        (&["rm ", "-r", "f x\r"], Dangerous),
        // The end of input, in one call and in several.
        (&["cat\r", "a", "\u{4}", "\u{4}", "rm -rf x\r"], Dangerous),
        (&["cat\r", "#", "\u{4}\u{4}", "rm -rf x\r"], Dangerous),
        (&["cat\ra\u{4}\u{4}rm -rf x\r"], Dangerous),
        // Line editors keep the line, and a tty that reads lines does not.
        (&["rm -rf \u{1a}x\r"], Dangerous),
        (&["rm -rf ", "\u{1c}", "x\r"], Dangerous),
        (&["a\u{1a}rm -rf x\r"], Dangerous),
        (&["a", "\u{1a}", "rm -rf x\r"], Dangerous),
        (&["r\\\r", "\u{1a}m -rf x\r"], Unknown),
        // The shell drops it.
        (&["echo rm -rf", "\u{3}", "ls\r"], Safe),
        (&["y", "\u{3}", "rm -rf x\r"], Dangerous),
        (&["y", "ls\r"], Safe),
        (&["n", "git status\r", "echo rm -rf x\r"], Safe),
        (&["ec", "ho it is\r", "ls\r"], Safe),
        (&["for i in 1 2; do\r", "ec", "ho $i\r", "done\r"], Safe),
        (&["cat <<E\r", "it'", "s\r", "rm -rf x\r", "E\r"], Safe),
    ] {
        assert_eq!(typed(pushes, None).0, verdict, "{pushes:?}");
    }
    for program in ["zsh", "dash", "cat", "node"] {
        let (verdict, _) = typed(&["y", "rm -rf x\r"], Some(program));
        let expected = if program == "node" { Safe } else { Dangerous };
        assert_eq!(verdict, expected, "{program}");
    }
}

#[test]
fn at_the_same_prompt_it_is_a_part_of_the_line() {
    let same = |_| Some(7);
    for (pushes, verdict) in [
        (&["echo ", "rm -rf x\r"][..], Safe),
        (&["# ", "rm ", "-rf x\r"], Safe),
        (&["echo it\u{4}", "rm -rf x\r"], Safe),
        (&["rm -r", "f x\r"], Dangerous),
        // What is behind a line may be for what the line starts.
        (&["bash ask.sh\ry", "rm -rf x\r"], Dangerous),
        (&["bash ask.sh\ra\u{4}\u{4}rm -rf x\r"], Dangerous),
    ] {
        assert_eq!(typed_at(pushes, None, same).0, verdict, "{pushes:?}");
    }
    let pushes = ["y", "rm -rf x\r"];
    for prompts in [[None, Some(7)], [Some(7), None], [Some(7), Some(9)]] {
        let prompt = |number: u64| prompts[usize::try_from(number).unwrap()];
        assert_eq!(typed_at(&pushes, None, prompt).0, Dangerous, "{prompts:?}");
    }
}

#[test]
fn a_line_of_very_many_pieces_is_unknown() {
    let mut pushes = vec!["a"; 600];
    pushes.push("\r");
    assert_eq!(typed(&pushes, None).0, Unknown);
    pushes.push("ls\r");
    assert_eq!(typed_at(&pushes, None, |_| Some(1)).0, Safe);
    let long = format!("echo {}", "a ".repeat(30_000));
    assert_eq!(typed(&[&long, "b", "c", "d", "e", "\r"], None).0, Unknown);
    let mut lines = TypedLines::default();
    for push in &pushes {
        lines.feed(push.as_bytes(), None);
    }
    assert_eq!(lines.feed(b"ls\r", None).len(), 1, "it is over");
}

#[test]
fn a_program_that_reads_keys_may_leave_the_rest_of_a_line_that_is_typed_ahead() {
    for (pushes, verdict) in [
        (&["read -n1 a\ryrm -rf x\r"][..], Dangerous),
        (&["read -rsn 1 a\r#rm -rf x\r"], Dangerous),
        (&["less f\rqrm -rf x\r"], Dangerous),
        // A script may ask for a key.
        (&["bash ask.sh\ryrm -rf x\r"], Dangerous),
        (&["bash ask.sh\r", "yrm -rf x\r"], Dangerous),
        (&["./ask\ryrm -rf x\r"], Dangerous),
        (&[". ./ask\r#rm -rf x\r"], Dangerous),
        (&["cd src && ./ask\ryrm -rf x\r"], Dangerous),
        (&["python3 ask.py\ryrm -rf x\r"], Dangerous),
        (&["node ask.js\ryrm -rf x\r"], Dangerous),
        (&["./build\recho rm -rf x\r"], Safe),
        (&["./build\rgit rm -r x\r"], Safe),
        (&["./build\r", "ls\r", "yrm -rf x\r"], Dangerous),
        (&["./build\r", "ls\r", "git rm -r x\r"], Safe),
        (&["read a; read -n1 b\r", "foo\r", "yrm -rf x\r"], Dangerous),
        (&["read a; read -n1 b\r", "foo\ryrm -rf x\r"], Dangerous),
        (
            &[
                "while read -n1 a; do [ \"$a\" = x ] && break; done\r",
                "foo\r",
                "helloxrm -rf x\r",
            ],
            Dangerous,
        ),
        (&["read -d x a\r", "echo 1\rhelloxrm -rf x\r"], Dangerous),
        (&["mapfile -n1 -d x a\r", "yxrm -rf x\r"], Dangerous),
        (&["sleep 1; read -n1 q\r", "yrm -rf x\r"], Dangerous),
        (&["less f\r", "jjqrm -rf x\r"], Dangerous),
        (&["man ls\rj\rjqrm -rf x\r"], Dangerous),
        (&["head -c1\ryrm -rf x\r"], Dangerous),
        (&["dd bs=1 count=1\ryrm -rf x\r"], Dangerous),
        (&["ls\recho rm -rf x\r"], Safe),
        (&["read a\recho rm -rf x\r"], Safe),
        (&["read -n1 a\ry\rls\r"], Safe),
        (&["vim f\r:wq\r", "ls\r", "echo rm -rf x\r"], Safe),
    ] {
        assert_eq!(typed(pushes, None).0, verdict, "{pushes:?}");
    }
    assert_eq!(
        typed(&["read -k1 a\ryrm -rf x\r"], Some("zsh")).0,
        Dangerous
    );
    let mut pushes = vec!["less f\r"];
    pushes.resize(20, "ls\r");
    pushes.push("yrm -rf x\r");
    assert_eq!(typed(&pushes, None).0, Safe, "it has ended");
    // A shell that tells of its prompts tells when the program has ended, and before that it may read on.
    let first = |number: u64| (number == 0).then_some(1);
    assert_eq!(typed_at(&pushes, None, first).0, Dangerous);
    let pushes = ["read -d x a\r", "foo\r", "git xrm -rf x\r"];
    assert_eq!(typed_at(&pushes, None, first).0, Dangerous);
    let ended = |number: u64| (number != 1).then_some(number);
    assert_eq!(typed_at(&pushes, None, ended).0, Safe);
    let pushes = ["read -n1 a\r", "\u{3}yrm -rf x\r"];
    assert_eq!(typed_at(&pushes, None, first).0, Dangerous);
    // Another program is in front meanwhile.
    let mut lines = TypedLines::default();
    lines.feed(b"sleep 1; read -n1 q\r", Some("bash"));
    let texts = lines.feed(b"yrm -rf x\r", Some("sleep"));
    assert!(texts.iter().any(|line| line.text == "rm -rf x"));
    let long = format!("less f\r{}\r", "a ".repeat(30_000)).repeat(4);
    assert_eq!(typed(&[&long], None).0, Unknown, "bounded");
}

#[test]
fn a_key_that_runs_the_line_is_no_change_of_it() {
    for (program, pushes, verdict) in [
        ("bash", &["#rm -rf x", "\u{1b}1\u{1b}#"][..], Unknown),
        ("bash", &["#rm -rf x\u{1b}-\u{1b}#"], Unknown),
        ("bash", &["rm -rf x\u{1b}#"], Safe),
        ("bash", &["rm -rf x\u{1b}#", "ls\r"], Safe),
        ("zsh", &["ls; rm -rf x\u{1b}#"], Dangerous),
        ("zsh", &["rm -rf x\u{1b}a"], Dangerous),
        ("zsh", &["rm -rf ", "x\u{1b}A"], Dangerous),
        ("zsh", &["ls\u{1b}a"], Safe),
        ("ed", &["!rm \\\r", "-rf x\r"], Dangerous),
        ("ed", &["!rm \\\r-rf x\r"], Dangerous),
        ("gdb", &["shell rm \\\r", "-rf x\r"], Dangerous),
        ("zsh", &["\\! rm -rf x\r"], Dangerous),
        ("bash", &["bind -f w.rc\r"], Unknown),
        ("bash", &["bind -lf w.rc\r"], Unknown),
        ("bash", &["bind -m vi -f w.rc\r"], Unknown),
        ("bash", &["INPUTRC=w.rc bash\r"], Unknown),
        ("zsh", &["INPUTRC=w.rc zsh\r"], Unknown),
        ("bash", &["env INPUTRC=w.rc bash\r"], Unknown),
        ("bash", &["export INPUTRC=w.rc\r"], Unknown),
        ("bash", &["INPUTRC=/dev/null bash\r"], Safe),
        (
            "bash",
            &["bind -p\r", "bind -q yank\r", "bind -m vi -l\r"],
            Safe,
        ),
        ("bash", &["bind 'set a on' 'set b off'\r"], Safe),
        ("zsh", &["bindkey q accept-line\r"], Unknown),
        ("zsh", &["bindkey -M emacs q accept-line\r"], Unknown),
        (
            "zsh",
            &["bindkey -e\r", "bindkey -l\r", "bindkey ^X\r"],
            Safe,
        ),
        ("fish", &["bind q execute\r"], Unknown),
    ] {
        assert_eq!(typed(pushes, Some(program)).0, verdict, "{pushes:?}");
    }
    let forbidden = Forbidden("frob");
    forbidden.all_are_stopped(Some("zsh"), &["\\! frob 1", "INPUTRC=w.rc bash"]);
}
