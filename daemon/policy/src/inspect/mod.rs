//! What is in a text or an argv, and what is wrong with it.

pub(crate) mod cwd;
pub(crate) mod flow;
pub(crate) mod gate;
pub(crate) mod inspector;
pub(crate) mod script;

use termd_proto::policy::{MAX_JUDGED_BYTES, Span, Verdict};

use crate::danger;
use crate::danger::code;
use crate::program::kind::{self, Reader};
use crate::request::{Request, What};
use crate::shell::quote::{command_text, quoted};
use crate::typed::Known;
use gate::CompiledGate;
use inspector::{Finding, Inspector, Place, Stdin};

use crate::shell::word::Word;

/// Reads what is to run: its commands, and what is wrong with them.
pub(crate) fn inspected(request: &Request<'_>, known: Known, settings: &CompiledGate) -> Inspector {
    let mut inspector = Inspector::default();
    let joined: String;
    let text = match request.what {
        What::Line(line) => {
            inspect_line(&mut inspector, line, request.program, known);
            line
        }
        What::Argv(argv) => {
            joined = command_text(argv);
            inspect_argv(&mut inspector, argv);
            &joined
        }
    };
    if let Some(found) = settings.pattern_in(text) {
        let reason = format!("it fits the pattern {} of this client", found.pattern);
        inspector.note(Verdict::Dangerous, reason, found.span);
    }
    inspector
}

fn inspect_argv(inspector: &mut Inspector, argv: &[String]) {
    let mut at = 0;
    let mut words = Vec::new();
    for text in argv {
        let end = at + quoted(text).len();
        words.push(Word::plain(text, Span { start: at, end }));
        at = end + 1;
    }
    inspector.argv(&words, &Stdin::Given, 0);
}

fn inspect_line(inspector: &mut Inspector, line: &str, program: Option<&str>, known: Known) {
    let whole = Span {
        start: 0,
        end: line.len(),
    };
    let reader = program.map_or(Reader::Shell, kind::reader);
    if reader == Reader::Text {
        return;
    }
    let too_long = known == Known::TooLong || line.len() > MAX_JUDGED_BYTES;
    if too_long && matches!(reader, Reader::Shell | Reader::Sql(_)) {
        inspector.note(
            Verdict::Unknown,
            "it is longer than is looked at (64 KiB)",
            whole,
        );
        return;
    }
    // Long data for a program is no command that is not understood.
    let line = line.get(..line.floor_char_boundary(MAX_JUDGED_BYTES));
    let line = line.unwrap_or_default();
    match reader {
        // Their grammar is another: what is not bash's is no fault of the line.
        Reader::Shell if known == Known::Whole && program.is_some_and(kind::is_foreign_shell) => {
            inspector.commands_by_hand(line, Place::Outermost, &Stdin::Given, 0);
        }
        Reader::Shell if known == Known::Whole => {
            inspector.shell(line, Place::Outermost, &Stdin::Given, 0);
        }
        // What is not run by a shell may be left for the one behind it.
        Reader::Shell | Reader::Other => {
            inspector.commands_by_hand(line, Place::Outermost, &Stdin::Given, 0);
            keep_plain_dangers(inspector);
        }
        Reader::Sql(client) => inspector.sql(client, line, Place::Outermost, whole, 0),
        Reader::Code => {
            if let Some(reason) = code::danger(line) {
                inspector.note(Verdict::Dangerous, reason, whole);
            }
        }
        Reader::Text => {}
    }
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '-');
    if known == Known::Recalled && words.into_iter().any(danger::is_dangerous_word) {
        let reason = "it was typed into a line that was recalled: what runs is not known";
        inspector.note(Verdict::Unknown, reason, whole);
    }
}

/// Leaves out what is only not understood.
fn keep_plain_dangers(inspector: &mut Inspector) {
    let plainly = |finding: &Finding| finding.verdict == Verdict::Dangerous;
    inspector.findings.retain(plainly);
    for seen in &mut inspector.seen {
        seen.finding = seen.finding.take().filter(plainly);
    }
}
