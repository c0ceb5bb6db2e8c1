//! The table of programs that take secrets, `programs.toml`.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

/// How a secret stands in a command. `programs.toml` says what each means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Form {
    Attached,
    Separate,
    Pair,
    Address,
    Prefix,
    Argument,
    Named,
    Fields,
    Stdin,
}

/// One place of a secret in the commands of some programs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    programs: Vec<String>,
    #[serde(default)]
    after: String,
    #[serde(default)]
    pub(super) option: String,
    pub(super) form: Form,
    pub(super) separator: Option<char>,
    pub(super) position: Option<usize>,
    #[serde(default)]
    pub(super) last: bool,
}

impl Entry {
    /// The words behind which the entry holds.
    pub(super) fn after(&self) -> impl Iterator<Item = &str> {
        self.after.split_whitespace()
    }

    /// Whether the entry is about the command of its program, and not about an option that is found
    /// anywhere behind the program's name.
    pub(super) fn is_of_command(&self) -> bool {
        matches!(
            self.form,
            Form::Argument | Form::Named | Form::Fields | Form::Stdin
        )
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    entry: Vec<Entry>,
}

/// The entries of a program, by its name or path.
pub(super) fn entries_of(program: &str) -> &'static [&'static Entry] {
    static TABLE: OnceLock<HashMap<&'static str, Vec<&'static Entry>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table = HashMap::<&str, Vec<&Entry>>::new();
        for entry in entries() {
            for program in &entry.programs {
                table.entry(program).or_default().push(entry);
            }
        }
        table
    });
    let name = program.rsplit('/').next().unwrap_or(program);
    table.get(name).map_or(&[], Vec::as_slice)
}

/// A test holds that the file reads.
fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let table = toml::from_str::<Table>(include_str!("programs.toml"));
        table.map(|table| table.entry).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_and_each_entry_has_what_its_form_needs() {
        let table: Table = toml::from_str(include_str!("programs.toml")).unwrap();
        assert!(table.entry.len() > 80);
        for entry in table.entry {
            let needs_option = matches!(
                entry.form,
                Form::Attached | Form::Separate | Form::Pair | Form::Address | Form::Prefix
            );
            assert!(!needs_option || !entry.option.is_empty(), "{entry:?}");
            assert_eq!(
                entry.form == Form::Argument,
                entry.position.is_some(),
                "{entry:?}"
            );
            assert!(
                entry.form != Form::Pair || entry.separator.is_some(),
                "{entry:?}"
            );
            assert!(!entry.programs.is_empty(), "{entry:?}");
        }
        assert!(!entries_of("/usr/bin/mysql").is_empty());
        assert!(entries_of("ls").is_empty());
    }
}
