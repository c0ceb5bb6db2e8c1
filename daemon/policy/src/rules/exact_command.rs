//! A whole command, to the letter.

use serde::{Deserialize, Deserializer, de};

use crate::request::Invocation;

/// A whole command to the letter. A line is never an argv, however alike the two look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExactCommand {
    /// `command = "rm -r build"`
    Line(String),
    /// `command = ["rm", "-r", "build"]`
    Argv(Vec<String>),
}

impl ExactCommand {
    /// Whether an invocation is this command and nothing more or less.
    pub(crate) fn is(&self, invocation: Invocation<'_>) -> bool {
        match (self, invocation) {
            (Self::Line(own), Invocation::Line(line)) => own == line,
            (Self::Argv(own), Invocation::Argv(argv)) => own == argv,
            _ => false,
        }
    }
}

impl From<Invocation<'_>> for ExactCommand {
    fn from(invocation: Invocation<'_>) -> Self {
        match invocation {
            Invocation::Line(line) => Self::Line(line.to_owned()),
            Invocation::Argv(argv) => Self::Argv(argv.to_owned()),
        }
    }
}

impl<'de> Deserialize<'de> for ExactCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = ExactCommand;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a line, or a list of a program and its arguments")
            }
            fn visit_str<E: de::Error>(self, line: &str) -> Result<ExactCommand, E> {
                Ok(ExactCommand::Line(line.to_owned()))
            }
            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<ExactCommand, A::Error> {
                let mut argv = Vec::new();
                while let Some(word) = seq.next_element()? {
                    argv.push(word);
                }
                if argv.is_empty() {
                    return Err(de::Error::invalid_length(0, &self));
                }
                Ok(ExactCommand::Argv(argv))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}
