//! Shell lines that start what runs its input.

use termd_proto::policy::Span;

use crate::program::input::runs_stdin;
use crate::program::kind::{ProgramKind, base_name, program_kind};
use crate::shell::word::Word;

/// Whether a line starts a shell or an interpreter that runs what the code gives it, also behind what hands
/// its input on: `sort | sh`, `xargs sh -c`.
pub(super) fn runs_input(line: &str) -> bool {
    let mut stages = line.split(['|', ';', '&', '(', '{', '\n']).map(str::trim);
    stages.any(|stage| {
        let runs_each = matches!(program_of(stage), "xargs" | "parallel");
        runs_each || stage_runs_input(stage)
    })
}

fn stage_runs_input(line: &str) -> bool {
    let span = Span { start: 0, end: 0 };
    let words = line.split_whitespace().skip(1);
    let args: Vec<Word> = words.map(|text| Word::literal(text, span)).collect();
    starts_runner(line) && runs_stdin(program_of(line), &args)
}

/// Whether a line starts a shell or an interpreter.
pub(super) fn starts_runner(line: &str) -> bool {
    let kind = program_kind(program_of(line));
    matches!(kind, ProgramKind::Shell | ProgramKind::Code)
}

fn program_of(line: &str) -> &str {
    base_name(line.split_whitespace().next().unwrap_or_default())
}
