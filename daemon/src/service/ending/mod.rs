//! Ending terminals: kill, signal, close, release, and what termd ends by itself.

mod closing;
mod connection_binding;
mod ender;
mod idle_timer;
mod leftovers;
mod limit_recorder;
mod limit_watch;
mod retirement;
mod tree_end;

pub(crate) use self::connection_binding::ConnectionBinding;
pub(crate) use self::ender::{Ender, wait_result};
pub(crate) use self::idle_timer::IdleTimer;
pub(crate) use self::leftovers::process_end;
pub(crate) use self::limit_recorder::LimitRecorder;
pub(crate) use self::limit_watch::LimitWatch;
pub(crate) use self::retirement::{MAX_LISTED, Retirement};
pub(crate) use self::tree_end::TreeEnd;
