//! The shells that agents run in the place of bash, zsh and sh: links to `termd-shell`, and a launcher
//! for an agent that takes its shell from PATH.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use super::clients::Places;
use super::{Change, SetupError, file};

/// The names of the shells.
pub(crate) const NAMES: [&str; 3] = ["bash", "zsh", "sh"];
/// The program that all of them are.
pub(crate) const PROGRAM: &str = "termd-shell";
/// Where the links are, below the user's data.
const FOLDER: &str = "termd/shells";
/// Where launchers are, below the user's data.
const LAUNCHERS: &str = "termd/launchers";
/// The second line of a launcher, by which it is known.
const MARK: &str = "# Made by `termctl setup --shell`.";
/// The mode of a launcher, less nothing: it is a program for its user.
const LAUNCHER_MODE: u32 = 0o755;

/// The shells of one user.
#[derive(Debug, Clone)]
pub(crate) struct Shells {
    /// The directory of the links.
    pub(crate) folder: PathBuf,
    launchers: PathBuf,
    /// The name of the user's own shell where it is among ours, else bash.
    own: &'static str,
}

impl Shells {
    /// The shells of a user whose login shell is `shell`.
    pub(crate) fn of(places: &Places, shell: Option<&Path>) -> Self {
        let name = shell.and_then(Path::file_name);
        Self {
            folder: places.data.join(FOLDER),
            launchers: places.data.join(LAUNCHERS),
            // Claude Code takes bash and zsh alone.
            own: if name.is_some_and(|name| name == "zsh") {
                "zsh"
            } else {
                "bash"
            },
        }
    }

    /// The shell that an agent is told of.
    pub(crate) fn own(&self) -> PathBuf {
        self.folder.join(self.own)
    }

    /// Our shell in the place of another one: that of the same name, where it can be executed.
    pub(crate) fn in_place_of(&self, shell: &Path) -> Option<PathBuf> {
        let name = shell.file_name()?.to_str()?;
        let ours = NAMES.contains(&name).then(|| self.folder.join(name))?;
        rustix::fs::access(&ours, rustix::fs::Access::EXEC_OK).ok()?;
        Some(ours)
    }

