//! A command in a workspace leaves nothing that somebody outside runs later.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
