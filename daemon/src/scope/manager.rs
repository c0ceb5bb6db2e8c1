//! The user's systemd over D-Bus (`org.freedesktop.systemd1(5)`). Each scope has a connection of its
//! own, so a replaced manager or bus needs no handling.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use termd_proto::terminal::ScopeLimits;
use zbus::connection::Builder;
use zbus::{Connection, MessageStream, OwnedObjectPath, Variant};

use super::{SLICE, ScopeError, own_service};

/// The manager's name on the bus, its object and its interface.
const DESTINATION: &str = "org.freedesktop.systemd1";
const PATH: &str = "/org/freedesktop/systemd1";
const INTERFACE: &str = "org.freedesktop.systemd1.Manager";
/// The signal at the end of a job.
const JOBS: &str = "type='signal',sender='org.freedesktop.systemd1',\
                    path='/org/freedesktop/systemd1',\
                    interface='org.freedesktop.systemd1.Manager',member='JobRemoved'";
/// How many such signals may wait; those of other jobs come too.
const QUEUED_JOBS: NonZeroUsize = NonZeroUsize::new(256).expect("is not zero");
/// The time from SIGTERM to SIGKILL where systemd ends a scope: with the daemon's service, when the
/// keeper could not end it.
const STOP_MICROSECONDS: u64 = 10_000_000;
/// The error for a property that systemd does not know.
const UNKNOWN_PROPERTY: &str = "org.freedesktop.DBus.Error.PropertyReadOnly";

/// `OOMPolicy=` of scopes came with systemd 253. Before, a kill for memory stopped no scope.
static KNOWS_OOM_POLICY: AtomicBool = AtomicBool::new(true);

/// Why a call failed.
enum CallError {
    UnknownProperty,
    Other(ScopeError),
}

/// Moves a process into a new scope, and waits for the end of systemd's job.
pub(super) async fn start_scope(
    unit: &str,
    pid: i32,
    limits: &ScopeLimits,
) -> Result<(), ScopeError> {
    let unreachable = |error: zbus::Error| ScopeError::NoManager(error.to_string());
    let connection = connect().await.map_err(unreachable)?;
    let jobs = MessageStream::for_match_rule(JOBS, &connection, Some(QUEUED_JOBS));
    let mut jobs = jobs.await.map_err(unreachable)?;
    let job = match call(&connection, unit, pid, limits).await {
        Err(CallError::UnknownProperty) if KNOWS_OOM_POLICY.swap(false, Ordering::Relaxed) => {
            call(&connection, unit, pid, limits).await
        }
        other => other,
    };
    let job = job.map_err(|error| match error {
        CallError::UnknownProperty => ScopeError::Refused("it is too old for this".to_owned()),
        CallError::Other(error) => error,
    })?;
    while let Some(message) = jobs.next().await {
        let message = message.map_err(unreachable)?;
        let removed = message
            .body()
            .deserialize::<(u32, OwnedObjectPath, String, String)>();
        match removed {
            Ok((_, ended, _, result)) if ended == job => {
                return match result.as_str() {
                    "done" => Ok(()),
                    other => Err(ScopeError::Refused(format!("its job is {other}"))),
                };
            }
            // Another job.
            Ok(_) | Err(_) => {}
        }
    }
    Err(ScopeError::NoManager("the bus went away".to_owned()))
}

/// Connects to the user manager's bus, or else to the session's.
async fn connect() -> zbus::Result<Connection> {
    let runtime_dir = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let socket = runtime_dir.map(|directory| directory.join("bus"));
    let socket = socket.filter(|socket| socket.exists());
    let address = socket.and_then(|socket| Some(format!("unix:path={}", socket.to_str()?)));
    let builder = match &address {
        Some(address) => Builder::address(address.as_str()),
        None => Builder::session(),
    };
    builder.build().await
}

