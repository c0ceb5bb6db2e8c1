//! `termctl notifier`: what needs a person, as desktop notifications.
//!
//! Questions of the gate have their answers as buttons. What is over, answered elsewhere or seen is
//! withdrawn. D-Bus is `desktop`'s.

mod board;
mod rules;
mod text;
mod waiting_terminals;

use std::pin::pin;
use std::time::Duration;

use termd_client::timestamp::now_ms;
use termd_client::{ClientError, Link};
use termd_proto::Tags;
use termd_proto::approval::{AnswerWay, ApprovalId, ApprovalList, Decision};
use tokio::time::sleep;

use self::board::Board;
use self::rules::{Rules, Subject};
use self::text::decision;
use self::waiting_terminals::WaitingTerminals;
use super::Context;
use super::approvals::{answer_question, begin_to_watch, last_attention, question_line, questions};
use crate::args::NotifierArgs;
use crate::desktop::{Desktop, Event};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::signals::Signals;
use crate::usage_error::UsageError;

/// Shows what needs a person until a signal ends it.
pub(super) async fn run(context: Context, args: NotifierArgs) -> Result<ExitCode, CliError> {
    let tags = Tags::of(args.tags).map_err(UsageError::from)?;
    let link = context.open().await?;
    let mut desktop = Desktop::connect().await?;
    if !desktop.has_actions {
        output::note(
            "this desktop's notifications have no buttons: they name the command to answer",
        );
    }
    let rules = Rules {
        states: args.states.into_iter().map(Into::into).collect(),
        tags,
        has_actions: desktop.has_actions,
        last_old_report: 0,
    };
    let mut signals = Signals::catch()?;
    let mut board = Board::default();
    let outcome = Notifier {
        context,
        link: &link,
        desktop: &mut desktop,
        board: &mut board,
        signals: &mut signals,
        rules,
    }
    .watch()
    .await;
    board.clear(&desktop).await;
    outcome
}

struct Notifier<'a> {
    context: Context,
    link: &'a Link,
    desktop: &'a mut Desktop,
    board: &'a mut Board,
    signals: &'a mut Signals,
    rules: Rules,
}

impl Notifier<'_> {
    async fn watch(mut self) -> Result<ExitCode, CliError> {
        let mut listed = begin_to_watch(self.link).await?;
        // What was said before is old news.
        self.rules.last_old_report = last_attention(&listed);
        let mut terminals = WaitingTerminals::look(self.link).await?;
        let mut next = pin!(questions(self.link, Some(listed.seq)));
        loop {
            let due = self.show(&listed, &terminals).await?;
            tokio::select! {
                changed = &mut next => {
                    listed = changed?;
                    next.set(questions(self.link, Some(listed.seq)));
                }
                change = terminals.next() => terminals.take(change).await?,
                event = self.desktop.next() => self.take(event?).await?,
                () = due => {}
                // Only here: a notification whose id has not come yet could not be withdrawn.
                _ = self.signals.next() => return Ok(ExitCode::OK),
            }
        }
    }

    /// Shows what there is. Returns what resolves when there is more, if nothing changes.
    async fn show(
        &mut self,
        listed: &ApprovalList,
        terminals: &WaitingTerminals<'_>,
    ) -> Result<impl Future<Output = ()> + use<>, CliError> {
        // Another server counts anew.
        let rules = &mut self.rules;
        rules.last_old_report = rules.last_old_report.min(last_attention(listed));
        let now = now_ms();
        let news = rules.news(listed, terminals.iter(), now);
        let next = news.next_ms.map(|at| at.saturating_sub(now));
        let next = next.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
        self.board.follow(self.desktop, news).await?;
        Ok(async move {
            match next {
                Some(next) => sleep(next).await,
                None => std::future::pending().await,
            }
        })
    }

    /// Takes what has happened to a notification.
    async fn take(&mut self, event: Event) -> Result<(), CliError> {
        match event {
            Event::Chosen(shown, key) => {
                let subject = self.board.subject(&shown).cloned();
                if let (Some(Subject::Question(id)), Some(decision)) = (subject, decision(&key)) {
                    answer(self.context, self.link, &id, decision).await?;
                }
            }
            // What waited has a place now.
            Event::Closed(shown) => self.board.closed(&shown),
        }
        Ok(())
    }
}

/// Answers, and prints the result. Only an unreachable daemon ends the watch.
async fn answer(
    context: Context,
    link: &Link,
    id: &ApprovalId,
    decision: Decision,
) -> Result<(), CliError> {
    match answer_question(link, id, decision, AnswerWay::Notification).await {
        Ok(Some(info)) if context.json => output::print_json(&info),
        Ok(Some(info)) => {
            let line = question_line(&info, context.display);
            output::print(format!("{line}\n").as_bytes())
        }
        // The list shows the answer that came before this one.
        Ok(None) => Ok(()),
        Err(error @ ClientError::Refused(_)) => {
            output::note(&format!("{id}: {error}"));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
