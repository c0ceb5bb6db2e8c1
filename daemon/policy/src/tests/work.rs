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
    ("python3", "", "lambda a:", ""),
    ("node", "", "match x:\n", ""),
    ("node", "", "{a:", ""),
    ("perl", "", "a/", ""),
    ("perl", "", "1<<A\n", ""),
    ("ruby", "", "<<A,", ""),
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
    ("sh", "node -e '", "eval;", "'"),
    ("sh", "node -e '", "x=a=>", "stdin'"),
    ("sh", "ruby -e '", "exec [a,b],", "1'"),
    ("sh", "perl -e '", "exec{a}b,", "1'"),
    ("sh", "python3 -c '", "os.execlp(\"a\",", "'"),
    ("sh", "php -r '", "usort(\"system\",", "'"),
    ("sh", "awk ", "-v a=b ", "'{system(a)}'"),
    ("sh", "parallel -N1 rm ::: ", "a ", ""),
    ("sh", "parallel rm ", "::: a b ", ""),
];

/// Texts of which each part makes what the next one reads longer, with how often the part is repeated.
const GROWING: &[(&str, &str, usize, &str)] = &[
    ("a=(x y);", "a+=(\"${a[@]}\");", 100, "\"${a[@]}\""),
    ("a=(x y);", "a+=(\"${a[@]}\");", 900, "ls"),
    ("a=(x y);", "a+=(\"${a[@]}\");", 900, "rm \"${a[@]}\""),
    ("a=(x y);f(){ a+=(\"${a[@]}\");};", "f;", 100, ""),
    ("a=(x y);", "a+=(${a[*]});", 100, "${a[@]}"),
    (
        "a=(x y);",
        "a=(\"${a[@]}\" \"${a[@]}\");",
        30,
        "\"${a[@]}\"",
    ),
    ("", "PATH=a:$PATH ", 4_600, "git x"),
    ("", "$(", 10_000, ""),
    ("while read a; do ", "b=$a$b;", 8_000, "done"),
    ("zsh -c '", "a=$a$a;", 8_000, "'"),
    ("python3 -c '", "a[\"x\"]=", 6_000, "1'"),
    ("echo ls | tee ", "w$x ", 12_000, ";sh w"),
    ("", "#a\n", 20_000, ""),
    ("", "a=$a$a;", 8_000, ""),
    ("", "a=\"$a x\";", 6_000, ""),
    ("ruby -e '", "%w(a b) ", 7_000, "'"),
    ("printf -v x '%s' ", "a ", 30_000, "; $x"),
    ("printf -v x '%05000d' ", "1 ", 20_000, "; $x"),
    ("", "ssh h ", 9_000, ""),
    ("", "export A=b ", 5_000, ""),
    ("", "A=b ", 15_000, ""),
    ("", "eval ", 12_000, "ls"),
    ("awk 'BEGIN{", "a=a \"x\";", 7_000, "}'"),
    ("awk 'BEGIN{", "print \"a\"|\"b\";", 4_000, "}'"),
    ("node -e '", "`${", 15_000, "'"),
    ("", "! ", 30_000, ""),
    ("", ">&2 ", 15_000, ""),
    ("", "if a; then x=$x1; else x=${x}2; fi; ", 1_700, "$x"),
    ("", "echo a1 >> w;", 990, "sh w"),
    ("echo ", "{a,b}", 12_000, ""),
    ("", "docker exec x ", 4_600, "ls"),
    ("", "a=${a}x;", 8_000, "$a"),
    ("", "a=b c() { ", 6_000, ""),
    ("", "case $a in x) a=${a}y;; ", 2_500, ""),
    ("alias a='", "b ", 30_000, "'; a"),
    ("rm ", "*?[a]", 13_000, ""),
    ("rm ", "[", 65_000, "]"),
    ("rm ", "[\"", 32_000, "]"),
    ("node -e '", "eval;", 12_000, "'"),
    ("node -e '", "x=", 25_000, "stdin'"),
    ("python3 -c '", "for l in ", 7_000, "stdin: 1'"),
    (
        "parallel '",
        "{}",
        15_000,
        "' ::: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c d e f",
    ),
    ("parallel -N1 rm ::: ", "a ", 30_000, ""),
    ("parallel rm ", "::: a b ", 8_000, ""),
    ("TAR_OPTIONS='", "\"a\" ", 15_000, "' tar cf x y"),
];

/// How long one of them may take. A release takes a twentieth of it.
const MAX_GROWING_TIME: Duration = Duration::from_secs(2);

#[test]
fn what_grows_is_judged_within_a_budget() {
    let mut slow = Vec::new();
    for (begin, part, times, end) in GROWING {
        let text = format!("{begin}{}{end}", part.repeat(*times));
        let started = processor_time();
        let judged = judge_line("sh", &text);
        let took = processor_time().saturating_sub(started);
        println!("{took:>10.1?} {:?} {begin}{part}{end}", judged.verdict);
        if took > MAX_GROWING_TIME {
            slow.push(format!("{begin}{part}{end}: {took:?}"));
        }
    }
    assert_eq!(slow, Vec::<String>::new());
}

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
        ("perl -e '", "system(\"ls\");", "'"),
        ("ruby -e '", "%x(ls)+", "1'"),
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

#[test]
fn what_stands_behind_much_code_is_read_or_the_code_is_unknown() {
    for (begin, part, end) in [
        (
            "python3 -c 'import os\n",
            "a=\"x\"\n",
            "os.system(\"rm -rf x\")'",
        ),
        ("perl -e '", "$a=$a;", "system(\"rm -rf x\")'"),
        ("awk 'BEGIN{", "a=a \"\";", "system(\"rm -rf x\")}'"),
    ] {
        let judged = judge_line("sh", &format!("{begin}{}{end}", part.repeat(6_000)));
        assert_ne!(judged.verdict, Verdict::Safe, "{begin}{part}: {judged:?}");
    }
    // A long file of plain code is no reason to ask.
    let plain = format!("python3 -c 'import os\n{}'", "a=\"x\"\n".repeat(2_000));
    assert_eq!(judge_line("sh", &plain).verdict, Verdict::Safe);
}

/// How long this thread has run (proc(5), schedstat). What else the machine does does not count.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = stat.split_whitespace().next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
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
