//! The environment of a new command.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Map, Value};

use super::request::{CreateRequest, MAX_AUDITED_NAMES};
use crate::terminal::lifecycle::launch::{Launch, environment};
use termd_keeper::protocol::confinement::{Confinement, Temporary};
use termd_policy::Profile;
use termd_policy::secrets::output::KnownSecrets;

/// Variables that name a directory for temporary files.
const TEMPORARY_VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

/// Applies a profile to the environment: some of `base_env` is dropped, some variables are set, and
/// those of the request come on top. `detail` gets the names of what was dropped and set.
pub(super) fn with_policy(
    launch: Launch,
    profile: &Profile,
    request: &CreateRequest,
    base_env: BTreeMap<OsString, OsString>,
    detail: &mut Map<String, Value>,
) -> Launch {
    let filtered = profile.env.apply(base_env, request.creator().secrets());
    let named = |names: Vec<&String>| {
        let is_absent = |name: &&String| !request.options.env.contains_key(*name);
        let names = names.into_iter().filter(is_absent).take(MAX_AUDITED_NAMES);
        names
            .map(|name| name.as_str().into())
            .collect::<Vec<Value>>()
    };
    for (key, names) in [
        ("env_dropped", named(filtered.dropped.iter().collect())),
        ("env_set", named(filtered.set.keys().collect())),
    ] {
        if !names.is_empty() {
            detail.insert(key.to_owned(), names.into());
        }
    }
    let own = &request.options.env;
    let env = environment(request.creator(), filtered.env, &filtered.set, own);
    Launch { env, ..launch }
}

/// Points the variables for temporary files to `/tmp` where a command has a `/tmp` of its own: what is
/// inherited leads to the host's. Variables of the request stand.
pub(super) fn with_temporary(
    mut launch: Launch,
    confinement: &Confinement,
    request: &CreateRequest,
) -> Launch {
    let sandbox = confinement.sandbox.as_ref();
    if sandbox.is_some_and(|sandbox| sandbox.temporary == Temporary::Private) {
        for (name, value) in &mut launch.env {
            let name = name.to_str().unwrap_or_default();
            if TEMPORARY_VARIABLES.contains(&name) && !request.options.env.contains_key(name) {
                *value = OsString::from("/tmp");
            }
        }
    }
    launch
}

/// The secrets of a command's environment.
pub(super) fn secrets_of(environment: &BTreeMap<OsString, OsString>) -> KnownSecrets {
    let pairs = environment.iter();
    KnownSecrets::of(pairs.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?))))
}