async fn call(
    connection: &Connection,
    unit: &str,
    pid: i32,
    limits: &ScopeLimits,
) -> Result<OwnedObjectPath, CallError> {
    let properties = properties(unit, pid, limits);
    let no_other_units: [(&str, Vec<(&str, Variant<'_>)>); 0] = [];
    let body = (unit, "fail", properties, &no_other_units[..]);
    let called = connection
        .call_method(
            Some(DESTINATION),
            PATH,
            Some(INTERFACE),
            "StartTransientUnit",
            &body,
        )
        .await;
    let reply = called.map_err(|error| match &error {
        zbus::Error::MethodError(name, _, _) if name.as_str() == UNKNOWN_PROPERTY => {
            CallError::UnknownProperty
        }
        zbus::Error::MethodError(name, said, _) => {
            let said = said.clone().unwrap_or_else(|| name.to_string());
            // The error is systemd's, or the bus's, which has no systemd on it.
            CallError::Other(if name.starts_with("org.freedesktop.systemd1.") {
                ScopeError::Refused(said)
            } else {
                ScopeError::NoManager(said)
            })
        }
        other => CallError::Other(ScopeError::NoManager(other.to_string())),
    })?;
    let job = reply.body().deserialize::<OwnedObjectPath>();
    job.map_err(|error| CallError::Other(ScopeError::Refused(error.to_string())))
}

/// The scope as systemd.scope(5) and systemd.resource-control(5) name its settings.
fn properties(unit: &str, pid: i32, limits: &ScopeLimits) -> Vec<(&'static str, Variant<'static>)> {
    let name = unit.trim_start_matches("termd-");
    let terminal = name.trim_end_matches(".scope");
    let mut all = vec![
        (
            "Description",
            format!("Terminal {terminal} of termd").into(),
        ),
        ("PIDs", vec![pid.cast_unsigned()].into()),
        ("Slice", SLICE.into()),
        // The unit vanishes with its last process.
        ("CollectMode", "inactive-or-failed".into()),
        // An interactive shell ignores SIGTERM.
        ("SendSIGHUP", true.into()),
        ("TimeoutStopUSec", STOP_MICROSECONDS.into()),
    ];
    if KNOWS_OOM_POLICY.load(Ordering::Relaxed) {
        all.push(("OOMPolicy", "continue".into()));
    }
    if let Some(service) = own_service() {
        // The scope ends with the service, and after it: the keeper ends terminals in its own way.
        // Stopping goes against the order of starting.
        all.push(("BindsTo", vec![service.clone()].into()));
        all.push(("Before", vec![service].into()));
    }
    if let Some(bytes) = limits.memory_bytes {
        all.push(("MemoryMax", bytes.into()));
        // Otherwise the rest would be swapped out, which slows down the whole machine.
        all.push(("MemorySwapMax", 0_u64.into()));
    }
    if let Some(percent) = limits.cpu_percent {
        // Of one processor, in microseconds a second.
        all.push(("CPUQuotaPerSecUSec", percent.saturating_mul(10_000).into()));
    }
    if let Some(tasks) = limits.tasks {
        all.push(("TasksMax", tasks.into()));
    }
    if let Some(weight) = limits.io_weight {
        all.push(("IOWeight", weight.into()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_requested_is_set() {
        let names = |limits: &ScopeLimits| -> Vec<&str> {
            properties("termd-x.scope", 7, limits)
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| {
                    ["MemoryMax", "CPUQuotaPerSecUSec", "TasksMax", "IOWeight"].contains(name)
                })
                .collect()
        };
        assert!(names(&ScopeLimits::default()).is_empty());
        let tasks = ScopeLimits {
            tasks: Some(3),
            ..ScopeLimits::default()
        };
        assert_eq!(names(&tasks), ["TasksMax"]);
        let cpu = ScopeLimits {
            cpu_percent: Some(50),
            ..ScopeLimits::default()
        };
        let quota = properties("termd-x.scope", 7, &cpu);
        assert!(quota.contains(&("CPUQuotaPerSecUSec", 500_000_u64.into())));
    }
}
