//! Where a text's commands run: where it starts, where its `cd`s may lead, and where a command's own
//! option leads that one (`make -C`). And where the text behind it starts, that the same shell reads.
//!
//! Pure, by the words alone: links are not resolved here. It must not know rules.

use std::borrow::Cow;

use termd_proto::policy::Verdict;

use crate::Known;
use crate::inspect::inspector::{Inspector, Seen};
use crate::rules::rule_set::Fit;
use crate::shell::word::{UNKNOWN, Word};

/// Directories that are told apart; a text with more `cd`s may be anywhere.
const MAX_CANDIDATES: usize = 64;
/// Of these, how many are told a person.
const MAX_NAMED: usize = 4;

/// Programs that go elsewhere by an option before they do anything, with the names of it. One letter:
/// a short one, whose value may stand in the same word.
const GOERS: &[(&[&str], &[&str])] = &[
    (&["git"], &["C", "work-tree", "git-dir"]),
    (
        &["make", "gmake", "tar", "bsdtar", "gtar"],
        &["C", "directory", "cd"],
    ),
    (&["ninja", "samu", "cargo", "go", "meson"], &["C"]),
    (&["pnpm", "npm"], &["C", "dir", "prefix"]),
    (&["yarn", "bun"], &["cwd"]),
    (&["terraform", "tofu"], &["chdir"]),
];
/// Those that start another command there.
const CARRIERS: &[(&[&str], &[&str])] = &[
    (&["env"], &["C", "chdir"]),
    (&["sudo", "sudo-rs", "run0"], &["D", "chdir"]),
    (&["systemd-run"], &["working-directory"]),
    (&["nsenter", "unshare"], &["w", "wd", "wdns"]),
];

fn option_of(
    table: &[(&[&str], &'static [&'static str])],
    program: &str,
) -> &'static [&'static str] {
    let found = table
        .iter()
        .find(|(programs, _)| programs.contains(&program));
    found.map_or(&[], |(_, names)| names)
}

/// The directories that a command may be in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    candidates: Vec<String>,
    /// It may be in others too.
    anywhere: bool,
}

/// What of a text is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// All that leads one of its commands elsewhere.
    Text,
    /// What leads the shell elsewhere that reads it.
    Shell,
}

impl Whereabouts {
    /// Of a text that starts in this directory, where that is known.
    pub fn at(start: Option<&str>) -> Self {
        Self {
            candidates: start.map(|start| lexical(start, "")).into_iter().collect(),
            anywhere: false,
        }
    }

    /// For a person, and to tell a question from one about another place.
    pub fn named(&self) -> String {
        let named = self.candidates.iter().take(MAX_NAMED);
        let mut named: Vec<&str> = named.map(String::as_str).collect();
        if self.anywhere || self.candidates.len() > MAX_NAMED {
            named.push("elsewhere");
        }
        named.join(", or ")
    }

    /// Those of a text that starts here.
    pub(crate) fn within_text(&self, seen: &[Seen]) -> Self {
        self.following(Followed::Text, seen)
    }

    /// Those in which the shell may be that has read the text. What is not understood of it may have
    /// led anywhere.
    pub(crate) fn behind_text(&self, inspector: &Inspector, known: Known) -> Self {
        let mut whereabouts = self.following(Followed::Shell, &inspector.seen);
        let of_commands = inspector
            .seen
            .iter()
            .filter_map(|seen| seen.finding.as_ref());
        let mut findings = of_commands.chain(&inspector.findings);
        let not_understood = findings.any(|finding| finding.verdict == Verdict::Unknown)
            || matches!(known, Known::Recalled | Known::TooLong);
        whereabouts.anywhere |= not_understood && self.is_known();
        whereabouts
    }

    fn is_known(&self) -> bool {
        self.anywhere || !self.candidates.is_empty()
    }

    fn following(&self, followed: Followed, seen: &[Seen]) -> Self {
        let mut whereabouts = self.clone();
        if !self.is_known() {
            return whereabouts;
        }
        for command in seen {
            match command.program.as_str() {
                "cd" | "chdir" | "pushd" => whereabouts.lead(command),
                "popd" => whereabouts.anywhere = true,
                program if followed == Followed::Text => {
                    for directory in named(&command.args, option_of(CARRIERS, program)) {
                        whereabouts.lead_to(directory);
                    }
                }
                _ => {}
            }
        }
        whereabouts
    }

    /// Those of one command of the text: where it starts, and where its own option leads it.
    pub(crate) fn of_command(&self, command: &Seen) -> Cow<'_, Self> {
        let directories = named(&command.args, option_of(GOERS, &command.program));
        if directories.is_empty() || !self.is_known() {
            return Cow::Borrowed(self);
        }
        let mut whereabouts = self.clone();
        for directory in directories {
            whereabouts.lead_to(directory);
        }
        Cow::Owned(whereabouts)
    }

    fn lead(&mut self, command: &Seen) {
        let operands = command
            .args
            .iter()
            .filter(|word| !word.text.starts_with('-'));
        let target = operands.map(|word| word.text.as_str()).next();
        // `+1` is a place in the stack of directories.
        self.lead_to(target.filter(|target| !target.starts_with('+')));
    }

    /// It may be led there; `None`: it cannot be told where.
    fn lead_to(&mut self, target: Option<&str>) {
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
    pub(crate) fn within(&self, above: &str) -> Fit {
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

/// The values of these options, wherever they stand: too many are found rather than too few.
fn named<'a>(args: &'a [Word], names: &[&str]) -> Vec<Option<&'a str>> {
    let mut found = Vec::new();
    if names.is_empty() {
        return found;
    }
    for (at, word) in args.iter().enumerate() {
        let next = || args.get(at + 1).map(|word| word.text.as_str());
        let Some(given) = word.text.strip_prefix('-') else {
            // tar(1), in the old style: `tar xC DIR`.
            if at == 0 && names.contains(&"directory") && word.text.contains('C') {
                found.push(None);
            }
            continue;
        };
        let long = given.strip_prefix('-').unwrap_or(given);
        let (long, value) = match long.split_once('=') {
            Some((long, value)) => (long, Some(value)),
            None => (long, None),
        };
        // Long options may be abbreviated.
        let is_long = |name: &&str| name.len() > 1 && long.len() > 1 && name.starts_with(long);
        if names.iter().any(is_long) {
            found.push(value.or_else(next));
        } else if !given.starts_with('-') {
            let mut letters = names.iter().filter(|name| name.len() == 1);
            let cut = letters.find_map(|letter| given.split_once(letter));
            found.extend(cut.map(|(_, rest)| match rest {
                "" => next(),
                rest => Some(rest),
            }));
        }
    }
    found
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
