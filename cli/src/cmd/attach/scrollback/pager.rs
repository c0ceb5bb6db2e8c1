//! The state of the scrollback: which rows are shown, and what each key does. Pure.
//!
//! What has to be read is a value that is asked for.

use regex::Regex;
use termd_proto::Offset;
use termd_tui::clipboard::MAX_COPIED_BYTES;
use termd_tui::input::{Input, Key, MouseAction};
use termd_tui::text_field::TextField;

use super::block::Block;
use super::direction::Direction;
use super::reader::Place;
use super::rows::Rows;
use super::search::{Search, Step};
use crate::arg_types::Size;
use crate::cmd::replay::find::pattern;

/// Rows of a turn of the mouse's wheel.
const WHEEL_ROWS: i64 = 3;
/// Columns of a step sideways.
const SIDE_COLUMNS: u16 = 16;

/// A block that has to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) place: Place,
    pub(super) purpose: Purpose,
}

/// What a block is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is shown, and nothing else.
    Jump,
    /// It is the neighbour of those that are shown.
    Neighbour(Direction),
    Search,
}

/// What a key has come to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Stays,
    Leaves,
    Copies(String),
}

/// What is being typed.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) direction: Direction,
    pub(super) field: TextField,
}

#[derive(Debug)]
pub(super) struct Pager {
    size: Size,
    pub(super) rows: Rows,
    /// The first row that is shown, and the row that keys move.
    pub(super) top: i64,
    pub(super) cursor: i64,
    pub(super) from_col: u16,
    /// The other end of the selection.
    anchor: Option<i64>,
    jump: Option<Place>,
    /// Rows that a key moves on when they have been read.
    owed: i64,
    search: Option<Search>,
    /// The last search, for `n`.
    pub(super) last_search: Option<(Regex, Direction)>,
    pub(super) prompt: Option<Prompt>,
    pub(super) said: Option<String>,
    has_failed: bool,
}

impl Pager {
    /// Without rows yet.
    pub(super) fn new(size: Size) -> Self {
        Self {
            size,
            rows: Rows::of((Offset::ZERO, Offset::ZERO)),
            top: 0,
            cursor: 0,
            from_col: 0,
            anchor: None,
            jump: None,
            owed: 0,
            search: None,
            last_search: None,
            prompt: None,
            said: None,
            has_failed: false,
        }
    }

    /// Goes to the end of this output, or to its start where that was typed already.
    pub(super) fn begin(&mut self, range: (Offset, Offset)) {
        self.rows = Rows::of(range);
        self.jump = Some(match self.jump {
            Some(Place::From(_)) => self.rows.start(),
            Some(Place::Before(_)) | None => self.rows.end(),
        });
    }

    /// Rows of the tty above the status row.
    pub(super) fn height(&self) -> i64 {
        i64::from(self.size.rows.saturating_sub(1).max(1))
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        self.settle();
    }

    pub(super) fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// The rows that are selected.
    pub(super) fn selection(&self) -> Option<(i64, i64)> {
        let anchor = self.anchor?;
        Some((anchor.min(self.cursor), anchor.max(self.cursor)))
    }

    /// The block that is to be read now.
    pub(super) fn need(&self) -> Option<Need> {
        if self.has_failed {
            return None;
        }
        if let Some(place) = self.jump {
            let purpose = Purpose::Jump;
            return Some(Need { place, purpose });
        }
        if let Some(search) = &self.search
            && let Step::Needs(place) = search.needs(&self.rows)
        {
            let purpose = Purpose::Search;
            return Some(Need { place, purpose });
        }
        let neighbour = |direction| {
            let beside = self.rows.outermost(direction)?;
            let place = self.rows.next(beside, direction)?;
            let purpose = Purpose::Neighbour(direction);
            Some(Need { place, purpose })
        };
        let above = (self.top - self.height() < self.rows.first()).then_some(Direction::Up);
        let is_below_near = self.top + 2 * self.height() > self.rows.behind();
        let below = is_below_near.then_some(Direction::Down);
        above.and_then(neighbour).or(below.and_then(neighbour))
    }

    /// A block that was needed.
    pub(super) fn take(&mut self, need: Need, block: Block) {
        match need.purpose {
            Purpose::Jump => {
                self.jump = None;
                self.anchor = None;
                self.rows.replace(block);
                self.top = match need.place {
                    Place::Before(_) => self.rows.behind() - self.height(),
                    Place::From(_) => self.rows.first(),
                };
                self.top = self.top.max(self.rows.first());
                self.cursor = self.top;
                self.pay();
                // A search that was typed before these rows were read begins here.
                self.search = self.search.take().map(|search| search.beside(self.cursor));
            }
            Purpose::Neighbour(direction) => {
                let far = match direction {
                    Direction::Up => self.top + 3 * self.height(),
                    Direction::Down => self.top - 2 * self.height(),
                };
                self.rows.put(block, direction, far);
                if direction == Direction::Up {
                    self.pay();
                }
            }
            Purpose::Search => {
                if let Some(search) = &mut self.search {
                    search.take(block, &self.rows);
                }
            }
        }
        self.settle();
    }

