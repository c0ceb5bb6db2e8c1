//! Batches of 2025-03-26: an array of messages on one line, whose answers are one array.

use std::collections::HashMap;

use rmcp::model::RequestId;

/// Most messages of a batch. Its calls run all at once.
pub(super) const MAX_BATCH: usize = 100;

/// The batches that are not answered.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: HashMap<u64, Batch>,
    of_request: HashMap<RequestId, u64>,
    next: u64,
}

#[derive(Debug)]
struct Batch {
    pending: usize,
    answers: Vec<String>,
}

impl Batch {
    fn to_line(&self) -> Option<String> {
        // A batch of notifications alone has no answer.
        (!self.answers.is_empty()).then(|| format!("[{}]", self.answers.join(",")))
    }
}

impl Batches {
    /// Takes a batch in: its requests, and the answers that are known already. Returns its answer
    /// where that is all.
    pub(super) fn begin(
        &mut self,
        requests: Vec<RequestId>,
        answers: Vec<String>,
    ) -> Option<String> {
        let batch = Batch {
            pending: requests.len(),
            answers,
        };
        if batch.pending == 0 {
            return batch.to_line();
        }
        let number = self.next;
        self.next += 1;
        self.of_request
            .extend(requests.into_iter().map(|id| (id, number)));
        self.open.insert(number, batch);
        None
    }

    /// Takes the answer of a request. Returns what is to be written now: the answer of a request
    /// that is in no batch, or all of a batch that is done.
    pub(super) fn answered(&mut self, id: &RequestId, answer: String) -> Option<String> {
        match self.of_request.remove(id) {
            Some(number) => self.settle(number, Some(answer)),
            None => Some(answer),
        }
    }

    /// A cancelled request has no answer. Returns the batch's, where that is all now.
    pub(super) fn cancelled(&mut self, id: &RequestId) -> Option<String> {
        let number = self.of_request.remove(id)?;
        self.settle(number, None)
    }

    fn settle(&mut self, number: u64, answer: Option<String>) -> Option<String> {
        let batch = self.open.get_mut(&number)?;
        batch.answers.extend(answer);
        batch.pending = batch.pending.saturating_sub(1);
        if batch.pending > 0 {
            return None;
        }
        self.open.remove(&number)?.to_line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_answered_when_its_last_request_is() {
        let mut batches = Batches::default();
        let id = RequestId::Number;
        let begun = batches.begin(vec![id(1), id(2), id(3)], vec!["x".to_owned()]);
        assert_eq!(begun, None);
        assert_eq!(batches.answered(&id(2), "b".to_owned()), None);
        let other = batches.answered(&id(9), "alone".to_owned());
        assert_eq!(other.as_deref(), Some("alone"));
        assert_eq!(batches.cancelled(&id(3)), None);
        let all = batches.answered(&id(1), "a".to_owned());
        assert_eq!(all.as_deref(), Some("[x,b,a]"));
        assert!(batches.open.is_empty() && batches.of_request.is_empty());
    }

    #[test]
    fn a_batch_without_requests_is_answered_at_once_or_never() {
        let mut batches = Batches::default();
        assert_eq!(batches.begin(Vec::new(), Vec::new()), None);
        let refused = batches.begin(Vec::new(), vec!["no".to_owned()]);
        assert_eq!(refused.as_deref(), Some("[no]"));
    }
}
