//! The questions that wait for the person. Pure.

use std::time::Instant;

use termd_client::escape::escaped;
use termd_client::question::{asker, consequences, question};
use termd_client::waiting_question::{READING_TIME, WaitingQuestion, waiting};
use termd_proto::TerminalId;
use termd_proto::approval::{ApprovalId, ApprovalList};

/// What the overview asks of a question.
pub(super) trait Asked {
    /// Whether it is of what runs in a terminal, or would be typed into it.
    fn concerns(&self, terminal: &TerminalId) -> bool;
    /// All that is asked, and what each answer does. What others have written is escaped.
    fn text(&self) -> String;
    /// The keys that answer it.
    fn keys(&self) -> &'static [(&'static str, &'static str)];
}

impl Asked for WaitingQuestion {
    fn concerns(&self, terminal: &TerminalId) -> bool {
        let ids = match self {
            Self::Gate(info) => [&info.terminal, &info.asked_by.terminal],
            Self::Secret(question) => [&question.terminal, &question.terminal],
        };
        ids.into_iter().flatten().any(|id| id == terminal)
    }

    fn text(&self) -> String {
        match self {
            Self::Gate(info) => {
                let only_once = info.only_once.as_ref();
                let once = only_once.map(|why| format!("\nonce     {}", escaped(why)));
                let once = once.unwrap_or_default();
                format!("{}{once}\n\n{}", question(info), consequences(info))
            }
            Self::Secret(asked) => {
                let program = asked.program.as_deref();
                let place = asked.terminal.as_ref();
                let place = place.map_or_else(String::new, |id| format!(" in {id}"));
                format!(
                    "{} asks{place}, for {}, and reads what you answer:\n\n    {}",
                    escaped(program.unwrap_or("a program that termd cannot name")),
                    escaped(&asker(&asked.asked_by)),
                    escaped(&asked.prompt),
                )
            }
        }
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Gate(info) if info.only_once.is_none() => {
                &[("y", "once"), ("a", "always"), ("n", "no")]
            }
            Self::Gate(_) => &[("y", "once"), ("n", "no")],
            Self::Secret(_) => &[("p", "type it"), ("n", "no")],
        }
    }
}

/// The questions, and the one that is shown.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Oldest first.
    waiting: Vec<WaitingQuestion>,
    shown: Option<(ApprovalId, Instant)>,
}

impl Questions {
    pub(super) fn take(&mut self, list: &ApprovalList) {
        self.waiting = waiting(list);
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Which one is shown: of the terminal at hand the oldest, or else the oldest of all.
    pub(super) fn choose(&mut self, at_hand: Option<&TerminalId>, now: Instant) {
        let concerns =
            |question: &&WaitingQuestion| at_hand.is_some_and(|id| question.concerns(id));
        let chosen = self.waiting.iter().find(concerns).or(self.waiting.first());
        let before = self.shown.take();
        self.shown = chosen.map(|question| {
            let id = question.id().clone();
            let since = before
                .filter(|(shown, _)| *shown == id)
                .map(|(_, since)| since);
            (id, since.unwrap_or(now))
        });
    }

    /// The one that is shown.
    pub(super) fn shown(&self) -> Option<&WaitingQuestion> {
        let (id, _) = self.shown.as_ref()?;
        self.waiting.iter().find(|question| question.id() == id)
    }

    /// The one that is shown, once it was there for long enough to be read.
    pub(super) fn readable(&self, now: Instant) -> Option<&WaitingQuestion> {
        let (_, since) = self.shown.as_ref()?;
        let is_there = now.duration_since(*since) >= READING_TIME;
        self.shown().filter(|_| is_there)
    }
}
