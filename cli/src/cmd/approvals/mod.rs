//! `termctl approvals`: the gate's questions to a person, now or as they come; and their answers by
//! `termctl approve` and `termctl deny`.

mod answer;
mod attention;
mod prompt;
mod question;
mod secret;
mod watch;

use std::fmt::Write as _;

use serde_json::{Value, json};
use termd_client::Link;
use termd_client::escape::shell_line;
use termd_client::question::{asker, command, variables};
use termd_proto::approval::{ApprovalInfo, ApprovalState};
use termd_proto::attention::AttentionState;

pub(super) use self::answer::{approve, deny};
pub(super) use self::attention::{last_attention, line as attention_line};
pub(super) use self::question::{
    answer as answer_question, begin_to_watch, line as question_line, list as questions,
};
use self::question::{is_open, list, look_at, place, whole};
pub(super) use self::secret::{answer_secret, said as secret_said};
use super::Context;
use crate::args::ApprovalsArgs;
use crate::display::Display;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::table::{Cell, Table};

pub(super) async fn run(context: Context, args: &ApprovalsArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    if let Some(id) = &args.id {
        let secrets = list(&link, None).await?.secrets;
        if let Some(question) = secrets.iter().find(|question| question.id == *id) {
            return if context.json {
                output::print_json(question).map(|()| ExitCode::OK)
            } else {
                let line = secret::line(question);
                output::print(format!("{line}\n").as_bytes()).map(|()| ExitCode::OK)
            };
        }
        let info = look_at(&link, id).await?;
        if context.json {
            output::print_json(&info)?;
        } else {
            output::print(whole(&info).as_bytes())?;
        }
        return Ok(ExitCode::OK);
    }
    if args.watch {
        return watch::run(context, args, &link).await;
    }
    let mut listed = list(&link, None).await?;
    listed.approvals.retain(|info| args.all || is_open(info));
    if context.json {
        let secrets = listed.secrets.iter().map(|question| json!(question));
        let rows = listed.approvals.iter().map(|info| json!(info));
        output::print_json(&rows.chain(secrets).collect::<Vec<Value>>())?;
    } else {
        output::print(render(&listed.approvals, context.display).as_bytes())?;
        for question in &listed.secrets {
            output::print(format!("{}\n", secret::line(question)).as_bytes())?;
        }
    }
    Ok(ExitCode::OK)
}

/// What the questions want that no terminal shows: those that an agent outside of termd has asked.
pub(super) async fn asked_from_no_terminal(link: &Link) -> Result<Vec<AttentionState>, CliError> {
    let listed = list(link, None).await?;
    let approvals = (listed.approvals.iter())
        .filter(|it| it.state == ApprovalState::Pending)
        .filter(|it| it.terminal.is_none() && it.asked_by.terminal.is_none())
        .map(|_| AttentionState::Approval);
    let secrets = (listed.secrets.iter())
        .filter(|it| it.terminal.is_none())
        .map(|_| AttentionState::Secret);
    Ok(approvals.chain(secrets).collect())
}

/// The columns that are cut where a row is wider than the tty: asker, place, command and reason.
const LONG_COLUMNS: [usize; 4] = [3, 4, 5, 6];

/// What a narrow tty does without: when it was asked, and where.
const DISPENSABLE_COLUMNS: [usize; 2] = [2, 4];

fn render(approvals: &[ApprovalInfo], display: Display) -> String {
    let mut table = Table::new(
        &["ID", "STATE", "ASKED", "FOR", "WHERE", "COMMAND", "WHY"],
        &LONG_COLUMNS,
    )
    .leaving_out(&DISPENSABLE_COLUMNS);
    for info in approvals {
        let mut shown = shell_line(command(info));
        if !info.env.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(shown, " with {}", variables(info));
        }
        table.row([
            Cell::text(info.id.as_str()),
            Cell::text(info.state.as_str()),
            Cell::text(&display.time(info.asked_at_ms)),
            Cell::text(&asker(&info.asked_by)),
            Cell::text(&place(info)),
            Cell::line(&shown),
            Cell::text(info.reason.as_deref().unwrap_or("a rule asks for it")),
        ]);
    }
    table.render(display)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use unicode_width::UnicodeWidthStr as _;

    use super::question::line;
    use super::*;

    #[test]
    fn a_long_command_leaves_the_reason_in_sight() {
        let info = json!({
            "id": "aaaaaa", "state": "pending", "cwd": "/home/me/work", "verdict": "dangerous",
            "command": format!("rm -rf X #{}", " ".repeat(5_000)),
            "reason": "`rm -rf` removes whole trees",
            "terminal": null, "program": null, "answered_by": null, "answered_at_ms": null,
            "asked_by": { "front": "mcp", "uid": 1000, "pid": 1, "exe": null, "session": null,
                "client": "an agent", "agent": null, "terminal": null },
            "asked_at_ms": 0, "expires_at_ms": 0,
        });
        let info: ApprovalInfo = serde_json::from_value(info).unwrap();
        let tty = Display {
            width: Some(120),
            ..Display::PLAIN
        };
        let table = render(std::slice::from_ref(&info), tty);
        for text in [table.lines().nth(1).unwrap(), &line(&info, tty)] {
            assert!(text.width() <= 160, "{} columns: {text}", text.width());
            assert!(text.contains("rm -rf X"), "{text}");
            assert!(text.contains("`rm -rf`"), "{text}");
        }
        assert!(table.lines().all(|row| row.width() <= 120), "{table}");
        let narrow = Display {
            width: Some(80),
            ..Display::PLAIN
        };
        let table = render(std::slice::from_ref(&info), narrow);
        assert!(
            !table.contains("ASKED") && table.contains("rm -rf X"),
            "{table}"
        );
        assert!(table.contains("`rm -rf`"), "{table}");
        assert!(line(&info, Display::PLAIN).len() > 5_000);
    }
}
