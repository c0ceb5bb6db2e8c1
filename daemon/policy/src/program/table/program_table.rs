//! The rows of all programs, by name.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use super::row::ProgramRow;
use super::setting::{Setting, setting};
use crate::daemon::Daemon;
use crate::glob::{self, Case};

/// The files of the table.
const FILES: [&str; 16] = [
    include_str!("../../../programs/shells.toml"),
    include_str!("../../../programs/starters.toml"),
    include_str!("../../../programs/interpreters.toml"),
    include_str!("../../../programs/databases.toml"),
    include_str!("../../../programs/files.toml"),
    include_str!("../../../programs/disks.toml"),
    include_str!("../../../programs/services.toml"),
    include_str!("../../../programs/network.toml"),
    include_str!("../../../programs/git.toml"),
    include_str!("../../../programs/packages.toml"),
    include_str!("../../../programs/build.toml"),
    include_str!("../../../programs/compilers.toml"),
    include_str!("../../../programs/containers.toml"),
    include_str!("../../../programs/clouds.toml"),
    include_str!("../../../programs/clusters.toml"),
    include_str!("../../../programs/other.toml"),
];
/// The row of all programs without one of their own.
const COMMON: &str = "_";
const VARIABLES: &str = include_str!("../../../programs/variables.toml");

/// Files that matter wherever they are written or sent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilePatterns {
    /// Files that hold secrets.
    pub(crate) credentials: Vec<String>,
    /// Files that are obeyed later, or that decide who gets in.
    pub(crate) settings: Vec<String>,
    /// Files that a service or another machine holds.
    pub(crate) served: Vec<String>,
    /// Files that need only be appended to.
    pub(crate) appended: Vec<String>,
    /// Files that a person keeps for themselves.
    pub(crate) private: Vec<String>,
    /// Directories that a tool makes anew, by names that nothing else has.
    pub(crate) regenerated: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariablesFile {
    /// Variables by name, in which `*` is any text.
    variables: BTreeMap<String, Setting>,
    /// Programs that settings and variables may name.
    harmless_values: Vec<String>,
    files: FilePatterns,
}

/// The rows of all programs, and the variables that make programs run others.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramTable {
    rows: Vec<ProgramRow>,
    /// The number of the row of each name.
    names: HashMap<String, usize>,
    /// The beginnings of names.
    prefixes: Vec<(String, usize)>,
    /// The ends of names.
    suffixes: Vec<(String, usize)>,
    variables: BTreeMap<String, Setting>,
    harmless_values: Vec<String>,
    files: FilePatterns,
}

/// The table in force: that of the configuration, or the built-in one. The daemon that judges is known
/// beside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Programs {
    table: Option<Arc<ProgramTable>>,
    daemon: Arc<Daemon>,
}

impl Programs {
    /// The built-in rows with those of a configuration merged over them.
    pub(crate) fn with(rows: &BTreeMap<String, ProgramRow>) -> Self {
        if rows.is_empty() {
            return Self::default();
        }
        let mut table = ProgramTable::built_in().clone();
        for (name, row) in rows {
            let number = table.names.get(name).copied();
            match number.and_then(|number| table.rows.get_mut(number)) {
                Some(known) => {
                    known.merge(row.clone());
                    *known = std::mem::take(known).compiled();
                }
                None => table.push(name, row.clone()),
            }
        }
        Self {
            table: Some(Arc::new(table)),
            ..Self::default()
        }
    }

    /// These programs, beside another daemon.
    #[must_use]
    pub(crate) fn with_daemon(mut self, daemon: Arc<Daemon>) -> Self {
        self.daemon = daemon;
        self
    }

    /// The daemon that judges.
    pub(crate) fn daemon(&self) -> &Arc<Daemon> {
        &self.daemon
    }
}

impl Deref for Programs {
    type Target = ProgramTable;

    fn deref(&self) -> &ProgramTable {
        self.table
            .as_deref()
            .unwrap_or_else(|| ProgramTable::built_in())
    }
}

