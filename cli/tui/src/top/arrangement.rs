//! Which terminals are listed, in which groups, and in which order. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use termd_proto::TerminalId;
use termd_proto::attention::AttentionState;

use super::row::{Row, shown_directory};

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// The name of the group that follows.
    Group(String),
    Terminal(TerminalId),
}

/// What belongs together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Grouping {
    /// By their tags, and those without any by directory.
    #[default]
    TagOrDirectory,
    Directory,
    Nothing,
}

impl Grouping {
    pub(super) fn next(self) -> Self {
        match self {
            Self::TagOrDirectory => Self::Directory,
            Self::Directory => Self::Nothing,
            Self::Nothing => Self::TagOrDirectory,
        }
    }

    pub(super) fn said(self) -> &'static str {
        match self {
            Self::TagOrDirectory => "grouped by tags, or else by directory",
            Self::Directory => "grouped by directory",
            Self::Nothing => "not grouped",
        }
    }
}

/// How urgent a terminal is: first what waits, the longest first, and then by age, so that what only runs
/// keeps its place.
pub(super) type Urgency = (AttentionState, i64);

pub(super) fn urgency(row: &Row) -> Urgency {
    let state = row.state();
    let since = if state.is_waiting() {
        row.since_ms()
    } else {
        row.info.created_at_ms
    };
    (state, since)
}

/// The terminal at hand. It is listed whatever it is, and keeps the place of its urgency when it came to
/// hand: who looks at it has seen it, and it shall not run away from under their eyes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AtHand {
    pub(super) id: TerminalId,
    pub(super) urgency: Urgency,
}

/// What is listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) filter: &'a str,
    pub(super) grouping: Grouping,
    /// Also those that have ended and were seen.
    pub(super) shows_ended: bool,
    pub(super) at_hand: Option<&'a AtHand>,
    pub(super) home: Option<&'a str>,
}

/// A terminal in its group: how well it matches, how urgent it is, and its id, in the order of the list.
type Member<'a> = (Reverse<u32>, Urgency, &'a TerminalId);

