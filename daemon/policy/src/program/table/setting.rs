//! What the value of a setting or a variable does.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de};

use crate::glob::{self, Case};

/// What the value of a setting or a variable does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    /// It is a command line.
    Line,
    /// A command line behind `!`, else words of the program itself, as git's aliases.
    Alias,
    /// It is expanded as a text in double quotes, as PS1 is.
    Text,
    /// It is the body of a function, as `BASH_FUNC_…` has it.
    Function,
    /// It is a file whose code is loaded.
    File,
    /// It is a file that is run or obeyed, and is looked for in no directories.
    Script,
    /// It is a file that gives keys a meaning.
    Keys,
    /// It is a directory whose settings programs obey.
    Home,
    /// It is a list of directories in which code is looked for.
    Directories,
    /// It is options of this program, behind these words.
    Options(String),
    /// It is the rest of a shell's line that begins with this program.
    Behind(String),
    /// It is code, or settings that name what runs.
    Code,
    /// Switching it off does this.
    Off(String),
    /// It does this, whatever the value, and may make the program run anything.
    Danger(String),
    /// It does this, and its value is an address that is only spoken to.
    Address(String),
}

const EXPECTED: &str = "line, alias, text, function, file, script, keys, directories, home, code, \"options PROGRAM\", \"behind PROGRAM\", \
                        \"off: WHY\", \"danger: WHY\" or \"address: WHY\" is expected";

impl Setting {
    fn parse(text: &str) -> Option<Self> {
        if let Some(why) = text.strip_prefix("danger: ") {
            return Some(Self::Danger(why.to_owned()));
        }
        if let Some(why) = text.strip_prefix("address: ") {
            return Some(Self::Address(why.to_owned()));
        }
        if let Some(why) = text.strip_prefix("off: ") {
            return Some(Self::Off(why.to_owned()));
        }
        if let Some(program) = text.strip_prefix("behind ") {
            return Some(Self::Behind(program.to_owned()));
        }
        if let Some(program) = text.strip_prefix("options ") {
            return Some(Self::Options(program.to_owned()));
        }
        Some(match text {
            "line" => Self::Line,
            "alias" => Self::Alias,
            "text" => Self::Text,
            "function" => Self::Function,
            "file" => Self::File,
            "script" => Self::Script,
            "keys" => Self::Keys,
            "directories" => Self::Directories,
            "home" => Self::Home,
            "code" => Self::Code,
            _ => return None,
        })
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(EXPECTED))
    }
}

/// The setting of a name. Names hold `*` for any text.
pub(crate) fn setting<'s>(
    settings: &'s BTreeMap<String, Setting>,
    name: &str,
    case: Case,
) -> Option<&'s Setting> {
    if let Some(setting) = settings.get(name) {
        return Some(setting);
    }
    let mut settings = settings.iter();
    let found = settings.find(|(pattern, _)| glob::fits(pattern, name, case));
    found.map(|(_, setting)| setting)
}
