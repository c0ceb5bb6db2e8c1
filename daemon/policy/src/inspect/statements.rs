//! Statements that a client of a database is given, and the shell lines that it runs.

use termd_proto::policy::{Span, Verdict};

use super::inspector::Inspector;
use super::redirect::note_write;
use super::script::inspect_script;
use super::stdin::Stdin;
use crate::danger::sql;
use crate::program::kind::SqlClient;
use crate::shell::expansion::source::Nesting;
use crate::shell::word::Word;

impl Inspector {
    /// Inspects statements of a database, and the shell lines that its client runs.
    pub(super) fn sql(
        &mut self,
        client: SqlClient,
        text: &str,
        nesting: Nesting,
        own: Span,
        depth: usize,
    ) {
        let span = nesting.span(own);
        if let Some(reason) = sql::danger(client, text) {
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
        if sql::hides_line(text) {
            let reason = "its client decodes escapes in what it starts";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        if sql::may_start(text) {
            self.inspection.note_possible(span);
        }
        if sql::opens_answer(client, text) {
            let reason = "its client opens the answer in another program";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        for file in sql::written_files::written_files(text) {
            let file = Word::literal(&file, span);
            note_write(&mut self.inspection, &file, false, span);
        }
        // What a client pipes into a line is what it prints.
        let is_fed = text.contains('|');
        let stdin = if is_fed {
            Stdin::Computed
        } else {
            Stdin::Given
        };
        for line in sql::shell_lines(client, text) {
            inspect_script(self, line, Nesting::Within(span), &stdin, depth);
        }
    }
}
