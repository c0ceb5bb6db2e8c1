//! What a text has fetched: files, and directories that it has cloned or unpacked.

use super::stdin::Stdin;
use crate::program::kind::base_name;
use crate::shell::word::{UNKNOWN, Word};

/// What a text has fetched, by the last parts of the names.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    pub(super) files: Vec<String>,
    /// `.` is the directory that the text is in.
    directories: Vec<String>,
    /// Whether the text has gone into such a directory.
    pub(super) is_inside: bool,
}

/// Whether a program runs what the directory says that it is in.
pub(super) fn runs_directory(program: &str) -> bool {
    matches!(program, "make" | "gmake" | "just" | "rake" | "ant")
}

impl Fetched {
    /// Whether a path is of something fetched.
    pub(super) fn has(&self, path: &str) -> bool {
        let is_relative = !path.starts_with(['/', '~', UNKNOWN]);
        self.files.iter().any(|file| file == base_name(path))
            || (path.contains('/') && path.split('/').any(|part| self.is_directory(part)))
            || (path.contains('/') && is_relative && self.is_here())
            || (self.is_inside && is_relative)
    }

    fn is_here(&self) -> bool {
        self.directories.iter().any(|name| name == ".")
    }

    fn is_directory(&self, part: &str) -> bool {
        part != "." && self.directories.iter().any(|name| name == part)
    }

    /// Learns of directories, and whether the text goes into one.
    pub(super) fn learn_directories(&mut self, program: &str, args: &[Word], stdin: &Stdin) {
        let words: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
        match program {
            "git" | "hg" | "gh" | "svn" => {
                let cloned = cloned(program, &words);
                self.directories.extend(cloned.map(directory_name));
            }
            "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "cpio" => {
                let of_file = words
                    .iter()
                    .any(|word| self.files.iter().any(|file| file == base_name(word)));
                if of_file || *stdin == Stdin::Fetched {
                    let place = place(&words).map_or_else(|| ".".to_owned(), directory_name);
                    self.directories.push(place);
                }
            }
            "cd" | "pushd" => {
                let place = words.iter().find(|word| !word.starts_with('-'));
                let place = place.copied().unwrap_or_default();
                let is_known = place.split('/').any(|part| self.is_directory(part));
                self.is_inside |= is_known || (self.is_here() && !place.starts_with(['/', '~']));
            }
            _ => {}
        }
    }
}

/// The place of a clone: behind the address, or named by it.
fn cloned<'a>(program: &str, words: &[&'a str]) -> Option<&'a str> {
    let verb = words
        .iter()
        .position(|word| matches!(*word, "clone" | "checkout" | "co"))?;
    let rest = words.get(verb + 1..)?;
    let address = rest.iter().rposition(|word| {
        word.contains("://") || word.starts_with("git@") || (program == "gh" && word.contains('/'))
    })?;
    let place = rest.get(address + 1).filter(|word| !word.starts_with('-'));
    place.or(rest.get(address)).copied()
}

/// Where an archive is unpacked to.
fn place<'a>(words: &[&'a str]) -> Option<&'a str> {
    let option = words.iter().position(|word| {
        matches!(*word, "-C" | "-d" | "--directory")
            || (word.starts_with('-') && word.ends_with('C'))
    });
    let next = option.and_then(|at| words.get(at + 1)).copied();
    let mut words = words.iter();
    next.or_else(|| words.find_map(|word| word.strip_prefix("--directory=")))
}

fn directory_name(path: &str) -> String {
    let name = base_name(path.trim_end_matches('/'));
    name.strip_suffix(".git").unwrap_or(name).to_owned()
}
