//! The record holds what ran, and no secret.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
