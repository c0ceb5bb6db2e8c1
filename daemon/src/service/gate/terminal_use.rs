//! Whether an agent may use a terminal: type into it, resize, signal and close it.

use termd_policy::ForeignTerminals;
use termd_proto::policy::{Effect, Judgement, Verdict};
use termd_proto::terminal::{Front, Owner};

use super::asker::Asker;
use super::ruling::Consent;
use super::{Gate, subject};
use crate::approval::{Always, Subject};
use crate::store::AuditAction;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// What a caller does with a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalUse {
    /// Resize, signal, hold and close it.
    Control,
    /// Do something by it: type, read and write files. The terminal's profile holds for that.
    Input,
}

impl Gate {
    /// Checks that the caller may use a terminal. An agent may control those that it has opened itself,
    /// and type into them as far as they are held to the profile of its front. About another one a
    /// person is asked, once for each agent and terminal, and no word of the agent's is enough.
    pub(crate) async fn check_use(
        &self,
        terminal: &Terminal,
        usage: TerminalUse,
        asker: Asker<'_>,
    ) -> Result<(), TerminalError> {
        let Some(agent) = asker.owner.agent() else {
            return Ok(());
        };
        if terminal.agents.is_allowed(&agent) {
            return Ok(());
        }
        let policy = self.policy.get();
        let mut fronts = asker.owner.names().map(|(front, _)| front);
        let missing = fronts.find_map(|front| {
            if usage == TerminalUse::Control {
                return None;
            }
            // `none` holds a command to nothing.
            let profile = policy.profile_of(front).filter(|name| *name != "none")?;
            (!is_held_to(terminal, profile)).then_some((front, profile))
        });
        let foreign = (!terminal.is_opened_by(asker.owner)).then(|| policy.foreign_terminals());
        let effect = match (foreign, missing) {
            (Some(ForeignTerminals::Deny), _) => Effect::Deny,
            (Some(ForeignTerminals::Ask), _) | (_, Some(_)) => Effect::Confirm,
            (Some(ForeignTerminals::Allow) | None, None) => return Ok(()),
        };
        let judgement = Judgement {
            verdict: Verdict::Unknown,
            reason: Some(reason(terminal, foreign.is_some(), missing)),
            span: None,
            effect,
            rule: None,
            approved: None,
            needs_person: true,
        };
        let label = terminal.label();
        let label = label.map(|label| format!(" (`{label}`)"));
        let command = format!(
            "use the terminal {}{} until it closes: type into it, resize it, signal it and close it",
            terminal.id(),
            label.unwrap_or_default()
        );
        let subject = Subject {
            terminal: Some(terminal.id().clone()),
            ..subject(asker.owner, &terminal.record.cwd, &command)
        };
        let always = || Always::No("it holds until the terminal closes".to_owned());
        let consent = self.consent(&judgement, subject, asker, Vec::new(), always)?;
        let is_approved = matches!(consent, Consent::Approved(_));
        let ruling = self.ruling(judgement, Some(command), consent, asker);
        let (action, outcome) = (AuditAction::TerminalUse, ruling.outcome());
        let id = Some(terminal.id());
        let recorded = self
            .audit
            .record(action, outcome, asker.owner, id, ruling.detail())
            .await;
        if ruling.allows() {
            recorded?;
            if is_approved {
                terminal.agents.allow(&agent);
                self.keep_notes(terminal).await;
            }
            return Ok(());
        }
        // What is refused is refused with a record and without.
        Err(match effect {
            Effect::Deny => TerminalError::ForeignTerminal(terminal.id().clone()),
            _ => ruling.into_error(),
        })
    }

    /// Notes that the caller types into a terminal. What runs there may be the agent's from now on,
    /// also under the next server.
    pub(crate) async fn note_typist(
        &self,
        terminal: &Terminal,
        typist: &Owner,
    ) -> Result<(), TerminalError> {
        let Some(agent) = typist.agent() else {
            return Ok(());
        };
        if !terminal.is_opened_by(typist) && terminal.agents.note_typist(&agent) {
            self.keeper
                .set_notes(terminal.id(), terminal.notes())
                .await?;
        }
        Ok(())
    }

    /// Keeps for the next server which agents may use a terminal. Where that fails, it asks again.
    async fn keep_notes(&self, terminal: &Terminal) {
        let kept = self.keeper.set_notes(terminal.id(), terminal.notes()).await;
        if let Err(error) = kept {
            tracing::warn!(terminal = %terminal.id(), %error, "who may use it is not kept");
        }
    }
}

fn is_held_to(terminal: &Terminal, profile: &str) -> bool {
    let held_to = terminal.record.held_to.as_ref();
    held_to.is_some_and(|held_to| held_to.profiles.iter().any(|name| name == profile))
}

fn reason(terminal: &Terminal, is_foreign: bool, missing: Option<(Front, &str)>) -> String {
    let mut reasons = Vec::new();
    if is_foreign {
        let owner = &terminal.record.owner;
        let opener = match (&owner.agent(), owner.client.as_deref()) {
            (None, _) => "a person",
            (Some(_), Some(client)) => client,
            (Some(_), None) => "another agent",
        };
        reasons.push(format!(
            "{opener} has opened this terminal, and not this agent"
        ));
    }
    if let Some((front, profile)) = missing {
        let front = front.as_str();
        reasons.push(format!(
            "it is not held to {profile}, the profile of the front {front}"
        ));
    }
    reasons.join("; ")
}
