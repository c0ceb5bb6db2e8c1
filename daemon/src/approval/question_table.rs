//! The life of the gate's questions: pending, approved or denied, used or expired. Pure: time comes
//! in, nothing goes out.

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_policy::program::is_shell;
use termd_policy::secrets::redact::{RedactionKey, Redactor};
use termd_proto::TerminalId;
use termd_proto::approval::{AnswerWay, ApprovalId, ApprovalInfo, ApprovalState, Decision};
use termd_proto::policy::Verdict;
use termd_proto::terminal::{Front, Owner};

use super::WaitingQuestion;
use crate::clock::Moment;

/// How long an approval waits for the caller to come back.
const USE_WITHIN: Duration = Duration::from_mins(10);
/// How long a question that is over is still listed, and a denial holds.
const KEPT_FOR: Duration = Duration::from_mins(10);
/// Most questions, including those that are over. At the bound the oldest that was used or has expired
/// is dropped. A denial is not: it would be forgotten by asking more. Where none can be dropped, no
/// question is asked, and the command does not run.
const MAX_QUESTIONS: usize = 256;
/// How many of them one agent may hold, so that others can still ask.
const MAX_OF_AGENT: usize = MAX_QUESTIONS / 4;
/// How many all agents may hold, so that a person's own can still be asked.
const MAX_OF_AGENTS: usize = MAX_QUESTIONS / 4 * 3;
/// Hides secrets of earlier lines, which others may have typed.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// The longest command that a person is asked about, in bytes. Each question is shown whole: what is not shown is
/// agreed to unseen.
const MAX_ASKED_BYTES: usize = 64 << 10;

/// What a question is about. An approval is for this and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The front that asks.
    pub front: Front,
    /// The user that asks.
    pub uid: u32,
    /// The client that asks, as it calls itself.
    pub client: Option<String>,
    /// The ACP session that asks.
    pub session: Option<String>,
    /// The process of the agent that asks, through whatever front: its pid and its start.
    pub agent: Option<(i32, u64)>,
    /// The terminal that is typed into; `None` for a new one.
    pub terminal: Option<TerminalId>,
    /// The program that reads what is typed.
    pub program: Option<String>,
    /// The directory in which the command would run.
    pub cwd: String,
    /// The whole command; of lines that one call types, each that is asked about.
    pub command: String,
    /// What of it is dangerous by itself.
    pub parts: Vec<Part>,
    /// The dangerous commands that values of earlier lines make of the command, as far as they are known. The
    /// same text with other values is another act.
    pub values: Vec<String>,
    /// SHA-256, in hexadecimal, of the variables that the request sets; `None`: it sets none.
    pub env_sha256: Option<String>,
    /// SHA-256, in hexadecimal, of the lines that were typed before this one; `None`: there were none.
    pub earlier_sha256: Option<String>,
    /// The last of these lines: for a person, and no part of what is asked about.
    pub earlier_text: String,
    /// The command without the wrapper of an agent: for a person, too.
    pub agent_line: Option<String>,
}

/// A part of a command, which may stand in another one. A denial is of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The program that reads it, where it is typed.
    pub program: Option<String>,
    /// The directory in which it would run.
    pub cwd: String,
    /// The command.
    pub command: String,
}

impl Subject {
    /// The hashes of this subject.
    fn hashes(&self, key: &RedactionKey) -> SubjectHashes {
        let mut act = self.act(self.program.as_deref(), &self.cwd, &self.command);
        if let (false, Value::Array(act)) = (self.values.is_empty(), &mut act) {
            act.push(json!(self.values));
        }
        let parts = self.parts.iter();
        let parts = parts.map(|part| self.act(part.program.as_deref(), &part.cwd, &part.command));
        let caller = json!([
            self.front,
            self.client,
            self.session,
            self.agent,
            self.terminal,
            self.program
        ]);
        let whole = json!([act, caller, self.env_sha256, self.earlier_sha256]);
        SubjectHashes {
            act: key.sha256(&act.to_string()),
            parts: parts.map(|part| key.sha256(&part.to_string())).collect(),
            whole: key.sha256(&whole.to_string()),
        }
    }

