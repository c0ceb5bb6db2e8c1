//! A command's confinement as `session.show` and the audit record name it.

use std::io;

use serde_json::{Value, json};
use termd_proto::terminal::{Confinement, MissingWall};

use termd_keeper::protocol::confinement::Enforced;
use termd_policy::{ByteSize, Profile, TimeSpan};

/// What a profile asks for; `None` where it asks for nothing.
pub(crate) fn requested(profile: &Profile) -> Option<Confinement> {
    let kinds = profile.kinds().into_iter();
    let requested = Confinement {
        profiles: profile.names.clone(),
        timeout_ms: profile.timeout.map(TimeSpan::ms),
        output_bytes: profile.output_bytes.map(ByteSize::get),
        scope: profile.limits.scope(),
        terminal_quota: profile.terminal_quota.map(ByteSize::get),
        cpu_time_ms: profile.limits.cpu_time.map(TimeSpan::ms),
        file_bytes: profile.limits.file_bytes.map(ByteSize::get),
        sandbox: kinds.map(|kind| kind.as_str().to_owned()).collect(),
        ..Confinement::default()
    };
    (requested != Confinement::default()).then_some(requested)
}

/// The same for the record of a start, which is written before anything is enforced.
pub(crate) fn recorded(requested: &Confinement) -> Value {
    let mut recorded = json!(requested);
    if let Some(members) = recorded.as_object_mut() {
        members.remove("held");
        members.remove("missing");
    }
    recorded
}

/// The same with what the keeper reports as enforced and as missing.
pub(crate) fn with_enforced(
    requested: Option<Confinement>,
    enforced: &Enforced,
) -> Option<Confinement> {
    let missing = enforced.missing.iter().map(|missing| MissingWall {
        wall: missing.restriction.name().to_owned(),
        reason: io::Error::from_raw_os_error(missing.errno).to_string(),
    });
    let held = enforced
        .active
        .iter()
        .map(|restriction| restriction.name().to_owned());
    requested.map(|requested| Confinement {
        held: held.collect(),
        missing: missing.collect(),
        ..requested
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_of_a_start_claims_nothing_about_what_holds() {
        let requested = Confinement {
            profiles: vec!["agent".to_owned()],
            ..Confinement::default()
        };
        assert_eq!(json!(requested)["held"], json!([]));
        let recorded = recorded(&requested);
        assert_eq!(recorded["profiles"], json!(["agent"]));
        assert!(recorded.get("held").is_none() && recorded.get("missing").is_none());
    }
}
