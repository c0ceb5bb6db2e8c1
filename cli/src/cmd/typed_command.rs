//! A command of a record as somebody would type it.

use termd_client::escape::{command_line, shell_line};
use termd_proto::command::{CommandInfo, CommandSource};

/// The command as a shell takes it, without what an agent writes around it. The daemon quotes an argv for
/// POSIX shells, with control characters as they are.
pub(super) fn as_typed(command: &CommandInfo) -> String {
    if let Some(line) = &command.agent_line {
        return shell_line(line);
    }
    let argv = match command.source {
        CommandSource::Argv => shlex::split(&command.text),
        CommandSource::Shell => None,
    };
    argv.map_or_else(|| shell_line(&command.text), |argv| command_line(&argv))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_are_shown_as_a_shell_takes_them() {
        let argv = "sh -c 'echo '\\''a\\b'\\''' 'tab\there'";
        let line = "printf '%s\\n' 'tab\\there'";
        for (source, text, agent_line, shown) in [
            (
                "argv",
                argv,
                None,
                "sh -c 'echo '\\''a\\b'\\''' $'tab\\there'",
            ),
            ("argv", argv, Some("echo 'a\nb'"), "$'echo \\'a\\nb\\''"),
            ("shell", line, None, line),
        ] {
            let command = json!({
                "terminal": "term_aaaaaaaaaaaa", "number": 1, "source": source, "text": text,
                "agent_line": agent_line, "cwd": null, "started_at_ms": 0, "ended_at_ms": null,
                "exit_code": null, "signal": null, "start": 0, "end": null,
            });
            let command: CommandInfo = serde_json::from_value(command).unwrap();
            assert_eq!(as_typed(&command), shown);
        }
    }
}
