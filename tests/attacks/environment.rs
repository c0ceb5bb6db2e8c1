//! A variable that makes a program run another one is part of what is asked.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
