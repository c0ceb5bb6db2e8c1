//! Where a command works: the user's home, and the directories that it may be in.
//!
//! Directories are known by their words alone: links are not resolved.

use std::sync::Arc;

use crate::path::normalized;
use crate::shell::word::UNKNOWN;

/// Directories that are told apart.
const MAX_DIRECTORIES: usize = 8;

/// Where a command works, as far as its text tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    home: Option<Arc<str>>,
    /// Where the text starts.
    start: Arc<Vec<String>>,
    /// Where the command may be. Empty: that is not known.
    directories: Vec<String>,
    /// Where it may be if a `cd` before it has failed.
    left: Vec<String>,
}

impl Place {
    pub(crate) fn new(home: Option<&str>, start: &[String]) -> Self {
        let home = home.map(|home| home.trim_end_matches('/'));
        Self {
            home: home.filter(|home| home.len() > 1).map(Into::into),
            start: Arc::new(start.to_vec()),
            directories: start.to_vec(),
            left: Vec::new(),
        }
    }

    /// Goes to a directory. `None`, or an unknown one: it may be any.
    pub(crate) fn enter(&mut self, target: Option<&str>) {
        let known = target.filter(|target| !target.contains(UNKNOWN) && *target != "-");
        add_all(&mut self.left, &self.directories);
        self.directories = match known {
            Some(target) if is_relative(target) => {
                let led = self.directories.iter();
                led.map(|from| self.joined(from, target)).collect()
            }
            Some(target) => vec![self.joined("/", target)],
            None => Vec::new(),
        };
        if let (Some(target), true) = (known, self.directories.is_empty()) {
            // The last names of a path may be enough.
            self.directories = vec![target.to_owned()];
        }
    }

    /// Adds where another course of the text leads.
    pub(crate) fn join(&mut self, other: &Self) {
        add_all(&mut self.directories, &other.directories);
        add_all(&mut self.left, &other.left);
    }

    /// What has led here since `before` did not fail: the command runs behind `&&`.
    pub(crate) fn succeed(&mut self, before: &Self) {
        self.left.clone_from(&before.left);
    }

    /// The files that a path may be, from each directory. `true` beside one: the text itself has gone to
    /// its directory, or names it whole.
    pub(crate) fn files(&self, path: &str) -> Vec<(String, bool)> {
        if !is_relative(path) {
            return vec![(self.joined("/", path), true)];
        }
        let mut files = vec![(without_dots(path), true)];
        files.extend(self.directories.iter().map(|from| {
            let is_start = self.start.contains(from);
            (self.joined(from, path), !is_start)
        }));
        files
    }

    /// The directories that the command may be in, by their whole paths, where these are known. Also those in
    /// which it is if a `cd` fails.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut all = self.directories.clone();
        add_all(&mut all, &self.left);
        let whole = all.iter().filter_map(|directory| {
            let Some(below) = directory.strip_prefix('~') else {
                return directory.starts_with('/').then(|| directory.clone());
            };
            let home = self.home.as_deref()?;
            (below.is_empty() || below.starts_with('/')).then(|| format!("{home}{below}"))
        });
        whole.collect()
    }

    /// A path from a directory, with the user's home as `~`.
    fn joined(&self, from: &str, path: &str) -> String {
        let path = if is_relative(path) {
            format!("{}/{path}", from.trim_end_matches('/'))
        } else {
            path.to_owned()
        };
        let path = match (path.strip_prefix('~'), &self.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
                format!("{home}{rest}")
            }
            _ => path,
        };
        let ends_open = path.len() > 1 && path.ends_with('/');
        let path = if path.starts_with('/') {
            normalized(&path)
        } else {
            without_dots(&path)
        };
        let home = self.home.as_deref();
        let below = home.and_then(|home| path.strip_prefix(home));
        let path = match below.filter(|rest| rest.starts_with('/')) {
            Some(rest) => format!("~{rest}"),
            None => path,
        };
        if ends_open && !path.ends_with('/') {
            path + "/"
        } else {
            path
        }
    }
}

/// Adds directories, as far as they are told apart.
fn add_all(directories: &mut Vec<String>, others: &[String]) {
    for directory in others {
        if !directories.contains(directory) && directories.len() < MAX_DIRECTORIES {
            directories.push(directory.clone());
        }
    }
}

/// Whether a path leads from the directory that a command is in.
fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~', '$', UNKNOWN])
}

/// A path whose `..` are resolved by its words, as far as it goes.
fn without_dots(path: &str) -> String {
    if !path.contains("..") {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        let last = parts.last().copied();
        let is_name = last.is_some_and(|last| !matches!(last, ".." | "." | "" | "~"));
        match part {
            "." if !parts.is_empty() => {}
            ".." if is_name => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &Place, path: &str) -> Vec<String> {
        let files = place.files(path).into_iter();
        files.map(|(name, _)| name).collect()
    }

    #[test]
    fn a_path_is_joined_with_the_directory_and_the_home() {
        let mut place = Place::new(Some("/data/u"), &["/data/u/src".to_owned()]);
        assert_eq!(names(&place, "/data/u/.bashrc"), ["~/.bashrc"]);
        assert_eq!(names(&place, "../.bashrc"), ["../.bashrc", "~/.bashrc"]);
        place.enter(Some("~"));
        assert_eq!(names(&place, ".bashrc"), [".bashrc", "~/.bashrc"]);
        place.enter(Some(".git/hooks"));
        assert_eq!(names(&place, "x"), ["x", "~/.git/hooks/x"]);
        place.enter(Some("/etc"));
        assert_eq!(names(&place, "./passwd"), ["./passwd", "/etc/passwd"]);
        place.enter(None);
        assert_eq!(names(&place, "x"), ["x"]);
        place.enter(Some("a/.git"));
        assert_eq!(
            names(&place, "x/../config"),
            [
                "x/../config".replace("x/../", ""),
                "a/.git/config".to_owned()
            ]
        );
    }
}
