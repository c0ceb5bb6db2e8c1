//! What is to be judged.

use termd_proto::terminal::Front;

/// What is to run.
#[derive(Debug, Clone, Copy)]
pub enum What<'a> {
    /// A line for a program that reads lines.
    Line(&'a str),
    /// A program and its arguments.
    Argv(&'a [String]),
}

impl What<'_> {
    /// In bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Argv(argv) => argv.iter().map(String::len).sum(),
        }
    }
}

/// What is to be judged, and where it would run.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The text.
    pub what: What<'a>,
    /// The program that a line would be typed into; `None`: a shell.
    pub program: Option<&'a str>,
    /// What it comes through.
    pub front: Front,
    /// The client's name, where it has said one.
    pub client: Option<&'a str>,
    /// The user who asks, where that is known.
    pub uid: Option<u32>,
    /// The directory, where it is known.
    pub cwd: Option<&'a str>,
}
