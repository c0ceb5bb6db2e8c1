//! The name of a profile.

use serde::{Deserialize, Deserializer, de};

use super::sandbox::SandboxKind;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Profiles that exist without being written: a sandbox of this kind, and nothing else.
const BUILT_IN: [SandboxKind; 4] = [
    SandboxKind::None,
    SandboxKind::ReadOnly,
    SandboxKind::Workspace,
    SandboxKind::NoNetwork,
];

/// The name of a profile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfileName(String);

impl ProfileName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that this text is, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_name = !text.is_empty() && text.len() <= MAX_NAME_BYTES && text.chars().all(plain);
        is_name.then(|| Self(text.to_owned()))
    }

    /// The kind of sandbox that a built-in name stands for.
    pub fn built_in(&self) -> Option<SandboxKind> {
        BUILT_IN.into_iter().find(|kind| kind.as_str() == self.0)
    }
}

impl<'de> Deserialize<'de> for ProfileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).ok_or_else(|| {
            de::Error::custom("a profile's name is made of 1 to 64 letters, digits, - and _")
        })
    }
}
