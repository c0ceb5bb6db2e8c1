//! A rule holds for every spelling of what it names.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
