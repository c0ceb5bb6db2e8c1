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

    /// The kind of sandbox that a built-in name stands for.
    pub fn built_in(&self) -> Option<SandboxKind> {
        BUILT_IN.into_iter().find(|kind| kind.as_str() == self.0)
    }
}

impl<'de> Deserialize<'de> for ProfileName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(plain) {
            let said = "a profile's name is made of 1 to 64 letters, digits, - and _";
            return Err(de::Error::custom(said));
        }
        Ok(Self(name))
    }
}
