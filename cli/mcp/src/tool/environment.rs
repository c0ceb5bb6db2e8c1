//! This process's environment: the client's, with the variables of the client's settings. Commands
//! start from it, and not from the daemon's, which belongs to the client that started the daemon.

use std::collections::BTreeMap;
use std::env;

/// The variables, for `base_env`. What is not UTF-8 cannot be sent.
pub(crate) fn environment() -> BTreeMap<String, String> {
    env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
