//! What is made to take long takes no time to speak of: the server has one thread for everybody.

use std::time::{Duration, Instant};

use termd::policy::{CompiledGate, Policy, Request, TypedLines, What, judge};
use termd_proto::policy::MAX_JUDGED_BYTES;
use termd_proto::terminal::Front;

#[test]
fn probe() {
    for piece in [
        "a", "$(", "`", "((", "{ ", "[[ ", "'", "\"", "\\", "\n", ";", "|", "&", "<", "<<E\n", "if ", "case x in ",
        "$((", "${", "x=", "x=(", "a b ", "a;", "a|", "a&&", "!", "<(", "sudo ", "env ", "bash -c ", "\"$(", "\"`", "f(){ ", "for i in ",
        "{a,b}", "*", "?", "[", "~", "#", "$'", "eval ", "$x", "xargs ", "cd x;", "cd x&&", "é", "(", "(a)", "while ", "do ", "-e ", "function f ", "x+=", "a=b ", "time ", "@(", "!(", ">x ", "2>&1 ",
    ] {
        let line = piece.repeat((MAX_JUDGED_BYTES - 16) / piece.len());
        for line in [line.clone(), format!("{line} x")] {
            let request = Request { what: What::Line(&line), program: None, front: Front::Cli, client: None, uid: None, cwd: Some("/x") };
            let begun = Instant::now();
            judge(&request, &CompiledGate::default(), &Policy::default());
            let took = begun.elapsed();
            if took > Duration::from_millis(500) {
                println!("judge {piece:?} {took:?}");
            }
        }
        let mut typed = TypedLines::default();
        let begun = Instant::now();
        let lines = typed.feed(format!("{}\r", piece).repeat(20_000).as_bytes(), None);
        let took = begun.elapsed();
        let bytes: usize = lines.iter().map(|line| line.text.len()).sum();
        if took > Duration::from_millis(500) || bytes > 10_000_000 {
            println!("typed {piece:?} {took:?} {} lines {bytes} bytes", lines.len());
        }
    }
    for piece in ["\x01x", "\x15\x19", "\x19", "\x1bb\x1bf", "\x01\x04", "x\x01\x05", "\x1b[H\x1b[3~"] {
        let mut typed = TypedLines::default();
        typed.feed("x".repeat(60_000).as_bytes(), None);
        typed.feed(b"\x15\x19", None);
        let begun = Instant::now();
        typed.feed(piece.repeat(20_000).as_bytes(), None);
        println!("keys {piece:?} {:?}", begun.elapsed());
    }
}
