//! Judges what is typed into a terminal, or sent into the pipe that a command reads: each line that it
//! completes.

use serde_json::json;
use termd_proto::policy::{Effect, Judgement, Verdict};
use termd_proto::terminal::Confinement;

use super::asker::Asker;
use super::judged_line::JudgedLine;
use super::policy_in_force::{decide_by_names, judge_apart};
use super::ruling::{Consent, Ruling};
use super::typist::Typist;
use super::{Gate, parts, shown, subject};
use crate::approval::{Always, Part, Subject};
use crate::store::AuditAction;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::Secrecy;
use crate::terminal::input::foreground::foreground_process;
use crate::terminal::input::shell_prompt::PromptState;
use crate::terminal::input::stdin_reader::stdin_reader;
use termd_policy::{
    Decision, Invocation, OnlyOnceReason, PossibleCwd, Request, TypedLine, TypedLines, program,
};

/// Who reads lines that are judged.
struct JudgedTyping<'a> {
    program: Option<&'a str>,
    /// The program's directory, where it is known.
    cwd: Option<&'a str>,
    /// Whether their text may stand in no record.
    is_secret: bool,
}

impl Gate {
    /// Judges what is about to be sent into the pipe that a command reads, as
    /// [`judge_typing`](Self::judge_typing) does it, if a program would run it. The end of the input
    /// ends a line.
    pub(crate) async fn judge_piped(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        typed: &TypedLines,
        bytes: &[u8],
        is_last: bool,
    ) -> Result<TypedLines, TerminalError> {
        let mut next = typed.clone();
        let Some(reader) = stdin_reader(terminal).await else {
            next.forget();
            return Ok(next);
        };
        let program = Some(reader.program.as_str());
        let mut lines = next.feed_piped(bytes, program);
        if is_last {
            lines.extend(next.feed_piped(b"\n", program));
        }
        let typing = JudgedTyping {
            program,
            cwd: reader.cwd.as_deref(),
            is_secret: false,
        };
        self.judge_lines(terminal, typist, lines, &typing).await?;
        Ok(next)
    }

    /// Judges what is about to be typed, together with what was typed before it: each line that it
    /// completes for the program in the foreground. To be called before the bytes go out. Returns
    /// what is to be remembered as typed once they have.
    ///
    /// The text of a secret, and what is typed at a prompt that hides it, stands in no error and in
    /// no record.
    pub(crate) async fn judge_typing(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        typed: &TypedLines,
        bytes: &[u8],
        secrecy: &Secrecy,
    ) -> Result<TypedLines, TerminalError> {
        // No program reads what is typed at a tty that is gone, and the caller gets an error.
        let Some(tty) = terminal.line_discipline().await else {
            return Ok(typed.clone());
        };
        let foreground = foreground_process(terminal).await;
        let program = foreground.as_ref().map(|process| process.program.as_str());
        let is_hidden = tty.awaits_secret();
        let is_secret = !matches!(secrecy, Secrecy::Shown(_) | Secrecy::NotShown);
        let mut next = typed.clone();
        if is_hidden && program.is_some_and(|name| !program::is_shell(name)) {
            // A password, for the program that prompts for one.
            next.forget();
            return Ok(next);
        }
        if PromptState::of(terminal, terminal.end()) == PromptState::Free {
            next.at_prompt(terminal.shell(|log| log.newest_prompt()).0);
        }
        let lines = next.feed(bytes, program);
        if is_secret {
            next.forget();
        }
        if is_secret || is_hidden {
            next.hide_earlier();
        }
        let typing = JudgedTyping {
            program,
            cwd: foreground
                .as_ref()
                .and_then(|process| process.cwd.as_deref()),
            is_secret: is_secret || is_hidden,
        };
        self.judge_lines(terminal, typist, lines, &typing).await?;
        Ok(next)
    }

    /// Judges complete lines, and records those that are not plainly safe.
    async fn judge_lines(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        lines: Vec<TypedLine>,
        typing: &JudgedTyping<'_>,
    ) -> Result<(), TerminalError> {
        // A line runs where the program is by now, and not where the terminal was started. A line
        // behind another one of the same call runs where that one may lead.
        let mut whereabouts = PossibleCwd::at(Some(typing.cwd.unwrap_or(&terminal.record.cwd)));
        let readings = lines.chunk_by(TypedLine::is_same).filter_map(|readings| {
            let judged = readings
                .iter()
                .map(|line| self.judge_line(terminal, typist, line, typing, &mut whereabouts));
            judged.reduce(JudgedLine::stricter)
        });
        let lines: Vec<JudgedLine<'_>> = readings.collect();
        let asker = typist.asker();
        if typing.is_secret {
            for line in lines {
                let ruling = self.rule_on_secret(line.judgement, asker);
                self.record_line(terminal, typist, line.program, &ruling)
                    .await?;
                if !ruling.allows() {
                    return Err(ruling.into_error());
                }
            }
            return Ok(());
        }
        let consent = self.consent_to_lines(terminal, typist, &lines).await?;
        for line in lines {
            let consent = match line.judgement.effect {
                Effect::Confirm => consent.clone(),
                Effect::Allow | Effect::Deny => Consent::None,
            };
            let command = Some(shown(&line.subject.command));
            let ruling = self.ruling(line.judgement, command, consent, asker);
            self.record_line(terminal, typist, line.program, &ruling)
                .await?;
        }
        Ok(())
    }