    /// What is done where, and whether an agent or a person does it.
    fn act(&self, program: Option<&str>, cwd: &str, command: &str) -> Value {
        let is_agents = self.agent.is_some();
        // An agent may type the same into another terminal, and into another shell.
        let terminal = self.terminal.as_ref().filter(|_| !is_agents);
        let program = program.filter(|program| !is_agents || !is_shell(program));
        let is_typed = self.terminal.is_some();
        json!([
            is_agents, self.uid, is_typed, terminal, program, cwd, command
        ])
    }
}

/// A subject as a record can hold it: keyed hashes, of which nobody learns the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectHashes {
    /// Of what would be done, and whether an agent or a person does it. A denial is of that: an agent
    /// that calls itself by another name, comes through another front or sets a variable more asks
    /// for the same thing.
    pub act: String,
    /// The same of its parts, of which a denial is, too.
    pub parts: Vec<String>,
    /// Of everything. An approval is for that.
    pub whole: String,
}

impl SubjectHashes {
    fn acts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.act).chain(&self.parts)
    }

    /// Whether a denial of this one is one of the other.
    fn denies(&self, other: &Self) -> bool {
        self.acts()
            .any(|act| other.acts().any(|other| act == other))
    }
}

/// What the gate says of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason.
    pub reason: Option<String>,
    /// Whether a person may agree to it for always.
    pub always: Always,
    /// The variables that the request sets, as a question shows them.
    pub env: Vec<(String, String)>,
}

/// Whether a person may agree to a command for always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Always {
    /// Yes, by this rule.
    ByRule(String),
    /// Only once, for this reason.
    No(String),
}

/// What is known of a command when its caller asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It was approved, and the approval is used up now.
    Granted(ApprovalInfo),
    /// It was denied a while ago.
    Denied(ApprovalInfo),
    /// A question waits for an answer.
    Asked(ApprovalInfo),
    /// There are too many questions to ask another.
    Full,
    /// It is longer than this many bytes, and no question is asked about it.
    TooLong(usize),
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAnswered {
    /// There is no such question.
    NotFound,
    /// Another answer came first, or it is too late.
    Over(Box<ApprovalInfo>),
}

#[derive(Debug)]
struct Question {
    subject: SubjectHashes,
    info: ApprovalInfo,
    /// The rule that lets the command run for always.
    rule: Option<String>,
    /// When the state ends by itself.
    until: Instant,
    /// The callers that wait for the answer. Others come back for it.
    askers: usize,
}

/// The questions, oldest first.
#[derive(Debug)]
pub(super) struct QuestionTable {
    questions: VecDeque<Question>,
    /// How long a question waits for an answer.
    answer_within: Duration,
    /// The key of the subjects' hashes.
    key: RedactionKey,
}

impl QuestionTable {
    pub(super) fn new(answer_within: Duration, key: RedactionKey) -> Self {
        Self {
            questions: VecDeque::new(),
            answer_within,
            key,
        }
    }

    /// Takes a denial over from an earlier server, if there is place.
    pub(super) fn restore(&mut self, denial: PastDenial, now: Moment) {
        let age = now.ms.saturating_sub(denial.denied_at_ms);
        let age = Duration::from_millis(u64::try_from(age).unwrap_or(0));
        let rest = KEPT_FOR.saturating_sub(age);
        if rest > Duration::ZERO && self.questions.len() < MAX_QUESTIONS {
            self.questions.push_back(Question {
                subject: denial.subject,
                info: denial.info,
                rule: None,
                until: now.at + rest,
                askers: 0,
            });
        }
    }

    /// What is known of a command. Where no question waits, one is asked under `id`.
    pub(super) fn ask(
        &mut self,
        subject: Subject,
        asked_by: &Owner,
        doubt: Doubt,
        id: ApprovalId,
        now: Moment,
    ) -> Standing {
        let hashes = subject.hashes(&self.key);
        if let Some(denial) = self.denial_of(&hashes) {
            return Standing::Denied(denial);
        }
        if let Some(question) = self.open_question(&hashes) {
            if question.info.state == ApprovalState::Approved {
                question.end(ApprovalState::Used, now);
                return Standing::Granted(question.info.clone());
            }
            return Standing::Asked(question.info.clone());
        }
        if subject.command.len() > MAX_ASKED_BYTES {
            return Standing::TooLong(MAX_ASKED_BYTES);
        }
        if !self.has_room_for(asked_by) {
            return Standing::Full;
        }
        if self.questions.len() >= MAX_QUESTIONS {
            let done = self.questions.iter().position(Question::is_done);
            let Some(done) = done else {
                return Standing::Full;
            };
            self.questions.remove(done);
        }
        let (rule, only_once) = match doubt.always {
            Always::ByRule(rule) => (Some(rule), None),
            Always::No(why) => (None, Some(why)),
        };
        let info = ApprovalInfo {
            id,
            state: ApprovalState::Pending,
            command: subject.command,
            agent_line: subject.agent_line,
            after: REDACTOR.text(&subject.earlier_text).into_owned(),
            cwd: subject.cwd,
            env: doubt.env,
            terminal: subject.terminal,
            program: subject.program,
            asked_by: asked_by.clone(),
            verdict: doubt.verdict,
            reason: doubt.reason,
            asked_at_ms: now.ms,
            expires_at_ms: later(now.ms, self.answer_within),
            answered_by: None,
            answered_way: None,
            answered_at_ms: None,
            only_once,
            rule_at: None,
        };
        self.questions.push_back(Question {
            subject: hashes,
            info: info.clone(),
            rule,
            until: now.at + self.answer_within,
            askers: 0,
        });
        Standing::Asked(info)
    }

