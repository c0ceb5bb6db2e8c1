//! A terminal as the overview knows it, and the texts that are shown of it.

use std::time::Instant;

use termd_client::escape::{escaped, one_line, terminal_command};
use termd_client::question::asker;
use termd_proto::attention::AttentionState;
use termd_proto::screen::Progress;
use termd_proto::terminal::{TerminalInfo, TerminalState};

use super::news::GlanceWithBranch;

/// A terminal.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) info: TerminalInfo,
    pub(super) last_line: String,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) progress: Option<Progress>,
    /// When it has printed, or changed, for the first time since the last glance.
    pub(super) stale_since: Option<Instant>,
}

impl Row {
    pub(super) fn new(info: TerminalInfo, now: Instant) -> Self {
        Self {
            info,
            last_line: String::new(),
            cwd: None,
            branch: None,
            progress: None,
            stale_since: Some(now),
        }
    }

    pub(super) fn take(&mut self, seen: GlanceWithBranch) {
        let GlanceWithBranch { glance, branch } = seen;
        if let Some(line) = glance.last_line {
            self.last_line = one_line(&line);
        }
        self.cwd = glance.cwd;
        self.branch = branch;
        self.progress = glance.progress;
    }

    pub(super) fn state(&self) -> AttentionState {
        let attention = self.info.attention.as_ref();
        attention.map_or(AttentionState::Running, |attention| attention.state)
    }

    pub(super) fn since_ms(&self) -> i64 {
        let attention = self.info.attention.as_ref();
        attention.map_or(self.info.created_at_ms, |attention| attention.since_ms)
    }

    /// Whether it has ended, and nothing of it waits for the person.
    pub(super) fn is_over(&self) -> bool {
        self.info.state != TerminalState::Running && !self.state().is_waiting()
    }

    /// What a person calls it: its label, or else its command.
    pub(super) fn name(&self) -> String {
        match &self.info.label {
            Some(label) => escaped(label.as_str()),
            None => self.command(),
        }
    }

    /// Its label, or else its id.
    pub(super) fn label_or_id(&self) -> String {
        match &self.info.label {
            Some(label) => escaped(label.as_str()),
            None => self.info.id.to_string(),
        }
    }

    pub(super) fn command(&self) -> String {
        one_line(&terminal_command(&self.info))
    }

    /// Why it is as it is: the prompt, the command that runs in it.
    pub(super) fn why(&self) -> String {
        let attention = self.info.attention.as_ref();
        attention.map_or_else(String::new, |attention| one_line(&attention.why))
    }

    /// What it is worth a look for: why it waits, or else what it has printed last.
    pub(super) fn gist(&self) -> String {
        let texts = if self.state().is_waiting() && self.state() != AttentionState::Done {
            [self.why(), self.last_line.clone()]
        } else {
            [self.last_line.clone(), self.why()]
        };
        let mut texts = texts.into_iter();
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// Who opened it: an agent, by its name, or the person.
    pub(super) fn who(&self) -> String {
        let owner = &self.info.owner;
        match owner.agent() {
            Some(_) => escaped(&asker(owner)),
            None => "you".to_owned(),
        }
    }

    /// Its tags, with blanks between them.
    pub(super) fn tags(&self) -> String {
        let tags = self.info.tags.iter().map(|tag| escaped(tag.as_str()));
        tags.collect::<Vec<_>>().join(" ")
    }

    /// Where it is: its shell's directory, or that which it was started in.
    pub(super) fn directory(&self) -> &str {
        self.cwd.as_deref().unwrap_or(&self.info.cwd)
    }

    pub(super) fn progress_text(&self) -> Option<String> {
        Some(match self.progress? {
            Progress::Normal(percent) => format!("{percent} %"),
            Progress::Error(percent) => format!("{percent} % failed"),
            Progress::Paused(percent) => format!("{percent} % paused"),
            Progress::Indeterminate => "…".to_owned(),
        })
    }
}

/// A directory as a person reads it: `~` for their home, and escaped.
pub(super) fn shown_directory(directory: &str, home: Option<&str>) -> String {
    let below = home.and_then(|home| directory.strip_prefix(home));
    match below {
        Some(below) if below.is_empty() || below.starts_with('/') => {
            format!("~{}", escaped(below))
        }
        _ => escaped(directory),
    }
}

/// A length of time of which a person wants to know how long it is, in steps of a minute at the least:
/// an overview that shows seconds is drawn each second.
pub(super) fn age(ms: i64) -> String {
    let minutes = ms.max(0) / MINUTE_MS;
    let (hours, days) = (minutes / 60, minutes / (24 * 60));
    if minutes == 0 {
        "now".to_owned()
    } else if hours == 0 {
        format!("{minutes}m")
    } else if days == 0 {
        format!("{hours}h{:02}", minutes % 60)
    } else {
        format!("{days}d")
    }
}

pub(super) const MINUTE_MS: i64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_directories_are_short() {
        for (ms, want) in [
            (-5, "now"),
            (59_999, "now"),
            (60_000, "1m"),
            (7_620_000, "2h07"),
            (442_800_000, "5d"),
        ] {
            assert_eq!(age(ms), want);
        }
        for (directory, want) in [
            ("/home/me", "~"),
            ("/home/me/src", "~/src"),
            ("/home/meow", "/home/meow"),
            ("/tmp/\u{1b}", "/tmp/\\x1b"),
        ] {
            assert_eq!(shown_directory(directory, Some("/home/me")), want);
        }
    }
}
