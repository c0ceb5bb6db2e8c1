//! config.toml: any text is a configuration, or is refused in one line that names a place in it;
//! whatever is taken decides about anything.

use std::path::Path;

use termd::config::{ConfigError, ConfigFile};
use termd_policy::{CompiledGate, Completeness, Invocation, Request};
use termd_proto::terminal::Front;

const LINES: [&str; 4] = [
    "git push --force origin main",
    "sudo env A=b terraform -chdir=x destroy; cd .. && make",
    "$what -rf \"$x\"",
    "echo 'open",
];

/// The text of a file.
pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    match ConfigFile::parse(text.clone(), Path::new("c.toml")) {
        Err(error) => is_sound(&error, &text),
        Ok(file) => {
            assert_eq!(file.text, text);
            for front in [Front::Acp, Front::Mcp, Front::Cli] {
                for line in LINES {
                    let request = Request {
                        invocation: Invocation::Line(line),
                        program: None,
                        front,
                        client: Some("claude-code"),
                        uid: Some(1000),
                        cwd: Some("/srv/live"),
                        env: &[],
                    };
                    let known = Completeness::Whole;
                    file.policy
                        .decide(&request, known, &CompiledGate::default());
                }
            }
        }
    }
}

fn is_sound(error: &ConfigError, text: &str) {
    let said = error.to_string();
    assert!(!said.contains(char::is_control), "{said:?}");
    if let ConfigError::Parse { line, column, .. } = error {
        let lines: Vec<&str> = text.split('\n').collect();
        assert!(
            (1..=lines.len()).contains(line),
            "line {line} of {}",
            lines.len()
        );
        let chars = lines[line - 1].chars().count();
        assert!(
            (1..=chars + 1).contains(column),
            "column {column} of {chars}"
        );
    }
}