    /// Moves on as far as a key has asked for.
    fn pay(&mut self) {
        let owed = std::mem::take(&mut self.owed);
        if owed != 0 {
            self.scroll(owed);
        }
    }

    /// Whether rows above those in memory have to be read first.
    fn is_cut_above(&self) -> bool {
        self.jump.is_some() || !self.rows.has_start()
    }

    /// A block could not be read. It is asked for again after the next key.
    pub(super) fn fail(&mut self, why: String) {
        self.has_failed = true;
        self.jump = None;
        self.search = None;
        self.said = Some(why);
    }

    /// Goes on with a search, where one is under way and no block is needed for it.
    pub(super) fn step(&mut self) {
        let Some(search) = &mut self.search else {
            return;
        };
        match search.step(&self.rows) {
            Step::Unfinished | Step::Needs(_) => {}
            Step::NotFound => {
                let way = match search.direction {
                    Direction::Up => "above",
                    Direction::Down => "below",
                };
                self.said = Some(format!("no match {way}"));
                self.search = None;
            }
            Step::Found(row) => {
                let beyond = search.beyond.take();
                if let Some(block) = beyond.filter(|block| block.has(row)) {
                    self.rows.replace(block);
                }
                self.cursor = row;
                self.search = self.search.take().and_then(|search| search.go_on_from(row));
                if !(self.top..self.top + self.height()).contains(&row) {
                    self.top = row - self.height() / 3;
                }
                self.settle();
            }
        }
    }

    pub(super) fn input(&mut self, input: &Input) -> Outcome {
        self.said = None;
        self.has_failed = false;
        self.owed = 0;
        match (input, &mut self.prompt) {
            (Input::Paste(text), Some(prompt)) => prompt.field.paste(text),
            (Input::Key(key), Some(_)) => self.press_in_prompt(*key),
            (Input::Paste(_), None) | (Input::Mouse(_), Some(_)) => {}
            (Input::Key(key), None) => return self.press(*key),
            (Input::Mouse(mouse), None) => match mouse.action {
                MouseAction::WheelUp => self.scroll(-WHEEL_ROWS),
                MouseAction::WheelDown => self.scroll(WHEEL_ROWS),
                MouseAction::Press if i64::from(mouse.row) < self.height() => {
                    self.cursor = self.top + i64::from(mouse.row);
                    self.settle();
                }
                MouseAction::Press => {}
            },
        }
        Outcome::Stays
    }

    pub(super) fn page_up(&mut self) {
        self.scroll(1 - self.height().max(2));
    }

    fn press(&mut self, key: Key) -> Outcome {
        let page = (self.height() - 1).max(1);
        match key {
            Key::Escape | Key::Char('q') | Key::Ctrl('c') => {
                let was_searching = self.search.take().is_some();
                let was_selecting = !was_searching && self.anchor.take().is_some();
                if !was_searching && !was_selecting {
                    return Outcome::Leaves;
                }
            }
            Key::Up | Key::Char('k') => self.go(-1),
            Key::PageUp | Key::Char('b') | Key::Ctrl('b') => self.page_up(),
            Key::PageDown | Key::Char('f') | Key::Ctrl('f') => self.scroll(page),
            Key::Ctrl('u') => self.scroll(-page / 2),
            Key::Ctrl('d') => self.scroll(page / 2),
            Key::Home | Key::Char('g' | '<') => self.go_to_start(),
            Key::End | Key::Char('G' | '>') => self.go_to_end(),
            Key::Left | Key::Char('h') => {
                self.from_col = self.from_col.saturating_sub(SIDE_COLUMNS);
            }
            Key::Right | Key::Char('l') => {
                // Columns are counted in 16 bits, and a terminal has fewer.
                self.from_col = self
                    .from_col
                    .saturating_add(SIDE_COLUMNS)
                    .min(i16::MAX as u16);
            }
            Key::Char('/') => self.ask(Direction::Down),
            Key::Char('?') => self.ask(Direction::Up),
            Key::Char('n') => self.search_again(|direction| direction),
            Key::Char('N') => self.search_again(Direction::opposite),
            Key::Char('v' | 'V' | ' ') => {
                self.anchor = match self.anchor {
                    None => Some(self.cursor),
                    Some(_) => None,
                };
            }
            Key::Char('y') | Key::Enter if self.anchor.is_some() => return self.copy(),
            Key::Down | Key::Enter | Key::Char('j') => self.go(1),
            _ => {}
        }
        Outcome::Stays
    }

