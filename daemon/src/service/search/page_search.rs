//! One page of a search: the commands first, then the output, newest first.

use std::collections::VecDeque;

use termd_proto::Offset;
use termd_proto::command::CommandInfo;
use termd_proto::search::{CommandHit, OutputHit, SearchHit, SearchIn};
use termd_proto::terminal::{Encoding, Front};
use termd_vt::plain::{Anchor, Output, PlainText};
use tokio::time::Instant;

use super::candidates::Candidates;
use super::document::{DocumentReader, DocumentTexts};
use super::filter::{fits, is_below, is_restricted, is_within, may_have_hits};
use super::indexer::size_of;
use super::line_match::{self, LineMatch, matches};
use super::nearby::Nearby;
use super::place::Place;
use super::raw_lines::RawLines;
use super::{Search, Searcher};
use crate::service::registry::stored_terminal;
use crate::store::{CommandQuery, IndexedDocument, TerminalRow};
use crate::terminal::Terminal;
use crate::terminal::error::TerminalError;
use crate::terminal::output::transcript::TranscriptError;

/// Terminals read from the database at a time.
const PAGE: u32 = 200;
/// Lines that may begin at one offset: a program can move over all rows of the live region at once.
const MAX_LINES_OF_OFFSET: usize = 65;
/// The fewest commands read at a time.
const COMMANDS: u32 = 100;

/// One page in the making.
pub(super) struct PageSearch<'a> {
    searcher: &'a Searcher,
    search: &'a Search,
    front: Front,
    deadline: Instant,
    hits: Vec<SearchHit>,
    /// The offset of the last line in the terminal at hand.
    last: Option<Offset>,
}

impl<'a> PageSearch<'a> {
    pub(super) fn new(
        searcher: &'a Searcher,
        search: &'a Search,
        front: Front,
        deadline: Instant,
    ) -> Self {
        Self {
            searcher,
            search,
            front,
            deadline,
            hits: Vec::new(),
            last: None,
        }
    }

    pub(super) fn into_hits(self) -> Vec<SearchHit> {
        self.hits
    }

