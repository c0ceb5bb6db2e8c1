//! Talking to the user's systemd over D-Bus (`org.freedesktop.systemd1(5)`): one connection for each
//! scope, so that nothing has to notice when the manager is replaced or the bus goes away.

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
/// What comes when a job has ended.
const JOBS: &str = "type='signal',sender='org.freedesktop.systemd1',\
                    path='/org/freedesktop/systemd1',\
                    interface='org.freedesktop.systemd1.Manager',member='JobRemoved'";
/// Ends of jobs that may lie unread: others' come past, too.
const QUEUED_JOBS: NonZeroUsize = NonZeroUsize::new(256).expect("is not zero");
/// From SIGTERM to SIGKILL where systemd ends a scope: with the daemon's service, when the keeper
/// could not do it by itself.
const STOP_MICROSECONDS: u64 = 10_000_000;
/// What a systemd says of a property that it does not know.
const UNKNOWN_PROPERTY: &str = "org.freedesktop.DBus.Error.PropertyReadOnly";

/// A scope's `OOMPolicy=` came with systemd 253; before it no scope was stopped for a kill.
static KNOWS_OOM_POLICY: AtomicBool = AtomicBool::new(true);

/// Why a call did not do it.
enum CallError {
    UnknownProperty,
    Other(ScopeError),
}

/// Makes a scope around a process; returns when the manager has.
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
            // Somebody else's.
            Ok(_) | Err(_) => {}
        }
    }
    Err(ScopeError::NoManager("the bus went away".to_owned()))
}

/// The bus that the user's manager is on, before one that somebody has made for a session.
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
            // From the bus, which found nobody, or from systemd.
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
        // Nothing of it is left to be looked at when its last process has gone.
        ("CollectMode", "inactive-or-failed".into()),
        // A shell takes SIGTERM for nothing.
        ("SendSIGHUP", true.into()),
        ("TimeoutStopUSec", STOP_MICROSECONDS.into()),
    ];
    if KNOWS_OOM_POLICY.load(Ordering::Relaxed) {
        all.push(("OOMPolicy", "continue".into()));
    }
    if let Some(service) = own_service() {
        // Where the service ends, so does this; after it, for the keeper ends terminals in its own
        // way (stopping goes against the order of starting).
        all.push(("BindsTo", vec![service.clone()].into()));
        all.push(("Before", vec![service].into()));
    }
    if let Some(bytes) = limits.memory_bytes {
        all.push(("MemoryMax", bytes.into()));
        // Else what does not fit goes to the disk, and slows down everybody.
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
    fn only_what_is_asked_for_is_set() {
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
