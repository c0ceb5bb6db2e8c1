//! What keys and the mouse do to the overview: where the list has them, and which part has them else.

mod answer;
mod mouse;
mod prompted;

use std::time::{Duration, Instant};

use termd_client::waiting_question::WaitingQuestion;
use termd_proto::TerminalId;
use termd_proto::search::SearchHit;
use termd_proto::terminal::{Stdio, TerminalState};

use super::arrangement::Item;
use super::effect::{Call, Effect, Leave};
use super::mode::{Hits, Mode};
use super::model::{Daemon, Model};
use super::prompt::{Confirmed, Prompt, PromptKind};
use super::surroundings::Now;
use crate::input::{Input, Key};

/// A line may be typed for a prompt that was refused. Its letters are no keys, until a pause of this length or Enter.
const DEAF: Duration = Duration::from_millis(700);

impl Model {
    /// Takes what the person does.
    pub fn take_input(&mut self, input: Input, now: Now) -> Vec<Effect> {
        self.now = now;
        self.is_disordered = true;
        let effects = match input {
            Input::Key(Key::Ctrl('z')) => vec![Effect::Leave(Leave::Suspend)],
            Input::Key(key) => self.press(key, now.at),
            Input::Paste(text) => {
                if let Mode::Prompt(prompt) = &mut self.mode {
                    prompt.field.paste(&text);
                    self.filter_by_prompt();
                }
                Vec::new()
            }
            Input::Mouse(mouse) => {
                self.use_mouse(mouse);
                Vec::new()
            }
        };
        self.settle(now, effects)
    }

    fn press(&mut self, key: Key, now: Instant) -> Vec<Effect> {
        match std::mem::replace(&mut self.mode, Mode::Browse) {
            Mode::Browse => self.press_in_list(key, now),
            Mode::Prompt(prompt) => self.press_in_prompt(prompt, key),
            Mode::Confirm(confirmed) => self.confirm(confirmed, key),
            Mode::Question(from) => self.press_in_question(from, key, now),
            Mode::Help(from) => {
                if let Some(from) = scrolled(from, key, self.size.1) {
                    self.mode = Mode::Help(from);
                }
                Vec::new()
            }
            Mode::Hits(hits) => self.press_in_hits(hits, key),
        }
    }

    fn press_in_list(&mut self, key: Key, now: Instant) -> Vec<Effect> {
        let is_deaf = self.deaf_until.is_some_and(|until| now < until);
        if is_deaf && key != Key::Ctrl('c') {
            self.deaf_until = (key != Key::Enter).then_some(now + DEAF);
            return Vec::new();
        }
        let effects = self.press_listened(key, now);
        // A line that was typed ahead of a prompt which did not come: each letter would be a key.
        let asks = matches!(key, Key::Char('i' | 's' | 't'))
            || matches!(key, Key::Char('p' | 'n')) && self.questions.shown().is_none();
        let is_refused = asks && effects.is_empty() && matches!(self.mode, Mode::Browse);
        self.deaf_until = is_refused.then_some(now + DEAF);
        effects
    }

    fn press_listened(&mut self, key: Key, now: Instant) -> Vec<Effect> {
        match key {
            Key::Up | Key::Ctrl('p') => self.step(-1),
            Key::Down | Key::Ctrl('n') => self.step(1),
            Key::Home => self.step(isize::MIN),
            Key::End => self.step(isize::MAX),
            Key::PageUp => self.scroll_screen(i64::from(self.layout().screen.height)),
            Key::PageDown => self.scroll_screen(-i64::from(self.layout().screen.height)),
            Key::Tab => {
                self.list.shows_ended = !self.list.shows_ended;
                self.say(if self.list.shows_ended {
                    "those that have ended are listed, too"
                } else {
                    "only what runs or waits is listed"
                });
            }
            Key::Escape => self.list.filter.clear(),
            Key::Char('?') => self.mode = Mode::Help(0),
            Key::Char('/') => {
                self.mode = Mode::Prompt(Prompt::new(PromptKind::Filter, &self.list.filter));
            }
            Key::Char('g') => {
                self.list.grouping = self.list.grouping.next();
                self.say(self.list.grouping.said());
            }
            Key::Char('q') | Key::Ctrl('c') => return vec![Effect::Leave(Leave::Quit)],
            Key::Char(c) => return self.act(c, now),
            Key::Enter => return self.act_at_hand('\r'),
            _ => {}
        }
        Vec::new()
    }

    /// The keys that need the daemon.
    fn act(&mut self, key: char, now: Instant) -> Vec<Effect> {
        if self.daemon != Daemon::Here {
            self.say("the daemon does not answer");
            return Vec::new();
        }
        match key {
            'y' | 'a' => self.answer(key, now),
            'n' if self.questions.shown().is_some() => self.answer(key, now),
            'v' if self.questions.shown().is_some() => {
                self.mode = Mode::Question(0);
                Vec::new()
            }
            'n' => self.ask_for(PromptKind::New),
            's' => self.ask_for(PromptKind::Search),
            'p' => match self.questions.readable(now) {
                Some(WaitingQuestion::Secret(asked)) => {
                    let id = asked.id.clone();
                    self.ask_for(PromptKind::AskedSecret(id))
                }
                _ => self.act_at_hand('p'),
            },
            'i' | 'k' | 'x' | 'r' | 'c' | 't' => self.act_at_hand(key),
            _ => {
                self.say("? lists the keys");
                Vec::new()
            }
        }
    }

