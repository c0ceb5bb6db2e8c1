//! What is typed in pieces and with keys.

use termd_proto::policy::{Effect, MAX_JUDGED_BYTES, Verdict};
use termd_proto::terminal::Front;

use super::rules::rules;
use crate::{CompiledGate, Completeness, Invocation, Policy, PossibleCwd, Request, TypedLines};

/// The worst verdict of the lines that these pushes make, and how many lines there were.
pub(super) fn typed(pushes: &[&str], program: Option<&str>) -> (Verdict, usize) {
    typed_at(pushes, program, |_| None)
}

/// The same where the shell is at these prompts before the pushes of these numbers.
pub(super) fn typed_at(
    pushes: &[&str],
    program: Option<&str>,
    prompt: impl Fn(u64) -> Option<u64>,
) -> (Verdict, usize) {
    let mut lines = TypedLines::default();
    let mut worst = Verdict::Safe;
    let mut count = 0;
    for (number, push) in (0..).zip(pushes) {
        if let Some(prompt) = prompt(number) {
            lines.at_prompt(prompt);
        }
        for line in lines.feed(push.as_bytes(), program) {
            count += 1;
            let request = Request {
                invocation: Invocation::Line(&line.text),
                program: line.reader().or(program),
                front: Front::Mcp,
                client: None,
                uid: None,
                cwd: None,
                env: &[],
            };
            let start = PossibleCwd::at(None);
            let gate = CompiledGate::default();
            let decision = Policy::default().decide_typed(&start, &line, &request, &gate);
            worst = worst.max(decision.judgement.verdict);
        }
    }
    (worst, count)
}

#[test]
fn a_key_that_is_not_complete_waits_like_text() {
    for key in ["\u{1b}", "\u{18}", "\u{1b}[", "\u{16}"] {
        let mut lines = TypedLines::default();
        lines.feed(key.as_bytes(), None);
        assert!(lines.holds_text(), "{key:?}");
    }
    let mut lines = TypedLines::default();
    lines.feed("\u{1b}\u{3}".as_bytes(), None);
    assert!(!lines.holds_text());
}

