//! Reads asciicast, versions 1 to 3, line by line. Pure.
//!
//! Formats: <https://docs.asciinema.org/manual/asciicast/v3/>, v2 and v1 beside it. Events of an unknown
//! code are passed over, as the formats want it, and so is input: termd keeps none. Version 2 does not say
//! that times ascend: an event before the last one's time has happened right after it.

use std::io::{self, BufRead, Read as _};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use termd_proto::import::{
    ImportEvent, ImportEventKind, MAX_IMPORT_BYTES, MAX_IMPORT_MARKERS, MAX_IMPORT_MS,
    MAX_IMPORT_SIZES, MAX_IMPORT_START_MS, MAX_MARKER_BYTES,
};
use termd_proto::terminal::{MAX_DIMENSION, MIN_COLS};
use thiserror::Error;

/// The longest line in bytes. A recording of version 1 is one line; JSON writes a control character as six
/// bytes, of which output has few.
const MAX_LINE_BYTES: u64 = 2 * MAX_IMPORT_BYTES;
/// The longest description of a fault, in characters: some of the file may stand in it.
const MAX_PROBLEM_CHARS: usize = 200;

/// U+FEFF, which may stand at the beginning of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What a header holds, for a person.
const HEADER: &str =
    "header of an asciicast, an object with `version` and `term`, or `width` and `height`";
/// What an event is, for a person.
const EVENT: &str = "event of an asciicast: [SECONDS, \"CODE\", \"DATA\"]";
/// What a recording of version 1 holds.
const RECORDING: &str = "recording, an object with `version`, `width`, `height` and `stdout`";

