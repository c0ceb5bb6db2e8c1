//! Interpreters whose code, all of it seen, does no harm.

use crate::danger::code;
use crate::program::input::runs_stdin;
use crate::program::table::ProgramTable;
use crate::program::table::row::Takes;
use crate::program::wrapper;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::word::Word;

/// Whether a command is an interpreter that runs code, all of which is seen and only reads and prints.
pub(super) fn runs_harmless_code(
    table: &ProgramTable,
    program: &str,
    args: &[Word],
    stdin: Option<&str>,
) -> bool {
    let is_module = args.iter().any(|word| word.text == "-m");
    if is_module || table.row(program).and_then(|row| row.takes) != Some(Takes::Code) {
        return false;
    }
    let starts = wrapper::inner_commands(table, program, args);
    let mut code = Vec::new();
    for inner in &starts {
        match inner {
            InnerCommand::Code { text, .. } => code.push(text.as_str()),
            _ => return false,
        }
    }
    if code.is_empty() && runs_stdin(program, args) {
        code.extend(stdin);
    }
    !code.is_empty() && code.iter().all(|code| code::is_harmless(program, code))
}
