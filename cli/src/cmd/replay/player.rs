//! A replay's state: where it is, what it shows, and what each key does. Pure: the time is an argument,
//! and what has to be read is a value.

use std::time::{Duration, Instant};

use regex::Regex;
use termd_proto::Offset;
use termd_proto::command::CommandInfo;
use termd_proto::recording::Keyframe;
use termd_proto::terminal::TerminalState;

use super::clock::Clock;
use super::commands::Commands;
use super::event_queue::EventQueue;
use super::find::pattern;
use super::keys::Key;
use super::page::{Event, EventKind, OutputClock, Page};
use super::pattern_prompt::{PatternPrompt, Typed};
use super::range::Range;
use super::search::{Direction, Match, Progress, Search};
use super::stage::{Jump, Stage};
use super::timeline::Timeline;

/// Output that is fed rather than jumped over, in bytes: keyframes are as far apart.
const NEAR_BYTES: u64 = 4 << 20;
/// The most output between two looks for a pattern, in bytes: some lines.
const FIND_PIECE_BYTES: usize = 2 << 10;
/// The most lines of it: so few that a tty which is smaller than the screen shows them all.
const FIND_PIECE_LINES: usize = 8;
/// How far an arrow to the side jumps.
const STEP_MS: u64 = 5_000;
/// How far an arrow up or down jumps.
const LONG_STEP_MS: u64 = 60_000;
/// Within this time of a command's beginning `[` goes to the one before.
const AGAIN_MS: u64 = 1_000;
/// How long a message is shown.
const MESSAGE: Duration = Duration::from_secs(4);

/// It fits into a row of 80 columns.
const HELP: &str = "space pause; arrows 0-9 jump; + - speed; [ ] commands; / n N search; q quit";

/// What has to be read before the replay goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The screen that is kept at or before this.
    Keyframe(Offset),
    /// The output from here on.
    Page(Offset),
    /// The commands of the terminal's shell.
    Commands,
}

/// Whether a key ends the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Stay,
    Quit,
}

/// Where the replay goes without a stop.
#[derive(Debug)]
enum Goal {
    /// To a play time.
    Time(u64),
    Offset(Offset),
    Match(Match),
    /// To where a pattern comes next, or came last.
    Search(Box<Search>),
}

/// What the bar shows of a replay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Status<'a> {
    pub(super) state: &'static str,
    pub(super) speed: f64,
    pub(super) position_ms: u64,
    pub(super) length_ms: u64,
    /// The play times at which commands began.
    pub(super) ticks: &'a [u64],
    pub(super) command: Option<&'a str>,
    /// The time at which this came, in milliseconds since the Unix epoch.
    pub(super) clock_ms: Option<i64>,
    pub(super) clock: OutputClock,
    /// The pattern that is being typed.
    pub(super) prompt: Option<&'a str>,
    pub(super) message: Option<&'a str>,
}

/// A replay.
#[derive(Debug)]
pub(super) struct Player {
    range: Range,
    timeline: Timeline,
    commands: Commands,
    stage: Stage,
    queue: EventQueue,
    /// The end of what has been read.
    loaded_to: Offset,
    /// Nothing comes after what has been read.
    is_complete: bool,
    clock: Clock,
    /// The play time of what is shown.
    shown_ms: u64,
    shown_clock: OutputClock,
    /// The end of a live terminal is shown, and what comes is shown at once.
    follows: bool,
    goal: Option<Goal>,
    /// The offset that was gone to last, and its play time.
    arrived: (Offset, u64),
    /// The offset of a jump that waits for a keyframe before it.
    jump: Option<Offset>,
    /// A keyframe was of another version: the output is played from its start.
    lacks_keyframes: bool,
    /// Counts jumps: what was read for an earlier one is of no use.
    jumps: u64,
    pattern: Option<Regex>,
    /// The match that was found last.
    found: Option<Match>,
    /// A search that was asked for on the way to somewhere else, and begins there.
    next_search: Option<Direction>,
    prompt: Option<PatternPrompt>,
    message: Option<(String, Instant)>,
}

