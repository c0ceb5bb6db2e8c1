//! The shell lines in code: the texts that calls give to the system.

use super::argv0;
use super::call_effect::CallEffect;
use super::calls::calls;
use super::judged_part;
use super::tokens::{Token, tokens};
use crate::shell::text::quote::command_text;
use crate::shell::word::UNKNOWN;

/// The lines that code may give to a shell: the texts of its calls that start programs. The last one of
/// a call is all of them joined: `subprocess.run(["rm", "-rf", "x"])` is a line in pieces.
pub(crate) fn shell_lines(program: &str, code: &str) -> Vec<String> {
    let code = judged_part(code);
    let mut lines = Vec::new();
    let tokens_of_code = tokens(code);
    for command in argv0::commands(program, &tokens_of_code) {
        let words: Vec<String> = command.iter().map(|word| with_unknown(word)).collect();
        lines.push(command_text(&words));
    }
    // awk(1p): `print | "cmd"`, `"cmd" | getline`.
    for pair in tokens_of_code.windows(3) {
        match pair {
            [Token::Sign('|'), Token::Text(line), _] => lines.push(line.clone()),
            [Token::Text(line), Token::Sign('|'), Token::Word(word)] if word == "getline" => {
                lines.push(line.clone());
            }
            _ => {}
        }
    }
    // Tcl's `exec rm x`, m4's `syscmd(rm x)`, Groovy's `"rm x".execute()`.
    for part in code.split(['\n', ';', '[', '{']) {
        let line = part.trim().strip_prefix("exec ").unwrap_or_default();
        if line.starts_with(|c: char| c.is_alphabetic() || c == '/') {
            lines.push(line.trim_end_matches([']', '}']).to_owned());
        }
        // expect(1) types it into what it has spawned.
        if let Some(typed) = part.trim().strip_prefix("send ") {
            let typed = typed.trim_start_matches("-- ").trim_matches(['"', '\'']);
            let typed = typed.trim_end_matches("\\r").trim_end_matches("\\n");
            lines.push(typed.to_owned());
        }
    }
    for part in code.split("syscmd(").skip(1) {
        let end = part.rfind(')').unwrap_or(part.len());
        lines.extend(
            part.get(..end)
                .map(|line| line.trim_matches(['`', '\'']).to_owned()),
        );
    }
    // Groovy's `"rm x".execute()`, Scala's `"rm x".!`.
    for window in tokens_of_code.windows(3) {
        match window {
            [Token::Text(line), Token::Sign('.'), Token::Word(name)] if name == "execute" => {
                lines.push(line.clone());
            }
            [Token::Text(line), Token::Sign('.'), Token::Sign('!')] => lines.push(line.clone()),
            _ => {}
        }
    }
    lines.extend(started_list(code));
    for call in calls(code) {
        // Lisp's `(apply 'call-process "rm" …)`.
        let is_given_starter = call.does(CallEffect::TakesCallback)
            && call
                .words
                .iter()
                .any(|word| CallEffect::RunsLine.is_of(word));
        if call.does(CallEffect::RunsLine)
            || is_given_starter
            || call.path.starts_with("os.")
            || call.path.starts_with("subprocess.")
            || call.path.ends_with("run.program")
            || call.path.ends_with("ext.execute")
        {
            let texts: Vec<String> = call.texts.iter().map(|text| with_unknown(text)).collect();
            if texts.len() > 1 && !call.does(CallEffect::TakesArgv0) {
                // Whether it is a list of words or a line in pieces cannot be told.
                let (joined, listed) = (texts.join(" "), command_text(&texts));
                lines.extend(Some(listed).filter(|listed| *listed != joined));
                lines.push(joined);
            }
            lines.extend(texts);
        }
    }
    lines
}

/// The line of a list that is started: `["rm", "x"].execute()`.
fn started_list(code: &str) -> Option<String> {
    let (before, _) = code.split_once("].execute(")?;
    let (_, list) = before.rsplit_once('[')?;
    let texts = tokens(list).into_iter().filter_map(|token| match token {
        Token::Text(text) => Some(text),
        _ => None,
    });
    Some(command_text(&texts.collect::<Vec<_>>()))
}

/// A text in which each value that is put in is unknown: `"dropdb #{x}"`.
pub(crate) fn with_unknown(text: &str) -> String {
    let mut parts = text.split("#{");
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        known.push(UNKNOWN);
        known.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    known
}
