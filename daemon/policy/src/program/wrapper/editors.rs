//! Lines and code within one word: of vim(1), sed(1), and of interpreters whose options cluster.

use super::inner_command::InnerCommand;
use crate::program::kind::base_name;
use crate::program::table::ProgramTable;
use crate::shell::word::Word;

/// The shell lines of `vim +!LINE`, `-c ':!LINE'` and `+'call system("…")'`.
pub(super) fn editor(args: &[Word]) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let text = word
            .text
            .trim_start_matches(['+', ':', ' ', '%', '.', '-', 'c']);
        let behind = [
            "!",
            "silent !",
            "sil !",
            "silent! !",
            "r !",
            "read !",
            "w !",
            "write !",
            "exe '!",
            "terminal ",
            "term ",
        ];
        let line = behind.iter().find_map(|prefix| text.strip_prefix(prefix));
        started.extend(line.map(|line| InnerCommand::line((at, line))));
        if text.contains("system(") || text.starts_with("py") || text.starts_with("lua ") {
            started.push(InnerCommand::code((at, text)));
        }
    }
    started
}

/// The shell lines of sed's `e` and `s///e`, where the script is one word.
pub(super) fn sed(args: &[Word]) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let text = word.text.trim();
        for command in text.split([';', '\n']) {
            let command =
                command.trim_start_matches(|c: char| c.is_ascii_digit() || "$, ".contains(c));
            if let Some(line) = command.strip_prefix("e ") {
                started.push(InnerCommand::line((at, line)));
            }
        }
        let Some(separator) = text.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
            continue;
        };
        if separator.is_alphanumeric() || separator.is_whitespace() {
            continue;
        }
        let parts: Vec<&str> = text.get(1..).unwrap_or_default().split(separator).collect();
        let [_, _, replacement, flags] = parts.as_slice() else {
            continue;
        };
        let flags: String = flags
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if flags.contains('e') {
            started.push(InnerCommand::line((at, replacement)));
            if replacement.contains(['&', '\\']) {
                started.push(InnerCommand::Unknown("it runs the text that it edits"));
            }
        }
    }
    started
}

/// The script of an interpreter that is a program of its own: `python manage.py flush`, `php artisan …`,
/// `python -m twine upload`.
pub(super) fn script(table: &ProgramTable, args: &[Word]) -> Vec<InnerCommand> {
    let begin = match args.iter().position(|word| word.text == "-m") {
        Some(at) => at + 1,
        None => match args.iter().position(|word| !word.text.starts_with('-')) {
            Some(at) => at,
            None => return Vec::new(),
        },
    };
    let words = args.get(begin..).unwrap_or_default();
    let name = words.first().map_or("", |word| base_name(&word.text));
    if table.row(name).is_some() {
        InnerCommand::argv(words)
    } else {
        Vec::new()
    }
}

/// The code of a cluster such as `perl -pe CODE` and `ruby -ne CODE`.
pub(super) fn interpreter(args: &[Word]) -> Vec<InnerCommand> {
    let mut code = Vec::new();
    for (at, word) in args.iter().enumerate() {
        if !word.text.starts_with('-') {
            break;
        }
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        if cluster
            && word.text.ends_with(['e', 'E', 'r', 'c', 'p'])
            && let Some(next) = args.get(at + 1)
        {
            code.push(InnerCommand::code((at + 1, &next.text)));
        }
    }
    code
}
