//! Answering the gate's questions: who may, what is recorded, and what nobody answers.

use std::fs;

use serde_json::{Map, Value};
use termd_proto::TerminalId;
use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalState, Decision};
use termd_proto::terminal::{Front, Owner, TerminalState};

use super::Terminals;
use crate::approval::{Approvals, NotAnswered};
use crate::config::Draft;
use crate::store::own_actor;
use crate::terminal::error::TerminalError;
use termd_keeper::protocol::message::TERMINAL_VARIABLE;

/// Parents that are looked at: nobody nests deeper, and a loop must end.
const MAX_ANCESTORS: usize = 64;

impl Terminals {
    /// The gate's questions.
    pub fn approvals(&self) -> &Approvals {
        &self.inner.approvals
    }

    /// Somebody answers a question: recorded, and only then taken.
    pub async fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        by: &Owner,
    ) -> Result<ApprovalInfo, TerminalError> {
        let info = self
            .approvals()
            .get(id)
            .ok_or_else(|| TerminalError::NoQuestion(id.clone()))?;
        if info.state != ApprovalState::Pending {
            return Err(TerminalError::QuestionOver(Box::new(info)));
        }
        let outcome = match decision {
            Decision::Approve => "approved",
            Decision::Always => "approved for always",
            Decision::Deny => "denied",
        };
        if let Some(terminal) = self.agents_terminal_of(by.pid) {
            let refused = format!("refused: works in {terminal}");
            self.record_answer(&refused, &info, by).await?;
            return Err(TerminalError::ApproverRefused(terminal));
        }
        // One rule after the other: each is written behind those that stand there.
        let _turn = self.inner.always.lock().await;
        let draft = match decision {
            Decision::Always => self.draft_rule(&info, by).await?,
            Decision::Approve | Decision::Deny => None,
        };
        let outcome = match (&draft, decision) {
            (None, Decision::Always) => "approved",
            _ => outcome,
        };
        self.record_answer(outcome, &info, by).await?;
        let answered = self.approvals().answer(id, decision, by);
        match answered {
            Ok(info) => self.ruled(draft, info, by).await,
            Err(error) => {
                // Somebody was faster while this was being recorded: that is recorded too.
                self.record_answer("too late", &info, by).await?;
                Err(match error {
                    NotAnswered::NotFound => TerminalError::NoQuestion(id.clone()),
                    NotAnswered::Over(info) => TerminalError::QuestionOver(info),
                })
            }
        }
    }

    /// Brings the rule of an answer that was the first into force, where it has one. Where that
    /// fails, it is approved once all the same, which the answer says.
    async fn ruled(
        &self,
        draft: Option<Draft>,
        info: ApprovalInfo,
        by: &Owner,
    ) -> Result<ApprovalInfo, TerminalError> {
        let Some(draft) = draft else {
            return Ok(info);
        };
        match self.enforce(draft, &info, by).await {
            Ok(at) => Ok(self.approvals().ruled(&info.id, at).unwrap_or(info)),
            Err(error) => Ok(ApprovalInfo {
                only_once: Some(error.to_string()),
                ..info
            }),
        }
    }

    /// From now on what nobody answers or uses is recorded when its time is over.
    pub(super) fn start_lapsing(&self) {
        let terminals = self.clone();
        tokio::spawn(async move {
            while !terminals.is_refusing() {
                for info in terminals.approvals().lapsed().await {
                    let outcome = match info.answered_by {
                        None => "expired: nobody answered",
                        Some(_) => "expired: approved and not used",
                    };
                    let recorded = terminals.record_answer(outcome, &info, &own_actor()).await;
                    if let Err(error) = recorded {
                        tracing::warn!(approval = %info.id, %error, "an expired question is not recorded");
                    }
                }
            }
        });
    }

    async fn record_answer(
        &self,
        outcome: &str,
        info: &ApprovalInfo,
        by: &Owner,
    ) -> Result<(), TerminalError> {
        let text = |text: &str| Value::from(text);
        let detail = Map::from_iter([
            ("approval".to_owned(), text(info.id.as_str())),
            ("command".to_owned(), text(&info.command)),
            ("cwd".to_owned(), text(&info.cwd)),
            ("asked_by".to_owned(), serde_json::json!(info.asked_by)),
        ]);
        let terminal = info.terminal.as_ref();
        self.audit("approval.answer", outcome, by, terminal, detail)
            .await
    }

    /// The terminal that an agent has started and that this process is in, by its environment and
    /// its parents. A process that wants to can hide from both: docs/security.md.
    fn agents_terminal_of(&self, pid: i32) -> Option<TerminalId> {
        let of_agents = self.running_of_agents();
        if of_agents.is_empty() {
            return None;
        }
        let named = marked_terminal(pid)
            .and_then(|named| of_agents.iter().find(|(_, id)| *id == named))
            .map(|(_, id)| id.clone());
        named.or_else(|| {
            std::iter::successors(Some(pid), |&pid| parent_of(pid))
                .take(MAX_ANCESTORS)
                .find_map(|pid| of_agents.iter().find(|(root, _)| *root == Some(pid)))
                .map(|(_, id)| id.clone())
        })
    }

    /// Their terminals, those included whose command runs and that are not listed yet.
    fn running_of_agents(&self) -> Vec<(Option<i32>, TerminalId)> {
        let is_agents = |front| matches!(front, Front::Acp | Front::Mcp);
        let index = self.index();
        let listed = index.by_id.values();
        let listed = listed
            .filter(|terminal| is_agents(terminal.record.owner.front))
            .filter(|terminal| terminal.state() == TerminalState::Running)
            .map(|terminal| (Some(terminal.record.pid), terminal.id().clone()));
        let starting = index.starting.iter();
        let starting = starting
            .filter(|(_, starting)| is_agents(starting.client.front))
            .map(|(id, starting)| (starting.pid, id.clone()));
        listed.chain(starting).collect()
    }
}

/// Which terminal a process's environment says that it is in.
fn marked_terminal(pid: i32) -> Option<TerminalId> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mark = format!("{TERMINAL_VARIABLE}=");
    let mut variables = environment.split(|&byte| byte == 0);
    let named = variables.find_map(|variable| variable.strip_prefix(mark.as_bytes()))?;
    std::str::from_utf8(named).ok()?.parse().ok()
}

/// A process's parent (`proc_pid_stat(5)`, field 4).
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything, a parenthesis too.
    let (_, fields) = stat.rsplit_once(')')?;
    let parent = fields.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 1).then_some(parent)
}
