//! The notifications' texts.
//!
//! A command that is not shown whole cannot be approved from its notification.

use termd_client::escape::{escaped, terminal_command};
use termd_client::question::{asker, command, variables};
use termd_proto::approval::{ApprovalInfo, Decision};
use termd_proto::attention::{Attention, AttentionReport, AttentionState};
use termd_proto::secret::SecretQuestion;
use termd_proto::terminal::{TerminalInfo, TerminalState};

use crate::cmd::approvals::{attention_line, secret_said};
use crate::desktop::Notification;

/// Longest command that a notification shows, in characters. Servers cut longer texts anywhere.
const MAX_COMMAND_CHARS: usize = 400;
/// Longest other text, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// The decision of a button's key.
pub(super) fn decision(key: &str) -> Option<Decision> {
    match key {
        "once" => Some(Decision::Approve),
        "always" => Some(Decision::Always),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

/// What a terminal wants, and how the person gets there.
pub(super) fn of_terminal(info: &TerminalInfo, attention: &Attention) -> Notification {
    let what = match attention.state {
        AttentionState::Approval => "is asked about",
        AttentionState::Secret => "asks for a secret",
        AttentionState::Input => "waits for you",
        AttentionState::Failed => "has failed",
        AttentionState::Done => "is done",
        AttentionState::Running => "runs",
        AttentionState::Idle => "is idle",
    };
    let command = terminal_command(info);
    let name = info
        .label
        .as_ref()
        .map_or(&*command, |label| label.as_str());
    let why = escaped(&attention.why);
    let mut lines = Vec::new();
    if !why.trim().is_empty() {
        lines.push(shortened(&why, MAX_TEXT_CHARS));
    }
    if info.label.is_some() && why != command {
        lines.push(shortened(&command, MAX_TEXT_CHARS));
    }
    let verb = match info.state {
        TerminalState::Running => "attach",
        TerminalState::Exited | TerminalState::Closed => "read",
    };
    lines.push(format!("termctl {verb} {}", info.id));
    Notification {
        summary: format!("{} {what}", shortened(&escaped(name), MAX_TEXT_CHARS)),
        body: lines.join("\n"),
        actions: Vec::new(),
    }
}

/// What an agent that works in no terminal has said.
pub(super) fn of_report(said: &AttentionReport) -> Notification {
    Notification {
        summary: attention_line(said),
        body: String::new(),
        actions: Vec::new(),
    }
}

pub(super) fn of_secret(question: &SecretQuestion) -> Notification {
    Notification {
        summary: "A secret is asked for".to_owned(),
        body: [
            secret_said(question),
            format!("termctl answer {}", question.id),
        ]
        .join("\n"),
        actions: Vec::new(),
    }
}

/// A question of the gate; with buttons where the desktop has them.
pub(super) fn of_question(info: &ApprovalInfo, has_actions: bool) -> Notification {
    let mut command = escaped(command(info));
    if !info.after.is_empty() {
        command = format!("{command}\nafter {}", escaped(&info.after));
    }
    let shown = shortened(&command, MAX_COMMAND_CHARS);
    let is_whole = shown == command;
    let mut lines = vec![shown];
    lines.push(match &info.terminal {
        Some(terminal) => format!("typed in {terminal}"),
        None => format!("in {}", shortened(&escaped(&info.cwd), MAX_TEXT_CHARS)),
    });
    if !info.env.is_empty() {
        lines.push(shortened(
            &format!("with {}", variables(info)),
            MAX_TEXT_CHARS,
        ));
    }
    if let Some(reason) = &info.reason {
        lines.push(shortened(&escaped(reason), MAX_TEXT_CHARS));
    }
    let mut actions = Vec::new();
    if is_whole {
        actions.push(("once", "Allow once"));
        if info.only_once.is_none() {
            actions.push(("always", "Always"));
        }
    }
    actions.push(("deny", "Deny"));
    if !is_whole {
        lines.push(format!(
            "It is not shown whole: see termctl approvals, then termctl approve {}",
            info.id
        ));
    } else if !has_actions {
        lines.push(format!("termctl approve {0}, or termctl deny {0}", info.id));
    }
    Notification {
        summary: format!(
            "May this run for {}?",
            shortened(&escaped(&asker(&info.asked_by)), MAX_TEXT_CHARS)
        ),
        body: lines.join("\n"),
        actions: if has_actions { actions } else { Vec::new() },
    }
}

/// The beginning and the end of a long text, and how much is left out between them.
fn shortened(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 2, most / 4);
    let left_out = chars.len() - head - tail;
    let (head, rest) = chars.split_at(head);
    let (_, tail) = rest.split_at(left_out);
    let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
    format!("{head} … ({left_out} characters are left out) … {tail}")
}

#[cfg(test)]
mod tests {
    use termd_proto::approval::{ApprovalId, ApprovalState};
    use termd_proto::policy::Verdict;
    use termd_proto::terminal::{Front, Owner};

    use super::*;

    fn question(command: &str, only_once: Option<&str>) -> ApprovalInfo {
        ApprovalInfo {
            id: ApprovalId::from_random(1),
            state: ApprovalState::Pending,
            command: command.to_owned(),
            agent_line: None,
            after: String::new(),
            cwd: "/here".to_owned(),
            env: Vec::new(),
            terminal: None,
            program: None,
            asked_by: Owner {
                front: Front::Mcp,
                uid: 1000,
                pid: 1,
                exe: None,
                session: None,
                client: Some("an\nagent".to_owned()),
                agent: None,
                terminal: None,
            },
            verdict: Verdict::Dangerous,
            reason: Some("it\u{1b}[2J is".to_owned()),
            asked_at_ms: 0,
            expires_at_ms: 1,
            answered_by: None,
            answered_way: None,
            answered_at_ms: None,
            only_once: only_once.map(str::to_owned),
            rule_at: None,
        }
    }

    fn keys(notification: &Notification) -> Vec<&'static str> {
        notification.actions.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn what_is_not_shown_whole_cannot_be_agreed_to() {
        let long = "x".repeat(MAX_COMMAND_CHARS + 1);
        for (command, only_once, expected) in [
            ("rm -r x", None, &["once", "always", "deny"][..]),
            ("rm -r x", Some("a rule asks"), &["once", "deny"]),
            (&long, None, &["deny"]),
        ] {
            let shown = of_question(&question(command, only_once), true);
            assert_eq!(keys(&shown), expected, "{shown:?}");
            assert!(shown.actions.iter().all(|(key, _)| decision(key).is_some()));
            let without = of_question(&question(command, only_once), false);
            assert!(without.actions.is_empty());
            assert!(without.body.contains("termctl approve"), "{without:?}");
        }
    }

    #[test]
    fn lines_are_ours_alone() {
        let shown = of_question(&question("echo a\nin /elsewhere", None), true);
        assert_eq!(shown.body.lines().count(), 3, "{shown:?}");
        assert_eq!(shown.summary.lines().count(), 1, "{shown:?}");
        assert!(!shown.body.contains('\u{1b}'));
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöü", 3), "äöü");
        let long = format!("{}end", "a".repeat(100));
        let short = shortened(&long, 20);
        assert!(
            short.starts_with("aaaaaaaaaa …") && short.ends_with("… aaend"),
            "{short}"
        );
        assert!(short.contains("(88 characters"), "{short}");
    }
}
