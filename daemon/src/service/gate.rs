//! The gate before everything that runs something: judged, recorded, and only then done.

use serde_json::{Map, Value, json};
use termd_proto::approval::{ApprovalId, ApprovalInfo};
use termd_proto::policy::{Effect, Judgement, Verdict};
use termd_proto::terminal::{Confinement, Owner};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::create::random_bits;
use super::typing::Typist;
use super::{CreateRequest, Terminals};
use crate::approval::{Always, Doubt, Standing, Subject};
use crate::terminal::error::{Refusal, TerminalError};
use crate::terminal::handle::Terminal;
use crate::terminal::input::Secrecy;
use crate::terminal::input::foreground::foreground_process;
use crate::terminal::lifecycle::launch::Launch;
use termd_policy::{
    Completeness, Decision, Invocation, OnlyOnceReason, PossibleCwd, Profile, Request, TypedLine,
    TypedLines, command_text, program,
};

/// The longest text that is judged on the thread that serves everybody: some two milliseconds' work,
/// where 64 KiB are thirty to fifty.
const MAX_AT_ONCE_BYTES: usize = 4_096;
/// How much of a command an error or a record shows, in bytes.
const MAX_SHOWN_BYTES: usize = 4_096;

/// What the gate says of a command, and whether somebody has agreed to it.
#[derive(Debug)]
pub(super) struct Judged {
    judgement: Judgement,
    /// `None`: it was a secret.
    command: Option<String>,
    consent: Consent,
}

/// Whether somebody has agreed to it.
#[derive(Debug)]
enum Consent {
    /// Nobody was asked: it cannot be asked about, or need not be.
    None,
    /// The caller says so.
    Confirmed,
    /// Somebody has approved it, and that is used up now.
    Approved(ApprovalInfo),
    /// Somebody is being asked.
    Asked(ApprovalInfo),
    /// Somebody said no.
    Denied(ApprovalInfo),
}

impl Consent {
    fn is_given(&self) -> bool {
        matches!(self, Self::Confirmed | Self::Approved(_))
    }

    fn approval(&self) -> Option<&ApprovalInfo> {
        match self {
            Self::None | Self::Confirmed => None,
            Self::Approved(info) | Self::Asked(info) | Self::Denied(info) => Some(info),
        }
    }
}

impl Judged {
    pub(super) fn allows(&self) -> bool {
        match self.judgement.effect {
            Effect::Allow => true,
            Effect::Confirm => self.consent.is_given(),
            Effect::Deny => false,
        }
    }

    /// Nothing to say of it: no doubt, no rule.
    fn is_plain(&self) -> bool {
        let judgement = &self.judgement;
        let is_safe = judgement.verdict == Verdict::Safe && judgement.rule.is_none();
        is_safe && judgement.effect == Effect::Allow
    }

    /// What the audit record says.
    pub(super) fn detail(&self) -> Map<String, Value> {
        let judgement = &self.judgement;
        let mut detail = Map::new();
        detail.insert("verdict".to_owned(), judgement.verdict.as_str().into());
        if let Some(reason) = &judgement.reason {
            detail.insert("reason".to_owned(), reason.as_str().into());
        }
        if let Some(rule) = judgement.rule {
            detail.insert("rule".to_owned(), rule.into());
        }
        if let Some(rule) = judgement.approved {
            detail.insert("approved_rule".to_owned(), rule.into());
        }
        if !self.is_plain() {
            detail.insert("confirmed".to_owned(), self.consent.is_given().into());
        }
        if let Some(approval) = self.consent.approval() {
            detail.insert("approval".to_owned(), approval.id.as_str().into());
        }
        if let Consent::Approved(ApprovalInfo {
            answered_by: Some(by),
            ..
        }) = &self.consent
        {
            detail.insert("approved_by".to_owned(), json!(by));
        }
        detail
    }

    pub(super) fn outcome(&self) -> &'static str {
        match (self.allows(), self.judgement.effect) {
            (true, _) => "ok",
            (false, Effect::Deny) => "refused: a rule forbids it",
            (false, _) if matches!(self.consent, Consent::Denied(_)) => "refused: rejected",
            (false, _) => "refused: not confirmed",
        }
    }

    pub(super) fn into_error(self) -> TerminalError {
        let denied = self.judgement.effect == Effect::Deny;
        let rejected = matches!(self.consent, Consent::Denied(_));
        let refusal = Box::new(Refusal {
            judgement: self.judgement,
            command: self.command,
            approval: self.consent.approval().cloned(),
        });
        match (denied, rejected) {
            (true, _) => TerminalError::Denied(refusal),
            (false, true) => TerminalError::Rejected(refusal),
            (false, false) => TerminalError::ConfirmationRequired(refusal),
        }
    }
}

fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    text.get(..end).unwrap_or_default().to_owned()
}

/// Judges a text of this length, in bytes, where nobody else has to wait for that.
pub(super) fn judged_apart<T>(length: usize, judge: impl FnOnce() -> T) -> T {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    // Only then is there another thread that goes on with the calls of others.
    let has_others = matches!(runtime, Ok(RuntimeFlavor::MultiThread));
    if length > MAX_AT_ONCE_BYTES && has_others {
        tokio::task::block_in_place(judge)
    } else {
        judge()
    }
}

impl Terminals {
    /// Judges what a new terminal would run, and says what it runs under.
    pub(super) fn judge_creation(
        &self,
        request: &CreateRequest,
        launch: &Launch,
    ) -> Result<(Judged, Profile), TerminalError> {
        let cwd = launch.cwd.to_string_lossy();
        // A line that our own shell was put before is judged as it was given.
        let line = request
            .command
            .as_deref()
            .filter(|line| launch.argv.get(1..) == Some(&["-c".to_owned(), (*line).to_owned()]))
            .filter(|_| request.args.is_empty());
        let what = line.map_or(Invocation::Argv(&launch.argv), Invocation::Line);
        let asked = Request {
            invocation: what,
            program: None,
            front: request.owner.front,
            client: request.owner.client.as_deref(),
            uid: Some(request.owner.uid),
            cwd: Some(&cwd),
        };
        let command = match what {
            Invocation::Line(line) => line.to_owned(),
            Invocation::Argv(argv) => command_text(argv),
        };
        let decision = Self::decide(&self.policy(), &asked, Completeness::Whole, &request.gate);
        let subject = subject(&request.owner, &cwd, &command);
        let judgement = decision.judgement.clone();
        let consent = if request.confirmed {
            self.confirmed(&judgement, &subject, &request.owner)
        } else {
            let always = || self.always(&decision, &asked);
            self.consent(&judgement, subject, &request.owner, always)?
        };
        let judged = Judged {
            consent,
            judgement,
            command: Some(shown(&command)),
        };
        Ok((judged, decision.profile))
    }

    /// Judges what is about to be typed, together with what was typed before it: each line that it
    /// completes for the program in the foreground. To be called before the bytes go out; what is
    /// then to be remembered as typed is the answer.
    ///
    /// The text of a secret, and what is typed at a prompt that hides it, stands in no error and
    /// no record.
    pub(super) async fn judge_typing(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        typed: &TypedLines,
        bytes: &[u8],
        secrecy: &Secrecy,
    ) -> Result<TypedLines, TerminalError> {
        // Where there is no tty any more nothing is read: whoever types is told so.
        let Some(tty) = terminal.line_discipline().await else {
            return Ok(typed.clone());
        };
        let foreground = foreground_process(terminal).await;
        let program = foreground.as_ref().map(|process| process.program.as_str());
        let hidden = tty.awaits_secret();
        let secret = !matches!(secrecy, Secrecy::Shown(_) | Secrecy::NotShown);
        let mut next = typed.clone();
        if hidden && program.is_some_and(|name| !program::is_shell(name)) {
            // A password, for whoever asked for one.
            next.forget();
            return Ok(next);
        }
        let lines = next.feed(bytes, program);
        if secret {
            next.forget();
        }
        // It runs where the program is by now, which need not be where the terminal was started; a
        // line behind another one of the same call, where that may lead.
        let here = foreground
            .as_ref()
            .and_then(|process| process.cwd.as_deref());
        let mut whereabouts = PossibleCwd::at(Some(here.unwrap_or(&terminal.record.cwd)));
        for line in lines {
            let held_to = terminal.record.held_to.as_ref();
            let decision = self.decide_line(&line, program, typist, &whereabouts);
            let next_cwd = decision.next_cwd.clone();
            let cwd = std::mem::replace(&mut whereabouts, next_cwd).describe();
            let only_once = decision.only_once.clone().unwrap_or(OnlyOnceReason::Typed);
            let judged = under_its_profile(decision, held_to);
            let mut judged = without_secret(judged, &line, secret || hidden);
            judged.consent = if typist.confirmed && judged.command.is_none() {
                Consent::Confirmed
            } else if judged.command.is_some() {
                let subject = Subject {
                    terminal: Some(terminal.id().clone()),
                    program: program.map(str::to_owned),
                    ..subject(typist.actor, &cwd, &line.text)
                };
                if typist.confirmed {
                    self.confirmed(&judged.judgement, &subject, typist.actor)
                } else {
                    let always = || Always::No(only_once.to_string());
                    self.consent(&judged.judgement, subject, typist.actor, always)?
                }
            } else {
                Consent::None
            };
            if judged.is_plain() {
                continue;
            }
            let mut detail = judged.detail();
            if let Some(command) = &judged.command {
                detail.insert("command".to_owned(), command.as_str().into());
            }
            detail.insert("program".to_owned(), json!(program));
            let id = Some(terminal.id());
            self.audit("terminal.input", judged.outcome(), typist.actor, id, detail)
                .await?;
            if !judged.allows() {
                return Err(judged.into_error());
            }
        }
        Ok(next)
    }

