//! The questions: asked, answered, used, lapsed. Pure: time comes in, nothing goes out.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use termd_proto::TerminalId;
use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalState, Decision};
use termd_proto::policy::Verdict;
use termd_proto::terminal::{Front, Owner};

use crate::clock::Moment;

/// How long an approval waits for the caller to come back.
pub(super) const USE_WITHIN: Duration = Duration::from_mins(10);
/// How long what is over is still shown, and a denial still told.
const KEPT_FOR: Duration = Duration::from_mins(10);
/// Most questions, those that are over included. At the bound the oldest that is over gives way;
/// where none is over, nothing more is asked, and what was to be asked about does not run.
pub(super) const MAX_QUESTIONS: usize = 256;
/// How much of a command is shown.
const MAX_SHOWN_BYTES: usize = 4_096;

/// What is asked about: an approval is for this and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Through which front.
    pub front: Front,
    /// By which user.
    pub uid: u32,
    /// By which client, as it calls itself.
    pub client: Option<String>,
    /// In which ACP session.
    pub session: Option<String>,
    /// Typed into which terminal; `None`: a new one.
    pub terminal: Option<TerminalId>,
    /// For which program to read.
    pub program: Option<String>,
    /// In which directory.
    pub cwd: String,
    /// The whole command.
    pub command: String,
}

/// What the gate says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Its verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: Option<String>,
    /// Whether somebody may agree to it for always.
    pub always: Always,
}

/// Whether somebody may agree to something for always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Always {
    /// By this rule, which says so from then on.
    ByRule(String),
    /// Only once, and why.
    No(String),
}

/// What is known of a subject when its caller comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It was approved, and that is used now.
    Granted(ApprovalInfo),
    /// It was denied a while ago.
    Denied(ApprovalInfo),
    /// A question waits, asked now or before.
    Asked(ApprovalInfo),
    /// There are too many questions.
    Full,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAnswered {
    /// There is no such question.
    NotFound,
    /// Somebody was faster, or it is too late.
    Over(Box<ApprovalInfo>),
}

#[derive(Debug)]
struct Question {
    subject: Subject,
    info: ApprovalInfo,
    /// What lets it run for always, where that may be.
    rule: Option<String>,
    /// When its state ends, if it does by itself.
    until: Instant,
    /// Whether the caller knows of a denial.
    denial: Denial,
}

/// Whether the caller knows of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Denial {
    /// It is told when it comes again.
    Untold,
    /// It was told, or it is its own person's: what comes again is asked about anew.
    Told,
}

/// The questions, oldest first.
#[derive(Debug)]
pub(super) struct Table {
    questions: VecDeque<Question>,
    /// How long a question waits for an answer.
    answer_within: Duration,
}

impl Table {
    /// No questions yet.
    pub(super) fn new(answer_within: Duration) -> Self {
        Self {
            questions: VecDeque::new(),
            answer_within,
        }
    }

    /// A caller comes with this. A question is made where none waits; `id` is taken for it.
    pub(super) fn ask(
        &mut self,
        subject: Subject,
        asked_by: &Owner,
        doubt: Doubt,
        id: ApprovalId,
        now: Moment,
    ) -> Standing {
        let known = self
            .questions
            .iter_mut()
            .rev()
            .find(|question| question.subject == subject && question.counts());
        if let Some(question) = known {
            return match question.info.state {
                ApprovalState::Approved => {
                    question.end(ApprovalState::Used, now);
                    Standing::Granted(question.info.clone())
                }
                ApprovalState::Denied => {
                    question.denial = Denial::Told;
                    Standing::Denied(question.info.clone())
                }
                _ => Standing::Asked(question.info.clone()),
            };
        }
        if self.questions.len() >= MAX_QUESTIONS {
            let over = self.questions.iter().position(Question::is_over);
            let Some(over) = over else {
                return Standing::Full;
            };
            self.questions.remove(over);
        }
        let (rule, only_once) = match doubt.always {
            Always::ByRule(rule) => (Some(rule), None),
            Always::No(why) => (None, Some(why)),
        };
        let info = ApprovalInfo {
            id,
            state: ApprovalState::Pending,
            command: shown(&subject.command),
            cwd: subject.cwd.clone(),
            terminal: subject.terminal.clone(),
            program: subject.program.clone(),
            asked_by: asked_by.clone(),
            verdict: doubt.verdict,
            reason: doubt.reason,
            asked_at_ms: now.ms,
            expires_at_ms: later(now.ms, self.answer_within),
            answered_by: None,
            answered_at_ms: None,
            only_once,
            rule_at: None,
        };
        self.questions.push_back(Question {
            subject,
            info: info.clone(),
            rule,
            until: now.at + self.answer_within,
            denial: Denial::Untold,
        });
        Standing::Asked(info)
    }

