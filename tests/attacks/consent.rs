//! What a person has refused does not run, whatever an agent says.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
