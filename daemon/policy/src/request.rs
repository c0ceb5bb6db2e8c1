//! What is to be judged.

use termd_proto::terminal::Front;

/// What is about to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invocation<'a> {
    /// A line for a program that reads lines.
    Line(&'a str),
    /// A program and its arguments.
    Argv(&'a [String]),
}

impl Invocation<'_> {
    /// The length of its text, in bytes.
    pub fn length(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Argv(argv) => argv.iter().map(String::len).sum(),
        }
    }
}

/// How much of what will run is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Completeness {
    /// All of it.
    #[default]
    Whole,
    /// Its beginning: a block is open, or the line goes on.
    Begun,
    /// A line that the program recalled from its history, unchanged. The text is what was typed
    /// before, or searched for.
    Recalled,
    /// What was typed into a line of the history, a line that the shell makes of earlier ones, or one of
    /// keys that are not followed. Something else runs.
    Edited,
    /// It is longer than is judged, so its text is left out.
    TooLong,
}

/// What is about to run, who asks for it, and where it would run.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What is about to run.
    pub invocation: Invocation<'a>,
    /// The program that a line is typed into, by its name or path. `None`: a shell.
    pub program: Option<&'a str>,
    /// The kind of client: an editor's agent (`Acp`), an agent's tools (`Mcp`), or a person
    /// (`Cli`).
    pub front: Front,
    /// The client's name, where it has given one.
    pub client: Option<&'a str>,
    /// The user who asks, where that is known.
    pub uid: Option<u32>,
    /// The directory that it would run in, absolute, where that is known.
    pub cwd: Option<&'a str>,
    /// The variables that the request itself puts into the environment, by name and value.
    pub env: &'a [(String, String)],
}

impl<'a> Request<'a> {
    /// A line for a shell. Nothing is known of who asks.
    pub fn line(line: &'a str) -> Self {
        Self::from(Invocation::Line(line))
    }

    /// A program and its arguments. Nothing is known of who asks.
    pub fn argv(argv: &'a [String]) -> Self {
        Self::from(Invocation::Argv(argv))
    }
}

impl<'a> From<Invocation<'a>> for Request<'a> {
    fn from(invocation: Invocation<'a>) -> Self {
        Self {
            invocation,
            program: None,
            front: Front::Cli,
            client: None,
            uid: None,
            cwd: None,
            env: &[],
        }
    }
}
