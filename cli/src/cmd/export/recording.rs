//! A terminal's output as events in time: what it printed, its sizes, its commands, its end. Pure.

use termd_proto::Offset;
use termd_proto::command::CommandInfo;
use termd_proto::terminal::{OutputSize, OutputTime};

use super::cast::Event;

/// What parts the output behind a gap from that before it: CAN ends an escape sequence that was cut.
const LINE_BREAK: &[u8] = b"\x18\r\n";

/// Something that stands at an offset of the output, before the byte there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    at: Offset,
    /// When, in milliseconds since the Unix epoch; `None`: with the output before it.
    at_ms: Option<i64>,
    event: Event,
}

/// Cuts output into events.
#[derive(Debug)]
pub(super) struct Recording {
    /// In the order of their offsets.
    marks: Vec<Mark>,
    /// Marks that were given.
    given: usize,
    /// The time of the last event, in milliseconds since the Unix epoch.
    now_ms: i64,
    /// Whether a line was begun and not ended.
    in_line: bool,
}

impl Recording {
    /// Of a terminal that began then, with the lines that were run in its shell.
    pub(super) fn new(started_at_ms: i64, commands: &[CommandInfo]) -> Self {
        let of_shell = commands.iter().filter(|command| command.number > 0);
        let marks = of_shell.map(|command| Mark {
            at: command.start,
            // A shell is seen to run a line only once its output is read. A recording knows the time.
            at_ms: command.imported.then_some(command.started_at_ms),
            event: Event::Marker(command.text.clone()),
        });
        let mut recording = Self {
            marks: marks.collect(),
            given: 0,
            now_ms: started_at_ms,
            in_line: false,
        };
        recording.marks.sort_by_key(|mark| (mark.at, mark.at_ms));
        recording
    }

    /// The events of a page of output that begins at `start`, with its times and its sizes.
    pub(super) fn page(
        &mut self,
        (start, bytes): (Offset, &[u8]),
        times: &[OutputTime],
        sizes: &[OutputSize],
    ) -> Vec<(i64, Event)> {
        self.add_sizes(sizes);
        let end = start + bytes.len() as u64;
        let mut events = Vec::new();
        let mut at = start;
        while at < end {
            self.give_marks(at, &mut events);
            let time = times.iter().find(|time| time.start <= at && at < time.end);
            let next_mark = self.marks.get(self.given).map_or(end, |mark| mark.at);
            // Output whose time nobody noted came with what stands before it.
            let next_time = match time {
                Some(time) => time.end,
                None => (times.iter().map(|time| time.start))
                    .find(|start| *start > at)
                    .unwrap_or(end),
            };
            self.go_on_to(time.map(|time| time.at_ms));
            let to = next_mark.min(next_time).min(end);
            let range = place(start, at)..place(start, to);
            let output = bytes.get(range).unwrap_or_default().to_vec();
            events.push((self.now_ms, Event::Output(output)));
            at = to;
        }
        self.in_line = (bytes.last()).map_or(self.in_line, |last| *last != b'\n');
        events
    }

    /// Ends the line at a gap: what is behind it is no part of it.
    pub(super) fn gap(&mut self) -> Option<(i64, Event)> {
        let ends_line = std::mem::take(&mut self.in_line);
        ends_line.then(|| (self.now_ms, Event::Output(LINE_BREAK.to_vec())))
    }

    /// What stands behind all output.
    pub(super) fn finish(&mut self, end: Offset) -> Vec<(i64, Event)> {
        let mut events = Vec::new();
        self.give_marks(end, &mut events);
        events
    }

    /// The time of the last event.
    pub(super) fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn add_sizes(&mut self, sizes: &[OutputSize]) {
        let marks = sizes.iter().map(|size| Mark {
            at: size.at,
            at_ms: size.at_ms,
            event: Event::Resize {
                cols: size.cols,
                rows: size.rows,
            },
        });
        self.marks.extend(marks);
        let (_, left) = self.marks.split_at_mut(self.given);
        left.sort_by_key(|mark| (mark.at, mark.at_ms));
    }

    fn give_marks(&mut self, at: Offset, events: &mut Vec<(i64, Event)>) {
        while let Some(mark) = self.marks.get(self.given).filter(|mark| mark.at <= at) {
            let (at_ms, event) = (mark.at_ms, mark.event.clone());
            self.go_on_to(at_ms);
            events.push((self.now_ms, event));
            self.given += 1;
        }
    }

    /// Times never go back.
    fn go_on_to(&mut self, at_ms: Option<i64>) {
        self.now_ms = at_ms.map_or(self.now_ms, |at_ms| at_ms.max(self.now_ms));
    }
}

fn place(start: Offset, at: Offset) -> usize {
    usize::try_from(at.since(start)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use termd_proto::TerminalId;
    use termd_proto::command::CommandSource;

    use super::*;

    fn command(number: u64, text: &str, start: u64) -> CommandInfo {
        CommandInfo {
            terminal: TerminalId::from_random(0),
            number,
            source: CommandSource::Shell,
            text: text.to_owned(),
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

    fn time(start: u64, end: u64, at_ms: i64) -> OutputTime {
        OutputTime {
            start: Offset(start),
            end: Offset(end),
            at_ms,
            found_late: false,
        }
    }

    fn output(text: &str) -> Event {
        Event::Output(text.as_bytes().to_vec())
    }

    #[test]
    fn output_is_cut_where_its_time_changes_and_where_something_stands() {
        let commands = [command(1, "make", 3), command(0, "bash", 0)];
        let mut recording = Recording::new(100, &commands);
        let resize = OutputSize {
            at: Offset(7),
            cols: 90,
            rows: 30,
            at_ms: Some(170),
        };
        let first = recording.page(
            (Offset::ZERO, b"012345"),
            &[time(0, 2, 110), time(2, 6, 150)],
            &[],
        );
        assert_eq!(
            first,
            [
                (110, output("01")),
                (150, output("2")),
                (150, Event::Marker("make".to_owned())),
                (150, output("345")),
            ]
        );
        let second = recording.page((Offset(6), b"6789"), &[time(8, 10, 200)], &[resize]);
        assert_eq!(
            second,
            [
                (150, output("6")),
                (170, Event::Resize { cols: 90, rows: 30 }),
                (170, output("7")),
                (200, output("89")),
            ]
        );
        assert_eq!(recording.finish(Offset(10)), []);
    }

    #[test]
    fn a_line_ends_at_a_gap() {
        let mut recording = Recording::new(100, &[]);
        assert_eq!(recording.gap(), None);
        recording.page((Offset::ZERO, b"a\nb"), &[time(0, 3, 110)], &[]);
        recording.page((Offset(3), b""), &[], &[]);
        let line_break = Event::Output(LINE_BREAK.to_vec());
        assert_eq!(recording.gap(), Some((110, line_break)));
        recording.page((Offset(9), b"c\n"), &[time(9, 11, 150)], &[]);
        assert_eq!(recording.gap(), None);
    }

    #[test]
    fn what_stands_at_the_end_is_given_at_the_end() {
        let mut recording = Recording::new(100, &[command(1, "exit", 2)]);
        recording.page((Offset::ZERO, b"01"), &[time(0, 2, 110)], &[]);
        assert_eq!(
            recording.finish(Offset(2)),
            [(110, Event::Marker("exit".to_owned()))]
        );
    }
}
