//! Whether a text reads secrets, and where it sends something. Both in one text are a danger. So is a
//! request of which a word is what a command prints that reads secrets.

use std::collections::BTreeSet;

use termd_proto::policy::{Span, Verdict};

use super::inspection::Inspection;
use crate::danger::exfiltration;
use crate::program::table::ProgramTable;
use crate::shell::state::place::Place;
use crate::shell::word::Word;

/// What the commands of a text have read and sent so far.
#[derive(Debug, Default)]
pub(crate) struct SecretFlow {
    /// Where secrets are read.
    reads: BTreeSet<usize>,
    /// The words that another machine gets, and that hold what commands print.
    words: Vec<Span>,
    /// Where something is first sent.
    sends: Option<Span>,
    /// Whether a command prints what a database holds.
    dumps: bool,
}

impl SecretFlow {
    pub(super) fn add_read(&mut self, span: Span) {
        self.reads.insert(span.start);
    }

    pub(super) fn add_send(&mut self, span: Span) {
        self.sends.get_or_insert(span);
    }

    /// Adds a command. Returns whether it may send what a database holds.
    pub(super) fn add_command(
        &mut self,
        table: &ProgramTable,
        place: &Place,
        program: &str,
        args: &[Word],
        span: Span,
    ) -> bool {
        if exfiltration::reads_secrets(table, place, program, args) {
            self.add_read(span);
        }
        let sends = exfiltration::sends(table, program, args);
        if sends {
            self.add_send(span);
        }
        if exfiltration::sends_words(table, program, args) {
            let substituted = args.iter().filter(|word| exfiltration::substitutes(word));
            self.words.extend(substituted.map(|word| word.span));
        }
        self.dumps |= exfiltration::dumps(program, args);
        self.dumps && sends && exfiltration::is_foreign(table, program)
    }

    /// Where a text sends something that also reads secrets.
    pub(super) fn leak(&self) -> Option<Span> {
        let reads_within = |word: &&Span| self.reads.range(word.start..word.end).next().is_some();
        let in_word = || self.words.iter().find(reads_within).copied();
        self.sends
            .filter(|_| !self.reads.is_empty())
            .or_else(in_word)
    }
}

impl Inspection {
    /// Learns whether a command reads secrets, and whether it sends something.
    pub(super) fn learn_flow(&mut self, program: &str, args: &[Word], span: Span) {
        let (programs, place) = (&self.programs, &self.state.place);
        let flow = &mut self.secret_flow;
        if flow.add_command(programs, place, program, args, span) {
            let reason = "it sends what a database holds";
            self.note(Verdict::Dangerous, reason, span);
        }
    }

    /// Notes a text that reads secrets and sends something.
    pub(super) fn note_exfiltration(&mut self) {
        if let Some(span) = self.secret_flow.leak() {
            let reason = "it reads secrets and sends something";
            self.note(Verdict::Dangerous, reason, span);
        }
    }
}
