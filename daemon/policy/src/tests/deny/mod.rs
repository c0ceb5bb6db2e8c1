//! A rule that forbids a program, and the ways in which lines start it all the same.

mod code;
mod grammar;
mod helpers;
mod later;
mod order;
mod programs;
mod script_of_stdin;
mod shells;
mod starters;
mod values;
