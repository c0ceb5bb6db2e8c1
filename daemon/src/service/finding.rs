//! From what a person or a script calls a terminal to the terminal: an id, the beginning of one, or
//! a label.

use std::sync::Arc;

use termd_proto::terminal::TerminalState;
use termd_proto::{Label, TerminalId, TerminalRef};

use super::Terminals;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// Matches that an ambiguous reference is answered with.
const AMBIGUOUS_SHOWN: u32 = 8;

impl Terminals {
    /// The terminal that a person or a script means: open ones first, then those that only the
    /// database knows.
    pub async fn find(&self, reference: &TerminalRef) -> Result<Arc<Terminal>, TerminalError> {
        let not_found = || TerminalError::NotFound(reference.0.clone());
        if let Some(found) = self.find_open(reference)? {
            return Ok(found);
        }
        let id = match reference.0.parse::<TerminalId>() {
            Ok(id) => id,
            Err(_) => self
                .stored_id_with_prefix(reference)
                .await?
                .ok_or_else(not_found)?,
        };
        self.flush_of(&id).await;
        let row = self
            .inner
            .store
            .terminal(&id)
            .await?
            .ok_or_else(not_found)?;
        Ok(self.stored(&row))
    }

    fn find_open(&self, reference: &TerminalRef) -> Result<Option<Arc<Terminal>>, TerminalError> {
        let index = self.index();
        if let Ok(id) = reference.0.parse::<TerminalId>() {
            return Ok(index.by_id.get(&id).cloned());
        }
        let labelled = reference
            .0
            .parse::<Label>()
            .ok()
            .and_then(|label| index.labels.get(&label));
        if let Some(found) = labelled.and_then(|id| index.by_id.get(id)) {
            return Ok(Some(Arc::clone(found)));
        }
        let Some(prefix) = id_prefix(&reference.0) else {
            return Ok(None);
        };
        let mut fitting = index.by_id.values().filter(|terminal| {
            terminal.id().as_str().starts_with(&*prefix)
                && terminal.state() != TerminalState::Closed
        });
        match (fitting.next(), fitting.next()) {
            (None, _) => Ok(None),
            (Some(only), None) => Ok(Some(Arc::clone(only))),
            (Some(first), Some(second)) => Err(TerminalError::Ambiguous {
                reference: reference.0.clone(),
                matches: [first, second]
                    .into_iter()
                    .chain(fitting.take(AMBIGUOUS_SHOWN as usize - 2))
                    .map(|terminal| terminal.id().clone())
                    .collect(),
            }),
        }
    }

    async fn stored_id_with_prefix(
        &self,
        reference: &TerminalRef,
    ) -> Result<Option<TerminalId>, TerminalError> {
        let Some(prefix) = id_prefix(&reference.0) else {
            return Ok(None);
        };
        let mut fitting = self
            .inner
            .store
            .ids_with_prefix(&prefix, AMBIGUOUS_SHOWN)
            .await?;
        match fitting.len() {
            0 => Ok(None),
            1 => Ok(fitting.pop()),
            _ => Err(TerminalError::Ambiguous {
                reference: reference.0.clone(),
                matches: fitting,
            }),
        }
    }
}

/// The text as the beginning of an id; `None` if no id can begin with it.
fn id_prefix(text: &str) -> Option<String> {
    let random = text.strip_prefix("term_").unwrap_or(text);
    let fits = !random.is_empty()
        && random
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
    fits.then(|| format!("term_{random}"))
}
