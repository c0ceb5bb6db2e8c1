//! `[policy]` of config.toml as it is written: rules, profiles, and what holds for each front.
//!
//! What is wrong in itself is found while it is read, with its place; what is wrong together, by
//! [`Policy::compile`](crate::policy::Policy::compile). It must not know files.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, de};
use termd_proto::policy::Effect;
use termd_proto::terminal::Front;
use toml::Spanned;

use crate::What;
use crate::glob::Glob;
use crate::profile::environment::EnvSpec;
use crate::profile::{ProfileName, ProfileSpec};

/// What a rule's pattern may take when compiled, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Entries of one list of a rule.
pub(crate) const MAX_ENTRIES: usize = 64;

/// `[policy]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySpec {
    /// `[[policy.rules]]`: the first that fits a command decides.
    pub rules: Vec<Spanned<RuleSpec>>,
    /// `[policy.profiles.NAME]`.
    pub profiles: BTreeMap<Spanned<ProfileName>, ProfileSpec>,
    /// `[policy.fronts.FRONT]`.
    pub fronts: FrontsSpec,
}

/// What holds for each front where no rule says more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontsSpec {
    /// ACP's `terminal/*`.
    pub acp: FrontSpec,
    /// MCP clients.
    pub mcp: FrontSpec,
    /// `termctl`, and scripts on the socket.
    pub cli: FrontSpec,
}

/// `[policy.fronts.FRONT]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontSpec {
    /// The profile of what no rule gives another one.
    pub profile: Option<Spanned<ProfileName>>,
    /// The environment of all that comes through it.
    pub env: EnvSpec,
}

/// One `[[policy.rules]]`. What is absent fits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleSpec {
    /// What is done; absent: what the verdict says, and the rule only gives a profile.
    pub effect: Option<Effect>,
    /// What it is run under.
    pub profile: Option<Spanned<ProfileName>>,
    /// The command's program: the last part of its path, to the letter.
    pub program: Option<ProgramName>,
    /// A regular expression that is found in its arguments, joined by one space.
    pub arguments: Option<Pattern>,
    /// Options that are all there, in whatever spelling.
    pub has: Vec<Flag>,
    /// Options of which none is there.
    pub lacks: Vec<Flag>,
    /// Its first operands, in order.
    pub operands: Vec<Glob>,
    /// The whole text that the command stands in, to the letter.
    pub command: Option<ExactCommand>,
    /// Options that take the next word as their value.
    pub valued: Vec<Flag>,
    /// The directory that it is run in, or one above; absolute.
    pub cwd: Option<AbsolutePath>,
    /// What it came through, one or several.
    pub front: Option<Fronts>,
    /// The client's name.
    pub client: Option<Glob>,
    /// The user who asks.
    pub uid: Option<u32>,
}

/// A whole text to the letter: a line as it would be typed, or a program and its arguments. The one
/// is never the other, however alike they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExactCommand {
    /// `command = "rm -r build"`
    Line(String),
    /// `command = ["rm", "-r", "build"]`
    Argv(Vec<String>),
}

impl ExactCommand {
    /// Whether it is this, and nothing more or less.
    pub(crate) fn is(&self, what: What<'_>) -> bool {
        match (self, what) {
            (Self::Line(own), What::Line(line)) => own == line,
            (Self::Argv(own), What::Argv(argv)) => own == argv,
            _ => false,
        }
    }
}

impl From<What<'_>> for ExactCommand {
    fn from(what: What<'_>) -> Self {
        match what {
            What::Line(line) => Self::Line(line.to_owned()),
            What::Argv(argv) => Self::Argv(argv.to_owned()),
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

/// A program's name without a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramName(pub(crate) String);

impl<'de> Deserialize<'de> for ProgramName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.is_empty() || name.contains(['/', '\0']) {
            return Err(de::Error::custom("program must be a name without a path"));
        }
        Ok(Self(name))
    }
}

/// A directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsolutePath(pub(crate) String);

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = String::deserialize(deserializer)?;
        let climbs = path.split('/').any(|part| part == "..");
        if !path.starts_with('/') || climbs || path.contains('\0') {
            return Err(de::Error::custom("cwd must be an absolute path without .."));
        }
        Ok(Self(path))
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern(pub(crate) Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let built = RegexBuilder::new(&text)
            .size_limit(MAX_COMPILED_BYTES)
            .build();
        built.map(Self).map_err(|error| {
            let said = error.to_string();
            let last = said.lines().last().unwrap_or_default().trim();
            let last = last.trim_start_matches("error: ");
            de::Error::custom(format!("it is no regular expression: {last}"))
        })
    }
}

/// One front or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fronts(pub(crate) Vec<Front>);

impl<'de> Deserialize<'de> for Fronts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Fronts;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a front (\"acp\", \"mcp\" or \"cli\") or a list of them")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Fronts, E> {
                let named = [Front::Acp, Front::Mcp, Front::Cli]
                    .into_iter()
                    .find(|front| front.as_str() == text);
                let unknown = || E::unknown_variant(text, &["acp", "mcp", "cli"]);
                named.map(|front| Fronts(vec![front])).ok_or_else(unknown)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Fronts, A::Error> {
                let mut fronts = Vec::new();
                while let Some(more) = seq.next_element::<Fronts>()? {
                    fronts.extend(more.0);
                }
                if fronts.is_empty() || fronts.len() > MAX_ENTRIES {
                    return Err(de::Error::invalid_length(fronts.len(), &self));
                }
                Ok(Fronts(fronts))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// An option by its name, `-r`, or by several for the same, `-r|--recursive`. One with a single
/// dash and several letters (`-rf`, `-delete`) is that very word, or all of the letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag(pub(crate) Vec<FlagName>);

/// One spelling of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FlagName {
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
