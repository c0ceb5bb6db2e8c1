//! The files that a text has written so far, and what each may hold.

use termd_proto::policy::Span;

use super::file_name::may_be;
use super::links::Links;
use super::version::{MAX_VERSIONS, Part, Version, appended, ends_line};
use crate::inspect::stdin::{Piece, Stdin};
use crate::program::kind::base_name;
use crate::program::wrapper::inner_command::ObeyedHome;
use crate::shell::word::UNKNOWN;

/// The files of one text that are remembered.
const MAX_FILES: usize = 64;
/// The code of one text that is remembered, in pieces.
const MAX_CODES: usize = 32;

/// What a text has written to files, by the last parts of their names.
#[derive(Debug, Default, Clone)]
pub(in crate::inspect) struct WrittenFiles {
    files: Vec<(String, Vec<Version>)>,
    /// Code of other languages, which may write the files that it names.
    codes: Vec<String>,
    /// The same files by their paths.
    paths: Vec<String>,
    /// The directories whose files programs obey from some point of the text on.
    pub(super) homes: Vec<(ObeyedHome, Span)>,
    pub(super) links: Links,
    is_over: bool,
}

impl WrittenFiles {
    /// Learns of a file that gets what a command prints. `appends`: what it held stays.
    pub(in crate::inspect) fn learn(&mut self, path: &str, printed: &Stdin, appends: bool) {
        let versions = match printed {
            Stdin::Literal(text) => vec![vec![Part::Text(text.clone())]],
            Stdin::File(source) => self.copied(source),
            Stdin::Joined(pieces) => self.joined(pieces),
            Stdin::Given | Stdin::Fetched | Stdin::Computed => vec![vec![Part::Unread]],
        };
        self.add(path, versions, appends);
    }

    /// Learns of a file that has got another place.
    pub(super) fn learn_copy(&mut self, source: &str, path: &str, is_link: bool) {
        if base_name(source) == base_name(path) {
            return;
        }
        if is_link {
            // It holds what the other one holds when it is run.
            let versions = vec![vec![Part::CopyOf(source.to_owned())]];
            self.add_file(path, versions, false);
        } else {
            let versions = self.copied(source);
            self.add(path, versions, false);
        }
    }

    /// Learns of code that may write files.
    pub(in crate::inspect) fn learn_code(&mut self, text: &str) {
        if self.codes.len() < MAX_CODES {
            self.codes.push(text.to_owned());
        } else {
            self.is_over = true;
        }
    }

    fn copied(&self, source: &str) -> Vec<Version> {
        let mut versions = self.versions(source).unwrap_or_default();
        if source.contains(UNKNOWN) {
            // A pattern may be of several files, in the order of their names.
            let name = base_name(source);
            let mut files: Vec<_> = self.files.iter().collect();
            files.retain(|(known, _)| may_be(known, name));
            files.sort();
            if files.len() > 1 {
                let of_files = files.iter().map(|(_, versions)| versions.as_slice());
                versions.extend(of_files.fold(vec![Vec::new()], |all, one| appended(&all, one)));
            }
        }
        if versions.is_empty() || source.contains(UNKNOWN) {
            versions.push(vec![Part::CopyOf(source.to_owned())]);
        }
        versions
    }

    /// What files and texts hold one behind the other.
    pub(super) fn joined(&self, pieces: &[Piece]) -> Vec<Version> {
        let mut joined = vec![Vec::new()];
        for piece in pieces {
            let versions = match piece {
                Piece::Text(text) => vec![vec![Part::Text(text.clone())]],
                Piece::File(path) => self.copied(path),
            };
            joined = appended(&joined, &versions);
        }
        joined
    }

    /// Whether the text may have written a file.
    pub(in crate::inspect) fn may_have(&self, path: &str) -> bool {
        self.versions(path).is_some()
    }

    /// The links that the text has made.
    pub(in crate::inspect) fn links(&self) -> &Links {
        &self.links
    }

    /// Learns what a file holds, and what those hold which it leads to.
    pub(super) fn add(&mut self, path: &str, versions: Vec<Version>, appends: bool) {
        for target in self.links.targets(path) {
            let name = base_name(&target);
            // Of a link to an unknown place any file may be written.
            self.is_over |= name == "{}" || name.chars().all(|c| c == UNKNOWN);
            self.add_file(&target, versions.clone(), appends);
        }
        self.add_file(path, versions, appends);
    }

    fn add_file(&mut self, path: &str, versions: Vec<Version>, appends: bool) {
        let name = base_name(path);
        let is_text = |version: &Version| version.iter().all(|part| matches!(part, Part::Text(_)));
        // A name of which nothing is known may be any other one.
        let is_named = name.chars().any(|c| c != UNKNOWN) || versions.iter().all(is_text);
        if name.is_empty() || path.starts_with("/dev/") || !is_named {
            return;
        }
        if self.paths.len() < MAX_FILES {
            self.paths.push(path.to_owned());
        }
        let Some((_, known)) = self.files.iter_mut().find(|(known, _)| known == name) else {
            self.is_over |= self.files.len() >= MAX_FILES;
            if !self.is_over {
                self.files.push((name.to_owned(), versions));
            }
            return;
        };
        if appends {
            // Where a line goes on, the file may also lack what was to be added.
            let open = known.iter().filter(|version| !ends_line(version)).cloned();
            let mut all: Vec<Version> = open.collect();
            all.extend(appended(known, &versions));
            *known = if all.len() > MAX_VERSIONS {
                vec![vec![Part::Unread]]
            } else {
                all
            };
        } else if known.len() + versions.len() <= MAX_VERSIONS {
            known.extend(versions);
        } else {
            known.push(vec![Part::Unread]);
            known.dedup();
        }
    }

    /// What the text has written to a file, or to one that it may be by what is known of the names.
    pub(super) fn written(&self, path: &str) -> Option<Vec<Version>> {
        let name = base_name(path);
        let found = self.files.iter().filter(|(known, _)| may_be(known, name));
        let mut versions: Vec<Version> = found.flat_map(|(_, versions)| versions.clone()).collect();
        versions.dedup();
        (!versions.is_empty()).then_some(versions)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// What a file may hold. `None`: the text has not written it.
    pub(super) fn versions(&self, path: &str) -> Option<Vec<Version>> {
        if let Some(versions) = self.written(path) {
            return Some(versions);
        }
        let name = base_name(path);
        let is_named = self.codes.iter().any(|code| names(code, name));
        (is_named || self.is_over).then(|| vec![vec![Part::Changed]])
    }
}

/// Whether a file's name stands in code, as a word or the last part of a path.
pub(super) fn names(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty()
        && code.match_indices(name).any(|(at, _)| {
            let before = code.get(..at).unwrap_or_default();
            let behind = code.get(at + name.len()..).unwrap_or_default();
            !before.ends_with(is_part) && !behind.starts_with(is_part)
        })
}