#[test]
fn pieces_and_keys_make_lines() {
    use Verdict::{Dangerous, Safe, Unknown};
    let table: [(&[&str], Verdict); 65] = [
        (&["rm -r", "f x\r"], Dangerous),
        (&["rm -rf x"], Safe),
        (&["r", "m", " ", "-", "rf", " x", "\n"], Dangerous),
        (&["ls\r"], Safe),
        (&["ls\rrm -rf x\r"], Dangerous),
        (&["ls\nrm -rf x\n"], Dangerous),
        (&["rmx\u{7f} -rf x\r"], Dangerous),
        (&["rm -rf x\u{15}ls\r"], Safe),
        (&["rm -rf x\u{15}", "\u{19}\r"], Dangerous),
        (&["echo rm -rf x\r"], Safe),
        (&["ls rm -rf\u{17}\u{17}\u{17}rm -rf x\r"], Dangerous),
        (&["rm -rf x\u{3}\r"], Safe),
        (&["rm -rf x\u{3}ls\r"], Safe),
        (&["\u{3}yrm -rf x\r"], Dangerous),
        (&["\u{1b}\u{3}ls\r"], Safe),
        (&["\u{18}", "\u{3}", "ls\r"], Safe),
        (&["\u{3}", "yrm -rf x\r"], Safe),
        (&["\u{3}ls\r", "yrm -rf x\r"], Safe),
        (&["rm -rf \u{1a}x\r"], Dangerous),
        (&["m -rf x\u{1}r\r"], Dangerous),
        (&["m -rf x\u{1b}[Hr\r"], Dangerous),
        (&["m -rf x\u{1b}[1~r\r"], Dangerous),
        (&["rm -r x\u{1b}[D\u{1b}[D", "f\r"], Dangerous),
        (&["rmm\u{1b}[D\u{1b}[3~ -rf x\r"], Dangerous),
        (&["\u{1b}[A\r"], Safe),
        (&["\u{1b}[A", "\u{1b}[B\r"], Safe),
        (&["\u{10}rm -rf\r"], Dangerous),
        (&["\u{1b}[A -rf\r"], Unknown),
        (&["\u{12}make\r"], Safe),
        (&["\u{12}rm\r"], Unknown),
        (&["\u{1b}[200~rm -rf x\u{1b}[201~\r"], Dangerous),
        (&["\u{1b}[20", "0~rm -rf x\u{1b}[201~\r"], Dangerous),
        (&["\u{1b}[200~ls\nrm -rf x\n\u{1b}[201~\r"], Dangerous),
        (&["echo 'a\r", "b'\r"], Safe),
        (&["for i in 1 2\rdo\recho $i\rdone\r"], Safe),
        (&["for i in 1 2; do\r", "rm -rf $i\r"], Dangerous),
        (&["if true\rthen\rls\rfi\rrm -rf x\r"], Dangerous),
        (&["cat <<EOF\r", "rm -rf x\r", "EOF\r"], Safe),
        (&["cat > x.sh <<'EOF'\rrm -rf build\rEOF\r"], Safe),
        (&["bash <<EOF\rrm -rf x\rEOF\r"], Dangerous),
        (&["cat <<EOF\rhi\rEOF\rrm -rf x\r"], Dangerous),
        (&["rm \\\r-rf x\r"], Dangerous),
        (&["ls &&\rrm -rf x\r"], Dangerous),
        (&["ls |\rwc -l\r"], Safe),
        (&["git commit -m 'one\rrm -rf two\r'\r"], Safe),
        (&["p'w\r", "rm -rf x\r"], Dangerous),
        (&["f() {\rls\r}\r"], Safe),
        (&["echo 'x\u{3}", "ls\r"], Safe),
        (&["rm -rf x\u{f}"], Dangerous),
        (&["\u{16}rm -rf x\r"], Dangerous),
        (&["cat fi\t\r"], Safe),
        (&["shut\t\r"], Unknown),
        (&["for i in 1; do\r\techo $i\rdone\r"], Safe),
        (&["\u{1b}OA\r"], Safe),
        (&["é\u{7f}ls\r"], Safe),
        (&["rm  -rf x\u{1b}b\u{1b}b\u{1b}d-rf\r"], Dangerous),
        (&["\r\r\n"], Safe),
        (&["ls\u{4}"], Safe),
        (&["rm -rf x\u{4}\u{4}"], Dangerous),
        (&["rm -rf ", "x\u{4}"], Dangerous),
        (&["rm -rf x;\u{1b}[D\u{4}"], Dangerous),
        (&["sh <<E\r", "rm -rf x\r", "\u{4}"], Unknown),
        (&["case x in\rx) ls;;\resac\r"], Safe),
        (&["y\r"], Safe),
        (&["cd \"my dir\" && ls\r"], Safe),
    ];
    for (pushes, verdict) in table {
        assert_eq!(typed(pushes, None).0, verdict, "{pushes:?}");
    }
}

#[test]
fn what_reads_decides() {
    let table: [(&str, &[&str], Verdict); 10] = [
        // Prose.
        ("cat", &["after the kill, delete all\r"], Verdict::Safe),
        (
            "psql",
            &["DELETE FROM t\r", "WHERE id = 1;\r"],
            Verdict::Safe,
        ),
        ("psql", &["DELETE FROM t\r", ";\r"], Verdict::Dangerous),
        ("psql", &["DROP TABLE", " t;\r"], Verdict::Dangerous),
        ("redis-cli", &["FLUSH", "ALL\r"], Verdict::Dangerous),
        ("vim", &["irm -rf x\r\u{1b}:wq\r"], Verdict::Safe),
        ("python3", &["os.system('rm -rf x')\r"], Verdict::Dangerous),
        ("cat", &["it's\r", "fine\r"], Verdict::Safe),
        ("sleep", &["rm -rf x\r"], Verdict::Dangerous),
        ("ssh", &["rm -rf x\r"], Verdict::Dangerous),
    ];
    for (program, pushes, verdict) in table {
        assert_eq!(
            typed(pushes, Some(program)).0,
            verdict,
            "{program}: {pushes:?}"
        );
    }
}

