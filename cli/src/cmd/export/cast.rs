//! asciicast, as asciinema records it: a header, and an event a line. Pure.
//!
//! Version 3 has the time since the event before, version 2 that since the start. Output is UTF-8: a
//! character that comes in two parts is one with its second, and what is none is U+FFFD.
//! Formats: <https://docs.asciinema.org/manual/asciicast/v3/>, and v2 beside it.

use serde_json::{Value, json};
use termd_proto::terminal::Stdio;

use crate::json;

/// The version of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V3,
}

/// What the header says.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) cols: u16,
    pub(super) rows: u16,
    /// When it began, in milliseconds since the Unix epoch.
    pub(super) started_at_ms: i64,
    pub(super) command: Option<String>,
    pub(super) title: Option<String>,
    /// On pipes lines end with LF alone, and a player's terminal needs CR LF, as a tty makes it.
    pub(super) stdio: Stdio,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd) enum Event {
    Output(Vec<u8>),
    Resize {
        cols: u16,
        rows: u16,
    },
    /// A command began.
    Marker(String),
    /// The exit code, 128 and the number of the signal where that ended it.
    Exit(u8),
}

/// Writes one recording, line by line.
#[derive(Debug)]
pub(super) struct CastWriter {
    version: Version,
    started_at_ms: i64,
    /// The time of the event before, in milliseconds since the start.
    last_ms: i64,
    stdio: Stdio,
    /// The beginning of a character whose rest has not come.
    part: Vec<u8>,
}

/// The variable that programs know the terminal by. Each of termd's terminals has this one.
const TERM: &str = "xterm-256color";

impl CastWriter {
    /// The header's line, and the writer of the events.
    pub(super) fn begin(version: Version, header: &Header) -> (String, Self) {
        let mut line = match version {
            Version::V3 => json!({
                "version": 3,
                "term": { "cols": header.cols, "rows": header.rows, "type": TERM },
            }),
            Version::V2 => json!({
                "version": 2,
                "width": header.cols,
                "height": header.rows,
                "env": { "TERM": TERM },
            }),
        };
        line["timestamp"] = json!(header.started_at_ms.div_euclid(1_000));
        for (name, value) in [("command", &header.command), ("title", &header.title)] {
            if let Some(value) = value {
                line[name] = json!(value);
            }
        }
        let writer = Self {
            version,
            started_at_ms: header.started_at_ms,
            last_ms: 0,
            stdio: header.stdio,
            part: Vec::new(),
        };
        (format!("{}\n", json::to_string(&line)), writer)
    }

    /// An event's line; none where its output is a part of a character. Times never go back.
    pub(super) fn event(&mut self, at_ms: i64, event: &Event) -> Option<String> {
        let (code, data) = match event {
            Event::Output(bytes) if self.stdio == Stdio::Pipes => {
                ("o", self.characters(bytes).replace('\n', "\r\n"))
            }
            Event::Output(bytes) => ("o", self.characters(bytes)),
            Event::Resize { cols, rows } => ("r", format!("{cols}x{rows}")),
            Event::Marker(text) => ("m", text.clone()),
            Event::Exit(code) => match self.version {
                Version::V3 => ("x", code.to_string()),
                // It has no such event.
                Version::V2 => return None,
            },
        };
        if code == "o" && data.is_empty() {
            return None;
        }
        Some(self.line(at_ms, code, data))
    }

    /// The line of a part of a character that stayed one.
    pub(super) fn finish(&mut self, at_ms: i64) -> Option<String> {
        if self.part.is_empty() {
            return None;
        }
        self.part.clear();
        Some(self.line(at_ms, "o", char::REPLACEMENT_CHARACTER.to_string()))
    }

    fn line(&mut self, at_ms: i64, code: &str, data: String) -> String {
        let now_ms = at_ms.saturating_sub(self.started_at_ms).max(self.last_ms);
        let time_ms = match self.version {
            Version::V3 => now_ms - self.last_ms,
            Version::V2 => now_ms,
        };
        self.last_ms = now_ms;
        let data = json::to_string(&Value::String(data));
        format!(
            "[{}.{:03}, \"{code}\", {data}]\n",
            time_ms / 1_000,
            time_ms % 1_000
        )
    }

