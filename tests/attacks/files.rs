//! What a front does to files is done by the daemon: judged, confined and recorded.

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[];