    /// Searches from a place on. Returns where the next page begins.
    pub(super) async fn go_on(&mut self, place: Place) -> Result<Option<Place>, TerminalError> {
        let place = match place {
            Place::Commands(cursor) => {
                if let Some(next) = self.commands(cursor).await? {
                    return Ok(Some(next));
                }
                if self.search.within == SearchIn::Commands {
                    return Ok(None);
                }
                (i64::MAX, Offset(u64::MAX))
            }
            Place::Output(terminal, before) => (terminal, before),
        };
        self.output(place).await
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    fn left(&self) -> usize {
        self.search.limit.saturating_sub(self.hits.len())
    }

    async fn commands(
        &mut self,
        mut cursor: Option<String>,
    ) -> Result<Option<Place>, TerminalError> {
        let search = self.search;
        let query = CommandQuery {
            terminal: search.terminal.clone(),
            tags: search.filter.tags.clone(),
            text: search.pattern.words().map(str::to_owned),
            exit_code: None,
            failed: search.filter.failed,
            since_ms: search.filter.since_ms,
            until_ms: search.filter.until_ms,
        };
        loop {
            let left = u32::try_from(self.left()).unwrap_or(u32::MAX);
            if left == 0 || self.is_late() {
                return Ok(Some(Place::Commands(cursor)));
            }
            // No more than fit: a page of commands is not left in its middle.
            let limit = if left < COMMANDS { left } else { COMMANDS };
            let page = self
                .searcher
                .store
                .list_commands(&query, cursor.as_deref(), limit);
            let page = page.await?;
            for command in page.commands {
                if let Some(hit) = self.fitting(command).await? {
                    self.hits.push(SearchHit::Command(Box::new(hit)));
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(None);
            }
        }
    }

    async fn fitting(&self, command: CommandInfo) -> Result<Option<CommandHit>, TerminalError> {
        let search = self.search;
        let line = command.agent_line.as_deref().unwrap_or(&command.text);
        let matches = line.lines().any(|line| search.pattern.find(line).is_some());
        if !matches || !is_below(command.cwd.as_deref(), search.filter.cwd.as_deref()) {
            return Ok(None);
        }
        let row = self.searcher.store.terminal(&command.terminal).await?;
        let label = row.and_then(|row| row.label);
        if search.filter.label.is_some() && label != search.filter.label {
            return Ok(None);
        }
        Ok(Some(CommandHit { label, command }))
    }

    async fn output(&mut self, place: (i64, Offset)) -> Result<Option<Place>, TerminalError> {
        let searcher = self.searcher;
        let only = match &self.search.terminal {
            Some(id) => match searcher.store.numbered_terminal(id).await? {
                Some(only) => Some(only),
                None => return Ok(None),
            },
            None => None,
        };
        let (newest, oldest) = match &only {
            Some((number, _)) => (place.0.min(*number), *number),
            None => (place.0, 0),
        };
        let index = searcher.index.as_deref().filter(|_| !self.search.is_raw);
        let question = self.search.pattern.question();
        let mut candidates = index.map(|index| Candidates::new(index, question, newest, oldest));
        let mut next = newest;
        loop {
            let page = match &only {
                Some((number, _)) if *number > next => return Ok(None),
                Some(only) => vec![only.clone()],
                None => searcher.store.newest_terminals(next, PAGE).await?,
            };
            let Some((last, _)) = page.last() else {
                return Ok(None);
            };
            next = last - 1;
            for (number, row) in &page {
                let before = if *number == place.0 {
                    place.1
                } else {
                    Offset(u64::MAX)
                };
                if let Some(before) = self
                    .terminal((*number, row), before, &mut candidates)
                    .await?
                {
                    return Ok(Some(Place::Output(*number, before)));
                }
            }
        }
    }

    /// Searches one terminal before an offset. Returns the offset before which the next page goes on, if it
    /// is not this one that ends here.
    async fn terminal(
        &mut self,
        (number, row): (i64, &TerminalRow),
        before: Offset,
        candidates: &mut Option<Candidates<'_>>,
    ) -> Result<Option<Offset>, TerminalError> {
        if self.left() == 0 || self.is_late() {
            return Ok(Some(before));
        }
        self.last = None;
        if !may_have_hits(&self.search.filter, row) {
            return Ok(None);
        }
        let live = self.searcher.registry.get(&row.id);
        let terminal = live.unwrap_or_else(|| stored_terminal(row, &self.searcher.store));
        let end = terminal.end().max(row.end);
        if end <= row.start {
            return Ok(None);
        }
        let index = candidates.as_ref().map(Candidates::index);
        let mut progress = index.and_then(|index| index.progress(number));
        let is_whole = progress.is_some_and(|progress| progress.is_done && progress.next >= end);
        let bound = before;
        let mut before = before;
        if !is_whole {
            // What is indexed from here on is in the tail.
            let state = match index {
                Some(index) => index.state(number).await?,
                None => None,
            };
            progress = state.as_ref().map(|(progress, _)| *progress);
            let state = state.map(|(_, state)| state);
            let tail = self.tail(&terminal, row, before, state);
            let Some((first, found)) = tail.await? else {
                return Ok(Some(before));
            };
            if let Some(next) = self.take(&terminal, found).await? {
                return Ok(Some(next));
            }
            before = before.min(first);
        }
        let Some(candidates) = candidates else {
            return Ok(None);
        };
        let mut texts = DocumentTexts::new(&terminal.transcript);
        while let Some(document) = candidates.next_of(number).await? {
            if !progress.is_some_and(|progress| progress.has(&document)) {
                continue;
            }
            if self.is_late() {
                return Ok(Some(before));
            }
            let Some(plain) = PlainText::restore(&document.state) else {
                tracing::warn!(terminal = %row.id, "a damaged state in the index of the search");
                continue;
            };
            let first = Offset(plain.next());
            if first >= bound {
                continue;
            }
            let text = texts.text_of(&document, plain).await?;
            let mut found = self.matches(&terminal, &text).await?;
            found.retain(|found| found.offset < bound);
            if self.lacks_context(&found) {
                let beside = candidates.index().neighbours(&document).await?;
                self.add_context(&terminal, &mut found, beside, &mut texts)
                    .await?;
            }
            if let Some(next) = self.take(&terminal, found).await? {
                return Ok(Some(next));
            }
            before = before.min(first);
            tokio::task::yield_now().await;
        }
        Ok(None)
    }

    /// Whether a match is so near the edge of its document that lines around it stand in the next one.
    fn lacks_context(&self, found: &[LineMatch]) -> bool {
        let wanted = self.search.context;
        let mut found = found.iter();
        found.any(|found| found.before.len() < wanted || found.after.len() < wanted)
    }

    /// Adds lines of the documents beside the one that the matches are in.
    async fn add_context(
        &self,
        terminal: &Terminal,
        found: &mut [LineMatch],
        beside: [Option<IndexedDocument>; 2],
        texts: &mut DocumentTexts<'_>,
    ) -> Result<(), TerminalError> {
        let mut lines = [Vec::new(), Vec::new()];
        for (lines, document) in lines.iter_mut().zip(beside) {
            let Some(document) = document else { continue };
            let Some(plain) = PlainText::restore(&document.state) else {
                continue;
            };
            let output = texts.text_of(&document, plain).await?;
            let hidden = self.hidden(terminal, &output).await?;
            *lines = line_match::lines(hidden.as_deref().unwrap_or(&output.text));
        }
        let [before, after] = lines;
        for found in found {
            found.add_before(&before, self.search.context);
            found.add_after(&after, self.search.context);
        }
        Ok(())
    }

    async fn matches(
        &self,
        terminal: &Terminal,
        output: &Output,
    ) -> Result<Vec<LineMatch>, TerminalError> {
        let pattern = &self.search.pattern;
        if pattern.is_nowhere_in(&output.text) {
            return Ok(Vec::new());
        }
        let hidden = self.hidden(terminal, output).await?;
        let context = self.search.context;
        Ok(matches(output, hidden.as_deref(), pattern, context))
    }

    /// A text without the secrets in it, also one that only begins or ends there; `None`: it stays.
    async fn hidden(
        &self,
        terminal: &Terminal,
        output: &Output,
    ) -> Result<Option<String>, TranscriptError> {
        let raw = |anchor: Option<&Anchor>| Offset(anchor.map_or(0, |anchor| anchor.raw));
        let range = (raw(output.anchors.first()), raw(output.anchors.last()));
        let encoding = if self.search.is_raw {
            Encoding::Raw
        } else {
            Encoding::Text
        };
        let secrets = &self.searcher.output_secrets;
        let text = (output.text.as_str(), encoding);
        secrets
            .hidden_between(self.front, terminal, text, range)
            .await
    }

    /// The newest matches in what is not indexed, in order, with more than fit, and where its first line
    /// begins; `None`: the time is over. `state` is the resolver's where the index ends.
    async fn tail(
        &self,
        terminal: &Terminal,
        row: &TerminalRow,
        before: Offset,
        state: Option<Vec<u8>>,
    ) -> Result<Option<(Offset, Vec<LineMatch>)>, TerminalError> {
        let end = terminal.end().max(row.end);
        let mut newest: VecDeque<LineMatch> = VecDeque::new();
        // Each may be of a command that is not wanted.
        let most = if is_restricted(&self.search.filter) {
            usize::MAX
        } else {
            self.left() + MAX_LINES_OF_OFFSET
        };
        let mut keep = |found: Vec<LineMatch>| {
            newest.extend(found.into_iter().filter(|found| found.offset < before));
            while newest.len() > most {
                newest.pop_front();
            }
        };
        if self.search.is_raw {
            let mut lines = RawLines::new(&terminal.transcript, row.start);
            while let Some(text) = lines.next(end).await? {
                keep(self.matches(terminal, &text).await?);
                if self.is_late() {
                    return Ok(None);
                }
                tokio::task::yield_now().await;
            }
            return Ok(Some((row.start, newest.into())));
        }
        let resumed = state.and_then(|state| DocumentReader::resume(&terminal.transcript, &state));
        let fresh = || DocumentReader::new(&terminal.transcript, size_of(row), row.start);
        let mut reader = resumed.unwrap_or_else(fresh).with_long_documents();
        let first = reader.first_line();
        if first >= before {
            return Ok(Some((before, Vec::new())));
        }
        while let Some(document) = reader.next(end).await? {
            keep(self.matches(terminal, &document.output).await?);
            if self.is_late() {
                return Ok(None);
            }
            tokio::task::yield_now().await;
        }
        keep(self.matches(terminal, &reader.finish().output).await?);
        Ok(Some((first, newest.into())))
    }

    /// Adds matches of a terminal, the last first, as far as they fit. Returns the offset before which the
    /// next page goes on.
    async fn take(
        &mut self,
        terminal: &Terminal,
        found: Vec<LineMatch>,
    ) -> Result<Option<Offset>, TerminalError> {
        let mut nearby: Option<Nearby> = None;
        for found in found.into_iter().rev() {
            // Lines of one offset are in one page.
            if self.left() == 0 && self.last != Some(found.offset) {
                return Ok(Some(self.last.unwrap_or(Offset(u64::MAX))));
            }
            self.last = Some(found.offset);
            let range = (found.offset, found.end.max(Offset(found.offset.0 + 1)));
            let known = match nearby.take().filter(|nearby| nearby.has(range)) {
                Some(known) => known,
                None => Nearby::read(&self.searcher.store, terminal, range).await?,
            };
            if let Some(hit) = self.hit(terminal, found, &known) {
                self.hits.push(SearchHit::Output(Box::new(hit)));
            }
            nearby = Some(known);
        }
        Ok(None)
    }

    /// The hit; `None` where it is not wanted.
    fn hit(&self, terminal: &Terminal, found: LineMatch, nearby: &Nearby) -> Option<OutputHit> {
        let offset = found.offset;
        let started_at_ms = terminal.record.created_at_ms;
        let came_ms = nearby.came_ms(offset);
        let at_ms =
            came_ms.map(|ms| started_at_ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let known_ms = at_ms.unwrap_or(started_at_ms);
        let filter = &self.search.filter;
        if !is_within(filter, known_ms) {
            return None;
        }
        // A line may begin with what the shell has said of its command before it ran.
        let last_byte = offset.max(Offset(found.end.0.saturating_sub(1)));
        let command = nearby.command(last_byte);
        if !fits(filter, command) {
            return None;
        }
        Some(OutputHit {
            terminal: terminal.id().clone(),
            label: terminal.label(),
            offset,
            at_ms,
            line: found.line,
            match_start: found.found.start,
            match_end: found.found.end,
            before: found.before,
            after: found.after,
            command: command.cloned(),
        })
    }
}
