//! A replay and the person who watches it: what each key does, patterns, and messages. Pure: the time is an
//! argument.

use std::time::{Duration, Instant};

use regex::Regex;
use termd_client::gap_note;
use termd_proto::Offset;

use super::bar::Status;
use super::find::pattern;
use super::keys::Key;
use super::pattern_prompt::{PatternPrompt, Typed};
use super::playback::{Playback, Step};
use super::search::{Direction, Match};

/// How far an arrow to the side jumps.
const STEP_MS: u64 = 5_000;
/// How far an arrow up or down jumps.
const LONG_STEP_MS: u64 = 60_000;
/// How long a message is shown.
const MESSAGE: Duration = Duration::from_secs(4);

/// It fits into a row of 80 columns.
const HELP: &str = "space pause; arrows 0-9 jump; + - speed; [ ] commands; / n N search; q quit";

/// Whether a key ends the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Stay,
    Quit,
}

/// A replay.
#[derive(Debug)]
pub(super) struct Player {
    pub(super) playback: Playback,
    pattern: Option<Regex>,
    /// The match that was found last.
    found: Option<Match>,
    /// A search that was asked for on the way to somewhere else, and begins there.
    next_search: Option<Direction>,
    prompt: Option<PatternPrompt>,
    /// Whether it goes on once the pattern is typed.
    is_held: bool,
    message: Option<(String, Instant)>,
}

impl Player {
    pub(super) fn new(playback: Playback) -> Self {
        Self {
            playback,
            pattern: None,
            found: None,
            next_search: None,
            prompt: None,
            is_held: false,
            message: None,
        }
    }

    /// What is to be lit.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.pattern.as_ref()
    }

    /// Shows what is due. Returns whether something may look otherwise.
    pub(super) fn tick(&mut self, now: Instant) -> bool {
        let is_over = |message: &mut (String, Instant)| message.1 <= now;
        let was_over = self.message.take_if(is_over).is_some();
        self.advance(now) || was_over
    }

    fn advance(&mut self, now: Instant) -> bool {
        if !self.playback.is_seeking()
            && let Some(direction) = self.next_search.take()
        {
            self.find(direction, now);
            return true;
        }
        let step = self.playback.step(now);
        if let Some(gap) = self.playback.take_crossed_gap() {
            self.say(&gap_note(gap), now);
        }
        match step {
            Step::Same => false,
            Step::Changed => true,
            Step::Found(found) => {
                self.message = None;
                self.found = Some(found);
                true
            }
            Step::NotFound(text) => {
                self.say(text, now);
                false
            }
        }
    }

    /// Shows a message for a while.
    pub(super) fn say(&mut self, text: &str, now: Instant) {
        self.message = Some((text.to_owned(), now + MESSAGE));
    }

    /// Does what a key is for.
    pub(super) fn press(&mut self, key: Key, now: Instant) -> Outcome {
        if key == Key::Interrupt {
            return Outcome::Quit;
        }
        if let Some(prompt) = self.prompt.take() {
            self.type_pattern(prompt.press(key), now);
            return Outcome::Stay;
        }
        self.message = None;
        let position_ms = self.playback.position_ms(now);
        let playback = &mut self.playback;
        match key {
            Key::Char('q') => return Outcome::Quit,
            Key::Char(' ') => playback.pause(now),
            Key::Char('+' | '=') => playback.clock.faster(now),
            Key::Char('-' | '_') => playback.clock.slower(now),
            Key::Left => playback.seek_time(position_ms.saturating_sub(STEP_MS), now),
            Key::Right => playback.seek_time(position_ms + STEP_MS, now),
            Key::Down => playback.seek_time(position_ms.saturating_sub(LONG_STEP_MS), now),
            Key::Up => playback.seek_time(position_ms + LONG_STEP_MS, now),
            Key::Home => playback.seek_time(0, now),
            Key::End => playback.seek_time(u64::MAX, now),
            Key::Char('[') => {
                let command = playback.previous_command(position_ms);
                self.go_to_command(command, "no command before this", now);
            }
            Key::Char(']') => {
                let command = playback.next_command();
                self.go_to_command(command, "no command after this", now);
            }
            Key::Char('/') => {
                self.is_held = playback.hold(now);
                self.prompt = Some(PatternPrompt::default());
            }
            Key::Char('n') => self.find(Direction::Forward, now),
            Key::Char('N') => self.find(Direction::Backward, now),
            Key::Char('?' | 'h') => self.say(HELP, now),
            Key::Escape => {
                self.pattern = None;
                self.next_search = None;
                if self.playback.is_searching() {
                    self.playback.seek_time(position_ms, now);
                }
            }
            Key::Char(digit) => {
                if let Some(tenths) = digit.to_digit(10) {
                    let part = self.playback.length_ms() / 10 * u64::from(tenths);
                    self.playback.seek_time(part, now);
                }
            }
            Key::Enter | Key::Backspace | Key::Kill | Key::WordErase | Key::Interrupt => {}
        }
        Outcome::Stay
    }

    fn go_to_command(&mut self, command: Option<Offset>, without: &str, now: Instant) {
        match command {
            Some(start) => self.playback.seek_offset(start),
            None => self.say(without, now),
        }
    }

    fn type_pattern(&mut self, typed: Typed, now: Instant) {
        if !matches!(typed, Typed::GoesOn(_)) && std::mem::take(&mut self.is_held) {
            self.playback.go_on(now);
        }
        match typed {
            Typed::GoesOn(prompt) => self.prompt = Some(prompt),
            Typed::GivenUp => {}
            Typed::Entered(text) => match pattern(&text) {
                Ok(pattern) => {
                    self.pattern = Some(pattern);
                    self.found = None;
                    self.find(Direction::Forward, now);
                }
                Err(_) => self.say(&format!("{text} is no regular expression"), now),
            },
        }
    }

    fn find(&mut self, direction: Direction, now: Instant) {
        let Some(pattern) = self.pattern.clone() else {
            self.say("/ searches first", now);
            return;
        };
        if self.playback.is_seeking() {
            self.next_search = Some(direction);
            return;
        }
        self.playback.find((direction, pattern), self.found, now);
    }

    /// What the bar shows.
    pub(super) fn status(&mut self, now: Instant) -> Status<'_> {
        Status {
            prompt: self.prompt.as_ref().map(PatternPrompt::text),
            message: self.message.as_ref().map(|(text, _)| text.as_str()),
            ..self.playback.status(now)
        }
    }

    /// When something is to be done next, as far as nothing is read and no key pressed.
    pub(super) fn wake(&self, now: Instant) -> Option<Instant> {
        if self.next_search.is_some() && !self.playback.is_seeking() {
            return Some(now);
        }
        let over = self.message.as_ref().map(|(_, until)| *until);
        [self.playback.wake(now), over].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
