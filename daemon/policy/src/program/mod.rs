//! What programs do with what they are given, by their manuals. What is dangerous is not known here.

pub(crate) mod input;
pub(crate) mod kind;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod table;
pub(crate) mod wrapper;

pub use input::{code_reader, is_shell_of_stdin};
pub use kind::{is_interpreter, is_shell};

/// Whether a variable of this name makes programs run or load something.
pub fn is_program_variable(name: &str) -> bool {
    table::ProgramTable::built_in().variable(name).is_some()
}
