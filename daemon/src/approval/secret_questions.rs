//! Questions for secrets that wait for a person. Pure.
//!
//! An answer goes to who asked, and is not kept.

use std::collections::VecDeque;

use termd_proto::TerminalId;
use termd_proto::approval::ApprovalId;
use termd_proto::secret::{Secret, SecretQuestion};
use tokio::sync::oneshot;

use super::WaitingQuestion;

/// Most questions at a time: more than a person can have asked for.
const MAX_QUESTIONS: usize = 16;
/// Most of one agent: the others keep places.
const MAX_OF_AGENT: usize = 4;

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
        let agent = &question.asked_by.agent;
        let of_agent = self.0.iter();
        let of_agent = of_agent.filter(|it| it.question.asked_by.agent == *agent);
        if self.0.len() >= MAX_QUESTIONS || of_agent.count() >= MAX_OF_AGENT {
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

    /// The oldest that waits of what runs in a terminal.
    pub(super) fn waiting_of(&self, terminal: &TerminalId) -> Option<WaitingQuestion> {
        let mut questions = self.0.iter().map(|waiting| &waiting.question);
        let first = questions.find(|question| question.terminal.as_ref() == Some(terminal))?;
        Some(WaitingQuestion {
            text: first.prompt.clone(),
            asked_at_ms: first.asked_at_ms,
        })
    }

    /// Takes a question back.
    pub(super) fn withdraw(&mut self, id: &ApprovalId) {
        self.0.retain(|waiting| waiting.question.id != *id);
    }

    pub(super) fn list(&self) -> Vec<SecretQuestion> {
        self.0.iter().map(|it| it.question.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(number: u64, agent: i32) -> SecretQuestion {
        let agent = json!({ "front": "mcp", "client": null, "pid": agent, "started": 1 });
        serde_json::from_value(json!({
            "id": ApprovalId::from_random(number), "prompt": "", "program": null, "terminal": null,
            "asked_by": { "front": "cli", "uid": 1, "pid": 1, "exe": null, "session": null,
                "client": null, "agent": agent, "terminal": null },
            "asked_at_ms": 0, "expires_at_ms": 0,
        }))
        .unwrap()
    }

    #[test]
    fn an_answer_goes_to_who_asked_and_once() {
        let mut questions = SecretQuestions::default();
        let mut answers: Vec<_> = (0..2)
            .map(|number| questions.ask(question(number, 7)).unwrap())
            .collect();
        let id = ApprovalId::from_random(1);
        let secret = || SecretReply::Secret(Secret::new("x".to_owned()));
        assert!(questions.answer(&id, secret()));
        assert!(!questions.answer(&id, secret()));
        let answer = answers.remove(1).try_recv();
        assert!(matches!(answer, Ok(SecretReply::Secret(secret)) if secret.reveal() == "x"));
        drop(answers);
        assert!(
            !questions.answer(&ApprovalId::from_random(0), secret()),
            "it has gone"
        );
    }

    #[test]
    fn one_agent_leaves_places_to_the_others() {
        let mut questions = SecretQuestions::default();
        let asked = (0..10).map(|number| questions.ask(question(number, 7)));
        let asked: Vec<_> = asked.flatten().collect();
        assert_eq!(asked.len(), MAX_OF_AGENT);
        assert!(questions.ask(question(20, 8)).is_some());
        questions.withdraw(&ApprovalId::from_random(0));
        assert!(questions.ask(question(21, 7)).is_some());
    }
}
