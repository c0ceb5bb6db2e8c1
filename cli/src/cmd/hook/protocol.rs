//! What each agent tells its hooks, and how it takes an answer. Pure.
//!
//! The forms are those of the agents' documentation; Codex's and Gemini CLI's were compared with their
//! programs (0.171.0 and 0.61.0).

use serde_json::{Value, json};
use termd_proto::attention::{ReportAttention, ReportedState};
use termd_proto::policy::{Effect, Judgement};

use crate::args::HookAgentArg;

/// A command that an agent is about to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) command: String,
    pub(super) cwd: Option<String>,
}

/// The command that a hook's input speaks of; `None` for any other tool or text.
pub(super) fn asked(agent: HookAgentArg, input: &str) -> Option<Asked> {
    let input: Value = serde_json::from_str(input).ok()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let command = match agent {
        HookAgentArg::Claude | HookAgentArg::Codex => {
            (input["tool_name"] == "Bash").then(|| text(&input["tool_input"]["command"]))?
        }
        HookAgentArg::Gemini => (input["tool_name"] == "run_shell_command")
            .then(|| text(&input["tool_input"]["command"]))?,
        HookAgentArg::Cursor => text(&input["command"]),
    };
    Some(Asked {
        command: command?,
        cwd: text(&input["cwd"]).filter(|cwd| cwd.starts_with('/')),
    })
}

/// What a hook's input says that the agent wants of its person; `None` for any other event.
pub(super) fn attention(agent: HookAgentArg, input: &str) -> Option<ReportAttention> {
    let input: Value = serde_json::from_str(input).ok()?;
    let state = match (agent, input["hook_event_name"].as_str()?) {
        (HookAgentArg::Claude | HookAgentArg::Gemini, "Notification") => ReportedState::Input,
        (HookAgentArg::Claude, "Stop")
        | (HookAgentArg::Gemini, "AfterAgent")
        | (HookAgentArg::Cursor, "stop") => ReportedState::Done,
        _ => return None,
    };
    let text = input["message"].as_str().map(str::to_owned);
    Some(ReportAttention {
        state,
        text,
        terminal: None,
    })
}

/// The agent's name as a client of the daemon.
pub(super) fn client(agent: HookAgentArg) -> &'static str {
    match agent {
        HookAgentArg::Claude => "claude-code",
        HookAgentArg::Codex => "codex",
        HookAgentArg::Gemini => "gemini-cli",
        HookAgentArg::Cursor => "cursor",
    }
}

/// The answer in the agent's own form. `None`: the agent's own rules hold.
pub(super) fn answer(agent: HookAgentArg, judgement: &Judgement) -> Option<Value> {
    let why = judgement.reason.as_deref().unwrap_or("the policy says so");
    let (decision, reason) = match (judgement.effect, agent) {
        (Effect::Allow, _) => return None,
        (Effect::Deny, _) => ("deny", format!("termd does not let it run: {why}")),
        // Codex takes no "ask" from a hook: it would run the command.
        (Effect::Confirm, HookAgentArg::Codex) => {
            ("deny", format!("a person has to agree to it first: {why}"))
        }
        (Effect::Confirm, _) => ("ask", format!("termd asks: {why}")),
    };
    Some(match agent {
        HookAgentArg::Claude | HookAgentArg::Codex => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        } }),
        HookAgentArg::Gemini => json!({ "decision": decision, "reason": reason }),
        HookAgentArg::Cursor => json!({
            "permission": decision, "user_message": reason, "agent_message": reason,
        }),
    })
}

#[cfg(test)]
mod tests {
    use termd_proto::policy::Verdict;

    use super::*;

    fn judgement(effect: Effect) -> Judgement {
        Judgement {
            verdict: Verdict::Dangerous,
            reason: Some("it deletes".to_owned()),
            span: None,
            effect,
            rule: None,
            approved: None,
            needs_person: false,
        }
    }

    #[test]
    fn each_agent_s_input_names_its_command() {
        use HookAgentArg::{Claude, Codex, Cursor, Gemini};
        let bash = r#"{"tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","x":1}"#;
        let gemini =
            r#"{"tool_name":"run_shell_command","tool_input":{"command":"ls"},"cwd":"/w"}"#;
        let cursor = r#"{"hook_event_name":"beforeShellExecution","command":"ls","cwd":""}"#;
        for (agent, input, cwd) in [
            (Claude, bash, Some("/w")),
            (Codex, bash, Some("/w")),
            (Gemini, gemini, Some("/w")),
            (Cursor, cursor, None),
        ] {
            let want = Asked {
                command: "ls".to_owned(),
                cwd: cwd.map(str::to_owned),
            };
            assert_eq!(asked(agent, input), Some(want));
        }
        for input in [
            "",
            "[]",
            "{",
            r#"{"tool_name":"Read","tool_input":{"command":"ls"}}"#,
            r#"{"tool_name":"Bash","tool_input":{"command":["ls"]}}"#,
        ] {
            assert_eq!(asked(Claude, input), None, "{input}");
        }
    }

    #[test]
    fn an_agent_that_waits_or_is_done_says_so() {
        use HookAgentArg::{Claude, Codex, Cursor, Gemini};
        let event = |name: &str| format!(r#"{{"hook_event_name":"{name}","message":"m"}}"#);
        for (agent, name, state) in [
            (Claude, "Notification", Some(ReportedState::Input)),
            (Claude, "Stop", Some(ReportedState::Done)),
            (Gemini, "Notification", Some(ReportedState::Input)),
            (Gemini, "AfterAgent", Some(ReportedState::Done)),
            (Cursor, "stop", Some(ReportedState::Done)),
            (Claude, "PreToolUse", None),
            (Codex, "Stop", None),
        ] {
            let said = attention(agent, &event(name));
            assert_eq!(said.map(|said| said.state), state, "{name}");
        }
        assert_eq!(attention(Claude, "{"), None);
    }

    #[test]
    fn each_agent_is_answered_in_its_own_form() {
        use HookAgentArg::{Claude, Codex, Cursor, Gemini};
        for agent in [Claude, Codex, Gemini, Cursor] {
            assert_eq!(answer(agent, &judgement(Effect::Allow)), None);
        }
        for (agent, place, ask) in [
            (Claude, "/hookSpecificOutput/permissionDecision", "ask"),
            (Codex, "/hookSpecificOutput/permissionDecision", "deny"),
            (Gemini, "/decision", "ask"),
            (Cursor, "/permission", "ask"),
        ] {
            for (effect, want) in [(Effect::Deny, "deny"), (Effect::Confirm, ask)] {
                let answer = answer(agent, &judgement(effect)).unwrap();
                assert_eq!(answer.pointer(place), Some(&json!(want)), "{answer}");
                assert!(answer.to_string().contains("it deletes"), "{answer}");
            }
        }
    }
}