    /// Whether an agent may hold one question more. A person may while there is place.
    fn has_room_for(&self, asker: &Owner) -> bool {
        let Some(agent) = asker.agent() else {
            return true;
        };
        let held = self.questions.iter().filter(|question| !question.is_done());
        let agents = held.filter_map(|question| question.info.asked_by.agent());
        let (all, own) = agents.fold((0, 0), |(all, own), it| {
            let is_own = (it.pid, it.started) == (agent.pid, agent.started);
            (all + 1, own + usize::from(is_own))
        });
        own < MAX_OF_AGENT && all < MAX_OF_AGENTS
    }

    /// The caller's own word is the answer, and the command runs. A question that waits is answered by
    /// that. Returns a person's denial, which is stronger.
    pub(super) fn confirm(
        &mut self,
        subject: &Subject,
        by: &Owner,
        now: Moment,
    ) -> Result<(), Box<ApprovalInfo>> {
        let subject = subject.hashes(&self.key);
        if let Some(denial) = self.denial_of(&subject) {
            return Err(Box::new(denial));
        }
        if let Some(question) = self.open_question(&subject) {
            if question.info.state == ApprovalState::Pending {
                question.answered(by, None, now);
            }
            question.end(ApprovalState::Used, now);
        }
        Ok(())
    }

    pub(super) fn is_denied(&self, subject: &Subject) -> bool {
        self.denial_of(&subject.hashes(&self.key)).is_some()
    }

    /// The denial that holds for a subject.
    fn denial_of(&self, subject: &SubjectHashes) -> Option<ApprovalInfo> {
        let mut denials = self.questions.iter().rev().filter(|question| {
            question.info.state == ApprovalState::Denied && question.subject.denies(subject)
        });
        denials.next().map(|question| question.info.clone())
    }

    /// The question about a subject that waits, or is approved.
    fn open_question(&mut self, subject: &SubjectHashes) -> Option<&mut Question> {
        let mut questions = self.questions.iter_mut().rev();
        questions.find(|question| question.subject.whole == subject.whole && !question.is_over())
    }

    /// Takes an answer. The first answer holds; of a denied question, see [`takes_answer`].
    pub(super) fn answer(
        &mut self,
        id: &ApprovalId,
        decision: Decision,
        (by, way): (&Owner, AnswerWay),
        now: Moment,
    ) -> Result<ApprovalInfo, NotAnswered> {
        let question = self.find_mut(id).ok_or(NotAnswered::NotFound)?;
        if !takes_answer(&question.info, decision, by, way) {
            return Err(NotAnswered::Over(Box::new(question.info.clone())));
        }
        question.answered(by, Some(way), now);
        match decision {
            Decision::Approve | Decision::Always => {
                question.info.state = ApprovalState::Approved;
                question.until = now.at + USE_WITHIN;
                question.info.expires_at_ms = later(now.ms, USE_WITHIN);
            }
            Decision::Deny => {
                question.end(ApprovalState::Denied, now);
                question.info.expires_at_ms = later(now.ms, KEPT_FOR);
            }
        }
        Ok(question.info.clone())
    }

