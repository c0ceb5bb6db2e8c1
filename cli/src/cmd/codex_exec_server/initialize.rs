//! The one change to what passes: the path of the shell in the answer to `initialize`.
//!
//! Pure. Both sides look at whole lines until that answer was seen. A line that is longer than
//! [`MAX_LINE`], or that does not begin as JSON, passes at once.

use std::path::{Path, PathBuf};

use serde_json::Value;
use termd_acp::wire::edit;
use termd_acp::wire::message::Members;

/// The longest line that is looked at. An answer to `initialize` has some KiB.
const MAX_LINE: usize = 1 << 20;

const METHOD: &str = "initialize";
/// Where the answer has the path.
const PATH: [&str; 4] = ["result", "environmentInfo", "shell", "path"];

/// Finds the id of the latest `initialize` in what the client sends.
#[derive(Debug, Default)]
pub(super) struct RequestId {
    line: Vec<u8>,
    is_passing: bool,
}

impl RequestId {
    /// Looks at the next bytes. Returns an id that they end the line of.
    pub(super) fn look(&mut self, bytes: &[u8]) -> Option<Value> {
        let mut found = None;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = part.ends_with(b"\n");
            if !self.is_passing && self.line.len() + part.len() <= MAX_LINE {
                self.line.extend_from_slice(part);
            } else {
                self.is_passing = true;
                self.line.clear();
            }
            if is_whole {
                found = id_of_initialize(&self.line).or(found);
                self.line.clear();
                self.is_passing = false;
            }
        }
        found
    }
}

fn id_of_initialize(line: &[u8]) -> Option<Value> {
    let members = Members::of(std::str::from_utf8(line).ok()?)?;
    (members.string("method")? == METHOD).then_some(())?;
    serde_json::from_str(members.get("id")?.get()).ok()
}

/// Changes the answer to `initialize`.
#[derive(Debug, Default)]
pub(super) struct AnswerFilter {
    /// The line so far, as long as it may be the answer.
    held: Vec<u8>,
    is_passing: bool,
}

/// What became of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Filtered {
    /// The answer may still come.
    Before,
    /// The answer was among them: what comes now passes unread.
    Answered,
}

impl AnswerFilter {
    /// Takes the next bytes, and appends what passes now to `out`. `id` is that of the request, and
    /// `shell` gives our shell in the place of another one.
    pub(super) fn feed(
        &mut self,
        mut bytes: &[u8],
        id: Option<&Value>,
        shell: impl Fn(&Path) -> Option<PathBuf>,
        out: &mut Vec<u8>,
    ) -> Filtered {
        while let Some((part, rest)) = line(bytes) {
            bytes = rest;
            if self.is_passing {
                out.extend_from_slice(part);
            } else {
                self.held.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                let answer = id.and_then(|id| answer(&self.held, id, &shell));
                let is_answer = answer.is_some();
                out.append(
                    &mut answer
                        .flatten()
                        .unwrap_or_else(|| std::mem::take(&mut self.held)),
                );
                self.held.clear();
                self.is_passing = false;
                if is_answer {
                    out.extend_from_slice(bytes);
                    return Filtered::Answered;
                }
            } else if self.held.len() > MAX_LINE || !may_be_json(&self.held) {
                self.is_passing = true;
                out.append(&mut self.held);
            }
        }
        Filtered::Before
    }

    /// The half line that is left at the end.
    pub(super) fn rest(self) -> Vec<u8> {
        self.held
    }
}

/// The first line of some bytes with its newline, and the rest.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n');
    bytes.split_at_checked(end.map_or(bytes.len(), |end| end + 1))
}

fn may_be_json(line: &[u8]) -> bool {
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    first.is_none_or(|byte| *byte == b'{')
}

