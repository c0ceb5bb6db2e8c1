//! What an agent does is an agent's, wherever its processes work.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