#[test]
fn keys_for_an_editor_are_no_beginning_of_a_line() {
    let mut lines = TypedLines::default();
    assert!(lines.feed(b"q", Some("less")).is_empty());
    let made = lines.feed(b"rm -rf x\r", Some("bash"));
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].text, "rm -rf x");
}

#[test]
fn a_copy_that_is_dropped_has_typed_nothing() {
    let mut lines = TypedLines::default();
    lines.feed(b"rm -r", None);
    let before = lines.clone();
    let mut copy = lines.clone();
    assert_eq!(copy.feed(b"f x\r", None)[0].text, "rm -rf x");
    assert_eq!(lines, before);
    assert_eq!(lines.feed(b" x\r", None)[0].text, "rm -r x");
}

#[test]
fn memory_is_bounded_and_what_is_too_long_is_unknown() {
    let long = "x".repeat(MAX_JUDGED_BYTES + 10);
    assert_eq!(typed(&[&long, "\r"], None), (Verdict::Unknown, 1));
    assert_eq!(typed(&[&long, "\r", "ls\r"], None), (Verdict::Unknown, 2));
    let many = format!("cat <<EOF\r{}", "0123456789\r".repeat(7_000));
    assert_eq!(typed(&[&many], None).0, Verdict::Unknown);
}

/// What is done about the last line that this makes, in a shell that is there.
fn last_effect(policy: &Policy, typed: &str, start: &str) -> Effect {
    let mut whereabouts = PossibleCwd::at(Some(start));
    let mut effect = None;
    for line in TypedLines::default().feed(typed.as_bytes(), Some("bash")) {
        let request = Request {
            invocation: Invocation::Line(&line.text),
            program: Some("bash"),
            front: Front::Mcp,
            client: None,
            uid: None,
            cwd: None,
            env: &[],
        };
        let gate = CompiledGate::default();
        let decision = policy.decide_typed(&whereabouts, &line, &request, &gate);
        effect = Some(decision.judgement.effect);
        whereabouts = decision.next_cwd;
    }
    effect.unwrap()
}

#[test]
fn a_line_starts_where_the_one_before_it_leads() {
    use Effect::{Allow, Confirm, Deny};
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'make'\ncwd = '/srv/live'").unwrap();
    for (typed, start, effect) in [
        ("make\r", "/srv/live", Deny),
        ("ls\rmake\r", "/srv/live", Deny),
        ("ls\rmake\r", "/home", Allow),
        // A `cd` may also fail.
        ("cd /srv/live\rmake\r", "/home", Confirm),
        ("cd /home\rmake\r", "/srv/live", Confirm),
        ("cd ../srv\rcd live\rmake\r", "/home", Confirm),
        ("cd src\rls\rmake\r", "/home", Allow),
        ("cd /srv\rls\rmake -C live\r", "/home", Confirm),
        ("cd /srv/live && ls\n\nmake\n", "/home", Confirm),
        ("if cd /srv/live\rthen ls\rfi\rmake\r", "/home", Confirm),
        ("(cd /srv/live)\rmake\r", "/home", Confirm),
        ("pushd /srv/live\rmake\r", "/home", Confirm),
        // Nobody knows where to.
        ("cd $x\rmake\r", "/home", Confirm),
        ("cd -\rmake\r", "/home", Confirm),
        ("cd\rmake\r", "/home", Confirm),
        ("cd ~/x\rmake\r", "/home", Confirm),
        ("pushd +1\rmake\r", "/home", Confirm),
        ("pushd\rmake\r", "/home", Confirm),
        ("popd\rls\rmake\r", "/home", Confirm),
        ("cd -\rcd /home\rmake\r", "/home", Confirm),
        // Not the shell itself is led there.
        ("env -C /srv/live ls\rmake\r", "/home", Allow),
        ("git -C /srv/live log\rmake\r", "/home", Allow),
        // What is run is not known.
        ("$x /srv/live\rmake\r", "/home", Confirm),
        ("\u{1b}[A -rf\rmake\r", "/home", Confirm),
    ] {
        assert_eq!(
            last_effect(&policy, typed, start),
            effect,
            "{typed:?} in {start}"
        );
    }
    let long = format!("cd {}\rmake\r", "x".repeat(MAX_JUDGED_BYTES));
    assert_eq!(last_effect(&policy, &long, "/home"), Confirm);
}

