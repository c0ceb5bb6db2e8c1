//! An option that a rule names.

use serde::{Deserialize, Deserializer, de};

use crate::program::options::Options;
use crate::shell::word::Word;

/// An option by its name, `-r`, or by several names, `-r|--recursive`. A name of a single dash and
/// several letters (`-rf`, `-delete`) is that very word, or all of the letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag(Vec<FlagName>);

/// One spelling of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FlagName {
    /// Without its dashes.
    Long(String),
    /// Each letter, without the dash.
    Short(Vec<String>),
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let names = text.split('|').map(|name| {
            let plain = !name.contains(['=', '\0']) && !name.contains(char::is_whitespace);
            match (name.strip_prefix("--"), name.strip_prefix('-')) {
                (Some(long), _) if plain && !long.is_empty() => {
                    Some(FlagName::Long(long.to_owned()))
                }
                (None, Some(letters)) if plain && !letters.is_empty() => {
                    let letters = letters.chars().map(String::from);
                    Some(FlagName::Short(letters.collect()))
                }
                _ => None,
            }
        });
        let names: Option<Vec<FlagName>> = names.collect();
        names.map(Self).ok_or_else(|| {
            let said = "an option is written with its dashes and without a value, such as \"-f\" or \
                        \"-r|--recursive\"";
            de::Error::custom(said)
        })
    }
}

impl Flag {
    /// Whether the option is among those of a command.
    pub(super) fn is_given(&self, taken: &Options<'_>, args: &[Word]) -> bool {
        self.0.iter().any(|name| match name {
            FlagName::Long(name) => taken.has(&[name]),
            FlagName::Short(letters) => {
                let each = letters.iter().all(|letter| taken.has_exactly(letter));
                each || (letters.len() > 1 && stands_as_word(&letters.concat(), args))
            }
        })
    }
}

/// Whether an option such as `-delete` stands as a word, perhaps with a value.
fn stands_as_word(name: &str, args: &[Word]) -> bool {
    let options = args.iter().take_while(|word| word.text != "--");
    options
        .filter_map(|word| word.text.strip_prefix('-'))
        .any(|given| {
            given
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
}

/// The names of options, as the list of words that
/// [`Valued`](crate::program::options::Valued) takes.
pub(super) fn names_of(flags: &[Flag]) -> String {
    let names = flags.iter().flat_map(|flag| &flag.0);
    let names = names.flat_map(|name| match name {
        FlagName::Long(name) => std::slice::from_ref(name),
        FlagName::Short(letters) => letters.as_slice(),
    });
    names.map(String::as_str).collect::<Vec<_>>().join(" ")
}
