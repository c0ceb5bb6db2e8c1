//! The command of `docker run --entrypoint`, which stands on both sides of the image.

use super::inner_command::InnerCommand;
use crate::program::kind::base_name;
use crate::program::options::Order;
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::shell::word::Word;

/// What a container starts beside the command behind its image: the entry point, by its option or by the
/// image's name.
pub(super) fn entry_points(
    table: &ProgramTable,
    program: &str,
    args: &[Word],
) -> Vec<InnerCommand> {
    let mut started = entry_point(table, program, args);
    if started.is_empty() {
        started.extend(of_image(table, program, args));
    }
    started
}

/// The program that an image is named after: `docker run amazon/aws-cli s3 rm x`. `None`: the first word
/// behind the image is a program that is known.
fn of_image(table: &ProgramTable, program: &str, args: &[Word]) -> Option<InnerCommand> {
    let mut words = args.iter().filter(|word| !word.text.starts_with('-'));
    let is_run = words.next().is_some_and(|verb| verb.text == "run");
    let row = table.row(program).filter(|_| is_run)?;
    let options = Call::new(row, args).options(Some(Order::OptionsUntil(1)));
    let (at, image) = *options.operands.get(1)?;
    let (_, first) = options.operands.get(2)?;
    if table.row(base_name(first)).is_some() {
        return None;
    }
    let name = base_name(image.split('@').next().unwrap_or(image));
    let name = name.split(':').next().unwrap_or(name);
    let mut words = vec![Word::literal(name, args.get(at)?.span)];
    words.extend_from_slice(args.get(at + 1..)?);
    Some(InnerCommand::Options(words))
}

/// The entry point of a container with its arguments.
fn entry_point(table: &ProgramTable, program: &str, args: &[Word]) -> Vec<InnerCommand> {
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
