//! Questions for secrets that wait for a person. Pure.
//!
//! An answer goes to who asked, and is not kept.

use std::collections::VecDeque;

use termd_proto::approval::ApprovalId;
use termd_proto::secret::{Secret, SecretQuestion};
use tokio::sync::oneshot;

/// Most questions at a time: more than a person can have asked for.
const MAX_QUESTIONS: usize = 16;

/// What a person says to one.
#[derive(Debug)]
pub(crate) enum SecretReply {
    Secret(Secret),
    No,
}

#[derive(Debug)]
struct Waiting {
    question: SecretQuestion,
    reply: oneshot::Sender<SecretReply>,
}

/// The questions, oldest first.
#[derive(Debug, Default)]
pub(super) struct SecretQuestions(VecDeque<Waiting>);

impl SecretQuestions {
    /// Adds a question: where its answer comes. `None`: too many wait.
    pub(super) fn ask(
        &mut self,
        question: SecretQuestion,
    ) -> Option<oneshot::Receiver<SecretReply>> {
        if self.0.len() >= MAX_QUESTIONS {
            return None;
        }
        let (reply, answer) = oneshot::channel();
        self.0.push_back(Waiting { question, reply });
        Some(answer)
    }

    /// Gives the answer to who asked; false: nobody waits for it any more.
    pub(super) fn answer(&mut self, id: &ApprovalId, reply: SecretReply) -> bool {
        let place = self.0.iter().position(|it| it.question.id == *id);
        let waiting = place.and_then(|place| self.0.remove(place));
        waiting.is_some_and(|waiting| waiting.reply.send(reply).is_ok())
    }

    /// Takes a question back.
    pub(super) fn withdraw(&mut self, id: &ApprovalId) {
        self.0.retain(|waiting| waiting.question.id != *id);
    }

    pub(super) fn list(&self) -> Vec<SecretQuestion> {
        self.0.iter().map(|it| it.question.clone()).collect()
    }
}