/// The lines of the list.
pub(super) fn arrange(rows: &BTreeMap<TerminalId, Row>, choice: Choice<'_>) -> Vec<Item> {
    let mut filter = Filter::new(choice.filter);
    let mut groups: BTreeMap<String, Vec<Member<'_>>> = BTreeMap::new();
    for (id, row) in rows {
        let at_hand = choice.at_hand.filter(|at_hand| at_hand.id == *id);
        if row.is_over() && !choice.shows_ended && at_hand.is_none() {
            continue;
        }
        let name = group_name(row, choice);
        let Some(score) = filter.score(row, &name) else {
            continue;
        };
        let urgency = urgency(row);
        let urgency = at_hand.map_or(urgency, |at_hand| at_hand.urgency.min(urgency));
        groups
            .entry(name)
            .or_default()
            .push((Reverse(score), urgency, id));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    for (_, members) in &mut groups {
        members.sort();
    }
    // The group with the best match and the most urgent terminal first; of others by name.
    groups.sort_by_key(|(name, members)| {
        let best = members.iter().map(|(score, ..)| *score).min();
        let urgent = members.iter().map(|(_, urgency, _)| *urgency);
        let urgent = urgent.filter(|(state, _)| state.is_waiting()).min();
        (best, urgent.is_none(), urgent, name.clone())
    });
    let has_names = groups.len() > 1;
    let items = groups.into_iter().flat_map(|(name, members)| {
        let name = (has_names && !name.is_empty()).then_some(Item::Group(name));
        let members = members
            .into_iter()
            .map(|(_, _, id)| Item::Terminal(id.clone()));
        name.into_iter().chain(members)
    });
    items.collect()
}

/// The name of a terminal's group; empty: it is in none.
fn group_name(row: &Row, choice: Choice<'_>) -> String {
    match choice.grouping {
        Grouping::Nothing => String::new(),
        Grouping::TagOrDirectory if !row.info.tags.is_empty() => row.tags(),
        Grouping::TagOrDirectory | Grouping::Directory => {
            shown_directory(&row.info.cwd, choice.home)
        }
    }
}

/// A fuzzy filter.
struct Filter {
    pattern: Pattern,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl Filter {
    fn new(text: &str) -> Self {
        Self {
            pattern: Pattern::parse(text, CaseMatching::Smart, Normalization::Smart),
            matcher: Matcher::new(Config::DEFAULT),
            buffer: Vec::new(),
        }
    }

    /// How well a terminal matches: each word by what it matches best; `None`: a word matches nothing.
    fn score(&mut self, row: &Row, group: &str) -> Option<u32> {
        let fields = [
            &row.label_or_id(),
            &row.command(),
            &row.why(),
            &row.who(),
            &row.tags(),
            group,
            row.directory(),
            row.state().as_str(),
        ];
        let mut sum = 0;
        for atom in &self.pattern.atoms {
            let (matcher, buffer) = (&mut self.matcher, &mut self.buffer);
            let scores = fields.iter().filter_map(|field| {
                let field = Utf32Str::new(field, buffer);
                atom.score(field, matcher)
            });
            sum += u32::from(scores.max()?);
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::tests::info;
    use super::*;

    fn rows(terminals: &[(&str, &str, &str)]) -> BTreeMap<TerminalId, Row> {
        let rows = terminals.iter().map(|(label, state, cwd)| {
            let info = info(label, state, cwd);
            (info.id.clone(), Row::new(info, Instant::now()))
        });
        rows.collect()
    }

    fn shown(rows: &BTreeMap<TerminalId, Row>, choice: Choice<'_>) -> Vec<String> {
        let items = arrange(rows, choice).into_iter().map(|item| match item {
            Item::Group(name) => format!("[{name}]"),
            Item::Terminal(id) => rows[&id].label_or_id(),
        });
        items.collect()
    }

    const ALL: Choice<'static> = Choice {
        filter: "",
        grouping: Grouping::TagOrDirectory,
        shows_ended: false,
        at_hand: None,
        home: Some("/home/me"),
    };

    #[test]
    fn what_waits_comes_first_and_brings_its_group() {
        let rows = rows(&[
            ("build", "running", "/home/me/a"),
            ("agent", "approval", "/home/me/b"),
            ("server", "running", "/home/me/b"),
            ("tests", "failed", "/home/me/a"),
            ("old", "idle-exited", "/home/me/a"),
            ("shell", "idle", "/home/me/c"),
        ]);
        let grouped = [
            "[~/b]", "agent", "server", "[~/a]", "tests", "build", "[~/c]", "shell",
        ];
        assert_eq!(shown(&rows, ALL), grouped);
        let flat = Choice {
            grouping: Grouping::Nothing,
            shows_ended: true,
            ..ALL
        };
        let all = ["agent", "tests", "build", "server", "shell", "old"];
        let mut sorted = shown(&rows, flat);
        sorted[2..4].sort();
        sorted[4..].sort_by(|a, b| b.cmp(a));
        assert_eq!(sorted, all);
    }

    #[test]
    fn tags_group_before_directories_do() {
        let mut rows = rows(&[
            ("a", "running", "/x"),
            ("b", "running", "/y"),
            ("c", "running", "/x"),
        ]);
        for row in rows.values_mut().filter(|row| row.label_or_id() != "c") {
            row.info.tags = serde_json::from_str(r#"["web", "claude"]"#).unwrap();
        }
        let grouped = shown(&rows, ALL);
        assert_eq!(
            (
                grouped[0].as_str(),
                grouped[1].as_str(),
                grouped[2].as_str()
            ),
            ("[/x]", "c", "[claude web]")
        );
        let by_directory = Choice {
            grouping: Grouping::Directory,
            ..ALL
        };
        assert_eq!(shown(&rows, by_directory)[3..], ["[/y]", "b"]);
    }

    #[test]
    fn the_one_at_hand_keeps_its_place_and_stays() {
        let rows = rows(&[
            ("a", "failed", "/"),
            ("b", "idle-exited", "/"),
            ("c", "done", "/"),
        ]);
        let id = rows
            .values()
            .find(|row| row.label_or_id() == "b")
            .unwrap()
            .info
            .id
            .clone();
        let at_hand = AtHand {
            id,
            urgency: (AttentionState::Input, 0),
        };
        let choice = Choice {
            at_hand: Some(&at_hand),
            ..ALL
        };
        assert_eq!(shown(&rows, choice), ["b", "a", "c"]);
    }

    #[test]
    fn the_filter_is_fuzzy_by_any_text_and_sorts_by_match() {
        let rows = rows(&[
            ("web-server", "running", "/home/me/a"),
            ("tests", "failed", "/home/me/web"),
            ("other", "idle", "/home/me/b"),
        ]);
        for (filter, want) in [
            ("wbsv", &["web-server"][..]),
            ("web", &["[~/a]", "web-server", "[~/web]", "tests"]),
            ("fail web", &["tests"]),
            ("nothing", &[]),
        ] {
            let mut found = shown(&rows, Choice { filter, ..ALL });
            let mut want = want.to_vec();
            if filter == "web" {
                found.sort();
                want.sort_unstable();
            }
            assert_eq!(found, want, "{filter}");
        }
    }
}
