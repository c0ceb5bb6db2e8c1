//! A question of the gate as its person reads it: who asks, for what, where and why, and what each
//! answer does.

use std::fmt::Write as _;

use termd_proto::approval::ApprovalInfo;
use termd_proto::terminal::{Front, Owner};

use crate::escape::{escaped, lines, shell_word};

/// The name of who asks, unescaped: an agent by the name that it has, whatever its process calls itself this
/// time, or a client; its front where it has no name.
pub fn asker(owner: &Owner) -> String {
    let own = match owner.front {
        Front::Cli => "termctl",
        front => owner.client.as_deref().unwrap_or(front.as_str()),
    };
    let Some(agent) = owner.agent() else {
        let client = owner.client.as_deref();
        return client.unwrap_or(owner.front.as_str()).to_owned();
    };
    let name = agent.client.as_deref().unwrap_or(agent.front.as_str());
    if name == own {
        name.to_owned()
    } else {
        format!("{name} (by {own})")
    }
}

/// The variables that a command would be given, in one line, each value as a word of a shell.
pub fn variables(info: &ApprovalInfo) -> String {
    let pairs = info.env.iter();
    let pairs = pairs.map(|(name, value)| format!("{}={}", escaped(name), shell_word(value)));
    pairs.collect::<Vec<_>>().join(" ")
}

/// Why a question is asked, escaped.
pub fn reason(info: &ApprovalInfo) -> String {
    let reason = info.reason.as_deref();
    escaped(reason.unwrap_or("a rule of config.toml asks for it"))
}

/// What a person reads as the command: what is meant, without the wrapper of an agent.
pub fn command(info: &ApprovalInfo) -> &str {
    info.agent_line.as_deref().unwrap_or(&info.command)
}

/// The command in lines of its own, each indented, as in a [`question`].
pub fn command_block(info: &ApprovalInfo) -> String {
    indented(&lines(command(info)))
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

/// A question in several lines, the command in lines of its own. What others have written is escaped.
pub fn question(info: &ApprovalInfo) -> String {
    question_about(info, &lines(command(info)))
}

/// The same, with this in the place of the command, escaped.
pub fn question_about(info: &ApprovalInfo, command: &str) -> String {
    let what = match (&info.terminal, &info.program) {
        (None, _) => "wants to run",
        (Some(_), Some(_)) => "wants to type",
        (Some(_), None) => "wants to",
    };
    let mut text = format!(
        "{} {what}\n\n{}\n\n",
        escaped(&asker(&info.asked_by)),
        indented(command)
    );
    let mut fact = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:<9}{value}");
    };
    for (number, line) in info.after.lines().enumerate() {
        fact(if number == 0 { "after" } else { "" }, &escaped(line));
    }
    fact("in", &escaped(&info.cwd));
    if let Some(terminal) = &info.terminal {
        let program = info.program.as_deref();
        let reader = program.map(|program| format!(", for {}", escaped(program)));
        fact(
            "terminal",
            &format!("{terminal}{}", reader.unwrap_or_default()),
        );
    }
    if !info.env.is_empty() {
        fact("with", &variables(info));
    }
    fact("because", &reason(info));
    text.truncate(text.trim_end().len());
    text
}

/// What a yes and a no do, in a sentence each.
pub fn consequences(info: &ApprovalInfo) -> &'static str {
    let is_use_of_terminal = info.terminal.is_some() && info.program.is_none();
    if is_use_of_terminal {
        "Yes allows exactly this. No: nothing is done, and the same is refused for ten minutes."
    } else {
        "Yes: it runs once. No: nothing runs, and the same is refused for ten minutes."
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::approval::{ApprovalId, ApprovalState};
    use termd_proto::policy::Verdict;
    use termd_proto::terminal::Agent;

    use super::*;

    #[test]
    fn an_agent_has_its_own_name_whatever_its_process_says() {
        let owner = |front, agent| info(front, agent).asked_by;
        let disguised = Owner {
            client: Some("termctl".to_owned()),
            ..owner(Front::Acp, Some("claude"))
        };
        let unnamed = Owner {
            client: None,
            ..owner(Front::Mcp, None)
        };
        for (owner, name) in [
            (owner(Front::Mcp, Some("claude")), "claude"),
            (owner(Front::Cli, Some("claude")), "claude (by termctl)"),
            (owner(Front::Cli, None), "termctl"),
            (disguised, "claude (by termctl)"),
            (unnamed, "mcp"),
        ] {
            assert_eq!(asker(&owner), name);
        }
    }

    fn info(front: Front, agent: Option<&str>) -> ApprovalInfo {
        ApprovalInfo {
            id: ApprovalId::from_random(1),
            state: ApprovalState::Pending,
            command: "rm -r build\n".to_owned(),
            agent_line: None,
            after: String::new(),
            cwd: "/home/me/src/x".to_owned(),
            env: vec![
                ("A".to_owned(), "1\u{1b}".to_owned()),
                ("B".to_owned(), "./b rm -r ./b #".to_owned()),
            ],
            terminal: None,
            program: None,
            asked_by: Owner {
                front,
                uid: 1000,
                pid: 1,
                exe: None,
                session: None,
                client: match front {
                    Front::Cli => Some("termctl".to_owned()),
                    _ => agent.map(str::to_owned),
                },
                agent: agent.map(|name| {
                    Box::new(Agent {
                        front: Front::Mcp,
                        client: Some(name.to_owned()),
                        pid: 1,
                        started: 1,
                        aliases: Vec::new(),
                    })
                }),
                terminal: None,
            },
            verdict: Verdict::Dangerous,
            reason: Some("`rm -r` removes whole trees".to_owned()),
            asked_at_ms: 0,
            expires_at_ms: 1,
            answered_by: None,
            answered_way: None,
            answered_at_ms: None,
            only_once: None,
            rule_at: None,
        }
    }

    #[test]
    fn a_question_says_who_asks_for_what_where_and_why() {
        assert_eq!(
            question(&info(Front::Cli, Some("claude"))),
            "claude (by termctl) wants to run\n\n    rm -r build\n\n\
             in       /home/me/src/x\n\
             with     A=$'1\\x1b' B='./b rm -r ./b #'\n\
             because  `rm -r` removes whole trees"
        );
    }

    #[test]
    fn the_command_is_what_the_agent_asked_for_in_lines_of_its_own() {
        let wrapped = ApprovalInfo {
            command: "bash -c 'source /snapshot && eval …'".to_owned(),
            agent_line: Some("cat <<X\n\ta\\n\u{1b}\\\nX\nrm -r a".to_owned()),
            ..info(Front::Shell, Some("claude-code"))
        };
        let text = question(&wrapped);
        let block = "\n\n    cat <<X\n    \\ta\\\\n\\x1b\\\\\n    X\n    rm -r a\n\n";
        assert!(text.contains(block), "{text:?}");
    }

    #[test]
    fn a_typed_line_names_its_terminal_and_its_reader() {
        let typed = ApprovalInfo {
            terminal: Some("term_aaaaaaaaaaaa".parse().unwrap()),
            program: Some("bash".to_owned()),
            after: "x=1\ny=2".to_owned(),
            env: Vec::new(),
            reason: None,
            ..info(Front::Mcp, Some("claude"))
        };
        assert_eq!(
            question(&typed),
            "claude wants to type\n\n    rm -r build\n\n\
             after    x=1\n\
             \x20        y=2\n\
             in       /home/me/src/x\n\
             terminal term_aaaaaaaaaaaa, for bash\n\
             because  a rule of config.toml asks for it"
        );
    }
}
