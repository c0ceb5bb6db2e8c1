//! A replay by its keys and its clock, without a tty and a daemon.

use termd_proto::command::{CommandInfo, CommandSource};
use termd_proto::recording::{CameMs, Keyframe, TimelineSpan};
use termd_proto::terminal::{Gap, GapCause, OutputSize, OutputTime, Stdio, TerminalState};

use super::super::page::Page;
use super::super::playback::{Goal, Need};
use super::super::range::Range;
use super::super::stage::Stage;
use super::super::timeline::Timeline;
use super::*;

/// When the recording of these tests began, in milliseconds since the Unix epoch.
const STARTED_MS: i64 = 1_000_000;

/// A terminal, and a replay of it that reads all that it needs at once.
struct Recorded {
    /// Each with the time at which it came.
    output: Vec<(i64, String)>,
    state: TerminalState,
    player: Player,
    now: Instant,
    /// Offsets of keyframes that were asked for, and the bytes of output that were read.
    keyframes: Vec<u64>,
    read: usize,
}

fn command(number: u64, start: u64) -> CommandInfo {
    CommandInfo {
        terminal: "term_aaaaaaaaaaaa".parse().unwrap(),
        number,
        source: CommandSource::Shell,
        text: format!("command {number}"),
        agent_line: None,
        cwd: None,
        started_at_ms: 0,
        ended_at_ms: None,
        exit_code: None,
        signal: None,
        start: Offset(start),
        end: None,
        output_sha256: None,
        imported: false,
    }
}

impl Recorded {
    /// Ten lines of 4 bytes, a second apart, with a minute between the fifth and the sixth.
    fn new(range: (u64, Option<u64>), state: TerminalState) -> Self {
        let line = |number: i64| {
            let pause_ms = if number >= 5 { 59_000 } else { 0 };
            (
                STARTED_MS + number * 1_000 + pause_ms,
                format!("l{number}\r\n"),
            )
        };
        Self::of((0..10).map(line).collect(), range, state)
    }

    fn of(output: Vec<(i64, String)>, range: (u64, Option<u64>), state: TerminalState) -> Self {
        let mut timeline = Timeline::new(2_000);
        let mut end = 0;
        for (at_ms, line) in &output {
            let start = end;
            end += line.len() as u64;
            timeline.push(TimelineSpan {
                start: Offset(start.max(range.0)),
                end: Offset(end.min(range.1.unwrap_or(u64::MAX))),
                came_ms: Some(CameMs {
                    first: *at_ms,
                    last: *at_ms,
                }),
            });
        }
        let now = Instant::now();
        let range = Range {
            kept_from: Offset::ZERO,
            start: Offset(range.0),
            end: range.1.map(Offset),
        };
        let commands = [command(0, 0), command(1, 8), command(2, 24)];
        let stage = Stage::new(Stdio::Pty, 20, 12);
        let player = Player::new(Playback::new(
            (range, timeline),
            &commands,
            (stage, 1.0),
            now,
        ));
        let mut recorded = Self {
            output,
            state,
            player,
            now,
            keyframes: Vec::new(),
            read: 0,
        };
        recorded.settle();
        recorded
    }

    fn page(&self, from: Offset) -> Page {
        let (mut bytes, mut times, mut at) = (Vec::new(), Vec::new(), 0);
        for (at_ms, line) in &self.output {
            let end = at + line.len() as u64;
            if end > from.0 {
                let start = at.max(from.0);
                let skipped = usize::try_from(start - at).unwrap();
                bytes.extend_from_slice(&line.as_bytes()[skipped..]);
                times.push(OutputTime {
                    start: Offset(start),
                    end: Offset(end),
                    at_ms: *at_ms,
                    found_late: false,
                });
            }
            at = end;
        }
        Page {
            start: from,
            end: Offset(at),
            bytes,
            gap: None,
            times,
            sizes: vec![OutputSize {
                at: from,
                cols: 20,
                rows: 12,
                at_ms: None,
            }],
            at_end: true,
            state: self.state,
        }
    }

