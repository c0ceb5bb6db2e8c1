//! `termctl wait --attention`: waits until terminals wait for a person.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use termd_client::Link;
use termd_client::escape::one_line;
use termd_proto::attention::Attention;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{ListScope, ShowTerminal, SubscribeEvents, TerminalState};
use termd_proto::{Tags, TerminalId, TerminalRef};
use tokio::time::{Instant, timeout_at};

use crate::cmd::Context;
use crate::cmd::list::list;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::usage_error::UsageError;

/// How long after an exit its attention is settled.
const AFTER_EXIT: Duration = Duration::from_secs(1);

/// Which terminals are waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// Any.
    Any,
    /// One of these.
    AnyOf(Vec<TerminalId>),
    /// Each of these.
    All(Vec<TerminalId>),
}

fn ended(id: &TerminalId) -> UsageError {
    UsageError::EndedNeverWaits(id.to_string())
}

type Waiting = BTreeMap<TerminalId, Attention>;

impl Wanted {
    /// Those of them that wait, once they are enough.
    fn enough(&self, waiting: &Waiting) -> Option<Waiting> {
        let ids = match self {
            Self::Any => return (!waiting.is_empty()).then(|| waiting.clone()),
            Self::AnyOf(ids) | Self::All(ids) => ids,
        };
        let found: Waiting = (ids.iter())
            .filter_map(|id| Some((id.clone(), waiting.get(id)?.clone())))
            .collect();
        let is_enough = match self {
            Self::All(ids) => ids.iter().all(|id| found.contains_key(id)),
            Self::Any | Self::AnyOf(_) => !found.is_empty(),
        };
        is_enough.then_some(found)
    }

    /// Notes that a terminal has ended, and will not wait. Fails where it was needed.
    fn lose(&mut self, id: &TerminalId) -> Result<(), UsageError> {
        let is_needed = match self {
            Self::Any => false,
            Self::AnyOf(ids) => {
                ids.retain(|other| other != id);
                ids.is_empty()
            }
            Self::All(ids) => ids.contains(id),
        };
        if is_needed { Err(ended(id)) } else { Ok(()) }
    }
}

/// Waits, and prints a line for each terminal that waits: its id, its state, and why.
pub(super) async fn run(
    context: Context,
    link: &Link,
    terminals: &[TerminalRef],
    any: bool,
    deadline: Option<Instant>,
) -> Result<ExitCode, CliError> {
    let mut ids = Vec::new();
    for id in terminals {
        let info = link.repeat(&ShowTerminal { id: id.clone() }).await?;
        if info.state == TerminalState::Closed {
            return Err(ended(&info.id).into());
        }
        ids.push(info.id);
    }
    let mut wanted = match (ids.is_empty(), any) {
        (true, _) => Wanted::Any,
        (false, true) => Wanted::AnyOf(ids),
        (false, false) => Wanted::All(ids),
    };
    let found = match deadline {
        Some(at) => match timeout_at(at, follow(link, &mut wanted)).await {
            Ok(found) => found?,
            Err(_) => return Ok(ExitCode::TIMED_OUT),
        },
        None => follow(link, &mut wanted).await?,
    };
    let mut found: Vec<(TerminalId, Attention)> = found.into_iter().collect();
    found.sort_by_key(|(_, attention)| (attention.state, attention.since_ms));
    for (id, attention) in &found {
        if context.json {
            output::print_json(&json!({ "terminal": id, "attention": attention }))?;
        } else {
            let (state, why) = (attention.state.as_str(), one_line(&attention.why));
            output::print(format!("{id} {state} {why}\n").as_bytes())?;
        }
    }
    Ok(ExitCode::OK)
}

/// Follows the events until enough terminals wait.
async fn follow(link: &Link, wanted: &mut Wanted) -> Result<Waiting, CliError> {
    loop {
        // Before the list: what changes after it is told.
        let mut events = link.subscribe(&SubscribeEvents { id: None }).await?;
        let (mut waiting, over) = waiting(link).await?;
        let mut look_again = None;
        loop {
            if let Some(found) = wanted.enough(&waiting) {
                return Ok(found);
            }
            for id in &over {
                wanted.lose(id)?;
            }
            let event = tokio::select! {
                event = events.next() => event,
                () = sleep_until(look_again), if look_again.is_some() => break,
            };
            match event {
                Some(Ok(TerminalEvent::Attention { id, attention })) => {
                    if attention.state.is_waiting() {
                        waiting.insert(id, attention);
                    } else {
                        waiting.remove(&id);
                    }
                }
                Some(Ok(TerminalEvent::Exited { .. })) => {
                    // Somebody may have seen it, and then nothing more is told of it.
                    look_again = Some(Instant::now() + AFTER_EXIT);
                }
                Some(Ok(TerminalEvent::Closed { id })) => {
                    waiting.remove(&id);
                    wanted.lose(&id)?;
                }
                Some(Ok(TerminalEvent::Lagged { .. }) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            }
        }
    }
}

/// The terminals that wait, and those that have ended and do not.
async fn waiting(link: &Link) -> Result<(Waiting, Vec<TerminalId>), CliError> {
    let (mut waiting, mut over) = (Waiting::new(), Vec::new());
    for terminal in list(link, ListScope::Open, &Tags::default()).await? {
        match terminal.attention {
            Some(attention) if attention.state.is_waiting() => {
                waiting.insert(terminal.id, attention);
            }
            Some(_) if terminal.state == TerminalState::Exited => over.push(terminal.id),
            _ => {}
        }
    }
    Ok((waiting, over))
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::attention::AttentionState;

    use super::*;

    #[test]
    fn one_is_enough_or_all_are() {
        let id = |name: &str| name.parse::<TerminalId>().unwrap();
        let (a, b) = (id("term_aaaaaaaaaaaa"), id("term_bbbbbbbbbbbb"));
        let waits = Attention {
            state: AttentionState::Input,
            why: String::new(),
            since_ms: 0,
            said: false,
            seen: false,
        };
        let waiting = Waiting::from([(a.clone(), waits)]);
        let both = vec![a.clone(), b.clone()];
        assert!(Wanted::Any.enough(&waiting).is_some());
        assert!(Wanted::Any.enough(&Waiting::new()).is_none());
        assert!(Wanted::AnyOf(both.clone()).enough(&waiting).is_some());
        assert!(Wanted::AnyOf(vec![b.clone()]).enough(&waiting).is_none());
        assert!(Wanted::All(both.clone()).enough(&waiting).is_none());
        assert!(Wanted::All(vec![a.clone()]).enough(&waiting).is_some());
        let lost = |mut wanted: Wanted, id| wanted.lose(id).is_err();
        assert!(lost(Wanted::All(both.clone()), &b));
        assert!(!lost(Wanted::AnyOf(both), &b) && lost(Wanted::AnyOf(vec![a.clone()]), &a));
        assert!(!lost(Wanted::Any, &a));
    }
}
