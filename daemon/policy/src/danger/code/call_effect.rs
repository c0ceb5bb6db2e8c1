//! What calls do, by the last part of their name. The names are in `code/calls.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::effect_table::EffectTable;

const FILE: &str = include_str!("../../../code/calls.toml");

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallEffect {
    /// It gives a text or a list of texts to the system to run.
    RunsLine,
    /// It starts a program. Nothing else has its name.
    Starts,
    /// It starts a program where the code names a module for that.
    StartsByModule,
    /// It starts a program, and is given a file and then all of `argv`, of which the first is a name.
    TakesArgv0,
    /// It runs a text as code.
    RunsCode,
    /// It runs a text as code, which the code may have decoded.
    RunsDecoded,
    /// It runs a file as code.
    RunsFile,
    /// It runs a file as code, or starts it.
    LoadsFile,
    /// It finds what it gives by a text.
    Finds,
    /// It calls a function whose name one of its arguments is.
    TakesCallback,
    /// It finds what it calls by a name.
    CallsByName,
    /// Nobody gives its name as a text but to hide it.
    IsHidden,
    /// It removes whole trees.
    RemovesTree,
    /// It removes a tree where an option says so.
    MayRemoveTree,
    RemovesFile,
    /// It writes a file whose name is its first text.
    WritesFile,
    EmptiesFile,
    /// It decodes a text, or makes one of numbers, where what it is given is no constant.
    Decodes,
    /// It sends a signal.
    Signals,
    RunsSql,
    /// It empties a database or a store.
    EmptiesStore,
    /// A command of `PowerShell`, in lower case, that fetches.
    CmdletFetches,
    /// A command of `PowerShell`, in lower case, that runs a text or a file.
    CmdletInvokes,
}

impl CallEffect {
    fn table() -> &'static EffectTable<Self> {
        static TABLE: LazyLock<EffectTable<CallEffect>> =
            LazyLock::new(|| EffectTable::built_in(FILE));
        &TABLE
    }

    /// Whether calls of this name have this effect.
    pub(crate) fn is_of(self, name: &str) -> bool {
        Self::table().has(self, name)
    }

    /// The names of the calls that have this effect.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        Self::table().names(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::effect_table::repeated;
    use super::*;

    #[test]
    fn the_file_can_be_read_and_has_one_row_a_name() {
        EffectTable::<CallEffect>::read(FILE).unwrap();
        assert_eq!(repeated(FILE), [""; 0]);
        assert!(CallEffect::RunsLine.is_of("popen"));
        assert!(!CallEffect::RunsLine.is_of("unlink"));
    }
}
