//! The table of programs: a row a program, as data. docs/programs.md has the vocabulary.

pub(crate) mod call;
pub(crate) mod form;
mod form_list;
mod program_table;
pub(crate) mod row;
pub(crate) mod setting;
mod verb;

pub(crate) use program_table::{FilePatterns, ProgramTable, Programs};
