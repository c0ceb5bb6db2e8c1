//! This process's environment and directory: the client's, with the variables of the client's settings.
//! Commands start from them, and not from the daemon's, which belongs to the client that started the
//! daemon.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use super::answer::ToolError;

/// The variables, for `base_env`. What is not UTF-8 cannot be sent.
pub(crate) fn environment() -> BTreeMap<String, String> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The directory to start in, relative to this process's own. The daemon looks at it.
pub(crate) fn directory(given: Option<&str>) -> Result<String, ToolError> {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let path = given.map_or_else(|| here.clone(), |given| here.join(given));
    let path = path.into_os_string().into_string();
    path.map_err(|_| ToolError::validation("Invalid cwd: Path is not UTF-8"))
}
