//! Code on the command line of an interpreter: python(1) `-c`, perl(1) `-e`, node(1) `-e` and `-p`,
//! php(1) `-r`, awk(1).

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

/// The code that an interpreter is given.
pub(super) fn code(program: &str, args: &[Word]) -> Vec<InnerCommand> {
    const EVALS: Valued<'_> = Valued::These("c e E r p eval print W X m");
    if program == "deno" && args.first().is_some_and(|word| word.text == "eval") {
        let code = args.get(1).map(|word| InnerCommand::code((1, &word.text)));
        return code.into_iter().collect();
    }
    // `-p` of node has a value, that of perl has none.
    let options = options(args, EVALS, Order::OptionsFirst);
    let wanted: &[&str] = &["c", "e", "E", "r", "p", "eval", "print"];
    let mut code: Vec<InnerCommand> = options.values(wanted).map(InnerCommand::code).collect();
    // Of `perl -pe CODE` and `ruby -ne CODE` the first letter has taken the rest for its value.
    for (at, word) in args.iter().enumerate() {
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        if cluster
            && word.text.ends_with(['e', 'E', 'r', 'c'])
            && let Some(next) = args.get(at + 1)
        {
            code.push(InnerCommand::code((at + 1, &next.text)));
        }
    }
    code
}

/// The arguments of awk(1), each of which may be the program.
pub(super) fn awk(args: &[Word]) -> Vec<InnerCommand> {
    let texts = args.iter().map(|word| word.text.as_str());
    texts.enumerate().map(InnerCommand::code).collect()
}
