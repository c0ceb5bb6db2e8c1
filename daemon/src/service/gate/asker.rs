//! Who asks the gate, and what the caller's own word is worth.

use std::iter;

use termd_policy::{ConfirmedSpec, Policy};
use termd_proto::policy::Judgement;
use termd_proto::terminal::{Front, Owner};

use crate::approval::Approvals;

/// Who asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    /// As records name it.
    pub(crate) owner: &'a Owner,
    /// Whether the caller says that a person has agreed.
    pub(crate) confirmed: bool,
    /// Whether its front can ask its person.
    pub(crate) asks: bool,
}

impl Asker<'_> {
    /// When the word counts: by the strictest of the front and of those by which the agent comes.
    /// That of `termctl` may be looser, unless the agent's own never counts.
    fn confirmed_counts(&self, policy: &Policy) -> ConfirmedSpec {
        let fronts = self.owner.names().map(|(front, _)| front);
        let fronts = iter::once(self.owner.front).chain(fronts);
        let is_cli = self.owner.front == Front::Cli;
        let counts = fronts.map(|front| match policy.confirmed(front) {
            ConfirmedSpec::Alone if is_cli && front != Front::Cli => ConfirmedSpec::Always,
            counts => counts,
        });
        let strictness = |counts: &ConfirmedSpec| match counts {
            ConfirmedSpec::Always => 0,
            ConfirmedSpec::Alone => 1,
            ConfirmedSpec::Never => 2,
        };
        counts.max_by_key(strictness).unwrap_or_default()
    }

    pub(super) fn is_agent(&self) -> bool {
        self.owner.agent().is_some()
    }

    /// Whether `confirmed` would count for this judgement. A person's does. That of an agent is the
    /// model's word: by default it counts only where no person can be asked.
    pub(super) fn is_word_enough(
        &self,
        judgement: &Judgement,
        policy: &Policy,
        approvals: &Approvals,
    ) -> bool {
        if !self.is_agent() {
            return true;
        }
        let is_cli = self.owner.front == Front::Cli;
        !judgement.needs_person
            && match self.confirmed_counts(policy) {
                ConfirmedSpec::Never => false,
                ConfirmedSpec::Always => true,
                ConfirmedSpec::Alone => {
                    // An agent's `termctl` asks nobody, while the agent's own front may.
                    let has_front = self.asks || (is_cli && approvals.has_asking_front());
                    !has_front && !approvals.is_watched()
                }
            }
    }
}
