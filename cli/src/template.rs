//! A line for each terminal in the words of the caller: `list --format`. Pure.

use std::str::FromStr;

use termd_client::escape::{one_line, terminal_command};
use termd_proto::Label;
use termd_proto::terminal::TerminalInfo;
use thiserror::Error;

/// What a template can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Label,
    Tags,
    State,
    Attention,
    Why,
    Exit,
    Pid,
    Cwd,
    Size,
    Front,
    Client,
    Created,
    Command,
}

/// The fields' names, in the order in which an error lists them.
const FIELDS: [(&str, Field); 14] = [
    ("id", Field::Id),
    ("label", Field::Label),
    ("tags", Field::Tags),
    ("state", Field::State),
    ("attention", Field::Attention),
    ("why", Field::Why),
    ("exit", Field::Exit),
    ("pid", Field::Pid),
    ("cwd", Field::Cwd),
    ("size", Field::Size),
    ("front", Field::Front),
    ("client", Field::Client),
    ("created", Field::Created),
    ("command", Field::Command),
];

impl Field {
    /// The terminal's value; empty where it has none.
    fn of(self, info: &TerminalInfo) -> String {
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        match self {
            Self::Id => info.id.to_string(),
            Self::Label => text(info.label.as_ref().map(Label::as_str)),
            Self::Tags => info.tags.to_string(),
            Self::State => info.state.as_str().to_owned(),
            Self::Attention => {
                let attention = info.attention.as_ref();
                text(attention.map(|attention| attention.state.as_str()))
            }
            Self::Why => text(
                info.attention
                    .as_ref()
                    .map(|attention| attention.why.as_str()),
            ),
            Self::Exit => info
                .exit_status
                .as_ref()
                .map_or_else(String::new, |status| {
                    let code = status.exit_code.map(|code| code.to_string());
                    status.signal.clone().or(code).unwrap_or_default()
                }),
            Self::Pid => info.pid.to_string(),
            Self::Cwd => info.cwd.clone(),
            Self::Size => format!("{}x{}", info.cols, info.rows),
            Self::Front => info.owner.front.as_str().to_owned(),
            Self::Client => text(info.owner.client.as_deref()),
            Self::Created => termd_client::timestamp::utc(info.created_at_ms),
            Self::Command => terminal_command(info),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Field(Field),
}

/// A template such as `{id} {state}\t{command}`. `\t`, `\n` and `\\` stand for a tab, a newline and a
/// backslash, `{{` and `}}` for braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(Vec<Part>);

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum InvalidTemplate {
    #[error("no field is called {{{name}}}: {}", FIELDS.map(|(name, _)| name).join(", "))]
    UnknownField { name: String },
    #[error("a brace is not closed; {{{{ and }}}} are the braces themselves")]
    OpenBrace,
}

impl Template {
    /// The line of a terminal, without its newline. What a value would do to a tty is escaped.
    pub(crate) fn line(&self, info: &TerminalInfo) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Field(field) => one_line(&field.of(info)),
        });
        parts.collect()
    }
}

impl FromStr for Template {
    type Err = InvalidTemplate;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let mut ahead = rest.clone();
            let next = ahead.next();
            let replaced = match (c, next) {
                ('\\', Some('t')) => Some('\t'),
                ('\\', Some('n')) => Some('\n'),
                ('\\', Some('\\')) | ('{', Some('{')) | ('}', Some('}')) => Some(c),
                _ => None,
            };
            match (c, replaced) {
                (_, Some(replaced)) => {
                    literal.push(replaced);
                    rest = ahead;
                }
                ('{', None) => {
                    let (name, behind) =
                        (rest.as_str().split_once('}')).ok_or(InvalidTemplate::OpenBrace)?;
                    let field = FIELDS.iter().find(|(known, _)| *known == name);
                    let (_, field) = field.ok_or_else(|| InvalidTemplate::UnknownField {
                        name: name.to_owned(),
                    })?;
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                    parts.push(Part::Field(*field));
                    rest = behind.chars();
                }
                ('}', None) => return Err(InvalidTemplate::OpenBrace),
                (other, None) => literal.push(other),
            }
        }
        parts.push(Part::Text(literal));
        Ok(Self(parts))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn terminal() -> TerminalInfo {
        serde_json::from_value(json!({
            "id": "term_q2p6wkd4ux7e", "label": null, "argv": ["printf", "a b\u{1b}"], "cwd": "/x\u{7}",
            "pid": 7, "state": "exited", "exit_status": { "exit_code": null, "signal": "SIGTERM" },
            "cols": 80, "rows": 24, "owner": { "front": "cli", "uid": 1, "pid": 1, "exe": null, "session": null,
                                        "client": null }, "created_at_ms": 0,
            "exited_at_ms": 1, "start": 0, "end": 0, "output_byte_limit": 1
        }))
        .unwrap()
    }

    #[test]
    fn fields_are_filled_in_and_nothing_controls_the_tty() {
        for (template, line) in [
            ("{id}", "term_q2p6wkd4ux7e"),
            (r"{state} {exit}\t{size}", "exited SIGTERM\t80x24"),
            ("[{label}] {cwd}", "[] /x\\x07"),
            ("{command}", r"printf $'a b\x1b'"),
            (r"{{{pid}}} a\\b\x", r"{7} a\b\x"),
            ("", ""),
        ] {
            let read: Template = template.parse().unwrap();
            assert_eq!(read.line(&terminal()), line, "{template}");
        }
    }

    #[test]
    fn a_wrong_template_says_what_may_stand_there() {
        let error = "{nme}".parse::<Template>().unwrap_err().to_string();
        assert!(
            error.starts_with("no field is called {nme}: id, label"),
            "{error}"
        );
        for open in ["{id", "}", "{"] {
            assert_eq!(open.parse::<Template>(), Err(InvalidTemplate::OpenBrace));
        }
    }
}
