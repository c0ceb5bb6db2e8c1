//! Secrets in output that goes to a model.

mod surroundings;

use std::sync::Arc;

use serde_json::Value;
use termd_policy::secrets::output::{KnownSecrets, OutputPiece};
use termd_policy::secrets::redact::Redactor;
use termd_proto::Offset;
use termd_proto::interact::{Activity, MatchedText, WaitForResult};
use termd_proto::screen::{Screen, ScreenRow, ScreenRows};
use termd_proto::terminal::{Encoding, Front};
use termd_vt::Model;

use self::surroundings::{Form, Surroundings, context, same_length};
use super::gate::PolicyInForce;
use crate::terminal::Terminal;
use crate::terminal::output::transcript::TranscriptError;
use crate::terminal::read::page::Page;
use crate::terminal::read::raw_tail::Tail;
use crate::terminal::read::unfiltered::Unfiltered;
use crate::terminal::wait::pattern::Secrets;

/// Rows on each side of those of a screen in which a secret may begin or end: as long as a private key.
const CONTEXT_ROWS: i64 = 100;
/// The field of commands and of audit records that has the hash of an output.
const OUTPUT_HASH: &str = "output_sha256";
/// Stands for each byte of a secret where lengths have to stay: in exact bytes and on screens.
const MASK: char = '*';

/// Hides secrets in output. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OutputSecrets {
    pub(crate) redactor: Redactor,
    pub(crate) policy: Arc<PolicyInForce>,
    /// Whether the shells of agents show them by their names alone.
    pub(crate) hidden_in_shells: bool,
}

impl OutputSecrets {
    /// What was read of a terminal's output, as it is given to a client of this front. In exact bytes each
    /// byte of a secret is masked; those for an agent's shell stay, which has its own ways to ask for them.
    pub(crate) async fn hide(
        &self,
        front: Front,
        terminal: &Terminal,
        (page, encoding): (Unfiltered<Page>, Encoding),
    ) -> Result<Page, TranscriptError> {
        let mut page = page.into_printed();
        let range = (page.answer.start, page.answer.end);
        if let Some(text) = &page.answer.text {
            let hidden = self.hidden_between(front, terminal, (text, encoding), range);
            if let Some(hidden) = hidden.await? {
                page.answer.text = Some(hidden);
            }
        }
        if let Some(bytes) = &mut page.exact
            && self.are_hidden_everywhere(front)
        {
            let around = Surroundings::of(&self.redactor, terminal, range, Form::Exact).await?;
            let text = same_length(bytes);
            let known = &terminal.record.secrets;
            for part in self.redactor.secret_parts(known, around.piece(&text)) {
                if let Some(secret) = bytes.get_mut(part.range) {
                    secret.fill(MASK as u8);
                }
            }
        }
        Ok(page)
    }

    /// The end of a terminal's output, as it is given to a client of this front.
    pub(crate) async fn hide_in_tail(
        &self,
        front: Front,
        terminal: &Terminal,
        (tail, encoding): (Unfiltered<Tail>, Encoding),
    ) -> Result<Tail, TranscriptError> {
        let mut tail = tail.into_printed();
        let (text, range) = ((tail.text.as_str(), encoding), (tail.start, tail.end));
        if let Some(hidden) = self.hidden_between(front, terminal, text, range).await? {
            tail.text = hidden;
        }
        Ok(tail)
    }

    /// What came of a wait, as it is given to a client of this front.
    pub(crate) async fn hide_in_wait(
        &self,
        front: Front,
        terminal: &Terminal,
        result: Unfiltered<WaitForResult>,
    ) -> Result<WaitForResult, TranscriptError> {
        let mut result = result.into_printed();
        if let Some(matched) = &mut result.matched {
            self.hide_in_match(front, terminal, matched).await?;
        }
        result.activity = self.activity(front, terminal, Unfiltered::new(result.activity));
        Ok(result)
    }

    /// What goes on in a terminal, as it is given to a client of this front.
    pub(crate) fn activity(
        &self,
        front: Front,
        terminal: &Terminal,
        activity: Unfiltered<Activity>,
    ) -> Activity {
        let mut activity = activity.into_printed();
        if self.are_hidden_everywhere(front) {
            let prompt = activity.prompt_text.take();
            activity.prompt_text = prompt.map(|prompt| self.in_cursor_row(terminal, prompt));
        }
        activity
    }

    /// A text of the cursor's row, as agents may read it: it may be the rest of a secret that begins in the
    /// rows above.
    pub(crate) fn in_cursor_row(&self, terminal: &Terminal, text: String) -> String {
        if !self.are_hidden_from_agents() {
            return text;
        }
        let look = |model: &Model| {
            let (_, row) = model.cursor();
            let rows = only_row(row);
            let printed = text_of(&model.screen(rows).lines);
            (printed, text_of(&self.masked(terminal, model, rows)))
        };
        let (printed, masked) = terminal.screen.look(look).unwrap_or_default();
        let masks = |text: &str| text.chars().map(|_| MASK).collect();
        let Some(at) = printed.find(text.trim_end()) else {
            // The row is another one by now.
            return masks(&text);
        };
        let before = printed[..at].chars().count();
        let shown = masked.chars().skip(before);
        let shown: String = shown.take(text.trim_end().chars().count()).collect();
        shown + &text[text.trim_end().len()..]
    }

