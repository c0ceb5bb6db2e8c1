//! What a file holds after the statements of a text, in parts.

use termd_proto::policy::MAX_JUDGED_BYTES;

/// What one file may hold, by the statements that write it anew.
pub(super) const MAX_VERSIONS: usize = 8;
/// What a part takes beside its text.
const PART_BYTES: usize = 64;

/// A part of what a file holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Text(String),
    /// What another file holds, which was there before the text.
    CopyOf(String),
    /// What a program makes or prints.
    Unread,
    /// A file of which a program changes a part, or which code of another language names. It matters to
    /// rules alone.
    Changed,
}

/// What a file holds, from its begin to its end.
pub(super) type Version = Vec<Part>;

/// Each of these versions with each of the others behind it. Too many are not told apart, and what is longer
/// than a text that is judged is not kept.
pub(super) fn appended(versions: &[Version], added: &[Version]) -> Vec<Version> {
    if versions.len() * added.len() > MAX_VERSIONS {
        return vec![vec![Part::Unread]];
    }
    let pairs = versions
        .iter()
        .flat_map(|version| added.iter().map(move |added| (version, added)));
    pairs
        .map(|(version, added)| joined(version, added))
        .collect()
}

fn joined(version: &Version, added: &Version) -> Version {
    if weight(version).saturating_add(weight(added)) > MAX_JUDGED_BYTES {
        return vec![Part::Unread];
    }
    let mut joined = version.clone();
    for part in added {
        match (joined.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.push_str(more),
            _ => joined.push(part.clone()),
        }
    }
    joined
}

/// What a version takes of what is read of a text, and of the memory.
fn weight(version: &Version) -> usize {
    let weights = version.iter().map(|part| match part {
        Part::Text(text) | Part::CopyOf(text) => PART_BYTES + text.len(),
        Part::Unread | Part::Changed => PART_BYTES,
    });
    weights.sum()
}

/// Whether what is added to a file begins a line.
pub(super) fn ends_line(version: &Version) -> bool {
    match version.last() {
        Some(Part::Text(text)) => text.is_empty() || text.ends_with('\n'),
        _ => true,
    }
}
