//! Variables that a text assigns and uses: what the text does with their values cannot be known.

use std::collections::HashSet;
use std::ops::Range;

use super::finding::{Finding, PlaceKind};

/// Words behind which a variable's name stands for itself.
const DECLARING: [&str; 3] = ["export", "unset", "readonly"];

/// The variables of some texts that are used there.
#[derive(Debug, Default)]
pub(super) struct VariableUses<'a> {
    /// The names that are assigned a secret.
    assigned: HashSet<&'a str>,
    /// Those of them that are used outside the place of another secret.
    used: HashSet<&'a str>,
    /// Those that a command word names.
    run: HashSet<&'a str>,
}

impl<'a> VariableUses<'a> {
    /// The uses within these texts, each with what was found in it.
    pub(super) fn of(texts: &[(&'a str, &Finding)]) -> Self {
        let mut uses = Self::default();
        for (text, finding) in texts {
            for place in &finding.places {
                if let PlaceKind::Variable(name) = &place.kind {
                    uses.assigned.extend(text.get(name.clone()));
                }
            }
        }
        if !uses.assigned.is_empty() {
            for (text, finding) in texts {
                uses.read(text, finding);
            }
        }
        uses
    }

    /// Whether the variable of this name is used.
    pub(super) fn is_used(&self, name: &str) -> bool {
        self.used.contains(name)
    }

    /// Whether the variable of this name names a command.
    pub(super) fn is_run(&self, name: &str) -> bool {
        self.run.contains(name)
    }

    fn read(&mut self, text: &'a str, finding: &Finding) {
        let mut names = Vec::new();
        let mut values = Vec::new();
        for place in &finding.places {
            match &place.kind {
                PlaceKind::Variable(name) => names.push(name.clone()),
                PlaceKind::Value => values.push(place.value.clone()),
                PlaceKind::Match => {}
            }
        }
        let mut commands = finding.commands.clone();
        let (mut names, mut values, mut commands) = (
            Sweep::over(&mut names),
            Sweep::over(&mut values),
            Sweep::over(&mut commands),
        );
        for name in identifiers(text) {
            let Some(word) = text.get(name.clone()) else {
                continue;
            };
            let (is_target, is_in_secret, is_in_command) = (
                names.covers(&name),
                values.covers(&name),
                commands.covers(&name),
            );
            let Some(known) = self.assigned.get(word).copied() else {
                continue;
            };
            let before = text.get(..name.start).unwrap_or_default();
            let is_expansion = before.trim_end_matches(['{', '!', '#']).ends_with('$');
            if is_expansion && is_in_command {
                self.run.insert(known);
            }
            let is_mention = is_expansion || (is_constant(word) && !declares(before));
            if is_mention && !is_target && !is_in_secret {
                self.used.insert(known);
            }
        }
    }
}

/// Names in upper case are variables wherever they stand, as in `declare -n x=NAME`.
fn is_constant(word: &str) -> bool {
    word.len() > 1 && !word.bytes().any(|byte| byte.is_ascii_lowercase())
}

fn declares(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    DECLARING.iter().any(|word| before.ends_with(word))
}

fn identifiers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes.get(at..)?.iter().position(|byte| in_name(*byte))?;
        let begin = at;
        let rest = bytes.get(at..)?;
        at += rest
            .iter()
            .position(|byte| !in_name(*byte))
            .unwrap_or(rest.len());
        Some(begin..at)
    })
}

/// Asks in ascending order which ranges are covered.
struct Sweep<'r> {
    ranges: &'r [Range<usize>],
    /// The end of the ranges that have begun.
    end: usize,
}

impl<'r> Sweep<'r> {
    fn over(ranges: &'r mut [Range<usize>]) -> Self {
        ranges.sort_unstable_by_key(|range| range.start);
        Self { ranges, end: 0 }
    }

    fn covers(&mut self, range: &Range<usize>) -> bool {
        while let Some((first, rest)) = self.ranges.split_first()
            && first.start <= range.start
        {
            self.end = self.end.max(first.end);
            self.ranges = rest;
        }
        range.end <= self.end
    }
}