    /// The front that asked says that its person agrees, and runs it: a question that waits is
    /// answered by that. The question, where there was one.
    pub(super) fn confirmed(
        &mut self,
        subject: &Subject,
        by: &Owner,
        now: Moment,
    ) -> Option<ApprovalInfo> {
        let question = self.questions.iter_mut().rev().find(|question| {
            let state = question.info.state;
            question.subject == *subject
                && matches!(state, ApprovalState::Pending | ApprovalState::Approved)
        })?;
        if question.info.state == ApprovalState::Pending {
            question.answered(by, now);
        }
        question.end(ApprovalState::Used, now);
        Some(question.info.clone())
    }

    /// Somebody answers. The first answer holds.
    pub(super) fn answer(
        &mut self,
        id: &ApprovalId,
        decision: Decision,
        by: &Owner,
        now: Moment,
    ) -> Result<ApprovalInfo, NotAnswered> {
        let question = self
            .questions
            .iter_mut()
            .find(|question| question.info.id == *id)
            .ok_or(NotAnswered::NotFound)?;
        if question.info.state != ApprovalState::Pending {
            return Err(NotAnswered::Over(Box::new(question.info.clone())));
        }
        question.answered(by, now);
        match decision {
            Decision::Approve | Decision::Always => {
                question.info.state = ApprovalState::Approved;
                question.until = now.at + USE_WITHIN;
                question.info.expires_at_ms = later(now.ms, USE_WITHIN);
            }
            Decision::Deny => {
                let asker = &question.info.asked_by;
                if (by.front, &by.client) == (asker.front, &asker.client) {
                    question.denial = Denial::Told;
                }
                question.end(ApprovalState::Denied, now);
            }
        }
        Ok(question.info.clone())
    }

    /// Ends what nobody answered or used in time, and forgets what is long over; what has ended.
    pub(super) fn lapse(&mut self, now: Moment) -> Vec<ApprovalInfo> {
        self.questions
            .retain(|question| !question.is_over() || now.at < question.until);
        let late = self
            .questions
            .iter_mut()
            .filter(|question| !question.is_over() && question.until <= now.at);
        late.map(|question| {
            question.end(ApprovalState::Expired, now);
            question.info.clone()
        })
        .collect()
    }

    /// When [`lapse`](Self::lapse) has something to do next.
    pub(super) fn next_lapse(&self) -> Option<Instant> {
        self.questions.iter().map(|question| question.until).min()
    }

    /// The rule that would let it run for always.
    pub(super) fn rule_of(&self, id: &ApprovalId) -> Option<&str> {
        let mut questions = self.questions.iter();
        let question = questions.find(|question| question.info.id == *id)?;
        question.rule.as_deref()
    }

    /// Its answer for always has written a rule, which stands there.
    pub(super) fn ruled(&mut self, id: &ApprovalId, at: (String, usize)) -> Option<ApprovalInfo> {
        let mut questions = self.questions.iter_mut();
        let question = questions.find(|question| question.info.id == *id)?;
        question.info.rule_at = Some(at);
        Some(question.info.clone())
    }

    /// One question.
    pub(super) fn get(&self, id: &ApprovalId) -> Option<&ApprovalInfo> {
        let mut infos = self.questions.iter().map(|question| &question.info);
        infos.find(|info| info.id == *id)
    }

    /// All, oldest first.
    pub(super) fn list(&self) -> Vec<ApprovalInfo> {
        let questions = self.questions.iter();
        questions.map(|question| question.info.clone()).collect()
    }
}

impl Question {
    /// Whether it still says something about its subject.
    fn counts(&self) -> bool {
        match self.info.state {
            ApprovalState::Pending | ApprovalState::Approved => true,
            ApprovalState::Denied => self.denial == Denial::Untold,
            ApprovalState::Used | ApprovalState::Expired => false,
        }
    }

    fn is_over(&self) -> bool {
        matches!(
            self.info.state,
            ApprovalState::Used | ApprovalState::Denied | ApprovalState::Expired
        )
    }

    fn answered(&mut self, by: &Owner, now: Moment) {
        self.info.answered_by = Some(by.clone());
        self.info.answered_at_ms = Some(now.ms);
    }

    fn end(&mut self, state: ApprovalState, now: Moment) {
        self.info.state = state;
        self.until = now.at + KEPT_FOR;
    }
}

fn later(ms: i64, time: Duration) -> i64 {
    ms.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

fn shown(command: &str) -> String {
    let end = command.floor_char_boundary(MAX_SHOWN_BYTES);
    command.get(..end).unwrap_or_default().to_owned()
}
