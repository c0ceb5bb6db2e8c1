//! Where a replay is: what it shows, where it goes, and what has to be read for that. Pure: the time is an
//! argument, and what has to be read is a value.

use std::collections::VecDeque;
use std::time::Instant;

use regex::Regex;
use termd_proto::Offset;
use termd_proto::command::CommandInfo;
use termd_proto::recording::Keyframe;
use termd_proto::terminal::{Gap, TerminalState};

use super::bar::Status;
use super::clock::Clock;
use super::commands::Commands;
use super::event_queue::EventQueue;
use super::page::{Event, EventKind, OutputClock, Page};
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
/// Within this time of a command's beginning the command before it is another one.
const AGAIN_MS: u64 = 1_000;

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

/// Where the replay goes without a stop.
#[derive(Debug)]
pub(super) enum Goal {
    /// To a play time.
    Time(u64),
    Offset(Offset),
    Match(Match),
    /// To where a pattern comes next, or came last.
    Search(Box<Search>),
}

/// What a step of a replay has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// What is shown is as it was.
    Same,
    /// Something may look otherwise.
    Changed,
    /// A search has found this, and the replay stops there.
    Found(Match),
    /// A search has found nothing, for the reason that is said, and the replay goes back.
    NotFound(&'static str),
}

/// A replay without the person who watches it.
#[derive(Debug)]
pub(super) struct Playback {
    range: Range,
    timeline: Timeline,
    pub(super) commands: Commands,
    stage: Stage,
    queue: EventQueue,
    /// The end of what has been read.
    loaded_to: Offset,
    /// Nothing comes after what has been read.
    is_complete: bool,
    pub(super) clock: Clock,
    /// The play time of what is shown.
    shown_ms: u64,
    shown_clock: OutputClock,
    /// The end of a live terminal is shown, and what comes is shown at once.
    follows: bool,
    pub(super) goal: Option<Goal>,
    /// The offset that was gone to last, and its play time.
    arrived: (Offset, u64),
    /// The offset of a jump that waits for a keyframe before it.
    jump: Option<Offset>,
    /// A keyframe was of another version: the output is played from its start.
    lacks_keyframes: bool,
    /// Output that is not kept, before what waits to be shown.
    gaps: VecDeque<Gap>,
    /// The last gap that was played over.
    crossed: Option<Gap>,
    /// Counts jumps: what was read for an earlier one is of no use.
    jumps: u64,
}

