//! A line that starts termctl is judged as what termctl would do.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
