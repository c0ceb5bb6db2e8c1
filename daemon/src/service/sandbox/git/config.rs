//! Paths in git's configuration (git-config(1), "CONFIGURATION FILE" and "Includes").

use std::path::{Path, PathBuf};

use termd_policy::MissingPath;

use super::named_files::{Named, named_files};
use super::program_paths::{alias_paths, place, program_paths};
use super::{MAX_CONFIG_BYTES, read};

/// Most files that include each other, as many as git follows.
const MAX_DEPTH: usize = 10;
/// Most files that are read for one repository.
const MAX_FILES: usize = 64;

/// How the names of settings end whose value is a line that git gives to a shell (git-config(1)), in
/// lower case.
const LINES: &[&str] = &[
    "clean",
    "cmd",
    "command",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hook",
    "pager",
    "process",
    "receivepack",
    "smudge",
    "textconv",
    "tunnel",
    "update",
    "uploadpack",
];
/// The same of those whose value is the path of a program.
const PROGRAMS: &[&str] = &["askpass", "path", "program"];

/// Configuration files, and the paths that they name.
///
/// `core.hooksPath`, `init.templateDir`, included files and programs are taken whether they exist or
/// not. Of every other value each word that names a file is taken, whatever its key, as later versions
/// of git add some. An absent program is held by an empty directory: an empty file would run, and a
/// filter would then write nothing in the place of a file.
pub(super) struct ConfigFiles<'a> {
    top: &'a Path,
    home: &'a Path,
    files: usize,
    named: Vec<(PathBuf, MissingPath)>,
}

impl<'a> ConfigFiles<'a> {
    /// Relative paths of programs start at `top`.
    pub(super) fn new(top: &'a Path, home: &'a Path) -> Self {
        Self {
            top,
            home,
            files: 0,
            named: Vec::new(),
        }
    }

    /// Reads a file and what it includes.
    pub(super) fn read(&mut self, file: &Path) {
        self.read_nested(file, 0);
    }

    pub(super) fn into_named_paths(self) -> Vec<(PathBuf, MissingPath)> {
        self.named
    }

    fn read_nested(&mut self, file: &Path, depth: usize) {
        if depth > MAX_DEPTH || self.files >= MAX_FILES {
            return;
        }
        let Some(bytes) = read(file, MAX_CONFIG_BYTES) else {
            return;
        };
        self.files += 1;
        for entry in entries(&bytes) {
            if entry.is("core", "hooksPath") || entry.is("init", "templateDir") {
                let path = place(&entry.value, self.top, self.home);
                self.add(path, MissingPath::CreateDirectory);
            } else if entry.is("include", "path") || entry.is("includeIf", "path") {
                let above = file.parent().unwrap_or(self.top);
                let path = place(&entry.value, above, self.home);
                self.add(path.clone(), MissingPath::CreateFile);
                self.read_nested(&path, depth + 1);
            } else {
                let words = entry.value.split(|byte| b" \t\"'!;|&()".contains(byte));
                for word in words.filter(|word| word.contains(&b'/')) {
                    let path = place(word, self.top, self.home);
                    if path.is_file() {
                        self.add(path, MissingPath::Ignore);
                    }
                }
                for path in named_files(&entry.value, self.top, Named::Paths) {
                    self.add(path, MissingPath::Ignore);
                }
                for path in self.programs(&entry) {
                    self.add(path, MissingPath::CreateDirectory);
                }
            }
        }
    }

    /// What a setting has git run.
    fn programs(&self, entry: &Entry) -> Vec<PathBuf> {
        let key = entry.key.to_ascii_lowercase();
        let ends_as = |names: &[&str]| names.iter().any(|name| key.ends_with(name.as_bytes()));
        if ends_as(PROGRAMS) && entry.value.contains(&b'/') {
            return vec![place(&entry.value, self.top, self.home)];
        }
        if entry.section.eq_ignore_ascii_case(b"alias") {
            return alias_paths(&entry.value, self.top, self.home);
        }
        if ends_as(LINES) || entry.section.eq_ignore_ascii_case(b"pager") {
            return program_paths(&entry.value, self.top, self.home);
        }
        let addresses = [&entry.subsection, &entry.value].into_iter();
        let lines = addresses.filter_map(|address| line_of_address(address));
        lines
            .flat_map(|line| program_paths(line, self.top, self.home))
            .collect()
    }

    /// A value that leads to the work tree itself, such as an empty one, would protect all of it.
    fn add(&mut self, path: PathBuf, missing: MissingPath) {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let named = (path, missing);
        if !self.top.starts_with(&real) && !self.named.contains(&named) {
            self.named.push(named);
        }
    }
}

/// The command in an address, such as a remote's or one that `insteadOf` puts in the place of another
/// (git-remote-ext(1)).
fn line_of_address(address: &[u8]) -> Option<&[u8]> {
    const HELPER: &[u8] = b"ext::";
    let at = address
        .windows(HELPER.len())
        .position(|part| part == HELPER)?;
    address.get(at + HELPER.len()..)
}

/// A value, with the section, its subsection and the key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    section: Vec<u8>,
    subsection: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Entry {
    /// Whether it is of this section and key, in any case.
    pub(super) fn is(&self, section: &str, key: &str) -> bool {
        self.section.eq_ignore_ascii_case(section.as_bytes())
            && self.key.eq_ignore_ascii_case(key.as_bytes())
    }

    pub(super) fn value(&self) -> &[u8] {
        &self.value
    }
}

