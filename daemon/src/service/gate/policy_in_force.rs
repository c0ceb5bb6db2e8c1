//! What is decided of commands now: config.toml, and what was agreed to for always since.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Handle, RuntimeFlavor};

use termd_policy::{Approved, CompiledGate, Completeness, Decision, Policy, Request};

/// The longest text that is judged on the thread that serves everybody: some two milliseconds of
/// work, where 64 KiB take thirty to fifty.
const MAX_INLINE_BYTES: usize = 4_096;

/// The policy in force.
#[derive(Debug)]
pub(crate) struct PolicyInForce {
    /// Locked for a look and a change, never across a wait.
    policy: Mutex<Arc<Policy>>,
}

impl PolicyInForce {
    pub(crate) fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy: Mutex::new(policy),
        }
    }

    /// The policy now.
    pub(crate) fn get(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Brings other approved rules into force.
    pub(super) fn set_approved(&self, approved: Approved) {
        let mut policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        *policy = Arc::new(policy.with_approved(approved));
    }
}

/// What a policy decides of a command that would be run, including what was agreed to for always.
pub(crate) fn decide(
    policy: &Policy,
    request: &Request<'_>,
    known: Completeness,
    gate: &CompiledGate,
) -> Decision {
    let decide = || policy.decide(request, known, gate);
    let decision = judge_apart(request.invocation.length(), decide);
    if policy.approved().is_empty() {
        return decision;
    }
    match real_directory(request.cwd) {
        Some(cwd) => policy.approve(decision, request, &cwd),
        None => decision,
    }
}

/// Judges a text of this length, in bytes. No other call waits for a long one.
pub(super) fn judge_apart<T>(length: usize, judge: impl FnOnce() -> T) -> T {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    // Only then does another thread go on with the calls of others.
    let has_others = matches!(runtime, Ok(RuntimeFlavor::MultiThread));
    if length > MAX_INLINE_BYTES && has_others {
        tokio::task::block_in_place(judge)
    } else {
        judge()
    }
}

/// A directory with links resolved; `None` where it is absent, or its path is no text.
pub(super) fn real_directory(cwd: Option<&str>) -> Option<String> {
    let real = fs::canonicalize(Path::new(cwd?)).ok()?;
    real.into_os_string().into_string().ok()
}