    /// The caller says that somebody has agreed: a question that waits is answered by that.
    fn confirmed(&self, judgement: &Judgement, subject: &Subject, asker: &Owner) -> Consent {
        if judgement.effect == Effect::Confirm {
            self.inner.approvals.confirmed(subject, asker);
        }
        Consent::Confirmed
    }

    /// Whether somebody has agreed to what the gate wants agreed to; somebody is asked where not.
    fn consent(
        &self,
        judgement: &Judgement,
        subject: Subject,
        asker: &Owner,
        always: impl FnOnce() -> Always,
    ) -> Result<Consent, TerminalError> {
        let approvals = &self.inner.approvals;
        if judgement.effect != Effect::Confirm {
            return Ok(Consent::None);
        }
        let doubt = Doubt {
            verdict: judgement.verdict,
            reason: judgement.reason.clone(),
            always: always(),
        };
        let id = ApprovalId::from_random(random_bits()?);
        Ok(match approvals.ask(subject, asker, doubt, id) {
            Standing::Granted(info) => Consent::Approved(info),
            Standing::Asked(info) => Consent::Asked(info),
            Standing::Denied(info) => Consent::Denied(info),
            Standing::Full => Consent::None,
        })
    }

    fn decide_line(
        &self,
        line: &TypedLine,
        program: Option<&str>,
        typist: &Typist<'_>,
        start: &PossibleCwd,
    ) -> Decision {
        let asked = Request {
            invocation: Invocation::Line(&line.text),
            program,
            front: typist.actor.front,
            client: typist.actor.client.as_deref(),
            uid: Some(typist.actor.uid),
            cwd: None,
        };
        let decide = || {
            let policy = self.policy();
            policy.decide_from(start, &asked, line.completeness, typist.gate)
        };
        judged_apart(line.text.len(), decide)
    }
}

/// What an approval of this would be for, whatever it would run in.
fn subject(asker: &Owner, cwd: &str, command: &str) -> Subject {
    Subject {
        front: asker.front,
        uid: asker.uid,
        client: asker.client.clone(),
        session: asker.session.clone(),
        terminal: None,
        program: None,
        cwd: cwd.to_owned(),
        command: command.to_owned(),
    }
}

/// A line runs under what its terminal is held to. Where a rule wants it held to more, it is not
/// run without a question: only a new terminal can be.
fn under_its_profile(decision: Decision, held_to: Option<&Confinement>) -> Judgement {
    let has = |name: &String| held_to.is_some_and(|held_to| held_to.profiles.contains(name));
    let missing = decision.profiles_by_rule.iter().find(|name| !has(name));
    let mut judgement = decision.judgement;
    if let Some(name) = missing.filter(|name| name.as_str() != "none")
        && judgement.effect == Effect::Allow
    {
        judgement.effect = Effect::Confirm;
        let reason = format!("a rule wants it under the profile {name}, and this terminal is not");
        judgement.reason.get_or_insert(reason);
    }
    judgement
}

/// A judgement that tells nothing of a secret. A password that cannot be read as shell is one that
/// is hard to guess, and no doubt about what runs.
fn without_secret(judgement: Judgement, line: &TypedLine, secret: bool) -> Judged {
    if !secret {
        return Judged {
            judgement,
            command: Some(shown(&line.text)),
            consent: Consent::None,
        };
    }
    let judgement = match judgement.verdict {
        Verdict::Dangerous => Judgement {
            reason: Some("what is typed as a secret would run here as a command".to_owned()),
            span: None,
            ..judgement
        },
        _ if judgement.effect == Effect::Deny => Judgement {
            reason: None,
            span: None,
            ..judgement
        },
        _ => Judgement {
            verdict: Verdict::Safe,
            reason: None,
            span: None,
            effect: Effect::Allow,
            rule: None,
            approved: None,
        },
    };
    Judged {
        judgement,
        command: None,
        consent: Consent::None,
    }
}