/// Why a file is no recording.
#[derive(Debug, Error)]
pub enum CastError {
    /// A line has a fault.
    #[error("{problem}")]
    Line {
        /// Its number, from 1 on.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What a recording says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The version of the format.
    pub version: u8,
    /// Columns at the start.
    pub cols: u16,
    /// Rows at the start.
    pub rows: u16,
    /// When it began, in milliseconds since the Unix epoch.
    pub started_at_ms: Option<i64>,
    /// What was recorded.
    pub command: Option<String>,
    /// The recording's name.
    pub title: Option<String>,
    /// The shell that was recorded, as its environment named it.
    pub shell: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastEvent {
    /// Something that an import takes.
    Happened(ImportEvent),
    /// The command ended.
    Exited {
        /// The exit code.
        code: u32,
        /// When, in milliseconds since the start.
        at_ms: u64,
    },
}

/// Reads one recording.
#[derive(Debug)]
pub struct CastReader<R> {
    input: R,
    /// The number of the last line that was read.
    line: usize,
    header: Header,
    /// The events of version 1, the last first.
    stdout: Vec<(f64, String)>,
    /// The time of the last event since the start.
    now: Duration,
    /// Bytes of output so far.
    bytes: u64,
    sizes: usize,
    markers: usize,
}

/// The first line of versions 2 and 3, and the whole of version 1.
#[derive(Debug, Deserialize)]
struct FirstLine {
    version: u64,
    width: Option<u64>,
    height: Option<u64>,
    term: Option<Term>,
    timestamp: Option<f64>,
    command: Option<String>,
    title: Option<String>,
    #[serde(default)]
    env: Value,
    stdout: Option<Vec<(f64, String)>>,
}

#[derive(Debug, Deserialize)]
struct Term {
    cols: u64,
    rows: u64,
}

impl<R: BufRead> CastReader<R> {
    /// Reads the header.
    pub fn open(mut input: R) -> Result<Self, CastError> {
        let mut number = 0;
        let mut text = next_line(&mut input, &mut number)?.unwrap_or_default();
        // Programs on Windows write it.
        if number == 1 && text.starts_with(BYTE_ORDER_MARK) {
            text.remove(0);
        }
        let first: FirstLine = match serde_json::from_str(&text) {
            Ok(first) => first,
            // Version 1 may be written over many lines.
            Err(error) if error.is_eof() && !text.is_empty() => {
                read_rest(&mut input, &mut text, number)?;
                serde_json::from_str(&text).map_err(|error| {
                    fault(number + error.line() - 1, &describe(&error, RECORDING))
                })?
            }
            Err(error) => {
                let number = number.max(1);
                return Err(fault(number, &describe(&error, HEADER)));
            }
        };
        let mut stdout = first.stdout.unwrap_or_default();
        stdout.reverse();
        let (version, cols, rows) = match (first.version, first.term, first.width, first.height) {
            (1, _, Some(cols), Some(rows)) => (1, cols, rows),
            (2, _, Some(cols), Some(rows)) => (2, cols, rows),
            (3, Some(term), ..) => (3, term.cols, term.rows),
            (1..=3, ..) => return Err(fault(number, "the header has no size")),
            (version, ..) => {
                let problem = format!("asciicast has no version {version} (1 to 3)");
                return Err(fault(number, &problem));
            }
        };
        let (cols, rows) = size(cols, rows).ok_or_else(|| fault(number, &bad_size(cols, rows)))?;
        let started_at_ms = first.timestamp.map(milliseconds);
        if started_at_ms.is_some_and(|at_ms| !(0..=MAX_IMPORT_START_MS).contains(&at_ms)) {
            return Err(fault(
                number,
                "its timestamp is not in the years 1970 to 9999",
            ));
        }
        let shell = first.env.get("SHELL").and_then(Value::as_str);
        let header = Header {
            version,
            cols,
            rows,
            started_at_ms,
            command: first.command,
            title: first.title,
            shell: shell.map(str::to_owned),
        };
        Ok(Self {
            input,
            line: number,
            header,
            stdout,
            now: Duration::ZERO,
            bytes: 0,
            sizes: 0,
            markers: 0,
        })
    }

    /// What the recording says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next event; `None` at the end.
    pub fn next_event(&mut self) -> Result<Option<CastEvent>, CastError> {
        loop {
            let (time, code, data) = if self.header.version == 1 {
                let Some((time, data)) = self.stdout.pop() else {
                    return self.nothing_follows().map(|()| None);
                };
                (time, "o".to_owned(), Value::String(data))
            } else {
                let Some(text) = next_line(&mut self.input, &mut self.line)? else {
                    return Ok(None);
                };
                serde_json::from_str::<(f64, String, Value)>(&text)
                    .map_err(|error| fault(self.line, &describe(&error, EVENT)))?
            };
            let at_ms = self.go_on(time)?;
            if let Some(event) = self.event(at_ms, &code, data)? {
                return Ok(Some(event));
            }
        }
    }

    fn event(
        &mut self,
        at_ms: u64,
        code: &str,
        data: Value,
    ) -> Result<Option<CastEvent>, CastError> {
        if !matches!(code, "o" | "r" | "m" | "x") {
            return Ok(None);
        }
        let Value::String(data) = data else {
            let problem = format!("the data of an event {code:?} is no text");
            return Err(fault(self.line, &problem));
        };
        let kind = match code {
            "o" => {
                self.bytes += data.len() as u64;
                if self.bytes > MAX_IMPORT_BYTES {
                    let problem = format!("more than {MAX_IMPORT_BYTES} bytes of output");
                    return Err(fault(self.line, &problem));
                }
                ImportEventKind::Output(data)
            }
            "r" => {
                let parts = data.split_once('x');
                let parsed =
                    parts.and_then(|(cols, rows)| size(cols.parse().ok()?, rows.parse().ok()?));
                let problem = || fault(self.line, &format!("{data:?} is no size"));
                let (cols, rows) = parsed.ok_or_else(problem)?;
                self.sizes += 1;
                if self.sizes > MAX_IMPORT_SIZES {
                    let problem = format!("more than {MAX_IMPORT_SIZES} sizes");
                    return Err(fault(self.line, &problem));
                }
                ImportEventKind::Size { cols, rows }
            }
            "m" => {
                self.markers += 1;
                if self.markers > MAX_IMPORT_MARKERS {
                    let problem = format!("more than {MAX_IMPORT_MARKERS} markers");
                    return Err(fault(self.line, &problem));
                }
                if data.len() > MAX_MARKER_BYTES {
                    let problem = format!("a marker of more than {MAX_MARKER_BYTES} bytes");
                    return Err(fault(self.line, &problem));
                }
                ImportEventKind::Marker(data)
            }
            _ => {
                let problem = |_| fault(self.line, &format!("{data:?} is no exit status"));
                let code = data.parse().map_err(problem)?;
                return Ok(Some(CastEvent::Exited { code, at_ms }));
            }
        };
        Ok(Some(CastEvent::Happened(ImportEvent { at_ms, kind })))
    }

    /// Moves on to an event's time, and returns it in milliseconds since the start.
    fn go_on(&mut self, time: f64) -> Result<u64, CastError> {
        let Ok(given) = Duration::try_from_secs_f64(time) else {
            return Err(fault(self.line, &format!("{time:?} is no time in seconds")));
        };
        self.now = match self.header.version {
            2 => self.now.max(given),
            _ => self.now.saturating_add(given),
        };
        let rounded = self.now.saturating_add(Duration::from_micros(500));
        let at_ms = u64::try_from(rounded.as_millis()).unwrap_or(u64::MAX);
        if at_ms > MAX_IMPORT_MS {
            return Err(fault(self.line, "it is longer than a year"));
        }
        Ok(at_ms)
    }

    fn nothing_follows(&mut self) -> Result<(), CastError> {
        match next_line(&mut self.input, &mut self.line)? {
            None => Ok(()),
            Some(_) => Err(fault(self.line, "it goes on after its end")),
        }
    }
}

/// The next line that is neither empty nor a comment.
fn next_line(input: &mut impl BufRead, number: &mut usize) -> Result<Option<String>, CastError> {
    loop {
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        *number += 1;
        if line.len() as u64 > MAX_LINE_BYTES {
            let problem = format!("the line is longer than {MAX_LINE_BYTES} bytes");
            return Err(fault(*number, &problem));
        }
        let line = String::from_utf8(line).map_err(|_| fault(*number, "it is not UTF-8"))?;
        let is_comment = line.starts_with('#');
        if !is_comment && !line.trim().is_empty() {
            return Ok(Some(line));
        }
    }
}

/// Appends the rest of the file.
fn read_rest(input: &mut impl BufRead, text: &mut String, number: usize) -> Result<(), CastError> {
    let mut rest = Vec::new();
    input
        .by_ref()
        .take(MAX_LINE_BYTES + 1)
        .read_to_end(&mut rest)?;
    if rest.len() as u64 > MAX_LINE_BYTES {
        let problem = format!("the recording is longer than {MAX_LINE_BYTES} bytes");
        return Err(fault(number, &problem));
    }
    text.push_str(&String::from_utf8(rest).map_err(|_| fault(number, "it is not UTF-8"))?);
    Ok(())
}

fn size(cols: u64, rows: u64) -> Option<(u16, u16)> {
    let cols = u16::try_from(cols).ok()?;
    let rows = u16::try_from(rows).ok()?;
    let fits = (MIN_COLS..=MAX_DIMENSION).contains(&cols) && (1..=MAX_DIMENSION).contains(&rows);
    fits.then_some((cols, rows))
}

fn bad_size(cols: u64, rows: u64) -> String {
    format!(
        "a size of {cols}x{rows} is out of bounds ({MIN_COLS}x1 to {MAX_DIMENSION}x{MAX_DIMENSION})"
    )
}

/// Seconds since the Unix epoch in milliseconds.
#[allow(clippy::cast_possible_truncation)]
fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1_000.0).round() as i64
}