    /// Reads and shows all that is due. A live terminal has nothing more to read.
    fn settle(&mut self) {
        for _ in 0..100 {
            match self.player.playback.need() {
                Some(Need::Keyframe(at)) => {
                    self.keyframes.push(at.0);
                    let keyframe = Keyframe {
                        at: Offset::ZERO,
                        cols: 20,
                        rows: 12,
                        dump: None,
                    };
                    self.player.playback.take_keyframe(&keyframe, None);
                }
                Some(Need::Page(from)) => {
                    let page = self.page(from);
                    if !page.bytes.is_empty() || self.state != TerminalState::Running {
                        self.read += page.bytes.len();
                        self.player.playback.take_page(page, self.now);
                    }
                }
                Some(Need::Commands) => {
                    let start = self.player.playback.stage().shown_to().0;
                    self.player.playback.take_commands(&[command(3, start)]);
                }
                None => {}
            }
            self.player.tick(self.now);
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.settle();
    }

    fn press(&mut self, keys: &[Key]) {
        for key in keys {
            assert_eq!(self.player.press(*key, self.now), Outcome::Stay);
        }
        self.settle();
    }

    fn find(&mut self, text: &str) {
        let keys = text.chars().map(Key::Char);
        let keys: Vec<_> = [Key::Char('/')].into_iter().chain(keys).collect();
        self.press(&keys);
        self.press(&[Key::Enter]);
    }

    /// The last line that is shown, the play time, and the state.
    fn at(&mut self) -> (String, u64, &'static str) {
        let model = self.player.playback.stage().model();
        let shown = (0..12).map(|y| model.row_text(y));
        let last = shown.rev().find(|row| !row.is_empty());
        let status = self.player.status(self.now);
        (last.unwrap_or_default(), status.position_ms, status.state)
    }

    #[track_caller]
    fn assert_at(&mut self, line: &str, play_ms: u64, state: &str) {
        let (shown, at_ms, is) = self.at();
        assert_eq!((shown.as_str(), at_ms, is), (line, play_ms, state));
    }
}

#[test]
fn it_plays_in_its_own_time_with_pauses_shortened() {
    let mut replay = Recorded::new((0, None), TerminalState::Closed);
    replay.assert_at("l0", 0, "playing");
    replay.pass(999);
    replay.assert_at("l0", 999, "playing");
    assert_eq!(
        replay.player.wake(replay.now),
        Some(replay.now + Duration::from_millis(1))
    );
    replay.pass(1);
    replay.assert_at("l1", 1_000, "playing");
    // After the fifth line a minute is two seconds.
    replay.pass(4_999);
    replay.assert_at("l4", 5_999, "playing");
    replay.pass(1);
    replay.assert_at("l5", 6_000, "playing");
    assert_eq!(
        replay.player.status(replay.now).clock_ms,
        Some(STARTED_MS + 64_000)
    );
    replay.pass(60_000);
    replay.assert_at("l9", 10_000, "end");
    assert_eq!(replay.player.wake(replay.now), None);
    assert_eq!(replay.keyframes, [0]);
    // It begins again.
    replay.press(&[Key::Char(' ')]);
    replay.assert_at("l0", 0, "playing");
}

#[test]
fn keys_pause_jump_and_change_the_speed() {
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    replay.press(&[Key::Char(' ')]);
    replay.pass(5_000);
    replay.assert_at("l0", 0, "paused");
    let table = [
        (Key::Right, "l4", 5_000),
        (Key::Right, "l9", 10_000),
        (Key::Right, "l9", 10_000),
        (Key::Left, "l4", 5_000),
        (Key::Down, "l0", 0),
        (Key::Up, "l9", 10_000),
        (Key::Char('3'), "l3", 3_000),
        (Key::Home, "l0", 0),
        (Key::Char('9'), "l8", 9_000),
    ];
    for (key, line, play_ms) in table {
        replay.press(&[key]);
        let (shown, at_ms, _) = replay.at();
        assert_eq!((shown.as_str(), at_ms), (line, play_ms), "{key:?}");
    }
    replay.press(&[Key::Home, Key::Char('+'), Key::Char('+'), Key::Char(' ')]);
    replay.pass(500);
    replay.assert_at("l2", 2_000, "playing");
    replay.press(&[Key::Char('-'), Key::Char('-'), Key::Char('-')]);
    replay.pass(2_000);
    replay.assert_at("l3", 3_000, "playing");
    assert_eq!(
        replay.player.press(Key::Char('q'), replay.now),
        Outcome::Quit
    );
}

#[test]
fn commands_are_gone_to() {
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    replay.press(&[Key::Char(' '), Key::Char(']')]);
    replay.assert_at("l1", 2_000, "paused");
    assert_eq!(replay.player.status(replay.now).command, Some("command 1"));
    replay.press(&[Key::Char(']')]);
    replay.assert_at("l5", 7_000, "paused");
    replay.press(&[Key::Char(']')]);
    assert_eq!(
        replay.player.status(replay.now).message,
        Some("no command after this")
    );
    replay.press(&[Key::Char('[')]);
    replay.assert_at("l1", 2_000, "paused");
    let status = replay.player.status(replay.now);
    assert_eq!(status.ticks, [1_600, 6_800], "about");
}

#[test]
fn each_key_counts_while_one_is_on_its_way() {
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    replay.press(&[Key::Char(' '), Key::Char(']'), Key::Char(']')]);
    replay.assert_at("l5", 7_000, "paused");
    replay.press(&[Key::End]);
    replay.press(&[Key::Char('['), Key::Char('[')]);
    replay.assert_at("l1", 2_000, "paused");
}

#[test]
fn a_search_goes_both_ways() {
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    replay.find("l[37]");
    replay.assert_at("l3", 3_000, "paused");
    replay.press(&[Key::Char('n')]);
    replay.assert_at("l7", 8_000, "paused");
    replay.press(&[Key::Char('n')]);
    replay.assert_at("l7", 8_000, "paused");
    assert_eq!(
        replay.player.status(replay.now).message,
        Some("no match after this; N searches before it")
    );
    replay.press(&[Key::Char('N')]);
    replay.assert_at("l3", 3_000, "paused");
    replay.press(&[Key::Char('N')]);
    replay.assert_at("l3", 3_000, "paused");
    assert_eq!(
        replay.player.status(replay.now).message,
        Some("no match before this; n searches after it")
    );
    replay.pass(5_000);
    assert_eq!(replay.player.status(replay.now).message, None);
    replay.press(&[Key::Escape, Key::Char('n')]);
    assert_eq!(
        replay.player.status(replay.now).message,
        Some("/ searches first")
    );
}

#[test]
fn it_stands_still_while_a_pattern_is_typed() {
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    replay.pass(1_500);
    replay.press(&[Key::Char('/'), Key::Char('l')]);
    replay.pass(60_000);
    replay.assert_at("l1", 1_500, "paused");
    replay.press(&[Key::Escape]);
    replay.assert_at("l1", 1_500, "playing");
    replay.press(&[Key::Char('/'), Key::Char('l')]);
    replay.pass(60_000);
    replay.press(&[Key::Char('2'), Key::Enter]);
    replay.assert_at("l2", 2_000, "paused");
}

#[test]
fn a_gap_is_said_where_it_is_played_over() {
    let gap = Gap {
        start: Offset(4),
        end: Offset(8),
        cause: GapCause::TerminalQuota,
    };
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    let mut page = replay.page(Offset(8));
    page.gap = Some(gap);
    replay.player.playback.jump(Offset::ZERO);
    let keyframe = Keyframe {
        at: Offset::ZERO,
        cols: 20,
        rows: 12,
        dump: None,
    };
    replay.player.playback.take_keyframe(&keyframe, None);
    replay.player.playback.take_page(page, replay.now);
    assert_eq!(replay.player.status(replay.now).message, None);
    replay.pass(2_500);
    let said = replay.player.status(replay.now).message;
    assert!(
        said.is_some_and(|said| said.contains("from offset 4 to 8")),
        "{said:?}"
    );
}

#[test]
fn a_match_in_a_burst_is_shown_where_it_stands_on_the_screen() {
    let lines = (0..2_000).map(|number| format!("row_{number}\r\n"));
    let burst = vec![
        (STARTED_MS, "begun\r\n".to_owned()),
        (STARTED_MS + 1_000, lines.collect()),
    ];
    let mut replay = Recorded::of(burst, (0, None), TerminalState::Exited);
    replay.press(&[Key::Char(' ')]);
    let shows = |replay: &mut Recorded, row: &str| {
        let model = replay.player.playback.stage().model();
        let rows: Vec<_> = (0..12).map(|y| model.row_text(y)).collect();
        assert!(rows.iter().any(|shown| shown == row), "{rows:?}");
        assert_eq!(replay.at().2, "paused");
    };
    for row in ["row_700", "row_1500"] {
        replay.find(&format!("^{row}$"));
        shows(&mut replay, row);
    }
    replay.find("^row_1.?00$");
    shows(&mut replay, "row_1600");
    for row in ["row_1500", "row_1400"] {
        replay.press(&[Key::Char('N')]);
        shows(&mut replay, row);
    }
}

#[test]
fn a_live_terminal_is_followed_until_a_pause() {
    let mut replay = Recorded::new((0, None), TerminalState::Running);
    replay.press(&[Key::End]);
    replay.assert_at("l9", 10_000, "live");
    replay
        .output
        .push((STARTED_MS + 500_000, "l10\r\n".to_owned()));
    replay.settle();
    replay.assert_at("l10", 12_000, "live");
    replay
        .output
        .push((STARTED_MS + 500_000, "\x1b]133;C\x07".to_owned()));
    replay.settle();
    assert_eq!(replay.player.status(replay.now).command, Some("command 3"));
    replay.press(&[Key::Char(' ')]);
    replay
        .output
        .push((STARTED_MS + 501_000, "l11\r\n".to_owned()));
    replay.pass(60_000);
    replay.assert_at("l10", 12_000, "paused");
    replay.press(&[Key::Char(' ')]);
    replay.pass(1_000);
    replay.assert_at("l11", 13_000, "live");
    replay.state = TerminalState::Exited;
    replay.settle();
    replay.assert_at("l11", 13_000, "end");
}

#[test]
fn a_part_is_played_alone() {
    let mut replay = Recorded::new((20, Some(30)), TerminalState::Exited);
    // What was before is on the screen.
    replay.assert_at("l5", 0, "playing");
    replay.pass(60_000);
    replay.assert_at("l7", 2_000, "end");
    replay.press(&[Key::Home]);
    let (line, play_ms, _) = replay.at();
    assert_eq!((line.as_str(), play_ms), ("l5", 0));
}

#[test]
fn a_keyframe_of_another_version_is_as_none() {
    let mut replay = Recorded::new((0, None), TerminalState::Exited);
    replay.press(&[Key::Char(' ')]);
    replay.player.playback.jump(Offset(24));
    let asked = replay.player.playback.need();
    assert_eq!(asked, Some(Need::Keyframe(Offset(24))));
    let other = Keyframe {
        at: Offset(20),
        cols: 20,
        rows: 12,
        dump: Some(String::new()),
    };
    replay.player.playback.goal = Some(Goal::Offset(Offset(24)));
    replay
        .player
        .playback
        .take_keyframe(&other, Some(b"of another version"));
    assert_eq!(
        replay.player.playback.need(),
        Some(Need::Keyframe(Offset::ZERO))
    );
    replay.settle();
    replay.assert_at("l5", 7_000, "paused");
}