    /// Makes the links to `program`. A link to an older `termd-shell` gets the new path; anything else
    /// in a link's place is left alone.
    pub(crate) fn link(&self, program: &Path) -> Result<Change, SetupError> {
        let mut states = Vec::new();
        for name in NAMES {
            let link = self.folder.join(name);
            states.push((self.state(&link)?, link));
        }
        let is_right =
            |state: &LinkState| matches!(state, LinkState::To(target) if target == program);
        if states.iter().all(|(state, _)| is_right(state)) {
            return Ok(Change::AlreadyThere);
        }
        let are_new = states.iter().all(|(state, _)| *state == LinkState::Missing);
        let make = || -> io::Result<()> {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.folder)?;
            for (state, link) in &states {
                if !is_right(state) {
                    replace_link(link, program)?;
                }
            }
            Ok(())
        };
        make().map_err(|error| self.failed("make the links in it", error))?;
        Ok(if are_new {
            Change::Added
        } else {
            Change::Updated
        })
    }

    /// Removes the links, and their directory once it is empty.
    pub(crate) fn unlink(&self) -> Result<Change, SetupError> {
        let mut change = Change::NotThere;
        for name in NAMES {
            let link = self.folder.join(name);
            if let LinkState::To(_) = self.state(&link)? {
                fs::remove_file(&link)
                    .map_err(|error| self.failed("remove a link in it", error))?;
                change = Change::Removed;
            }
        }
        // It stays where it holds something else.
        let _ = fs::remove_dir(&self.folder);
        let _ = self.folder.parent().map(fs::remove_dir);
        Ok(change)
    }

    /// Whether a link's place has something that is no link of ours: [`link`](Self::link) leaves it alone.
    pub(crate) fn is_taken(&self, link: &Path) -> bool {
        self.state(link).is_err()
    }

    /// What each link leads to; `None` where it is not there.
    pub(crate) fn targets(&self) -> Vec<(PathBuf, Option<PathBuf>)> {
        let links = NAMES.iter().map(|name| self.folder.join(name));
        links
            .map(|link| (link.clone(), fs::canonicalize(link).ok()))
            .collect()
    }

    fn state(&self, link: &Path) -> Result<LinkState, SetupError> {
        match fs::symlink_metadata(link) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(LinkState::Missing),
            Err(error) => return Err(self.failed("read it", error)),
            Ok(_) => {}
        }
        match fs::read_link(link) {
            Ok(target) if target.file_name().is_some_and(|name| name == PROGRAM) => {
                Ok(LinkState::To(target))
            }
            _ => Err(SetupError::NotOurs(link.to_owned())),
        }
    }

    fn failed(&self, doing: &'static str, error: io::Error) -> SetupError {
        SetupError::Io {
            path: self.folder.clone(),
            doing,
            error,
        }
    }

    /// The script that starts a client with our shells first on its PATH.
    pub(super) fn launcher(&self, client: &str) -> String {
        let quoted = |path: &Path| {
            let text = path.to_string_lossy();
            shlex::try_quote(&text).map_or_else(|_| text.to_string(), |quoted| quoted.to_string())
        };
        let shells = quoted(&self.folder);
        let launchers = quoted(&self.launchers);
        format!(
            "#!/bin/sh\n{MARK}\n\
             # Starts the {client} that comes next on PATH, with termd's shells in front of all others.\n\
             shells={shells}\nlaunchers={launchers}\nfolders=\nIFS=:\nset -f\n\
             for folder in $PATH; do\n\
             \x20   case $folder in\n\
             \x20   \"$shells\" | \"$launchers\") ;;\n\
             \x20   *) folders=$folders:$folder ;;\n\
             \x20   esac\n\
             done\n\
             unset IFS\nPATH=$shells$folders\nexport PATH\nexec {client} \"$@\"\n"
        )
    }

    /// Writes the launcher of a client.
    pub(super) fn add_launcher(&self, path: &Path, client: &str) -> Result<Change, SetupError> {
        let script = self.launcher(client);
        let change = match launcher_at(path)? {
            None => Change::Added,
            Some(there) if there == script => return Ok(Change::AlreadyThere),
            Some(_) => Change::Updated,
        };
        file::put(path, script.as_bytes(), LAUNCHER_MODE)?;
        Ok(change)
    }

    /// Removes the launcher of a client.
    pub(super) fn remove_launcher(&self, path: &Path) -> Result<Change, SetupError> {
        if launcher_at(path)?.is_none() {
            return Ok(Change::NotThere);
        }
        let removed = fs::remove_file(path);
        removed.map_err(|error| SetupError::Io {
            path: path.to_owned(),
            doing: "remove it",
            error,
        })?;
        let _ = fs::remove_dir(&self.launchers);
        Ok(Change::Removed)
    }
}

/// The launcher that is there. Another file in its place is an error.
pub(super) fn launcher_at(path: &Path) -> Result<Option<String>, SetupError> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Ok(text) if text.lines().nth(1) == Some(MARK) => Ok(Some(text)),
        _ => Err(SetupError::NotOurs(path.to_owned())),
    }
}

/// What is in a link's place.
#[derive(Debug, PartialEq, Eq)]
enum LinkState {
    Missing,
    To(PathBuf),
}

/// Whether a path is one of our shells, in any user's data.
pub(crate) fn is_shell_path(path: &str) -> bool {
    let path = Path::new(path);
    let is_named = path.file_name().and_then(|name| name.to_str());
    is_named.is_some_and(|name| NAMES.contains(&name))
        && path.parent().is_some_and(|folder| folder.ends_with(FOLDER))
}

/// `termd-shell` beside one of these programs.
pub(crate) fn program_beside(programs: &[&Path]) -> Result<PathBuf, SetupError> {
    let folders = programs.iter().filter_map(|program| program.parent());
    let found = folders
        .map(|folder| folder.join(PROGRAM))
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        SetupError::NoShell(
            programs
                .first()
                .map_or_else(PathBuf::new, |path| path.to_path_buf()),
        )
    })
}

/// Puts a link in its place, also over another one.
fn replace_link(link: &Path, target: &Path) -> io::Result<()> {
    let new = link.with_extension(format!("termctl-{}", std::process::id()));
    let _ = fs::remove_file(&new);
    symlink(target, &new)?;
    fs::rename(&new, link).inspect_err(|_| {
        let _ = fs::remove_file(&new);
    })
}
