//! Secrets in output that goes to a model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use termd_policy::secrets::output::KnownSecrets;
use termd_policy::secrets::redact::Redactor;
use termd_proto::terminal::{Front, ReadResult};

use super::gate::PolicyInForce;
use crate::terminal::Terminal;

/// Hides secrets in output. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct OutputSecrets {
    pub(crate) redactor: Redactor,
    pub(crate) policy: Arc<PolicyInForce>,
    /// Whether the shells of agents show them by their names alone.
    pub(crate) hidden_in_shells: bool,
}

impl OutputSecrets {
    /// A terminal's output as it is given to a client of this front. Exact bytes stay as they are: they are
    /// for programs.
    pub(crate) fn hide(&self, front: Front, terminal: &Terminal, result: ReadResult) -> ReadResult {
        let text = result.text.as_deref();
        let hidden = text.and_then(|text| self.hidden(front, terminal, text));
        let text = hidden.or(result.text);
        ReadResult { text, ..result }
    }

    /// The secrets of a command's environment, if they are hidden from clients of the front that creates
    /// it.
    pub(crate) fn of_environment(
        &self,
        front: Front,
        environment: &BTreeMap<OsString, OsString>,
    ) -> KnownSecrets {
        if !self.are_hidden(front) {
            return KnownSecrets::default();
        }
        let pairs = environment.iter();
        KnownSecrets::of(pairs.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?))))
    }

    fn are_hidden(&self, front: Front) -> bool {
        match front {
            Front::Shell => self.hidden_in_shells,
            Front::Acp | Front::Mcp => self.policy.get().hides_secrets(),
            Front::Cli | Front::Daemon => false,
        }
    }

    /// A text without the secrets in it; `None`: it stays.
    pub(crate) fn hidden(&self, front: Front, terminal: &Terminal, text: &str) -> Option<String> {
        if !self.are_hidden(front) {
            return None;
        }
        let named = terminal.record.secrets.hide(text);
        match (self.redactor.output(&named), &named) {
            (Cow::Owned(hidden), _) => Some(hidden),
            (Cow::Borrowed(_), Cow::Owned(named)) => Some(named.clone()),
            (Cow::Borrowed(_), Cow::Borrowed(_)) => None,
        }
    }
}
