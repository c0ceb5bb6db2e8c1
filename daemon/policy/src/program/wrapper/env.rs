//! env(1): variables and a command.

use termd_proto::policy::Span;

use super::by_row::command;
use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::program::table::ProgramTable;
use crate::shell::expansion::expand;
use crate::shell::variables::Variables;
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
        for raw in text.split_whitespace() {
            words.extend(expand(raw, span, &Variables::default(), 0));
        }
    }
    words.extend_from_slice(rest);
    command(table, &words, first.map_or(0, |(at, _)| *at))
}
