//! Input that is made to take long takes no time to speak of: the server has one thread for all
//! clients.
//!
//! Processor time is measured, so that a busy machine changes nothing. The bounds are fifty times
//! what a release build takes; the faults that they hold off took minutes, and gigabytes.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use termd_policy::{CompiledGate, Invocation, Policy, Request, TypedLines, judge};
use termd_proto::policy::MAX_JUDGED_BYTES;
use termd_proto::terminal::Front;

/// For one text.
const LONGEST: Duration = Duration::from_secs(5);
/// For one call, which may type megabytes.
const LONGEST_CALL: Duration = Duration::from_mins(1);
/// The text of all lines that one call makes, beyond what was typed.
const MOST_TEXT: usize = 4 << 20;

/// What may nest, repeat or stay open.
const PIECES: [&str; 36] = [
    "$(",
    "`",
    "((",
    "{ ",
    "\"$(",
    "${",
    "x=(",
    "<(",
    "f(){ ",
    "if ",
    "case x in ",
    "for i in ",
    "<<E\n",
    "a;",
    "a|",
    "a&&",
    "sudo ",
    "bash -c ",
    "eval ",
    "{a,b}",
    "cd x&&",
    "\\",
    "'",
    "x=a\n$x\n",
    "a|&",
    "$(a|",
    "\";\"|",
    "#'\na|",
    "((a+",
    "((1**",
    "@(a|",
    "- ",
    "(a)",
    "a>b ",
    "if a;then b;fi;",
    "case a in b|",
];

/// What a text of pieces may end in: a mistake is looked for in all that stands before it.
const ENDS: [&str; 5] = ["", "a", "|| |", "\"", ") a"];

/// The processor time of this thread.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime)
        .try_into()
        .expect("a time since the start of the thread")
}

fn judge_line(line: &str) {
    let request = Request {
        invocation: Invocation::Line(line),
        program: None,
        front: Front::Cli,
        client: None,
        uid: None,
        cwd: Some("/x"),
        env: &[],
    };
    judge(&request, &CompiledGate::default(), &Policy::default());
}

#[test]
fn a_long_text_is_judged_at_once() {
    for piece in PIECES {
        for end in ENDS {
            let line = piece.repeat((MAX_JUDGED_BYTES - end.len()) / piece.len()) + end;
            let begun = processor_time();
            judge_line(&line);
            let took = processor_time().saturating_sub(begun);
            println!("{piece:?} … {end:?}: {took:?}");
            assert!(took < LONGEST, "{piece:?} … {end:?} takes {took:?}");
        }
    }
}

#[test]
fn lines_that_stay_open_are_not_read_over_and_over() {
    for piece in PIECES {
        let mut typed = TypedLines::default();
        let begun = processor_time();
        let input = format!("{piece}\r").repeat(20_000);
        let lines = typed.feed(input.as_bytes(), None);
        let took = processor_time().saturating_sub(begun);
        let text: usize = lines.iter().map(|line| line.text.len()).sum();
        println!("{piece:?}: {took:?}, {} lines, {text} bytes", lines.len());
        assert!(took < LONGEST_CALL, "{piece:?} takes {took:?}");
        assert!(
            text < input.len() + MOST_TEXT,
            "{piece:?} makes {text} bytes"
        );
    }
}

#[test]
fn keys_that_move_much_are_not_followed_for_ever() {
    for keys in [
        "\x01x",
        "\x15\x19",
        "\x19",
        "\x1bb\x1bf",
        "\x01\x04",
        "x\x01\x05",
        "\x1b[H\x1b[3~",
        "\x17\x19",
    ] {
        let mut typed = TypedLines::default();
        typed.feed("x".repeat(60_000).as_bytes(), None);
        typed.feed(b"\x15\x19", None);
        let begun = processor_time();
        typed.feed(keys.repeat(200_000).as_bytes(), None);
        let took = processor_time().saturating_sub(begun);
        println!("{keys:?}: {took:?}");
        assert!(took < LONGEST_CALL, "{keys:?} takes {took:?}");
    }
}