impl ProgramTable {
    /// The rows that termd comes with. They are read once a process.
    pub(crate) fn built_in() -> &'static Self {
        static TABLE: OnceLock<ProgramTable> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut table = Self::default();
            for file in FILES {
                // A test reads every file.
                let rows: BTreeMap<String, ProgramRow> = toml::from_str(file).unwrap_or_default();
                for (name, row) in rows {
                    table.push(&name, row);
                }
            }
            let more: VariablesFile = toml::from_str(VARIABLES).unwrap_or_default();
            table.variables = more.variables;
            table.harmless_values = more.harmless_values;
            table.files = more.files;
            table
        })
    }

    fn push(&mut self, name: &str, row: ProgramRow) {
        let number = self.rows.len();
        for name in std::iter::once(name).chain(row.names.split_whitespace()) {
            match (name.strip_prefix('*'), name.strip_suffix('*')) {
                (Some(suffix), _) => self.suffixes.push((suffix.to_owned(), number)),
                (None, Some(prefix)) => self.prefixes.push((prefix.to_owned(), number)),
                (None, None) => {
                    self.names.insert(name.to_owned(), number);
                }
            }
        }
        self.rows.push(row.compiled());
    }

    /// The row of a program, by the last part of its path. Digits of a version do not count.
    pub(crate) fn row(&self, program: &str) -> Option<&ProgramRow> {
        let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let number = self
            .names
            .get(program)
            .or_else(|| self.names.get(stem).filter(|_| stem != program));
        let by_suffix = || {
            let mut suffixes = self.suffixes.iter();
            let found = suffixes.find(|(suffix, _)| stem.ends_with(suffix.as_str()));
            found.map(|(_, number)| number)
        };
        let by_prefix = || {
            let mut prefixes = self.prefixes.iter();
            let found = prefixes.find(|(prefix, _)| program.starts_with(prefix.as_str()));
            found.map(|(_, number)| number)
        };
        self.rows
            .get(*number.or_else(by_suffix).or_else(by_prefix)?)
    }

    /// Whether a program of this name may be told to run something by what it reads.
    pub(crate) fn runs_others(&self, program: &str) -> bool {
        self.row(program).is_some_and(|row| {
            row.takes.is_some() || !row.starts.is_empty() || !row.runs.is_empty()
        })
    }

    /// The row of a program, or that of all programs without one.
    pub(crate) fn row_or_common(&self, program: &str) -> Option<&ProgramRow> {
        self.row(program).or_else(|| self.common_row())
    }

    /// The row of programs without one of their own.
    pub(crate) fn common_row(&self) -> Option<&ProgramRow> {
        self.rows.get(*self.names.get(COMMON)?)
    }

    /// What a variable does, if it makes programs run or load something.
    pub(crate) fn variable(&self, name: &str) -> Option<&Setting> {
        setting(&self.variables, name, Case::Counts)
    }

    /// The variables of which each value names files that run, or that programs obey.
    pub(crate) fn variables_of_files(&self) -> impl Iterator<Item = &str> {
        let names_files = |setting: &Setting| {
            matches!(
                setting,
                Setting::Line | Setting::File | Setting::Script | Setting::Keys
            )
        };
        let variables = self.variables.iter();
        let of_files = variables.filter(move |(_, setting)| names_files(setting));
        of_files.map(|(name, _)| name.as_str())
    }

    /// Whether a setting or a variable may name this program.
    pub(crate) fn is_harmless_value(&self, program: &str) -> bool {
        let mut programs = self.harmless_values.iter();
        programs.any(|known| glob::fits(known, program, Case::Counts))
    }

    /// The files that matter.
    pub(crate) fn files(&self) -> &FilePatterns {
        &self.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_table_can_be_read() {
        for file in FILES {
            toml::from_str::<BTreeMap<String, ProgramRow>>(file).unwrap();
        }
        toml::from_str::<VariablesFile>(VARIABLES).unwrap();
    }

    #[test]
    fn every_row_names_its_source_and_no_name_is_given_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for file in FILES {
            for (name, row) in toml::from_str::<BTreeMap<String, ProgramRow>>(file).unwrap() {
                assert!(!row.source.is_empty(), "{name} has no source");
                for name in std::iter::once(name.as_str()).chain(row.names.split_whitespace()) {
                    assert!(seen.insert(name.to_owned()), "{name} has two rows");
                }
            }
        }
    }
}