#[test]
fn a_question_names_each_place_that_it_may_be_about() {
    let led = |line: &str| {
        let request = Request {
            invocation: Invocation::Line(line),
            program: None,
            front: Front::Mcp,
            client: None,
            uid: None,
            cwd: Some("/home"),
            env: &[],
        };
        let gate = CompiledGate::default();
        let decision = Policy::default().decide(&request, Completeness::Whole, &gate);
        decision.next_cwd.describe()
    };
    assert_eq!(led("ls"), "/home");
    assert_eq!(led("cd /etc"), "/home, or /etc");
    assert_eq!(led("cd -"), "/home, or elsewhere");
    let many = led("cd /1; cd /2; cd /3; cd /4");
    assert_eq!(many, "/home, or /1, or /2, or /3, or elsewhere");
}

#[test]
fn a_line_of_the_history_that_is_changed_is_unknown() {
    use Verdict::{Dangerous, Safe, Unknown};
    let table: [(Option<&str>, &[&str], Verdict); 38] = [
        (
            None,
            &["echo rm -rf X\r", "\u{1b}[A\u{1}\u{1b}d\r"],
            Unknown,
        ),
        (
            None,
            &["#rm -rf X\r", "\u{10}", "\u{1}\u{4}", "\r"],
            Unknown,
        ),
        (None, &["rm ", "\u{1b}.", " X\r"], Unknown),
        (None, &["\u{1b}_ X\r"], Unknown),
        (None, &["\u{12}echo\u{1}\u{1b}d\r"], Unknown),
        (None, &["\u{12}echo\u{1b}[D\u{7f}\r"], Unknown),
        (None, &["\u{1b}[A\u{17}\r"], Unknown),
        (None, &["\u{1b}[A\u{1b}u\r"], Unknown),
        (None, &["\u{1b}[Ax\u{7f}\r"], Unknown),
        (None, &["echo -rf X rm\u{14}\r"], Unknown),
        (None, &["\u{18}\u{5}"], Unknown),
        (None, &["ls\u{18}\u{5}"], Unknown),
        (None, &["\u{1b}[A\u{1b}[D\u{1b}[C\r"], Safe),
        (None, &["\u{12}make\u{12}\r"], Safe),
        (None, &["\u{12}mkae\u{7f}\u{7f}\u{7f}ake\r"], Safe),
        (None, &["^echo^^\r"], Unknown),
        (None, &["!!:1 !!:2 !!:3\r"], Unknown),
        (None, &["!!:s/echo/command/\r"], Unknown),
        (Some("zsh"), &["!!\r"], Unknown),
        (None, &["sudo !!\r"], Unknown),
        (None, &["if true; then\r", "!$\r"], Unknown),
        (Some("dash"), &["echo !x\r"], Safe),
        (Some("fish"), &["echo !x\r"], Safe),
        (None, &["echo 'a\r", "!b'\r"], Safe),
        (None, &["cat <<E\r", "!!\r", "E\r"], Safe),
        (None, &["echo hi!\r"], Safe),
        (None, &["[ ! -f x ] && echo \"no!\"\r"], Safe),
        (Some("cat"), &["!!\r"], Safe),
        (None, &["fc -s echo=\r"], Unknown),
        (None, &["fc -e 'sed -i s/a/b/' -1\r"], Unknown),
        (None, &["fc -l\r"], Safe),
        (None, &["set -H -o history\r"], Unknown),
        (None, &["set -o histexpand -o history\r"], Unknown),
        (None, &["set -euo pipefail\r"], Safe),
        (None, &["set +H\r"], Safe),
        (None, &["bind '\"zq\":\"rm -r\"'\r"], Unknown),
        (None, &["bind 'set completion-ignore-case on'\r"], Safe),
        (None, &["bind -x '\"zq\":rm -rf x'\r"], Dangerous),
    ];
    for (program, pushes, verdict) in table {
        assert_eq!(typed(pushes, program).0, verdict, "{program:?} {pushes:?}");
    }
    assert_ne!(typed(&["echo rm -rf X\r", "!!:1-\r"], None).0, Dangerous);
}

