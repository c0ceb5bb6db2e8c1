//! Values of a rule's keys.

use regex::Regex;
use serde::{Deserialize, Deserializer, de};
use termd_proto::terminal::Front;

use crate::glob::Case;
use crate::pattern;

/// Entries of one list of a rule.
pub(crate) const MAX_ENTRIES: usize = 64;

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

/// A directory, absolute and without `..`.
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
        let compiled = pattern::compile(&text, Case::Counts);
        compiled
            .map(Self)
            .map_err(|error| de::Error::custom(format!("it is no regular expression: {error}")))
    }
}

/// One kind of client or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fronts(pub(crate) Vec<Front>);

impl<'de> Deserialize<'de> for Fronts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Fronts;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a front (\"acp\", \"mcp\", \"shell\" or \"cli\") or a list of them")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Fronts, E> {
                let named = [Front::Acp, Front::Mcp, Front::Shell, Front::Cli]
                    .into_iter()
                    .find(|front| front.as_str() == text);
                let unknown = || E::unknown_variant(text, &["acp", "mcp", "shell", "cli"]);
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
