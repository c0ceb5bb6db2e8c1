//! Variables that awk(1p) gets on its command line: `-v name=value`, and `name=value` among the files.

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::{UNKNOWN, Word, is_name};

/// What a command of awk starts, with the variables that it gets as the first statements of its code.
pub(super) fn with_variables(args: &[Word], started: Vec<InnerCommand>) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> =
        Valued::These("v assign F field-separator f file e source i include l load E exec");
    let given = options(args, VALUED, Order::OptionsFirst);
    let of_options = given.values(&["v", "assign"]);
    let assigned = of_options.chain(given.operands.iter().copied());
    let assigned = assigned.filter_map(|(_, text)| text.split_once('='));
    let statements: String = assigned
        .filter(|(name, _)| is_name(name))
        .map(|(name, value)| statement(name, value))
        .collect();
    if statements.is_empty() {
        return started;
    }
    let started = started.into_iter().map(|inner| match inner {
        InnerCommand::Code { text, at } => InnerCommand::Code {
            text: format!("BEGIN {{ {statements}}}\n{text}"),
            at,
        },
        other => other,
    });
    started.collect()
}

/// The statement that gives a variable its value. A value that is not known is one of the environment.
fn statement(name: &str, value: &str) -> String {
    if value.starts_with(UNKNOWN) {
        return format!("{name} = ENVIRON[\"{name}\"]; ");
    }
    let value = value.replace('"', "\\\"").replace('\n', "\\n");
    // The backslash at its end would escape the quote.
    let value = value.trim_end_matches('\\');
    format!("{name} = \"{value}\"; ")
}