/// Whether a line is the successful answer to the request with this id, and the line with our shell in
/// it, where we have one.
#[allow(clippy::option_option)]
fn answer(
    line: &[u8],
    id: &Value,
    shell: impl Fn(&Path) -> Option<PathBuf>,
) -> Option<Option<Vec<u8>>> {
    let line = std::str::from_utf8(line).ok()?;
    let members = Members::of(line)?;
    let answered: Value = serde_json::from_str(members.get("id")?.get()).ok()?;
    (answered == *id && members.get("method").is_none()).then_some(())?;
    let result = members.object("result")?;
    let path = (result.object("environmentInfo"))
        .and_then(|info| info.object("shell"))
        .and_then(|shell| shell.string("path"));
    let ours = path.and_then(|path| shell(Path::new(&path)));
    let ours = ours.and_then(|path| path.into_os_string().into_string().ok());
    let edit = ours.and_then(|ours| edit::set(line, &PATH, &Value::String(ours)));
    Some(edit.map(|edit| edit::apply(line, vec![edit]).into_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ours(path: &Path) -> Option<PathBuf> {
        (path == Path::new("/bin/bash")).then(|| "/ours/bash".into())
    }

    /// What comes out of the filter for these pieces.
    fn filtered(pieces: &[&[u8]], id: &Value) -> Vec<u8> {
        let mut filter = AnswerFilter::default();
        let mut out = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            if filter.feed(piece, Some(id), ours, &mut out) == Filtered::Answered {
                for rest in &pieces[at + 1..] {
                    out.extend_from_slice(rest);
                }
                return out;
            }
        }
        out.extend_from_slice(&filter.rest());
        out
    }

    const ANSWER: &str = r#"{"id":1, "result":{"sessionId":"\u00e9","environmentInfo":{"cwd":"/","shell":{"name":"bash", "path" : "/bin\/bash" },"n":1.50}}}"#;
    const WANT: &str = r#"{"id":1, "result":{"sessionId":"\u00e9","environmentInfo":{"cwd":"/","shell":{"name":"bash", "path" : "/ours/bash" },"n":1.50}}}"#;

    #[test]
    fn one_field_of_the_answer_changes_wherever_it_is_cut() {
        let before = "noise\n\n{\"method\":\"x\"}\n{\"id\":1,\"error\":{}}\n";
        let after = format!("{ANSWER}\n{{half");
        let text = format!("{before}{ANSWER}\r\n{after}");
        let want = format!("{before}{WANT}\r\n{after}");
        for cut in 0..=text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            let out = filtered(&[one, two], &json!(1));
            assert_eq!(String::from_utf8_lossy(&out), want, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_not_the_answer_passes_as_it_is() {
        let other_shell = ANSWER.replace("/bin\\/bash", "/usr/bin/fish");
        for text in [
            format!("{}\n", ANSWER.replace("\"id\":1", "\"id\":2")),
            format!(
                "{}\n",
                ANSWER.replace("\"id\":1", "\"id\":1,\"method\":\"m\"")
            ),
            format!("{other_shell}\n"),
            "{\"id\":1,\"result\":{\"environmentInfo\":{\"shell\":null}}}\n".to_owned(),
            "{\"id\":1,\"result\":{}}\n".to_owned(),
            ANSWER.to_owned(),
            "\u{0}\u{1}".to_owned(),
            format!("{{{}", "x".repeat(3 * MAX_LINE)),
        ] {
            let out = filtered(&[text.as_bytes()], &json!(1));
            assert!(out == text.as_bytes(), "{}", &text[..text.len().min(200)]);
        }
    }

    #[test]
    fn little_is_held_back() {
        let mut filter = AnswerFilter::default();
        let mut out = Vec::new();
        let id = json!(1);
        filter.feed(b"starting", Some(&id), ours, &mut out);
        assert_eq!(out, b"starting", "no JSON");
        filter.feed(b"\n{\"id\":", Some(&id), ours, &mut out);
        assert_eq!(out, b"starting\n");
        let piece = vec![b'1'; 1 << 16];
        for _ in 0..64 {
            filter.feed(&piece, Some(&id), ours, &mut out);
            assert!(filter.held.len() <= MAX_LINE + piece.len());
        }
        assert!(out.len() > MAX_LINE);
    }

    #[test]
    fn the_id_is_that_of_initialize_wherever_the_line_is_cut() {
        let text = "x\n{\"id\":7,\"method\":\"a\"}\n{\"method\":\"initialize\",\"id\":\"q\",\"params\":{}}\n{";
        for cut in 0..=text.len() {
            let (one, two) = text.as_bytes().split_at(cut);
            let mut request = RequestId::default();
            let found = [request.look(one), request.look(two)];
            assert_eq!(
                found.iter().flatten().collect::<Vec<_>>(),
                [&json!("q")],
                "{cut}"
            );
        }
        let mut request = RequestId::default();
        let long = format!(
            "{{\"a\":\"{}\",\"method\":\"initialize\",\"id\":1}}\n",
            "x".repeat(MAX_LINE)
        );
        assert_eq!(request.look(long.as_bytes()), None);
        assert!(request.line.is_empty());
        let short = b"{\"id\":1,\"method\":\"initialize\"}\n";
        assert_eq!(request.look(short), Some(json!(1)));
    }
}