    /// The keys that are of the terminal at hand.
    fn act_at_hand(&mut self, key: char) -> Vec<Effect> {
        if self.daemon != Daemon::Here {
            self.say("the daemon does not answer");
            return Vec::new();
        }
        let Some(row) = self.list.row_at_hand() else {
            self.say("there is no terminal: n starts one");
            return Vec::new();
        };
        let id = row.info.id.clone();
        let is_running = row.info.state == TerminalState::Running;
        let is_pty = row.info.stdio == Stdio::Pty;
        match key {
            '\r' if !is_running => self.say("it has ended: r replays it"),
            '\r' if !is_pty => self.say("it has no tty to attach to"),
            '\r' => return vec![Effect::Leave(Leave::Attach(id))],
            'r' => return vec![Effect::Leave(Leave::Replay(id, None))],
            'c' => return vec![Effect::Call(Call::Copy(id))],
            't' => {
                let tags = row.tags();
                self.mode = Mode::Prompt(Prompt::new(PromptKind::Tags(id), &tags));
            }
            'i' | 'p' | 'k' if !is_running => self.say("it has ended"),
            'i' => return self.ask_for(PromptKind::Line(id)),
            'p' => return self.ask_for(PromptKind::Secret(id)),
            'k' => self.mode = Mode::Confirm(Confirmed::Kill(id)),
            'x' if is_running => self.mode = Mode::Confirm(Confirmed::Close(id)),
            'x' => return vec![Effect::Call(Call::Close(id))],
            _ => {}
        }
        Vec::new()
    }

    fn ask_for(&mut self, kind: PromptKind) -> Vec<Effect> {
        self.mode = Mode::Prompt(Prompt::new(kind, ""));
        Vec::new()
    }

    fn confirm(&mut self, confirmed: Confirmed, key: Key) -> Vec<Effect> {
        if key != Key::Char('y') {
            self.say("nothing was done");
            return Vec::new();
        }
        vec![Effect::Call(match confirmed {
            Confirmed::Kill(id) => Call::Kill(id),
            Confirmed::Close(id) => Call::Close(id),
        })]
    }

    fn press_in_hits(&mut self, mut hits: Hits, key: Key) -> Vec<Effect> {
        let count = hits.found.as_ref().map_or(0, Vec::len);
        let page = usize::from(self.size.1.saturating_sub(2)).max(1);
        hits.at = match key {
            Key::Escape | Key::Char('q') | Key::Ctrl('c') => return Vec::new(),
            Key::Up => hits.at.saturating_sub(1),
            Key::Down => hits.at + 1,
            Key::PageUp => hits.at.saturating_sub(page),
            Key::PageDown => hits.at + page,
            Key::Home => 0,
            Key::End => count,
            Key::Enter => {
                let place = hits
                    .found
                    .as_ref()
                    .and_then(|found| found.get(hits.at))
                    .map(place_of);
                self.mode = Mode::Hits(hits);
                let leave = place.map(|(id, offset)| Leave::Replay(id, Some(offset)));
                return leave.map(Effect::Leave).into_iter().collect();
            }
            _ => hits.at,
        };
        hits.at = hits.at.min(count.saturating_sub(1));
        self.mode = Mode::Hits(hits);
        Vec::new()
    }

    /// Takes the terminal in hand that is this number of rows further down.
    fn step(&mut self, by: isize) {
        let listed = self.list.items.iter().filter_map(|item| match item {
            Item::Terminal(id) => Some(id),
            Item::Group(_) => None,
        });
        let listed: Vec<&TerminalId> = listed.collect();
        let at_hand = self.list.at_hand();
        let at = listed
            .iter()
            .position(|id| Some(*id) == at_hand)
            .unwrap_or(0);
        let to = at
            .saturating_add_signed(by)
            .min(listed.len().saturating_sub(1));
        if let Some(id) = listed.get(to).map(|id| (*id).clone()) {
            self.list.take_in_hand(&id);
        }
        self.list.show_at_hand(self.list_area());
    }

    /// Scrolls the screen of the terminal at hand up by this number of rows, as far as its scrollback goes.
    fn scroll_screen(&mut self, rows: i64) {
        let Some(shown) = &self.screen else {
            return;
        };
        // Of a screen that is higher than its place a part is cut off at the top.
        let cut_off = shown.from_row.saturating_add(self.scrolled.into());
        let most = shown.screen.scrollback_rows.saturating_add_signed(cut_off);
        let to = i64::from(self.scrolled).saturating_add(rows).max(0);
        self.scrolled = u32::try_from(to)
            .unwrap_or(u32::MAX)
            .min(u32::try_from(most).unwrap_or(u32::MAX));
    }
}

/// Where keys scroll a text from a line on; `None`: they close it.
fn scrolled(from: u16, key: Key, page: u16) -> Option<u16> {
    Some(match key {
        Key::Up => from.saturating_sub(1),
        Key::Down => from.saturating_add(1),
        Key::PageUp => from.saturating_sub(page),
        Key::PageDown | Key::Char(' ') => from.saturating_add(page),
        Key::Home => 0,
        Key::End => u16::MAX,
        _ => return None,
    })
}

/// Where a hit can be looked at.
fn place_of(hit: &SearchHit) -> (TerminalId, termd_proto::Offset) {
    match hit {
        SearchHit::Output(hit) => (hit.terminal.clone(), hit.offset),
        SearchHit::Command(hit) => (hit.command.terminal.clone(), hit.command.start),
    }
}