    /// Ends questions without an answer and approvals that were not used in time, and drops what is
    /// long over. Returns what has ended now.
    pub(super) fn expire(&mut self, now: Moment) -> Vec<ApprovalInfo> {
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

    /// Counts a caller that waits for the answer to a question.
    pub(super) fn add_asker(&mut self, id: &ApprovalId) {
        if let Some(question) = self.find_mut(id) {
            question.askers += 1;
        }
    }

    /// Notes that a caller waits no more. A question that nobody waits for any more expires now: an answer
    /// would be for nobody.
    pub(super) fn remove_asker(&mut self, id: &ApprovalId, now: Moment) {
        let Some(question) = self.find_mut(id) else {
            return;
        };
        question.askers = question.askers.saturating_sub(1);
        if question.askers == 0 && question.info.state == ApprovalState::Pending {
            question.until = now.at;
            question.info.expires_at_ms = now.ms;
        }
    }

    fn find_mut(&mut self, id: &ApprovalId) -> Option<&mut Question> {
        let mut questions = self.questions.iter_mut();
        questions.find(|question| question.info.id == *id)
    }

    /// When [`expire`](Self::expire) has something to do next.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.questions.iter().map(|question| question.until).min()
    }

    /// The hashes of a question's subject.
    pub(super) fn hashes_of(&self, id: &ApprovalId) -> Option<&SubjectHashes> {
        let mut questions = self.questions.iter();
        let question = questions.find(|question| question.info.id == *id)?;
        Some(&question.subject)
    }

    /// The rule that would let a question's command run for always.
    pub(super) fn rule_of(&self, id: &ApprovalId) -> Option<&str> {
        let mut questions = self.questions.iter();
        let question = questions.find(|question| question.info.id == *id)?;
        question.rule.as_deref()
    }

    /// Notes the file and the line of the rule that an answer for always has written.
    pub(super) fn set_rule_at(
        &mut self,
        id: &ApprovalId,
        at: (String, usize),
    ) -> Option<ApprovalInfo> {
        let question = self.find_mut(id)?;
        question.info.rule_at = Some(at);
        Some(question.info.clone())
    }

    pub(super) fn get(&self, id: &ApprovalId) -> Option<&ApprovalInfo> {
        let mut infos = self.questions.iter().map(|question| &question.info);
        infos.find(|info| info.id == *id)
    }

    /// The oldest that waits of what runs in a terminal, or would be typed into it.
    pub(super) fn waiting_of(&self, terminal: &TerminalId) -> Option<WaitingQuestion> {
        let mut questions = self.questions.iter().map(|question| &question.info);
        let first = questions.find(|info| {
            let concerns = [&info.terminal, &info.asked_by.terminal];
            info.state == ApprovalState::Pending && concerns.contains(&&Some(terminal.clone()))
        })?;
        Some(WaitingQuestion {
            text: first.command.clone(),
            asked_at_ms: first.asked_at_ms,
        })
    }

    /// All questions, oldest first.
    pub(super) fn list(&self) -> Vec<ApprovalInfo> {
        let questions = self.questions.iter();
        questions.map(|question| question.info.clone()).collect()
    }
}

/// A denial of an earlier server.
#[derive(Debug)]
pub struct PastDenial {
    /// What was denied.
    pub subject: SubjectHashes,
    /// The question, as far as its record tells.
    pub info: ApprovalInfo,
    /// When, in milliseconds since the Unix epoch.
    pub denied_at_ms: i64,
}

/// Whether a question takes this answer: it waits, or a person lifts a denial by `termctl approve`. A
/// prompt that was shown before the denial lifts nothing.
pub(super) fn takes_answer(
    info: &ApprovalInfo,
    decision: Decision,
    by: &Owner,
    way: AnswerWay,
) -> bool {
    match info.state {
        ApprovalState::Pending => true,
        ApprovalState::Denied => {
            decision != Decision::Deny && way == AnswerWay::Command && by.agent().is_none()
        }
        ApprovalState::Approved | ApprovalState::Used | ApprovalState::Expired => false,
    }
}

impl Question {
    fn is_over(&self) -> bool {
        matches!(
            self.info.state,
            ApprovalState::Used | ApprovalState::Denied | ApprovalState::Expired
        )
    }

    /// Whether nobody needs the question any more.
    fn is_done(&self) -> bool {
        matches!(
            self.info.state,
            ApprovalState::Used | ApprovalState::Expired
        )
    }

    fn answered(&mut self, by: &Owner, way: Option<AnswerWay>, now: Moment) {
        self.info.answered_by = Some(by.clone());
        self.info.answered_way = way;
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

#[cfg(test)]
mod tests;