/// What is wrong with a line that is no JSON, or other JSON than was expected.
fn describe(error: &serde_json::Error, expected: &str) -> String {
    let column = error.column();
    if error.is_data() {
        format!("this is no {expected} (column {column})")
    } else {
        format!("this is no JSON, or is cut short, at column {column}; expected was the {expected}")
    }
}

fn fault(line: usize, problem: &str) -> CastError {
    let mut problem = problem.to_owned();
    if let Some((end, _)) = problem.char_indices().nth(MAX_PROBLEM_CHARS) {
        problem.replace_range(end.., "…");
    }
    CastError::Line { line, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Header, Vec<CastEvent>), CastError> {
        let mut reader = CastReader::open(text.as_bytes())?;
        let mut events = Vec::new();
        while let Some(event) = reader.next_event()? {
            events.push(event);
        }
        Ok((reader.header().clone(), events))
    }

    fn output(at_ms: u64, text: &str) -> CastEvent {
        let kind = ImportEventKind::Output(text.to_owned());
        CastEvent::Happened(ImportEvent { at_ms, kind })
    }

    fn size_event(at_ms: u64, cols: u16, rows: u16) -> CastEvent {
        let kind = ImportEventKind::Size { cols, rows };
        CastEvent::Happened(ImportEvent { at_ms, kind })
    }

    fn marker(at_ms: u64, text: &str) -> CastEvent {
        let kind = ImportEventKind::Marker(text.to_owned());
        CastEvent::Happened(ImportEvent { at_ms, kind })
    }

    #[test]
    fn each_version_is_read() {
        let v3 = "# recorded\n\
            {\"version\":3,\"term\":{\"cols\":90,\"rows\":30},\"timestamp\":1000,\"command\":\"sh\",\"tags\":[1]}\n\
            [0.25, \"o\", \"a\\r\\n\"]\n\n\
            # a comment\n\
            [0.1004, \"i\", \"x\"]\n\
            [0.1004, \"r\", \"91x31\"]\n\
            [1, \"m\", \"make\"]\n\
            [0, \"z\", {\"any\": 1}]\n\
            [0.5, \"x\", \"3\"]\n";
        let (header, events) = read(v3).unwrap();
        assert_eq!((header.cols, header.rows, header.version), (90, 30, 3));
        assert_eq!(header.started_at_ms, Some(1_000_000));
        assert_eq!(header.command.as_deref(), Some("sh"));
        let want = [
            output(250, "a\r\n"),
            size_event(451, 91, 31),
            marker(1_451, "make"),
            CastEvent::Exited {
                code: 3,
                at_ms: 1_951,
            },
        ];
        assert_eq!(events, want);

        let v2 = "{\"version\": 2, \"width\": 80, \"height\": 24, \"timestamp\": 1504467315.5, \
            \"title\": \"Demo\", \"env\": {\"SHELL\": \"/bin/zsh\"}}\n\
            [0.5, \"o\", \"a\"]\n[0.25, \"o\", \"b\"]\n[2, \"r\", \"100x40\"]\n";
        let (header, events) = read(v2).unwrap();
        assert_eq!(header.started_at_ms, Some(1_504_467_315_500));
        assert_eq!(header.shell.as_deref(), Some("/bin/zsh"));
        let want = [
            output(500, "a"),
            output(500, "b"),
            size_event(2_000, 100, 40),
        ];
        assert_eq!(events, want, "times do not go back");

        for v1 in [
            "{\"version\":1,\"width\":80,\"height\":24,\"duration\":1.5,\"stdout\":[[0.5,\"a\"],[1,\"b\"]]}",
            "{\n  \"version\": 1,\n  \"width\": 80,\n  \"height\": 24,\n  \"stdout\": [\n    [0.5, \"a\"],\n    [1, \"b\"]\n  ]\n}\n",
        ] {
            let (header, events) = read(v1).unwrap();
            assert_eq!(header.version, 1);
            assert_eq!(events, [output(500, "a"), output(1_500, "b")], "{v1}");
        }
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        let v3 = "{\"version\":3,\"term\":{\"cols\":90,\"rows\":30}}\n";
        let after = |line: &str| format!("{v3}[0.1,\"o\",\"a\"]\n{line}\n");
        let table = [
            (String::new(), 1, "header"),
            ("hello\n".to_owned(), 1, "header"),
            ("{\"version\":4}\n".to_owned(), 1, "no version 4"),
            ("{\"version\":3}\n".to_owned(), 1, "no size"),
            (
                "{\"version\":2,\"width\":1,\"height\":0}".to_owned(),
                1,
                "out of bounds",
            ),
            (
                "{\"version\":2,\"width\":80,\"height\":99999}".to_owned(),
                1,
                "out of bounds",
            ),
            (after("[0.2,\"o\",\"cut in ha"), 3, "event"),
            (after("[0.2,\"o\"]"), 3, "event"),
            (after("[-1,\"o\",\"a\"]"), 3, "no time"),
            (after("[1e308,\"o\",\"a\"]"), 3, "1e308 is no time"),
            (
                "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":-5}".to_owned(),
                1,
                "1970 to 9999",
            ),
            (
                after(&format!("[1,\"r\",\"{}\"]", "8".repeat(9_000))),
                3,
                "888…",
            ),
            (after("[1,\"r\",\"80\"]"), 3, "no size"),
            (after("[1,\"r\",\"80x99999\"]"), 3, "no size"),
            (after("[1,\"x\",\"SIGTERM\"]"), 3, "exit status"),
            (after("[1,\"o\",\"\\ud800\"]"), 3, "event"),
            (after("[1,\"o\",7]"), 3, "no text"),
            (
                after(&"[0,\"m\",\"\"]\n".repeat(MAX_IMPORT_MARKERS + 1)),
                MAX_IMPORT_MARKERS + 3,
                "more than 10000 markers",
            ),
            (
                after(&"[0,\"r\",\"80x24\"]\n".repeat(MAX_IMPORT_SIZES + 1)),
                MAX_IMPORT_SIZES + 3,
                "more than 10000 sizes",
            ),
            (
                after(&format!(
                    "[1,\"m\",\"{}\"]",
                    "m".repeat(MAX_MARKER_BYTES + 1)
                )),
                3,
                "a marker of more than",
            ),
            (
                "{\n\"version\": 1,\n\"width\": 80,\n\"stdout\": [[0.5, \"a\"".to_owned(),
                4,
                "recording",
            ),
            (
                "{\"version\":1,\"width\":80,\"height\":24,\"stdout\":[]}\nmore".to_owned(),
                2,
                "after its end",
            ),
        ];
        for (text, want_line, want) in table {
            match read(&text) {
                Err(CastError::Line { line, problem }) => {
                    assert_eq!(line, want_line, "{text:?}: {problem}");
                    assert!(problem.contains(want), "{text:?}: {problem}");
                    assert!(problem.chars().count() <= MAX_PROBLEM_CHARS + 1);
                }
                other => panic!("{text:?}: {other:?}"),
            }
        }
        let not_utf8 = [v3.as_bytes(), b"[0.1, \"o\", \"\xff\"]\n"].concat();
        let mut reader = CastReader::open(&*not_utf8).unwrap();
        let fault = reader.next_event().unwrap_err();
        assert!(
            matches!(fault, CastError::Line { line: 2, .. }),
            "{fault:?}"
        );
    }

    #[test]
    fn noise_is_never_a_recording_and_never_a_panic() {
        let mut state = 1_u64;
        for length in 0..300 {
            let noise: Vec<u8> = (0..length)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    b"{}[]\",:0123abro\n\\ue"[(state >> 33) as usize % 19]
                })
                .collect();
            assert!(CastReader::open(&*noise).is_err());
            let header = b"{\"version\":2,\"width\":80,\"height\":24}\n";
            let file = [&header[..], &noise].concat();
            let mut reader = CastReader::open(&*file).unwrap();
            while let Ok(Some(_)) = reader.next_event() {}
        }
    }
}