impl Playback {
    pub(super) fn new(
        (range, timeline): (Range, Timeline),
        commands: &[CommandInfo],
        (stage, speed): (Stage, f64),
        now: Instant,
    ) -> Self {
        let mut playback = Self {
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
            gaps: VecDeque::new(),
            crossed: None,
            jumps: 0,
        };
        playback.jump(range.start);
        playback.goal = Some(Goal::Offset(range.start));
        playback
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
        match page.gap {
            // Nothing follows that would lead over it.
            Some(gap) if page.bytes.is_empty() => self.crossed = Some(gap),
            gap => self.gaps.extend(gap),
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

    /// Shows what is due, or goes on towards a goal.
    pub(super) fn step(&mut self, now: Instant) -> Step {
        if self.jump.is_some() {
            return Step::Same;
        }
        if let Some(goal) = self.goal.take() {
            return self.approach(goal, now);
        }
        if !self.clock.runs() {
            return Step::Same;
        }
        let due_ms = self.clock.play_ms(now);
        let has_changed = self.show_until(due_ms);
        if self.queue.is_empty() {
            self.wait_for_more(due_ms, now);
        }
        if has_changed {
            Step::Changed
        } else {
            Step::Same
        }
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

    pub(super) fn has_ended(&self) -> bool {
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
                while let Some(gap) = self.gaps.pop_front_if(|gap| gap.end <= *start) {
                    self.crossed = Some(gap);
                }
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
    fn approach(&mut self, goal: Goal, now: Instant) -> Step {
        match goal {
            Goal::Time(play_ms) => {
                self.show_until(play_ms);
                if self.queue.is_empty() && !self.is_complete && !self.is_at_live_end() {
                    self.goal = Some(Goal::Time(play_ms));
                    return Step::Same;
                }
                self.clock.set(play_ms.min(self.timeline.length_ms()), now);
            }
            Goal::Offset(to) => {
                if !self.show_to(to) {
                    self.goal = Some(Goal::Offset(to));
                    return Step::Same;
                }
                let next_ms = self.queue.next_ms().unwrap_or(self.shown_ms);
                self.clock.set(next_ms, now);
                self.arrived = (to, next_ms);
            }
            Goal::Match(found) => {
                if !self.show_to(found.end) {
                    self.goal = Some(Goal::Match(found));
                    return Step::Same;
                }
                self.clock.set(self.shown_ms, now);
            }
            Goal::Search(search) => return self.search(search, now),
        }
        Step::Changed
    }

    /// Shows the output before an offset. Returns whether all of it has been read.
    fn show_to(&mut self, to: Offset) -> bool {
        while let Some(event) = self.queue.pop_before(to) {
            self.show(&event);
        }
        self.stage.shown_to() >= to || self.loaded_to >= to || self.is_complete
    }

    /// Shows piece by piece what has been read, until the pattern comes.
    fn search(&mut self, mut search: Box<Search>, now: Instant) -> Step {
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
            Progress::Unfinished => {
                self.goal = Some(Goal::Search(search));
                Step::Same
            }
            Progress::Before(end) => {
                self.jump(end.back(1));
                self.goal = Some(Goal::Search(search));
                Step::Same
            }
            Progress::Found(found) => {
                self.clock.set(self.shown_ms, now);
                self.clock.stop(now);
                if found.end != self.stage.shown_to() {
                    self.seek_offset(found.end);
                    self.goal = Some(Goal::Match(found));
                }
                Step::Found(found)
            }
            Progress::NotFound => {
                self.seek_time(search.origin_ms, now);
                Step::NotFound(search.without_match())
            }
        }
    }

    /// The next event, or as much of its output before an offset as a person can see at once.
    fn next_piece(&mut self, end: Offset) -> Option<Event> {
        let size = self.stage.model().size();
        let before_end = usize::try_from(end.since(self.stage.shown_to())).unwrap_or(usize::MAX);
        let max = (FIND_PIECE_BYTES.min(size.cols * size.rows)).min(before_end);
        self.queue.pop_lines(max, FIND_PIECE_LINES.min(size.rows))
    }

    pub(super) fn jump(&mut self, to: Offset) {
        self.jump = Some(to.max(self.range.kept_from));
        self.queue = EventQueue::default();
        self.gaps.clear();
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

    /// The play time that a person takes for the present one: where the replay is, or where it goes.
    pub(super) fn position_ms(&self, now: Instant) -> u64 {
        match &self.goal {
            Some(Goal::Time(play_ms)) => *play_ms,
            Some(Goal::Offset(to) | Goal::Match(Match { end: to, .. })) => {
                self.timeline.play_ms(*to, None)
            }
            Some(Goal::Search(search)) => search.position_ms(self.shown_ms),
            None => self.clock.play_ms(now).min(self.timeline.length_ms()),
        }
    }

    pub(super) fn is_searching(&self) -> bool {
        matches!(self.goal, Some(Goal::Search(_)))
    }

    /// Searches from what is shown on, or back from it. `found` is what was found last.
    pub(super) fn find(
        &mut self,
        (direction, pattern): (Direction, Regex),
        found: Option<Match>,
        now: Instant,
    ) {
        let origin_ms = self.position_ms(now);
        self.follows = false;
        let shown_to = self.stage.shown_to();
        // What stands on the screen since just now is no match before it.
        let found = found.filter(|found| found.end == shown_to);
        let before = found.map_or(shown_to.back(1), |found| found.start);
        let search = Search::new(direction, pattern, (&self.stage, before), origin_ms);
        if direction == Direction::Backward {
            self.jump(before.back(1));
        }
        self.goal = Some(Goal::Search(Box::new(search)));
    }

    /// Stands still for a moment. Returns whether it ran.
    pub(super) fn hold(&mut self, now: Instant) -> bool {
        let ran = self.clock.runs();
        if ran {
            self.pause(now);
        }
        ran
    }

    /// Plays on from where it stands.
    pub(super) fn go_on(&mut self, now: Instant) {
        self.clock.start(now);
    }

    /// A gap that was played over since this was asked last.
    pub(super) fn take_crossed_gap(&mut self) -> Option<Gap> {
        self.crossed.take()
    }

    /// Stops, or goes on; from the beginning where the end is shown.
    pub(super) fn pause(&mut self, now: Instant) {
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

    /// Where the command before the one that is shown begins; before the one that was gone to just now, the one
    /// before that.
    pub(super) fn previous_command(&self, position_ms: u64) -> Option<Offset> {
        if let Some(Goal::Offset(to)) = self.goal {
            return self.commands.before(to, None);
        }
        let (arrived_at, arrived_ms) = self.arrived;
        let is_again = position_ms < arrived_ms.saturating_add(AGAIN_MS);
        let but = is_again.then_some(arrived_at);
        self.commands.before(self.stage.shown_to(), but)
    }

    pub(super) fn next_command(&self) -> Option<Offset> {
        let from = match self.goal {
            // Keys come faster than output is read.
            Some(Goal::Offset(to)) => to,
            _ => self.stage.shown_to(),
        };
        self.commands.after(from)
    }

    /// How long all of it takes that is known.
    pub(super) fn length_ms(&self) -> u64 {
        self.timeline.length_ms()
    }

    /// What the bar shows of it.
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
            prompt: None,
            message: None,
        }
    }

    /// When something is to be done next, as far as nothing is read.
    pub(super) fn wake(&self, now: Instant) -> Option<Instant> {
        if self.jump.is_some() {
            return None;
        }
        if self.goal.is_some() {
            return (!self.queue.is_empty()).then_some(now);
        }
        let next_ms = self.queue.next_ms();
        next_ms.and_then(|next_ms| self.clock.reaches(next_ms, now))
    }

    /// Whether the position in the bar moves by itself.
    pub(super) fn is_moving(&self) -> bool {
        self.clock.runs() && !self.follows
    }
}