/// The values of a file. What git would refuse is skipped.
pub(super) fn entries(text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut section, mut subsection) = (Vec::new(), Vec::new());
    let mut rest = text;
    while !rest.is_empty() {
        rest = rest.trim_ascii_start();
        match rest.first() {
            Some(b'[') => {
                let after;
                ((section, subsection), after) = section_name(rest.get(1..).unwrap_or_default());
                rest = after;
            }
            Some(b'#' | b';') | None => rest = behind_line(rest),
            Some(_) => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
                let end = rest.iter().position(|byte| !is_name(byte));
                let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
                let blanks = after
                    .iter()
                    .take_while(|byte| b" \t".contains(byte))
                    .count();
                let after = after.get(blanks..).unwrap_or_default();
                let Some(after) = after.strip_prefix(b"=").filter(|_| !key.is_empty()) else {
                    rest = behind_line(after);
                    continue;
                };
                let (value, after) = value(after);
                rest = after;
                entries.push(Entry {
                    section: section.clone(),
                    subsection: subsection.clone(),
                    key: key.to_owned(),
                    value,
                });
            }
        }
    }
    entries
}

fn behind_line(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| byte == b'\n');
    end.map_or(&[], |end| text.get(end + 1..).unwrap_or_default())
}

/// The name of a section behind its bracket, its subsection, and what follows.
fn section_name(text: &[u8]) -> ((Vec<u8>, Vec<u8>), &[u8]) {
    let end = text.iter().position(|byte| b" \t.]\"\n".contains(byte));
    let name = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let mut subsection = Vec::new();
    let mut is_quoted = false;
    let mut bytes = text.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'\\' => subsection.extend(bytes.next().map(|(_, byte)| *byte)),
            b'"' => is_quoted = !is_quoted,
            b']' if !is_quoted => {
                let rest = text.get(at + 1..).unwrap_or_default();
                return ((name.to_owned(), subsection), rest);
            }
            b'\n' => {
                let rest = text.get(at..).unwrap_or_default();
                return ((name.to_owned(), subsection), rest);
            }
            _ if is_quoted => subsection.push(byte),
            _ => {}
        }
    }
    ((name.to_owned(), subsection), &[])
}

/// A value behind its `=`, without quotes and comments, and what follows.
fn value(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut is_quoted = false;
    let mut bytes = text.iter().enumerate().peekable();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'\n' => {
                return (trimmed(&value), text.get(at + 1..).unwrap_or_default());
            }
            b'\\' => match bytes.next() {
                Some((_, b'\n')) | None => {}
                Some((_, b'\r')) => drop(bytes.next_if(|(_, next)| **next == b'\n')),
                Some((_, b't')) => value.push(b'\t'),
                Some((_, b'n')) => value.push(b'\n'),
                Some((_, &other)) => value.push(other),
            },
            b'"' => is_quoted = !is_quoted,
            b'#' | b';' if !is_quoted => {
                return (
                    trimmed(&value),
                    behind_line(text.get(at..).unwrap_or_default()),
                );
            }
            _ => value.push(byte),
        }
    }
    (trimmed(&value), &[])
}

fn trimmed(value: &[u8]) -> Vec<u8> {
    value.trim_ascii().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_alias_runs_is_named() {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir(top.path().join("t")).unwrap();
        let named = |settings: &str| {
            let file = top.path().join("config");
            std::fs::write(&file, settings).unwrap();
            let mut files = ConfigFiles::new(top.path(), Path::new("/home/me"));
            files.read(&file);
            let named = files.into_named_paths().into_iter();
            named.map(|(path, _)| path).collect::<Vec<_>>()
        };
        for (alias, expected) in [
            ("!./absent/a", Some("absent/a")),
            ("!sh ./t/a", Some("t/a")),
            ("!f() { t/a $1; }; f", Some("t/a")),
            ("!sh -c 'git log origin/main' -", None),
            ("!git branch --merged | xargs git branch -d", None),
            ("grep -O./t/a", Some("t/a")),
            ("-c core.pager=t/a log", Some("t/a")),
            ("difftool -x ./t/a", Some("t/a")),
            ("fetch --upload-pack=t/a .", Some("t/a")),
            ("commit -a", None),
            ("log --pretty=format:'%h/%s' --graph", None),
        ] {
            let found = named(&format!("[alias]\nx = \"{alias}\""));
            let is_found = |path: &str| found.contains(&top.path().join(path));
            assert_eq!(
                expected.is_some_and(is_found),
                expected.is_some(),
                "{alias}: {found:?}"
            );
            assert!(expected.is_some() || found.is_empty(), "{alias}: {found:?}");
        }
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        let text = b"; a comment\n[core]\n\thooksPath = \"my hooks\" # more\n  bare\n\
            [includeIf \"gitdir:~/a]\\\"b\"] path=../x\n[Core] FSMonitor = a\\\n/b\n\
            [filter \"x\"] clean = './t/c.sh' %f; no\n[a.b]key=1\n[broken\nlast = \\\"";
        let read: Vec<_> = entries(text)
            .into_iter()
            .map(|entry| {
                let text = |bytes| String::from_utf8(bytes).unwrap();
                (text(entry.section), text(entry.key), text(entry.value))
            })
            .collect();
        let subsections = entries(b"[url \"ext::a \\\"b\"]\ninsteadOf = x\n[a]\nb = c");
        let subsections = subsections.iter().map(|entry| entry.subsection.as_slice());
        assert_eq!(subsections.collect::<Vec<_>>(), [&b"ext::a \"b"[..], b""]);
        let expected = [
            ("core", "hooksPath", "my hooks"),
            ("includeIf", "path", "../x"),
            ("Core", "FSMonitor", "a/b"),
            ("filter", "clean", "'./t/c.sh' %f"),
            ("a", "key", "1"),
            ("broken", "last", "\""),
        ]
        .map(|(section, key, value)| (section.to_owned(), key.to_owned(), value.to_owned()));
        assert_eq!(read, expected);
    }
}
