//! The command of `docker run --entrypoint`, which stands on both sides of the image.

use super::inner_command::InnerCommand;
use crate::program::options::Order;
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::shell::word::Word;

/// The entry point of a container with its arguments.
pub(super) fn entry_point(table: &ProgramTable, program: &str, args: &[Word]) -> Vec<InnerCommand> {
    let Some(row) = table.row(program) else {
        return Vec::new();
    };
    let first = args.iter().find(|word| !word.text.starts_with('-'));
    let is_outer = first.is_some_and(|verb| matches!(&*verb.text, "container" | "compose"));
    let before_command = if is_outer { 3 } else { 2 };
    let order = Order::OptionsUntil(before_command - 1);
    let options = Call::new(row, args).options(Some(order));
    let Some((at, entry)) = options.value(&["entrypoint"]) else {
        return Vec::new();
    };
    let behind_image = options.operands.iter().skip(before_command);
    let mut words: Vec<Word> = args
        .get(at)
        .map(|word| Word::literal(entry, word.span))
        .into_iter()
        .collect();
    let rest = behind_image.map(|(at, _)| *at).next();
    words.extend_from_slice(rest.and_then(|at| args.get(at..)).unwrap_or_default());
    InnerCommand::argv(&words)
}
