//! The directories that a text's commands may run in: where the text starts, where a `cd` leads, and
//! where an option of a command leads that command (`make -C`). And where the text starts that the same
//! shell reads next.
//!
//! Directories are known by their words alone: links are not resolved.

use std::borrow::Cow;

use super::finding::InspectedCommand;
use super::inspection::Inspection;
use crate::fit::Fit;
use crate::path::normalized;
use crate::request::Completeness;
use crate::shell::word::{UNKNOWN, Word};

/// Directories that are distinguished. A text with more `cd`s may be anywhere.
const MAX_CANDIDATES: usize = 64;
/// How many of these directories a person is shown.
const MAX_SHOWN: usize = 4;

/// Programs that change their own directory by an option, with the names of the option. A name of one
/// letter is a short option, whose value may stand in the same word.
const SELF_MOVERS: &[(&[&str], &[&str])] = &[
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
/// Programs that start another command in the directory of an option.
const STARTERS: &[(&[&str], &[&str])] = &[
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

/// The directories to which an option of a command leads the command itself.
pub(super) fn own_directories<'a>(program: &str, args: &'a [Word]) -> Vec<Option<&'a str>> {
    values_of(args, option_of(SELF_MOVERS, program))
}

/// The directories to which an option of a command leads what it starts.
pub(super) fn inner_directories<'a>(program: &str, args: &'a [Word]) -> Vec<Option<&'a str>> {
    values_of(args, option_of(STARTERS, program))
}

/// The directories that a command may run in. Empty if nothing is known of where it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PossibleCwd {
    candidates: Vec<String>,
    /// The command may also run in any other directory.
    anywhere: bool,
}

/// Which commands of a text are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// Those that lead another command of the text elsewhere.
    Text,
    /// Those that lead the shell itself elsewhere.
    Shell,
}

impl PossibleCwd {
    /// The directory `start`, if it is known.
    pub fn at(start: Option<&str>) -> Self {
        Self {
            candidates: start.map(|start| resolved(start, "")).into_iter().collect(),
            anywhere: false,
        }
    }

    /// The directories that are known.
    pub(crate) fn candidates(&self) -> &[String] {
        &self.candidates
    }

    /// The directories as text, for a person, and to tell questions about different directories apart.
    pub fn describe(&self) -> String {
        let named = self.candidates.iter().take(MAX_SHOWN);
        let mut named: Vec<&str> = named.map(String::as_str).collect();
        if self.anywhere || self.candidates.len() > MAX_SHOWN {
            named.push("elsewhere");
        }
        named.join(", or ")
    }

    /// The directories in which the commands of a text may run that starts here.
    pub(crate) fn within_text(&self, inspection: &Inspection) -> Self {
        self.following(Followed::Text, inspection)
    }

    /// The directories in which the shell may be that has read a text. A part that is not known may have
    /// led it anywhere.
    pub(crate) fn behind_text(&self, inspection: &Inspection, completeness: Completeness) -> Self {
        let mut cwd = self.following(Followed::Shell, inspection);
        let is_unknown = inspection.first_unknown().is_some()
            || matches!(
                completeness,
                Completeness::Recalled | Completeness::Edited | Completeness::TooLong
            );
        cwd.anywhere |= is_unknown && self.is_known();
        cwd
    }

    fn is_known(&self) -> bool {
        self.anywhere || !self.candidates.is_empty()
    }

    fn following(&self, followed: Followed, inspection: &Inspection) -> Self {
        let mut cwd = self.clone();
        if !self.is_known() {
            return cwd;
        }
        for command in &inspection.commands {
            match command.program.as_str() {
                "cd" | "chdir" | "pushd" => cwd.lead(command),
                "popd" => cwd.anywhere = true,
                program if followed == Followed::Text => {
                    for directory in values_of(&command.args, option_of(STARTERS, program)) {
                        cwd.lead_to(directory);
                    }
                }
                _ => {}
            }
        }
        cwd
    }

    /// The directories of one command of the text, which its own option may lead elsewhere.
    pub(crate) fn of_command(&self, command: &InspectedCommand) -> Cow<'_, Self> {
        let directories = values_of(&command.args, option_of(SELF_MOVERS, &command.program));
        if directories.is_empty() || !self.is_known() {
            return Cow::Borrowed(self);
        }
        let mut cwd = self.clone();
        for directory in directories {
            cwd.lead_to(directory);
        }
        Cow::Owned(cwd)
    }

    fn lead(&mut self, command: &InspectedCommand) {
        let operands = command
            .args
            .iter()
            .filter(|word| !word.text.starts_with('-'));
        let target = operands.map(|word| word.text.as_str()).next();
        // `+1` is a place in the stack of directories (`pushd`).
        self.lead_to(target.filter(|target| !target.starts_with('+')));
    }

    /// Adds where `target` leads. `None`: it is not known where.
    fn lead_to(&mut self, target: Option<&str>) {
        let known = target.filter(|target| !target.contains(UNKNOWN) && !target.starts_with('~'));
        let (Some(target), true) = (known, self.candidates.len() < MAX_CANDIDATES / 2) else {
            self.anywhere = true;
            return;
        };
        let led = self.candidates.iter().map(|from| resolved(from, target));
        let led: Vec<String> = led.collect();
        for directory in led {
            if !self.candidates.contains(&directory) {
                self.candidates.push(directory);
            }
        }
    }

    /// Whether the command runs in this directory or below it.
    pub(crate) fn is_within(&self, above: &str) -> Fit {
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

/// The values of these options, wherever they stand. Too many are found rather than too few.
fn values_of<'a>(args: &'a [Word], names: &[&str]) -> Vec<Option<&'a str>> {
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

/// The directory that a path leads to from a directory.
fn resolved(from: &str, to: &str) -> String {
    if to.starts_with('/') {
        normalized(to)
    } else {
        normalized(&format!("{from}/{to}"))
    }
}