    fn characters(&mut self, bytes: &[u8]) -> String {
        self.part.extend_from_slice(bytes);
        let taken = self.part.len() - unfinished(&self.part);
        let rest = self.part.split_off(taken);
        let text = std::mem::replace(&mut self.part, rest);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// How many bytes at the end are the beginning of a character (RFC 3629).
fn unfinished(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    for (at, byte) in bytes.iter().enumerate().skip(from).rev() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return 0,
        };
        let there = bytes.len() - at;
        return if there < length { there } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            cols: 80,
            rows: 24,
            started_at_ms: 1_000_500,
            command: Some("sh".to_owned()),
            title: None,
            stdio: Stdio::Pty,
        }
    }

    fn lines(version: Version, events: &[(i64, Event)]) -> Vec<String> {
        let (first, mut writer) = CastWriter::begin(version, &header());
        let mut lines = vec![first];
        lines.extend(
            events
                .iter()
                .filter_map(|(at, event)| writer.event(*at, event)),
        );
        lines.extend(writer.finish(0));
        lines
    }

    #[test]
    fn each_version_has_its_header_and_its_times() {
        let output = |text: &str| Event::Output(text.as_bytes().to_vec());
        let events = [
            (1_000_500, output("a\r\n")),
            (1_001_750, Event::Resize { cols: 90, rows: 30 }),
            (1_001_600, Event::Marker("make \"x\"".to_owned())),
            (1_064_750, output("\u{1b}[1mb")),
            (1_064_751, Event::Exit(3)),
        ];
        assert_eq!(
            lines(Version::V3, &events),
            [
                "{\"command\":\"sh\",\"term\":{\"cols\":80,\"rows\":24,\"type\":\"xterm-256color\"},\
                 \"timestamp\":1000,\"version\":3}\n",
                "[0.000, \"o\", \"a\\r\\n\"]\n",
                "[1.250, \"r\", \"90x30\"]\n",
                "[0.000, \"m\", \"make \\\"x\\\"\"]\n",
                "[63.000, \"o\", \"\\u001b[1mb\"]\n",
                "[0.001, \"x\", \"3\"]\n",
            ]
        );
        let v2 = lines(Version::V2, &events);
        assert!(v2[0].contains("\"width\":80"), "{}", v2[0]);
        assert_eq!(v2[4], "[64.250, \"o\", \"\\u001b[1mb\"]\n");
        assert_eq!(v2.len(), 5, "it has no exits");
    }

    #[test]
    fn a_character_in_parts_is_whole() {
        let text = "ä€𝄞a";
        let bytes = text.as_bytes();
        let events: Vec<_> = bytes
            .iter()
            .map(|byte| (1_000_500, Event::Output(vec![*byte])))
            .collect();
        let lines = lines(Version::V3, &events);
        let data: String = lines[1..]
            .iter()
            .map(|line| {
                let event: Vec<Value> = serde_json::from_str(line).unwrap();
                event[2].as_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!((data.as_str(), lines.len()), (text, 5));
    }

    #[test]
    fn what_is_no_character_is_marked() {
        for (bytes, shown) in [
            (&b"a\xff"[..], "a\u{fffd}"),
            (b"\xe2\x82", "\u{fffd}"),
            (b"\x80", "\u{fffd}"),
            (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
        ] {
            let lines = lines(Version::V3, &[(1_000_500, Event::Output(bytes.to_vec()))]);
            let event: Vec<Value> = serde_json::from_str(&lines[1]).unwrap();
            assert_eq!(event[2], shown, "{bytes:?}");
        }
    }

    #[test]
    fn a_tty_that_shows_a_recording_obeys_nothing_of_it() {
        let text = "\u{9b}31m\u{1b}]52;c;eA==\u{7}\u{202e}";
        let lines = lines(Version::V3, &[(1_000_500, Event::Output(text.into()))]);
        assert!(
            !lines[1].trim_end().chars().any(char::is_control),
            "{}",
            lines[1]
        );
        assert!(!lines[1].contains('\u{202e}'), "{}", lines[1]);
        let event: Vec<Value> = serde_json::from_str(&lines[1]).unwrap();
        assert_eq!(event[2], text);
    }
}
