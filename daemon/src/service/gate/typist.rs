//! Who types into a terminal.

use termd_policy::CompiledGate;
use termd_proto::terminal::Owner;

use super::asker::Asker;

/// Who types.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typist<'a> {
    /// As records name them.
    pub(crate) actor: &'a Owner,
    /// The number of the connection, unique in this server process.
    pub(crate) connection: u64,
    /// What the connection has set for the gate.
    pub(crate) gate: &'a CompiledGate,
    /// Whether the caller says that a person has agreed to what is typed.
    pub(crate) confirmed: bool,
    /// Whether its front can ask its person.
    pub(crate) asks: bool,
}

impl<'a> Typist<'a> {
    pub(crate) fn asker(&self) -> Asker<'a> {
        Asker {
            owner: self.actor,
            confirmed: self.confirmed,
            asks: self.asks,
        }
    }
}