impl Player {
    pub(super) fn new(
        (range, timeline): (Range, Timeline),
        commands: &[CommandInfo],
        (stage, speed): (Stage, f64),
        now: Instant,
    ) -> Self {
        let mut player = Self {
            range,
            timeline,
            commands: Commands::new(commands, range),
            stage,
            queue: EventQueue::default(),
            loaded_to: range.start,
            is_complete: false,
            clock: Clock::new(speed, now),
            shown_ms: 0,
            shown_clock: OutputClock::Noted,
            follows: false,
            goal: None,
            arrived: (Offset::ZERO, 0),
            jump: None,
            lacks_keyframes: false,
            jumps: 0,
            pattern: None,
            found: None,
            next_search: None,
            prompt: None,
            message: None,
        };
        player.jump(range.start);
        player.goal = Some(Goal::Offset(range.start));
        player
    }

    /// What is to be read now.
    pub(super) fn need(&self) -> Option<Need> {
        if let Some(to) = self.jump {
            let at = if self.lacks_keyframes {
                self.range.kept_from
            } else {
                to
            };
            return Some(Need::Keyframe(at));
        }
        if self.commands.lacks_newest() {
            return Some(Need::Commands);
        }
        let has_enough = self.is_complete || self.queue.is_full();
        (!has_enough).then_some(Need::Page(self.loaded_to))
    }