    /// Whether the lines of a call may run. One question is for all that are asked about: were there
    /// one for each, the first approval would be used up while the second is asked for.
    async fn consent_to_lines(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        lines: &[JudgedLine<'_>],
    ) -> Result<Consent, TerminalError> {
        // No question is asked about a call that cannot run.
        let is_denied = |line: &&JudgedLine<'_>| line.judgement.effect == Effect::Deny;
        let line = match lines.iter().find(is_denied) {
            Some(line) => Some(line.clone()),
            None => JudgedLine::all_joined(lines),
        };
        let Some(line) = line else {
            return Ok(Consent::None);
        };
        let asker = typist.asker();
        let command = Some(shown(&line.subject.command));
        let always = || Always::No(line.only_once.to_string());
        let consent = self.consent(&line.judgement, line.subject, asker, Vec::new(), always)?;
        let ruling = self.ruling(line.judgement, command, consent.clone(), asker);
        if ruling.allows() {
            return Ok(consent);
        }
        self.record_line(terminal, typist, line.program, &ruling)
            .await?;
        Err(ruling.into_error())
    }

    /// Judges one reading of a line. It may lead the next one elsewhere.
    fn judge_line<'a>(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        line: &'a TypedLine,
        typing: &JudgedTyping<'a>,
        whereabouts: &mut PossibleCwd,
    ) -> JudgedLine<'a> {
        let program = line.reader().or(typing.program);
        let decision = self.decide_line(line, program, typist, whereabouts);
        let next_cwd = decision.next_cwd.clone();
        let cwd = std::mem::replace(whereabouts, next_cwd).describe();
        let values = values(&decision, line);
        let only_once = decision.only_once.clone().unwrap_or(OnlyOnceReason::Typed);
        let dangerous = decision.dangerous.clone();
        let judgement = under_its_profile(decision, terminal.record.held_to.as_ref());
        let mut parts = parts(&dangerous, program);
        if values.is_empty() {
            parts.push(Part {
                program: program.map(str::to_owned),
                cwd: cwd.clone(),
                command: line.text.clone(),
            });
        }
        let subject = Subject {
            terminal: Some(terminal.id().clone()),
            program: program.map(str::to_owned),
            earlier_sha256: line.earlier_sha256().map(str::to_owned),
            earlier_text: line.earlier_text().to_owned(),
            parts,
            values,
            ..subject(typist.actor, &cwd, &line.text)
        };
        let judgement = if typing.is_secret {
            judgement
        } else {
            self.held_by_denial(judgement, &subject)
        };
        JudgedLine {
            program,
            judgement,
            is_denied: self.approvals.is_denied(&subject),
            subject,
            only_once,
        }
    }

    /// Records a typed line that is not plainly safe.
    async fn record_line(
        &self,
        terminal: &Terminal,
        typist: &Typist<'_>,
        program: Option<&str>,
        ruling: &Ruling,
    ) -> Result<(), TerminalError> {
        if ruling.is_plain() {
            return Ok(());
        }
        let mut detail = ruling.detail();
        if let Some(command) = &ruling.command {
            detail.insert("command".to_owned(), command.as_str().into());
        }
        detail.insert("program".to_owned(), json!(program));
        let (action, outcome) = (AuditAction::TerminalInput, ruling.outcome());
        let id = Some(terminal.id());
        self.audit
            .record(action, outcome, typist.actor, id, detail)
            .await
    }

    /// A ruling that tells nothing of a secret. A password that cannot be read as shell is hard to
    /// guess, and no doubt about what runs.
    fn rule_on_secret(&self, mut judgement: Judgement, asker: Asker<'_>) -> Ruling {
        judgement.reason = None;
        judgement.span = None;
        if judgement.verdict == Verdict::Dangerous {
            let reason = "what is typed as a secret would run here as a command";
            judgement.reason = Some(reason.to_owned());
        } else if judgement.effect != Effect::Deny {
            judgement.verdict = Verdict::Safe;
            judgement.effect = Effect::Allow;
            judgement.rule = None;
            judgement.approved = None;
        }
        let consent = match (asker.confirmed, asker.is_agent()) {
            (true, false) => Consent::ByPerson,
            (true, true) if self.is_word_enough(&judgement, asker) => Consent::ByModel,
            _ => Consent::None,
        };
        self.ruling(judgement, None, consent, asker)
    }

    fn decide_line(
        &self,
        line: &TypedLine,
        program: Option<&str>,
        typist: &Typist<'_>,
        start: &PossibleCwd,
    ) -> Decision {
        let policy = self.policy.get();
        decide_by_names(typist.actor, |front, client| {
            let request = Request {
                invocation: Invocation::Line(&line.text),
                program,
                front,
                client,
                uid: Some(typist.actor.uid),
                cwd: None,
                env: &[],
            };
            let decide = || policy.decide_typed(start, line, &request, typist.gate);
            judge_apart(line.text.len(), decide)
        })
    }
}

/// The dangerous commands of a typed line whose words earlier lines have set, as far as these are known.
fn values(decision: &Decision, line: &TypedLine) -> Vec<String> {
    let refers = line.text.contains('$') && line.earlier_sha256().is_some();
    let commands = decision.dangerous.iter().filter(|_| refers);
    commands.map(|command| command.text.clone()).collect()
}

/// A line runs under the profile of its terminal. Where a rule asks for another profile, only a new
/// terminal can have it, so the line does not run without a question.
fn under_its_profile(decision: Decision, held_to: Option<&Confinement>) -> Judgement {
    let has = |name: &String| held_to.is_some_and(|held_to| held_to.profiles.contains(name));
    let missing = decision.profiles_by_rule.iter().find(|name| !has(name));
    let mut judgement = decision.judgement;
    if let Some(name) = missing.filter(|name| name.as_str() != "none")
        && judgement.effect != Effect::Deny
    {
        judgement.effect = Effect::Confirm;
        judgement.needs_person = true;
        let reason = format!("a rule wants it under the profile {name}, and this terminal is not");
        judgement.reason.get_or_insert(reason);
    }
    judgement
}
