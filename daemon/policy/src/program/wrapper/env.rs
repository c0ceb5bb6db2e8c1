//! env(1): variables and a command.

use termd_proto::policy::Span;

use super::by_row::command;
use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::program::table::ProgramTable;
use crate::shell::expansion::choices::Choices;
use crate::shell::expansion::{Scope, expand};
use crate::shell::state::ShellState;
use crate::shell::word::Word;

/// The command of env(1), also of its option `-S`.
pub(super) fn env(table: &ProgramTable, args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These("u C S unset chdir split-string");
    let options = options(args, VALUED, Order::OptionsFirst);
    let first = options.operands.first();
    let rest = first
        .and_then(|(at, _)| args.get(*at..))
        .unwrap_or_default();
    let mut words = Vec::new();
    if let Some((at, text)) = options.value(&["S", "split-string"]) {
        let span = args.get(at).map_or(Span { start: 0, end: 0 }, |w| w.span);
        let text = unescaped(text);
        for raw in text.split_whitespace() {
            let nothing = ShellState::default();
            let scope = Scope::of(&nothing);
            words.extend(expand(raw, span, scope, &mut Choices::default()));
        }
        words.extend_from_slice(rest);
        // The text may begin with options of env itself.
        return env(table, &words);
    }
    words.extend_from_slice(rest);
    command(table, &words, first.map_or(0, |(at, _)| *at))
}

/// The text of `-S` with its escapes read: `\_` and its kin are blanks, and `\c` ends the text.
fn unescaped(text: &str) -> String {
    let text = text.split("\\c").next().unwrap_or(text);
    let blanks = ["\\_", "\\t", "\\n", "\\v", "\\f", "\\r"];
    blanks
        .iter()
        .fold(text.to_owned(), |text, blank| text.replace(blank, " "))
}