    /// The number of the last jump.
    pub(super) fn jumps(&self) -> u64 {
        self.jumps
    }

    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// What is to be lit.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.pattern.as_ref()
    }

    /// Whether the replay is on its way to another position, and shows nothing of the way.
    pub(super) fn is_seeking(&self) -> bool {
        self.goal.is_some() || self.jump.is_some()
    }

    pub(super) fn take_commands(&mut self, commands: &[CommandInfo]) {
        self.commands = Commands::new(commands, self.range);
    }

    pub(super) fn take_keyframe(&mut self, keyframe: &Keyframe, dump: Option<&[u8]>) {
        let Some(to) = self.jump.take() else {
            return;
        };
        match self.stage.jump(to, keyframe, dump) {
            Jump::Kept | Jump::Start => {}
            Jump::Unreadable => {
                self.lacks_keyframes = true;
                if keyframe.at > self.range.kept_from {
                    self.jump(to);
                    return;
                }
            }
        }
        self.loaded_to = self.stage.shown_to();
        if let Some(Goal::Search(search)) = &mut self.goal {
            search.begin_window(&self.stage);
        }
    }

    pub(super) fn take_page(&mut self, mut page: Page, now: Instant) {
        if let Some(end) = self.range.end {
            page.end_at(end);
            self.is_complete = page.end >= end;
        }
        if page.at_end && page.state != TerminalState::Running {
            self.is_complete = true;
        }
        page.add_to(&mut self.timeline);
        if self.follows {
            self.clock.set(self.timeline.length_ms(), now);
        }
        self.queue.append(page.events(&self.timeline));
        self.loaded_to = page.end.max(self.loaded_to);
    }

    /// Shows what is due. Returns whether something may look otherwise.
    pub(super) fn tick(&mut self, now: Instant) -> bool {
        let is_over = |message: &mut (String, Instant)| message.1 <= now;
        let was_over = self.message.take_if(is_over).is_some();
        self.advance(now) || was_over
    }

    fn advance(&mut self, now: Instant) -> bool {
        if self.jump.is_some() {
            return false;
        }
        if let Some(goal) = self.goal.take() {
            return self.approach(goal, now);
        }
        if let Some(direction) = self.next_search.take() {
            self.find(direction, now);
            return true;
        }
        if !self.clock.runs() {
            return false;
        }
        let due_ms = self.clock.play_ms(now);
        let has_changed = self.show_until(due_ms);
        if self.queue.is_empty() {
            self.wait_for_more(due_ms, now);
        }
        has_changed
    }

    fn wait_for_more(&mut self, due_ms: u64, now: Instant) {
        if self.is_complete {
            self.clock.set(self.timeline.length_ms(), now);
            self.clock.stop(now);
            return;
        }
        self.follows = self.is_at_live_end();
        let known_ms = self.timeline.play_ms(self.loaded_to, None);
        if self.follows || due_ms > known_ms {
            self.clock.set(known_ms, now);
        }
    }

    /// Whether all that a live terminal has printed so far is shown.
    fn is_at_live_end(&self) -> bool {
        !self.is_complete && self.queue.is_empty() && self.loaded_to >= self.timeline.end()
    }

    fn has_ended(&self) -> bool {
        self.is_complete && self.queue.is_empty() && !self.is_seeking()
    }

    fn show(&mut self, event: &Event) {
        self.shown_ms = event.play_ms;
        match &event.kind {
            EventKind::Resize { cols, rows } => self.stage.resize(*cols, *rows),
            EventKind::Output {
                start,
                bytes,
                clock,
            } => {
                self.shown_clock = *clock;
                let began = self.stage.feed(*start, bytes);
                if let Some(began) = began.filter(|_| self.follows) {
                    self.commands.began_at(began);
                }
            }
        }
    }

    fn show_until(&mut self, play_ms: u64) -> bool {
        let mut has_changed = false;
        while let Some(event) = self.queue.pop_due(play_ms) {
            self.show(&event);
            has_changed = true;
        }
        has_changed
    }

    /// Goes on towards a goal, as far as output has been read.
    fn approach(&mut self, goal: Goal, now: Instant) -> bool {
        match goal {
            Goal::Time(play_ms) => {
                self.show_until(play_ms);
                if self.queue.is_empty() && !self.is_complete && !self.is_at_live_end() {
                    self.goal = Some(Goal::Time(play_ms));
                    return false;
                }
                self.clock.set(play_ms.min(self.timeline.length_ms()), now);
            }
            Goal::Offset(to) => {
                if !self.show_to(to) {
                    self.goal = Some(Goal::Offset(to));
                    return false;
                }
                let next_ms = self.queue.next_ms().unwrap_or(self.shown_ms);
                self.clock.set(next_ms, now);
                self.arrived = (to, next_ms);
            }
            Goal::Match(found) => {
                if !self.show_to(found.end) {
                    self.goal = Some(Goal::Match(found));
                    return false;
                }
                self.clock.set(self.shown_ms, now);
            }
            Goal::Search(search) => return self.search(search, now),
        }
        true
    }

    /// Shows the output before an offset. Returns whether all of it has been read.
    fn show_to(&mut self, to: Offset) -> bool {
        while let Some(event) = self.queue.pop_before(to) {
            self.show(&event);
        }
        self.stage.shown_to() >= to || self.loaded_to >= to || self.is_complete
    }

    /// Shows piece by piece what has been read, until the pattern comes.
    fn search(&mut self, mut search: Box<Search>, now: Instant) -> bool {
        let start = self.range.start;
        let mut progress = Progress::Unfinished;
        while progress == Progress::Unfinished
            && search.wants_piece(&self.stage)
            && let Some(event) = self.next_piece(search.end_of_pieces())
        {
            let from = self.stage.shown_to();
            self.show(&event);
            progress = search.look(&self.stage, from, start);
        }
        if progress == Progress::Unfinished {
            let is_over = self.is_complete || self.is_at_live_end();
            progress = search.conclude(&self.stage, start, is_over);
        }
        match progress {
            Progress::Unfinished => self.goal = Some(Goal::Search(search)),
            Progress::Before(end) => {
                self.jump(end.back(1));
                self.goal = Some(Goal::Search(search));
            }
            Progress::Found(found) => {
                self.message = None;
                self.found = Some(found);
                self.clock.set(self.shown_ms, now);
                self.clock.stop(now);
                if found.end == self.stage.shown_to() {
                    return true;
                }
                self.seek_offset(found.end);
                self.goal = Some(Goal::Match(found));
            }
            Progress::NotFound => {
                self.say(search.without_match(), now);
                self.seek_time(search.origin_ms, now);
            }
        }
        false
    }

    /// The next event, or as much of its output before an offset as a person can see at once.
    fn next_piece(&mut self, end: Offset) -> Option<Event> {
        let size = self.stage.model().size();
        let before_end = usize::try_from(end.since(self.stage.shown_to())).unwrap_or(usize::MAX);
        let max = (FIND_PIECE_BYTES.min(size.cols * size.rows)).min(before_end);
        self.queue.pop_lines(max, FIND_PIECE_LINES.min(size.rows))
    }

    fn jump(&mut self, to: Offset) {
        self.jump = Some(to.max(self.range.kept_from));
        self.queue = EventQueue::default();
        self.is_complete = false;
        self.jumps += 1;
    }

    /// Goes to a play time.
    pub(super) fn seek_time(&mut self, play_ms: u64, now: Instant) {
        let play_ms = play_ms.min(self.timeline.length_ms());
        let from = self.timeline.shown_before(play_ms);
        let shown_to = self.stage.shown_to();
        let is_ahead = play_ms >= self.shown_ms && from.since(shown_to) < NEAR_BYTES;
        if self.jump.is_some() || !is_ahead {
            self.jump(from.max(self.range.start));
        }
        self.follows = false;
        self.clock.set(play_ms, now);
        self.goal = Some(Goal::Time(play_ms));
    }

    /// Goes to a time, in milliseconds since the Unix epoch.
    pub(super) fn seek_clock(&mut self, clock_ms: i64, now: Instant) {
        self.seek_time(self.timeline.play_ms_of_clock(clock_ms), now);
    }

    /// Goes to where the output before an offset is shown.
    pub(super) fn seek_offset(&mut self, to: Offset) {
        let shown_to = self.stage.shown_to();
        let is_ahead = to >= shown_to && to.since(shown_to) < NEAR_BYTES;
        if self.jump.is_some() || !is_ahead {
            self.jump(to);
        }
        self.follows = false;
        self.goal = Some(Goal::Offset(to));
    }

    fn say(&mut self, text: &str, now: Instant) {
        self.message = Some((text.to_owned(), now + MESSAGE));
    }

    /// The play time that a person takes for the present one: where the replay is, or where it goes.
    fn position_ms(&self, now: Instant) -> u64 {
        match &self.goal {
            Some(Goal::Time(play_ms)) => *play_ms,
            Some(Goal::Offset(to) | Goal::Match(Match { end: to, .. })) => {
                self.timeline.play_ms(*to, None)
            }
            Some(Goal::Search(search)) => search.position_ms(self.shown_ms),
            None => self.clock.play_ms(now).min(self.timeline.length_ms()),
        }
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
        let position_ms = self.position_ms(now);
        match key {
            Key::Char('q') => return Outcome::Quit,
            Key::Char(' ') => self.pause(now),
            Key::Char('+' | '=') => self.clock.faster(now),
            Key::Char('-' | '_') => self.clock.slower(now),
            Key::Left => self.seek_time(position_ms.saturating_sub(STEP_MS), now),
            Key::Right => self.seek_time(position_ms + STEP_MS, now),
            Key::Down => self.seek_time(position_ms.saturating_sub(LONG_STEP_MS), now),
            Key::Up => self.seek_time(position_ms + LONG_STEP_MS, now),
            Key::Home => self.seek_time(0, now),
            Key::End => self.seek_time(u64::MAX, now),
            Key::Char('[') => self.previous_command(position_ms, now),
            Key::Char(']') => self.next_command(now),
            Key::Char('/') => self.prompt = Some(PatternPrompt::default()),
            Key::Char('n') => self.find(Direction::Forward, now),
            Key::Char('N') => self.find(Direction::Backward, now),
            Key::Char('?' | 'h') => self.say(HELP, now),
            Key::Escape => {
                self.pattern = None;
                self.next_search = None;
                if matches!(self.goal, Some(Goal::Search(_))) {
                    self.seek_time(position_ms, now);
                }
            }
            Key::Char(digit) => {
                if let Some(tenths) = digit.to_digit(10) {
                    let part = self.timeline.length_ms() / 10 * u64::from(tenths);
                    self.seek_time(part, now);
                }
            }
            Key::Enter | Key::Backspace | Key::Interrupt => {}
        }
        Outcome::Stay
    }

    fn pause(&mut self, now: Instant) {
        if self.clock.runs() {
            self.follows = false;
            self.clock.stop(now);
            return;
        }
        if self.has_ended() {
            self.seek_time(0, now);
        }
        self.clock.start(now);
    }

    fn previous_command(&mut self, position_ms: u64, now: Instant) {
        let (arrived_at, arrived_ms) = self.arrived;
        let is_again = position_ms < arrived_ms.saturating_add(AGAIN_MS);
        let but = is_again.then_some(arrived_at);
        match self.commands.before(self.stage.shown_to(), but) {
            Some(start) => self.seek_offset(start),
            None => self.say("no command before this", now),
        }
    }

    fn next_command(&mut self, now: Instant) {
        match self.commands.after(self.stage.shown_to()) {
            Some(start) => self.seek_offset(start),
            None => self.say("no command after this", now),
        }
    }

    fn type_pattern(&mut self, typed: Typed, now: Instant) {
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
        if self.is_seeking() {
            self.next_search = Some(direction);
            return;
        }
        let origin_ms = self.position_ms(now);
        self.follows = false;
        let shown_to = self.stage.shown_to();
        // What stands on the screen since just now is no match before it.
        let found = self.found.filter(|found| found.end == shown_to);
        let before = found.map_or(shown_to.back(1), |found| found.start);
        let search = Search::new(direction, pattern, (&self.stage, before), origin_ms);
        if direction == Direction::Backward {
            self.jump(before.back(1));
        }
        self.goal = Some(Goal::Search(Box::new(search)));
    }

    /// What the bar shows.
    pub(super) fn status(&mut self, now: Instant) -> Status<'_> {
        let state = match &self.goal {
            Some(Goal::Search(_)) => "searching",
            Some(_) => "seeking",
            None if self.jump.is_some() => "seeking",
            None if self.has_ended() => "end",
            None if self.follows => "live",
            None if self.clock.runs() => "playing",
            None => "paused",
        };
        let position_ms = self.position_ms(now);
        self.commands.place(&self.timeline);
        Status {
            state,
            speed: self.clock.speed(),
            position_ms,
            length_ms: self.timeline.length_ms(),
            ticks: self.commands.ticks(),
            command: self.commands.text_at(self.stage.shown_to()),
            clock_ms: self.timeline.clock_ms(position_ms),
            clock: self.shown_clock,
            prompt: self.prompt.as_ref().map(PatternPrompt::text),
            message: self.message.as_ref().map(|(text, _)| text.as_str()),
        }
    }

    /// When something is to be done next, as far as nothing is read and no key pressed.
    pub(super) fn wake(&self, now: Instant) -> Option<Instant> {
        let over = self.message.as_ref().map(|(_, until)| *until);
        if self.jump.is_some() {
            return over;
        }
        if self.next_search.is_some() && self.goal.is_none() {
            return Some(now);
        }
        if self.goal.is_some() {
            return if self.queue.is_empty() {
                over
            } else {
                Some(now)
            };
        }
        let next_ms = self.queue.next_ms();
        let due = next_ms.and_then(|next_ms| self.clock.reaches(next_ms, now));
        [due, over].into_iter().flatten().min()
    }

    /// Whether the position in the bar moves by itself.
    pub(super) fn is_moving(&self) -> bool {
        self.clock.runs() && !self.follows
    }
}

#[cfg(test)]
mod tests;
