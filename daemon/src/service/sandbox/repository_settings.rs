//! Settings at the root of a repository that run unasked.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use termd_policy::{MissingPath, SandboxAccess};

/// What is done about settings that are absent and can be created empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Created,
    Ignored,
}

/// The table of a sandbox's settings, with what this user's programs read.
pub(super) struct RepositorySettings<'a> {
    settings: Vec<(&'a str, MissingPath)>,
}

impl<'a> RepositorySettings<'a> {
    /// A directory is created for programs that have left a trace in the home.
    pub(super) fn new(walls: &'a SandboxAccess, home: &Path) -> Self {
        let is_used = |traces: &[&str]| {
            let mut traces = traces.iter();
            traces.any(|trace| home.join(trace).symlink_metadata().is_ok())
        };
        let settled = |missing| match missing {
            MissingPath::CreateDirectoryFor(traces) if is_used(traces) => {
                MissingPath::CreateDirectory
            }
            MissingPath::CreateDirectoryFor(_) => MissingPath::Ignore,
            other => other,
        };
        let settings = walls.repository_settings.iter();
        let settings = settings.map(|(path, missing)| (*path, settled(*missing)));
        Self {
            settings: settings.collect(),
        }
    }

    /// What is to be protected at a root.
    pub(super) fn find(&self, root: &Path, missing: Missing) -> Vec<(PathBuf, MissingPath)> {
        let entries = fs::read_dir(root).into_iter().flatten().flatten();
        let names: HashSet<OsString> = entries.map(|entry| entry.file_name()).collect();
        let mut found = Vec::new();
        for (path, if_missing) in &self.settings {
            if let Some((start, end)) = path.split_once('*') {
                let fits = |name: &&OsString| {
                    let name = name.as_bytes().strip_prefix(start.as_bytes());
                    name.is_some_and(|rest| rest.ends_with(end.as_bytes()))
                };
                let named = names.iter().filter(fits);
                found.extend(named.map(|name| (root.join(name), MissingPath::Ignore)));
                continue;
            }
            let is_created = missing == Missing::Created && *if_missing != MissingPath::Ignore;
            let first = Path::new(path).components().next();
            let may_exist =
                matches!(first, Some(Component::Normal(first)) if names.contains(first));
            if is_created {
                found.push((root.join(path), *if_missing));
            } else if may_exist {
                found.push((root.join(path), MissingPath::Ignore));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_created_for_a_program_that_is_used() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("work");
        for directory in ["work", "work/sub", ".used"] {
            fs::create_dir(home.path().join(directory)).unwrap();
        }
        for name in ["x.settings", ".there", "settings.x"] {
            fs::write(root.join(name), "").unwrap();
        }
        let settings = RepositorySettings { settings: vec![] };
        assert_eq!(settings.find(&root, Missing::Created), []);
        let mut walls = SandboxAccess {
            writable: Vec::new(),
            protected: Vec::new(),
            protected_names: Vec::new(),
            repository_settings: vec![
                (".a", MissingPath::CreateDirectoryFor(&[".no", ".used"])),
                (".b", MissingPath::CreateDirectoryFor(&[".no"])),
                (".there", MissingPath::Ignore),
                (".absent", MissingPath::Ignore),
                ("sub/deep", MissingPath::Ignore),
                ("*.settings", MissingPath::Ignore),
            ],
            git: termd_policy::GitAccess::Read,
            hidden: Vec::new(),
            hidden_prefixes: Vec::new(),
            visible: Vec::new(),
            network: true,
            daemon_socket: false,
            best_effort: false,
            temporary: termd_policy::TemporaryFiles::Shared,
            builder: termd_policy::SandboxBuilder::Termd,
        };
        let found = |walls: &SandboxAccess, missing| {
            let settings = RepositorySettings::new(walls, home.path());
            let found = settings.find(&root, missing);
            let name = |path: PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
            let found = found
                .into_iter()
                .map(|(path, missing)| (name(path), missing));
            found.collect::<Vec<_>>()
        };
        let kept =
            [".there", "sub/deep", "x.settings"].map(|path| (path.to_owned(), MissingPath::Ignore));
        let created = [(".a".to_owned(), MissingPath::CreateDirectory)];
        assert_eq!(
            found(&walls, Missing::Created),
            [&created[..], &kept].concat()
        );
        assert_eq!(found(&walls, Missing::Ignored), kept);
        walls.repository_settings.clear();
        assert_eq!(found(&walls, Missing::Created), []);
    }
}