    fn are_hidden(&self, front: Front) -> bool {
        match front {
            Front::Shell => self.hidden_in_shells,
            Front::Acp | Front::Mcp | Front::Cli | Front::Daemon => {
                self.are_hidden_everywhere(front)
            }
        }
    }

    /// Whether they are hidden in every answer to clients of the front, and not in texts of output alone.
    pub(crate) fn are_hidden_everywhere(&self, front: Front) -> bool {
        matches!(front, Front::Acp | Front::Mcp) && self.are_hidden_from_agents()
    }

    /// Whether `[policy] hide_secrets` is on.
    pub(crate) fn are_hidden_from_agents(&self) -> bool {
        self.policy.get().hides_secrets()
    }

    /// The text of a range of output without the secrets in it; `None`: it stays. A secret may begin before
    /// the range, and end after it.
    pub(crate) async fn hidden_between(
        &self,
        front: Front,
        terminal: &Terminal,
        (text, encoding): (&str, Encoding),
        range: (Offset, Offset),
    ) -> Result<Option<String>, TranscriptError> {
        if !self.are_hidden(front) || text.is_empty() {
            return Ok(None);
        }
        let form = match encoding {
            Encoding::Text | Encoding::Styled => Form::Resolved,
            Encoding::Raw | Encoding::Base64 | Encoding::Pipe => Form::Exact,
        };
        // A model cannot choose what its shell reads, which is all from the start on.
        let around = match front {
            Front::Shell => Surroundings::default(),
            _ => Surroundings::of(&self.redactor, terminal, range, form).await?,
        };
        Ok((self.redactor).output(&terminal.record.secrets, around.piece(text)))
    }

    /// What finds the secrets in a terminal's text from an offset on, where they are hidden from clients of
    /// the front.
    pub(crate) async fn finder(
        &self,
        front: Front,
        terminal: &Arc<Terminal>,
        since: Offset,
    ) -> Result<Option<Secrets>, TranscriptError> {
        if !self.are_hidden_everywhere(front) {
            return Ok(None);
        }
        let (redactor, terminal) = (self.redactor.clone(), Arc::clone(terminal));
        let range = (since, since);
        let around = Surroundings::of(&redactor, &terminal, range, Form::Resolved).await?;
        Ok(Some(Arc::new(move |text| {
            let piece = OutputPiece {
                // It is in the text.
                after: "",
                ..around.piece(text)
            };
            let parts = redactor.secret_parts(&terminal.record.secrets, piece);
            parts.into_iter().map(|part| part.range).collect()
        })))
    }

    /// Hides secrets in what matched a pattern, also one that the match is only a part of.
    async fn hide_in_match(
        &self,
        front: Front,
        terminal: &Terminal,
        matched: &mut MatchedText,
    ) -> Result<(), TranscriptError> {
        if !self.are_hidden_everywhere(front) {
            return Ok(());
        }
        let range = (matched.start, matched.end);
        let around = Surroundings::of(&self.redactor, terminal, range, Form::Resolved).await?;
        let first_line = matched.text.lines().next().unwrap_or_default();
        let begins = matched.line.find(first_line).unwrap_or_default();
        let known = &terminal.record.secrets;
        let in_line = OutputPiece {
            before: matched.line.get(..begins).unwrap_or_default(),
            after: (matched.line)
                .get(begins + matched.text.len()..)
                .unwrap_or(&around.after),
            ..around.piece(&matched.text)
        };
        let text = self.redactor.output(known, in_line);
        if let Some(line) = (self.redactor).output(known, around.piece(&matched.line)) {
            matched.line = line;
        }
        if let Some(text) = text {
            matched.text = text;
        }
        Ok(())
    }

    /// A screen as it is given to a client of this front: each character of a secret is masked, also of one
    /// that only begins or ends in the rows that are asked for.
    pub(crate) fn screen(
        &self,
        front: Front,
        terminal: &Terminal,
        model: &Model,
        rows: ScreenRows,
    ) -> Screen {
        let mut screen = model.screen(rows);
        if self.are_hidden_everywhere(front) {
            screen.lines = self.masked(terminal, model, rows);
        }
        screen
    }

