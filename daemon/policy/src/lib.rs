//! The gate's judgement: what a text or an argv that is about to run is, and what is done about it.
//!
//! Pure: text, rules and settings in, a [`Judgement`] out. A shell's text is read by a grammar
//! (`shell`), programs that only start others are taken off (`wrap`), and what remains is asked
//! about (`danger`); databases (`sql`) and interpreters (`code`) have readers of their own.
//! [`typed`] makes lines of what is typed in pieces.
//!
//! **Invariant:** any bytes are judged, none make it fail; what it cannot understand is `unknown`
//! and never `safe`. It is a seat belt and not a wall: who wants to get by it does.
//!
//! Must not know: tokio, files, clocks, terminals, JSON-RPC, the database.

#![warn(missing_docs)]

mod approved;
mod braces;
mod code;
mod danger;
mod decision;
pub mod environment;
mod flow;
mod fork_bomb;
mod glob;
mod grammar;
mod hidden;
mod inspect;
mod lexer;
mod options;
mod outcome;
mod profile;
pub mod program;
mod quantity;
mod rules;
mod sandbox;
pub mod secrets;
mod settings;
mod shell;
mod spec;
mod sql;
#[cfg(test)]
mod tests;
pub mod typed;
mod whereabouts;
mod word;
mod wrap;
mod wrap_more;
mod wrap_table;

use termd_proto::policy::{Judgement, MAX_JUDGED_BYTES, Span, Verdict};
use termd_proto::terminal::Front;

pub use approved::{AlwaysRule, Approved, ApprovedSpec, OnlyOnce, quoted as quoted_toml};
pub use decision::{Decision, Origin, Policy, PolicyError};
pub use environment::EnvRules;
pub use profile::{LimitsSpec, MAX_PATHS, MIN_TERMINAL_QUOTA_BYTES, Profile};
pub use quantity::{Bytes, Length, Percent};
pub use sandbox::{Absent, Places, SandboxBuilder, SandboxKind, TemporaryFiles, Walls};
pub use settings::{CompiledGate, PatternError};
pub use spec::PolicySpec;
pub use typed::{Known, TypedLine, TypedLines};
pub use whereabouts::Whereabouts;

use inspect::{Finding, Inspector, Place, Stdin};
use program::Reader;
use word::Word;

/// What is to run.
#[derive(Debug, Clone, Copy)]
pub enum What<'a> {
    /// A line for a program that reads lines.
    Line(&'a str),
    /// A program and its arguments.
    Argv(&'a [String]),
}

impl What<'_> {
    /// In bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Argv(argv) => argv.iter().map(String::len).sum(),
        }
    }
}

/// What is to be judged, and where it would run.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The text.
    pub what: What<'a>,
    /// The program that a line would be typed into; `None`: a shell.
    pub program: Option<&'a str>,
    /// What it comes through.
    pub front: Front,
    /// The client's name, where it has said one.
    pub client: Option<&'a str>,
    /// The user who asks, where that is known.
    pub uid: Option<u32>,
    /// The directory, where it is known.
    pub cwd: Option<&'a str>,
}

/// The text that an argv is judged as, which its spans speak of: its words joined by one space,
/// each quoted where a shell would need it.
pub fn command_text(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What is decided of what is to run, all of which is known.
pub fn judge(request: &Request<'_>, gate: &CompiledGate, policy: &Policy) -> Judgement {
    policy.decide(request, Known::Whole, gate).judgement
}

/// Reads what is to run: its commands, and what is wrong with them.
fn inspected(request: &Request<'_>, known: Known, settings: &CompiledGate) -> Inspector {
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
    let reader = program.map_or(Reader::Shell, program::reader);
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
        Reader::Shell
            if known == Known::Whole && program.is_some_and(program::is_foreign_shell) =>
        {
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
