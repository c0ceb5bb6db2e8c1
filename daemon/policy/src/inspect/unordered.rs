//! What runs if a text does not run in its order, which matters to rules.
//!
//! An assignment may fail, a function return before it, a trap never run. To a rule each variable
//! therefore has any value that the text gives it ([`Values::All`]), beside the last one.

use std::collections::HashSet;

use termd_proto::policy::{Span, Verdict};

use super::finding::{Finding, InspectedCommand};
use super::inspection::Inspection;
#[cfg(doc)]
use crate::shell::state::Values;

/// What runs if the text does not run in its order.
#[derive(Debug, Default)]
pub(crate) struct Unordered {
    /// Whether the text may set anew what it has set, so that its order matters.
    pub(super) matters: bool,
    /// What runs besides.
    pub(crate) commands: Vec<InspectedCommand>,
}

impl Inspection {
    /// Adds the commands that a reading of the text with [all values](Values::All) finds besides.
    pub(super) fn add_unordered(&mut self, mut other: Self, whole: Span) {
        let known: HashSet<_> = unread(&self.text_findings).collect();
        if !unread(&other.text_findings).all(|finding| known.contains(&finding)) {
            other.note_possible(whole);
        }
        let mut known: HashSet<_> = self.commands.iter().map(key).collect();
        let programs: HashSet<String> = self
            .commands
            .iter()
            .map(|one| one.program.clone())
            .collect();
        for command in other.commands {
            if known.insert(key(&command)) {
                let is_certain = command.is_certain && programs.contains(&command.program);
                self.unordered.commands.push(InspectedCommand {
                    is_certain,
                    finding: None,
                    ..command
                });
            }
        }
    }
}

fn unread(findings: &[Finding]) -> impl Iterator<Item = (usize, usize, &str)> {
    let is_unread = |finding: &&Finding| finding.verdict == Verdict::Unknown && !finding.is_read;
    let unread = findings.iter().filter(is_unread);
    unread.map(|Finding { span, reason, .. }| (span.start, span.end, &**reason))
}

/// What a rule looks at.
fn key(command: &InspectedCommand) -> (String, String, Option<String>, bool) {
    let InspectedCommand {
        program,
        arguments,
        name_end,
        is_installed,
        ..
    } = command;
    (
        program.clone(),
        arguments.clone(),
        name_end.clone(),
        *is_installed,
    )
}