#[test]
fn what_earlier_lines_have_set_counts() {
    use Verdict::{Dangerous, Safe, Unknown};
    let table: [(Option<&str>, &[&str], Verdict); 29] = [
        (None, &["EDITOR=rm\r", "$EDITOR -rf X\r"], Dangerous),
        (None, &["CC=rm\rls\r", "$CC -rf X\r"], Dangerous),
        (None, &["EDITOR=$(gen)\r", "$EDITOR X\r"], Unknown),
        (
            None,
            &["export EDITOR=x; read EDITOR\r", "$EDITOR X\r"],
            Unknown,
        ),
        (None, &["alias g=rm\r", "g -rf X\r"], Dangerous),
        (None, &["alias g='rm -rf'\r", "ls\r", "g X\r"], Dangerous),
        (None, &["f() { rm \"$@\"; }\r", "f -rf X\r"], Dangerous),
        (
            None,
            &["f() {\r", "rm \"$@\"\r", "}\r", "f -rf X\r"],
            Dangerous,
        ),
        (None, &["function f { $1 -rf X; }\r", "f rm\r"], Dangerous),
        (None, &["c=(rm -rf X)\r", "\"${c[@]}\"\r"], Dangerous),
        (None, &["x=r\r", "x+=m\r", "$x -rf X\r"], Dangerous),
        (None, &["hash -p /bin/rm g\r", "g -rf X\r"], Dangerous),
        (None, &["exec 3> >(sh)\r", "echo rm -rf X >&3\r"], Dangerous),
        (None, &["PROMPT_COMMAND='rm -rf X'\r"], Dangerous),
        (None, &["PS1='$(rm -rf X)'\r"], Dangerous),
        // What was to set it last may have failed, or was read by another program.
        (
            None,
            &["readonly x=-rf\r", "x=-i\r", "rm $x X\r"],
            Dangerous,
        ),
        (
            None,
            &["x=-rf\r", "read y\r", "x=-i\r", "rm $x X\r"],
            Dangerous,
        ),
        (None, &["x=-i\r", "x=-v\r", "rm $x X\r"], Safe),
        // Another shell may read the second line.
        (None, &["x=ls\r", "$x\r"], Unknown),
        (None, &["alias ll='ls -la'\r", "ll x\r"], Safe),
        (None, &["f() { ls \"$1\"; }\r", "f x\r"], Safe),
        (None, &["x=5\r", "echo $x\r"], Safe),
        (
            Some("zsh"),
            &["alias -g X='; rm'\r", "echo a X -rf b\r"],
            Unknown,
        ),
        (Some("zsh"), &[": # ; rm -rf X\r"], Dangerous),
        (Some("zsh"), &["=rm -rf X\r"], Dangerous),
        (Some("zsh"), &["repeat 1 rm -rf X\r"], Dangerous),
        (Some("zsh"), &["{ : } always { rm -rf X }\r"], Dangerous),
        (Some("fish"), &["abbr -a g rm -rf\r", "g X\r"], Dangerous),
        (Some("fish"), &["set x rm\r", "$x -rf X\r"], Dangerous),
    ];
    for (program, pushes, verdict) in table {
        assert_eq!(typed(pushes, program).0, verdict, "{program:?} {pushes:?}");
    }
}

#[test]
fn fish_is_read_in_its_own_words() {
    for (line, verdict) in [
        ("\\x72m -rf X\r", Verdict::Dangerous),
        ("r\\u006d -rf X\r", Verdict::Dangerous),
        ("\\162m -rf X\r", Verdict::Dangerous),
        ("eval (echo rm) -rf X\r", Verdict::Dangerous),
        ("echo (rm -rf X)\r", Verdict::Dangerous),
        ("echo '\\x72m -rf X'\r", Verdict::Safe),
        ("echo a\\ b (pwd)\r", Verdict::Safe),
        ("set files (ls); echo $files\r", Verdict::Safe),
    ] {
        assert_eq!(typed(&[line], Some("fish")).0, verdict, "{line}");
    }
}