    /// Rows of a screen with each character of a secret masked.
    fn masked(&self, terminal: &Terminal, model: &Model, rows: ScreenRows) -> Vec<ScreenRow> {
        let lines = model.screen(rows).lines;
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return lines;
        };
        let around = ScreenRows {
            since: None,
            from_row: Some(first.row - CONTEXT_ROWS),
            to_row: Some(last.row + CONTEXT_ROWS),
        };
        let Screen {
            lines: mut masked,
            cols,
            ..
        } = model.screen(around);
        self.mask(&terminal.record.secrets, &mut masked);
        self.mask_at_edge(&terminal.record.secrets, &mut masked, cols);
        masked.retain(|row| lines.binary_search_by_key(&row.row, |row| row.row).is_ok());
        masked
    }

    /// The last place up to this one that cuts no secret of the output: a screen there shows none in part.
    pub(crate) async fn place_between(
        &self,
        front: Front,
        terminal: &Terminal,
        at: Offset,
    ) -> Result<Offset, TranscriptError> {
        if !self.are_hidden_everywhere(front) {
            return Ok(at);
        }
        let (before, after) = context(terminal, (at, at)).await?;
        let known = &terminal.record.secrets;
        let whole = [before.as_str(), &after].concat();
        let begins = (self.redactor).secret_across(known, &whole, before.len());
        let back = begins.map_or(0, |begins| before.len() - begins);
        Ok(at.back(u64::try_from(back).unwrap_or_default()))
    }

    /// Masks what begins like a secret and reaches the last column: a program has cut its line there, or a
    /// narrower screen.
    fn mask_at_edge(&self, known: &KnownSecrets, rows: &mut [ScreenRow], cols: u16) {
        for row in rows.iter_mut().filter(|row| !row.wrapped) {
            let text = text_of(std::slice::from_ref(row));
            // A character takes two columns at the most, and one of ASCII a single one.
            let widths = text.chars().map(|c| 1 + usize::from(!c.is_ascii()));
            if widths.sum::<usize>() < usize::from(cols) {
                continue;
            }
            let Some(from) = self.redactor.secret_at_edge(known, &text) else {
                continue;
            };
            let mut at = 0;
            for run in &mut row.runs {
                let kept = from.saturating_sub(at).min(run.text.len());
                at += run.text.len();
                let behind = run.text.get(kept..).unwrap_or_default().chars().count();
                run.text.truncate(kept);
                run.text.extend(std::iter::repeat_n(MASK, behind));
            }
        }
    }

    fn mask(&self, known: &KnownSecrets, rows: &mut [ScreenRow]) {
        let mut text = String::new();
        for row in &*rows {
            text.extend(row.runs.iter().map(|run| run.text.as_str()));
            if !row.wrapped {
                text.push('\n');
            }
        }
        let piece = OutputPiece {
            text: &text,
            ..OutputPiece::default()
        };
        let mut secrets = self.redactor.secret_parts(known, piece).into_iter();
        let mut secret = secrets.next();
        let mut at = 0;
        for row in rows {
            for run in &mut row.runs {
                let mut shown = String::with_capacity(run.text.len());
                for (index, character) in run.text.char_indices() {
                    while secret
                        .as_ref()
                        .is_some_and(|part| part.range.end <= at + index)
                    {
                        secret = secrets.next();
                    }
                    let is_secret =
                        (secret.as_ref()).is_some_and(|part| part.range.contains(&(at + index)));
                    shown.push(if is_secret { MASK } else { character });
                }
                at += run.text.len();
                run.text = shown;
            }
            at += usize::from(!row.wrapped);
        }
    }

    /// Hides what has the shape of a secret in each text of a message, and the hash of an output: who knows
    /// the rest of it could guess a secret by it. True: there was some.
    pub(crate) fn hide_in_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let hidden = self.hidden_in_text(text);
                let is_hidden = hidden != *text;
                *text = hidden;
                is_hidden
            }
            Value::Array(values) => values
                .iter_mut()
                .fold(false, |hidden, value| self.hide_in_value(value) | hidden),
            Value::Object(fields) => {
                let has_hash = fields.remove(OUTPUT_HASH).is_some();
                fields
                    .values_mut()
                    .fold(has_hash, |hidden, value| self.hide_in_value(value) | hidden)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

impl OutputSecrets {
    /// A text that is no output. In a path each name is looked at by itself: a word with slashes is taken
    /// for no token.
    fn hidden_in_text(&self, text: &str) -> String {
        let hidden = |text: &str| {
            let piece = OutputPiece {
                text,
                ..OutputPiece::default()
            };
            let hidden = self.redactor.output(&KnownSecrets::default(), piece);
            hidden.unwrap_or_else(|| text.to_owned())
        };
        if text.starts_with('/') {
            text.split('/').map(hidden).collect::<Vec<_>>().join("/")
        } else {
            hidden(text)
        }
    }
}

/// One row of the screen, from 0.
pub(crate) fn only_row(row: usize) -> ScreenRows {
    let row = i64::try_from(row).unwrap_or_default();
    ScreenRows {
        since: None,
        from_row: Some(row),
        to_row: Some(row),
    }
}

/// The text of rows, with a blank for each cell that nothing was written to.
pub(crate) fn text_of(rows: &[ScreenRow]) -> String {
    let runs = rows.iter().flat_map(|row| &row.runs);
    runs.map(|run| run.text.as_str()).collect()
}
