//! Where a text's commands run: where it starts, and where its `cd`s may lead.
//!
//! Pure, by the words alone: links are not resolved here. It must not know rules.

use super::inspect::Seen;
use super::rules::Fit;
use super::word::UNKNOWN;

/// Directories that are told apart; a text with more `cd`s may be anywhere.
const MAX_CANDIDATES: usize = 64;

/// The directories that a command may be in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Whereabouts {
    candidates: Vec<String>,
    /// It may be in others too.
    anywhere: bool,
}

impl Whereabouts {
    /// Of a text that starts in this directory, where that is known.
    pub(super) fn of(start: Option<&str>, seen: &[Seen]) -> Self {
        let Some(start) = start else {
            return Self::default();
        };
        let mut whereabouts = Self {
            candidates: vec![lexical(start, "")],
            anywhere: false,
        };
        for command in seen {
            match command.program.as_str() {
                "cd" | "chdir" | "pushd" => whereabouts.lead(command),
                "popd" => whereabouts.anywhere = true,
                _ => {}
            }
        }
        whereabouts
    }

    fn lead(&mut self, command: &Seen) {
        let operands = command
            .args
            .iter()
            .filter(|word| !word.text.starts_with('-'));
        let target = operands.map(|word| word.text.as_str()).next();
        let known = target.filter(|target| !target.contains(UNKNOWN) && !target.starts_with('~'));
        let (Some(target), true) = (known, self.candidates.len() < MAX_CANDIDATES / 2) else {
            self.anywhere = true;
            return;
        };
        let led = self.candidates.iter().map(|from| lexical(from, target));
        let led: Vec<String> = led.collect();
        for directory in led {
            if !self.candidates.contains(&directory) {
                self.candidates.push(directory);
            }
        }
    }

    /// Whether that is this directory, or below it.
    pub(super) fn within(&self, above: &str) -> Fit {
        let is_within = |directory: &String| {
            let below = directory.strip_prefix(above.trim_end_matches('/'));
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let all = self.candidates.iter().all(is_within);
        let any = self.candidates.iter().any(is_within);
        match (all && !self.candidates.is_empty(), any || self.anywhere) {
            (true, _) if !self.anywhere => Fit::Yes,
            (_, true) => Fit::Maybe,
            (true | false, false) => Fit::No,
        }
    }
}

/// A path as its words lead, `.` and `..` taken out.
fn lexical(from: &str, to: &str) -> String {
    let whole = if to.starts_with('/') {
        to.to_owned()
    } else {
        format!("{from}/{to}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}
