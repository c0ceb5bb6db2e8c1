//! Finds what a sandbox protects wherever it lies in a writable place.

use std::path::{Component, Path, PathBuf};

use termd_policy::{GitAccess, HostPaths, MissingPath, SandboxAccess};

use super::git::{self, Repository, UserConfig};
use super::repository_settings::{Missing, RepositorySettings};
use super::tree_search::{TreeSearch, TreeSearchError};

/// The repositories in writable places with everything that git obeys of them, and files that are
/// protected by their name. Searches every directory, so it blocks.
pub(super) fn found_in_writable(
    walls: &SandboxAccess,
    writable: &[PathBuf],
    places: &HostPaths,
) -> Result<Vec<(PathBuf, MissingPath)>, TreeSearchError> {
    match walls.git {
        GitAccess::Write => return Ok(Vec::new()),
        GitAccess::Read => {}
    }
    let mut search = TreeSearch::default();
    let mut tops: Vec<&Path> = Vec::new();
    // They are sorted: what is above comes first.
    for path in writable.iter().filter(|path| is_searched(path, places)) {
        if !tops.iter().any(|above| path.starts_with(above)) {
            search.search(path, &walls.protected_names)?;
            tops.push(path);
        }
    }
    let user = UserConfig::new(&places.home);
    let settings = RepositorySettings::new(walls, &places.home);
    let workspace = std::iter::once(places.workspace.as_path());
    let own = writable.iter().map(PathBuf::as_path);
    let own = own.filter(|path| !is_for_temporary_files(path, places) && path.is_dir());
    let mut found: Vec<_> = own.chain(workspace).flat_map(repository_at).collect();
    let missing = if places.is_repository {
        Missing::Created
    } else {
        Missing::Ignored
    };
    found.extend(settings.find(&places.workspace, missing));
    found.extend(git::user_paths(&user, &places.home));
    let mut repositories = Vec::new();
    for top in &search.work_trees {
        found.push((top.join(git::DOT_GIT), MissingPath::CreateDirectory));
        found.extend(settings.find(top, Missing::Created));
        repositories.extend(Repository::of_work_tree(top));
    }
    let git_directories = search.git_directories.iter();
    repositories.extend(git_directories.map(|directory| Repository::of_git_directory(directory)));
    for repository in &repositories {
        let named = repository.work_trees().iter().skip(1);
        found.extend(named.flat_map(|top| settings.find(top, Missing::Created)));
        found.extend(repository.paths(&user, &places.home));
    }
    let others = search.files.into_iter().chain(search.unreadable);
    found.extend(others.map(|path| (path, MissingPath::Ignore)));
    found.retain(|(path, _)| is_nameable(path));
    Ok(found)
}

/// What a command could make a repository of at the top of a writable place. A git that runs
/// there would obey it.
fn repository_at(top: &Path) -> Vec<(PathBuf, MissingPath)> {
    let created = |name| (top.join(name), MissingPath::CreateDirectory);
    let mut paths = vec![created(git::DOT_GIT)];
    let dot_git = top.join(git::DOT_GIT);
    let has_repository = dot_git.is_file() || git::is_git_directory(&dot_git);
    if !has_repository && !git::is_git_directory(top) {
        paths.push(created(git::HEAD));
    }
    paths
}

fn is_for_temporary_files(path: &Path, places: &HostPaths) -> bool {
    path == Path::new("/")
        || (path != places.workspace && places.temporary.iter().any(|temporary| temporary == path))
}

/// Whether a writable place is searched. Those for temporary files are everybody's, and the hidden
/// ones of the home (`~/.cache`, `~/.cargo`) are the programs' whose repositories they hold.
fn is_searched(path: &Path, places: &HostPaths) -> bool {
    let below_home = path.strip_prefix(&places.home).ok();
    let first = below_home.and_then(|below| below.components().next());
    let hides = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    path == places.workspace || (!is_for_temporary_files(path, places) && !first.is_some_and(hides))
}

/// Whether a path can be one of a sandbox. What names it may have been written by a command.
fn is_nameable(path: &Path) -> bool {
    path.is_absolute() && !path.as_os_str().as_encoded_bytes().contains(&0)
}
