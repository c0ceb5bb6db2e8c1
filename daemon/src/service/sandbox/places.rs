//! Where the directories are that profiles name by their meaning: the workspace, home, temporary
//! files.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::git;
use super::link_resolver::LinkResolver;
use termd_policy::{HostPaths, MovedSettings};

/// The places of a command that starts in this directory. Looks at the file system.
pub(super) fn places(
    links: &mut LinkResolver,
    cwd: &Path,
    config_dir: &Path,
) -> io::Result<HostPaths> {
    let cwd = real_path(links, cwd)?;
    let home = env::home_dir().filter(|home| home.is_absolute());
    let home = home.unwrap_or_else(|| PathBuf::from("/"));
    let home = links.real_path(&home).unwrap_or(home);
    let repository = cwd
        .ancestors()
        .take_while(|above| !home.starts_with(above))
        .find(|above| git::is_work_tree(above) || git::is_git_directory(above));
    let variable = |name| env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let usual = ["/tmp", "/var/tmp"].map(PathBuf::from);
    let mut temporary: Vec<PathBuf> = Vec::new();
    for directory in variable("TMPDIR")
        .filter(absolute)
        .into_iter()
        .chain(usual.clone())
    {
        let resolved = links.resolve(&directory);
        // Any command can have made a link there, and so would choose what is writable.
        let is_linked =
            (resolved.links.iter()).any(|link| usual.iter().any(|tmp| link.starts_with(tmp)));
        let real = links.real_path(&directory).filter(|_| !is_linked);
        match real {
            // A TMPDIR that holds home is not meant to be writable as a whole.
            Some(real) if !home.starts_with(&real) && !temporary.contains(&real) => {
                temporary.push(real);
            }
            Some(_) | None => {}
        }
    }
    let runtime_dir = variable("XDG_RUNTIME_DIR").filter(absolute);
    let real = |path: &Path| links.real_path(path);
    let moved = MovedSettings::of(&home, |name| env::var_os(name), real);
    Ok(HostPaths {
        is_repository: repository.is_some_and(git::is_work_tree),
        workspace: repository.unwrap_or(&cwd).to_owned(),
        home,
        temporary,
        ssh_agent: variable("SSH_AUTH_SOCK").filter(absolute),
        runtime_dir: Some(runtime_dir.unwrap_or_else(usual_runtime_dir)),
        daemon_config: config_dir.to_owned(),
        moved,
    })
}

/// Where systemd has a user's runtime directory (`pam_systemd(8)`). The sockets are there also where the
/// daemon's environment does not say so.
fn usual_runtime_dir() -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    PathBuf::from(format!("/run/user/{user}"))
}

/// A path without a link in it.
pub(super) fn real_path(links: &mut LinkResolver, path: &Path) -> io::Result<PathBuf> {
    let known = links.real_path(path);
    known.map_or_else(|| fs::canonicalize(path), Ok)
}