    fn ask(&mut self, direction: Direction) {
        self.search = None;
        self.prompt = Some(Prompt {
            direction,
            field: TextField::default(),
        });
    }

    fn press_in_prompt(&mut self, key: Key) {
        let Some(mut prompt) = self.prompt.take() else {
            return;
        };
        match key {
            Key::Escape | Key::Ctrl('c') => {}
            Key::Backspace if prompt.field.text().is_empty() => {}
            Key::Enter if prompt.field.text().is_empty() => {
                self.search_again(|_| prompt.direction);
            }
            Key::Enter => match pattern(prompt.field.text()) {
                Ok(pattern) => self.search(pattern, prompt.direction),
                Err(_) => {
                    self.said = Some(format!("{} is no regular expression", prompt.field.text()));
                }
            },
            key => {
                prompt.field.press(key);
                self.prompt = Some(prompt);
            }
        }
    }

    fn search(&mut self, pattern: Regex, direction: Direction) {
        self.last_search = Some((pattern.clone(), direction));
        self.search = Some(Search::new(pattern, direction, self.cursor));
    }

    fn search_again(&mut self, way: impl Fn(Direction) -> Direction) {
        match (&self.last_search, &mut self.search) {
            (Some((_, direction)), Some(search)) => search.again.push_back(way(*direction)),
            (Some((pattern, direction)), None) => {
                let search = Search::new(pattern.clone(), way(*direction), self.cursor);
                self.search = Some(search);
            }
            (None, _) => self.said = Some("nothing to search for: / and ? ask for it".to_owned()),
        }
    }

    /// Moves the cursor, and what is shown with it.
    fn go(&mut self, rows: i64) {
        self.search = None;
        if self.cursor + rows < self.rows.first() && self.is_cut_above() {
            self.owed = rows;
            return;
        }
        self.cursor += rows;
        self.top = self
            .top
            .min(self.cursor)
            .max(self.cursor - self.height() + 1);
        self.settle();
    }

    /// Moves what is shown, and the cursor with it.
    fn scroll(&mut self, rows: i64) {
        self.search = None;
        if self.top + rows < self.rows.first() && self.is_cut_above() {
            self.owed = self.top + rows - self.rows.first();
            self.cursor += self.rows.first() - self.top;
            self.top = self.rows.first();
            return;
        }
        let lowest = (self.rows.behind() - self.height()).max(self.rows.first());
        let top = (self.top + rows).min(lowest.max(self.top));
        // At an end the cursor goes on alone.
        let moved = if top == self.top {
            rows
        } else {
            top - self.top
        };
        self.top = top;
        self.cursor += moved;
        self.settle();
    }

    fn go_to_start(&mut self) {
        self.search = None;
        if self.rows.has_start() {
            self.top = self.rows.first();
            self.cursor = self.top;
        } else {
            self.jump = Some(self.rows.start());
        }
    }

    fn go_to_end(&mut self) {
        self.search = None;
        if self.rows.has_end() {
            self.cursor = self.rows.behind() - 1;
            self.top = self.rows.behind() - self.height();
            self.settle();
        } else {
            self.jump = Some(self.rows.end());
        }
    }

    /// Keeps what is shown within the rows that are there.
    fn settle(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let (first, behind) = (self.rows.first(), self.rows.behind());
        self.cursor = self.cursor.min(behind - 1).max(first);
        let lowest = self.cursor - self.height() + 1;
        self.top = self.top.min(self.cursor).max(lowest);
        self.top = self.top.min(behind - self.height()).max(first);
    }

    /// How much of the output lies above the last row that is shown, or looked at by a search, in percent.
    pub(super) fn percent(&self) -> u64 {
        let searched = self
            .search
            .as_ref()
            .and_then(|search| search.beyond.as_ref());
        match searched {
            Some(block) => self.rows.percent(block.start),
            None => self.rows.percent_of_row(self.top + self.height() - 1),
        }
    }

    /// What is selected, as one text.
    fn copy(&mut self) -> Outcome {
        let Some(rows) = self.selection() else {
            return Outcome::Stays;
        };
        let Some(text) = self.rows.text(rows, MAX_COPIED_BYTES) else {
            self.said = Some(too_large());
            return Outcome::Stays;
        };
        self.anchor = None;
        let lines = text.lines().count();
        let plural = if lines == 1 { "" } else { "s" };
        self.said = Some(format!("copied {lines} line{plural}"));
        Outcome::Copies(text)
    }
}

fn too_large() -> String {
    format!("too large: a clipboard takes {MAX_COPIED_BYTES} bytes; termctl read has it all")
}

#[cfg(test)]
mod tests;
