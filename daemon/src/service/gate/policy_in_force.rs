//! What is decided of commands now: config.toml, and what was agreed to for always since.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Handle, RuntimeFlavor};

use termd_proto::terminal::{Front, Owner};

use termd_policy::{Approved, CompiledGate, Completeness, Decision, Policy, Request};

/// The longest text that is judged on the thread that serves everybody. A longer one can use up the budget
/// of a judgement, by values that double, which takes a tenth of a second.
const MAX_INLINE_BYTES: usize = 256;

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

/// What is decided of a command under each name of its client. Rules for any of them hold; what was
/// agreed to for always is for the first.
pub(super) fn decide_by_names(
    owner: &Owner,
    decide: impl Fn(Front, Option<&str>) -> Decision,
) -> Decision {
    let decisions = owner.names().map(|(front, client)| decide(front, client));
    let stricter = decisions.reduce(stricter);
    stricter.unwrap_or_else(|| decide(owner.front, owner.client.as_deref()))
}

fn stricter(first: Decision, next: Decision) -> Decision {
    // An approval for always stands for the gate's verdict, and for no rule.
    let is_approved = first.judgement.approved.is_some() && next.judgement.rule.is_none();
    let is_stricter = next.judgement.effect > first.judgement.effect && !is_approved;
    let needs_person = first.judgement.needs_person || next.judgement.needs_person;
    let profile = first.profile.clone().merge(next.profile.clone());
    let mut profiles_by_rule = first.profiles_by_rule.clone();
    profiles_by_rule.extend(next.profiles_by_rule.iter().cloned());
    let only_once = first.only_once.clone().or_else(|| next.only_once.clone());
    let mut decision = if is_stricter { next } else { first };
    decision.judgement.needs_person = needs_person;
    Decision {
        profile,
        profiles_by_rule,
        only_once,
        ..decision
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

#[cfg(test)]
mod tests;