#[test]
fn a_line_of_the_history_may_be_one_that_a_rule_forbids() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    for typed in ["\u{1b}[A\r", "\u{12}fro\r", "!!\r"] {
        assert_eq!(
            last_effect(&policy, typed, "/"),
            Effect::Confirm,
            "{typed:?}"
        );
        assert_eq!(
            last_effect(&Policy::default(), "\u{1b}[A\r", "/"),
            Effect::Allow
        );
    }
}

#[test]
fn a_line_has_the_hash_of_those_before_it() {
    let hash = |typed: &str| {
        let mut lines = TypedLines::default();
        let last = lines.feed(format!("{typed}ls\r").as_bytes(), Some("bash"));
        last.last().unwrap().earlier_sha256().map(str::to_owned)
    };
    assert_eq!(hash(""), None);
    assert_eq!(hash("\r \r"), None, "Enter alone");
    let typed = [
        "x=1\r",
        "x=2\r",
        "x=1\rx=1\r",
        "set -- 1\r",
        "ls\r",
        "\x1b[A\r",
        "for x in a; do\recho\rdone\r",
    ];
    let hashes = typed.map(hash);
    for (at, one) in hashes.iter().enumerate() {
        assert!(
            one.is_some() && !hashes[..at].contains(one),
            "{}",
            typed[at]
        );
    }
    // In one call or in several, and behind a secret.
    let mut lines = TypedLines::default();
    lines.feed(b"x=", None);
    lines.feed(b"1\r", None);
    lines.forget();
    let behind = lines.feed(b"ls\r", None);
    assert_eq!(behind[0].earlier_sha256(), hashes[0].as_deref());
}

/// Pushes of which something is asked about.
#[test]
fn what_only_the_program_knows_is_asked_about() {
    let table: [(&str, &[&str]); 17] = [
        ("bash", &["history -s 'rm -rf x'\r"]),
        (
            "bash",
            &["alias a='env '\r", "alias b='rm -rf x'\r", "a b\r"],
        ),
        ("bash", &["mkfifo p; sh p & echo 'rm -rf x' > p\r"]),
        ("gdb", &["shell rm -rf x\r"]),
        ("gdb", &["!rm -rf x\r"]),
        ("tclsh", &["exec rm -rf x\r"]),
        ("tclsh", &["exec $x\r"]),
        ("ed", &["!rm -rf x\r"]),
        ("sftp", &["!rm -rf x\r"]),
        ("lldb", &["platform shell rm -rf x\r"]),
        ("python3", &["f=os.system\r"]),
        ("python3", &["g=getattr(os, 'sys' + 'tem')\r"]),
        ("python3", &["x='rm '\r", "x+='-rf y'\r", "os.system(x)\r"]),
        ("python3", &["subprocess.run(input())\r"]),
        ("python3", &["exec(input())\r"]),
        ("node", &["require('child_process').exec(x)\r"]),
        ("perl", &["system $x\r"]),
    ];
    for (program, pushes) in table {
        assert_ne!(
            typed(pushes, Some(program)).0,
            Verdict::Safe,
            "{program}: {pushes:?}"
        );
    }
    let table: [(&str, &[&str]); 8] = [
        ("python3", &["import os, subprocess\r"]),
        ("python3", &["subprocess.run(['git', 'status'])\r"]),
        ("python3", &["print(os.getcwd())\r"]),
        ("node", &["/x/.exec('x')\r"]),
        ("gdb", &["bt\r"]),
        ("gdb", &["print x\r"]),
        ("sftp", &["put x\r"]),
        ("ed", &["1,5p\r"]),
    ];
    for (program, pushes) in table {
        assert_eq!(
            typed(pushes, Some(program)).0,
            Verdict::Safe,
            "{program}: {pushes:?}"
        );
    }
}
