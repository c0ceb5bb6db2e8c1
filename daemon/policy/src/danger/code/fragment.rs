//! Fragments of code that tell what it does where the name of a call does not. They are in
//! `code/fragments.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::effect_table::EffectTable;

const FILE: &str = include_str!("../../../code/fragments.toml");

/// What a fragment of code does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Fragment {
    /// It starts the program over and over.
    ForksForever,
    /// It begins a loop without end.
    Loops,
    Forks,
    /// It opens a connection.
    Connects,
    /// It starts a program.
    Starts,
    /// It fetches.
    Fetches,
    /// It runs a text as code, or as a command.
    RunsText,
    /// It runs a text that the code may have decoded.
    RunsDecoded,
    Decodes,
    /// It runs code or installs packages of an address.
    RunsAddress,
    /// It runs the code of a file.
    RunsFile,
    /// It writes to a file what the code fetches.
    WritesFetched,
    /// It writes the last of its texts to a file.
    WritesText,
    /// It writes to a file that the code has opened.
    Writes,
    /// It empties a file whatever the file is called.
    EmptiesFile,
    /// It lists the files of a directory.
    ListsFiles,
    ReadsFile,
    /// It reads a text as data.
    ParsesData,
    /// The environment. [`super::sending`] tells whether code takes all of it.
    IsEnvironment,
    /// It may send something.
    MaySend,
    /// It sends a text that is given to it.
    SendsText,
    /// A library of a cloud or a service.
    IsCloud,
    /// The beginning of a call of such a library that removes or stops something.
    Removes,
    /// It removes all that a framework finds in a database.
    EmptiesStore,
    /// The beginning of a command of `PowerShell`, in lower case, that removes, stops or runs what is not
    /// seen.
    Stops,
}

/// The quotes that are as good as `'` where a fragment is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Double,
    DoubleAndBacktick,
}

impl Fragment {
    fn table() -> &'static EffectTable<Self> {
        static TABLE: LazyLock<EffectTable<Fragment>> =
            LazyLock::new(|| EffectTable::built_in(FILE));
        &TABLE
    }

    /// The fragments that have this effect.
    pub(super) fn all(self) -> impl Iterator<Item = &'static str> {
        Self::table().names(self)
    }

    /// The quotes that are as good as `'` in the code.
    pub(super) fn quotes(self) -> Quotes {
        match self {
            Self::EmptiesFile | Self::RunsFile => Quotes::Double,
            Self::WritesFetched | Self::MaySend | Self::SendsText | Self::ReadsFile => {
                Quotes::DoubleAndBacktick
            }
            _ => Quotes::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::effect_table::repeated;
    use super::*;

    #[test]
    fn the_file_can_be_read_and_has_one_row_a_fragment() {
        EffectTable::<Fragment>::read(FILE).unwrap();
        assert_eq!(repeated(FILE), [""; 0]);
        assert!(Fragment::Connects.all().any(|part| part == "TCPSocket"));
    }

    #[test]
    fn no_fragment_holds_white_space() {
        let file: toml::Table = toml::from_str(FILE).unwrap();
        let rows = file.values().flat_map(|rows| rows.as_table().unwrap());
        for name in rows.flat_map(|(_, names)| names.as_array().unwrap()) {
            let name = name.as_str().unwrap();
            assert!(!name.contains(char::is_whitespace), "{name}");
        }
    }
}
