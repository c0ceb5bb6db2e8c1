//! Which limits of a scope hold for a command.

use std::fmt;

use termd_proto::terminal::{Confinement, MissingWall, ScopeLimits};

use crate::scope::ScopeLimit;

/// The limits of a scope that hold, and those that do not, with the reason.
#[derive(Debug, Default)]
pub(crate) struct ScopeEnforcement {
    pub(super) held: Vec<ScopeLimit>,
    pub(super) missing: Vec<(ScopeLimit, String)>,
}

impl ScopeEnforcement {
    /// None of the limits holds.
    pub(crate) fn nothing(limits: &ScopeLimits, reason: &impl fmt::Display) -> Self {
        let missing = ScopeLimit::requested(limits).into_iter();
        Self {
            held: Vec::new(),
            missing: missing.map(|wall| (wall, reason.to_string())).collect(),
        }
    }

    /// The first limit that does not hold.
    pub(crate) fn first_missing(&self) -> Option<&(ScopeLimit, String)> {
        self.missing.first()
    }

    /// What is known of a command's confinement, with this.
    pub(crate) fn added_to(self, confinement: Option<Confinement>) -> Option<Confinement> {
        let mut confinement = confinement?;
        let held = self.held.iter().map(|wall| wall.name().to_owned());
        confinement.held.extend(held);
        let missing = self.missing.into_iter().map(|(wall, reason)| MissingWall {
            wall: wall.name().to_owned(),
            reason,
        });
        confinement.missing.extend(missing);
        Some(confinement)
    }
}
