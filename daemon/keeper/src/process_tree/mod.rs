//! A terminal's processes: finding them, and ending all of them.
//!
//! `procfs` reads the processes below the keeper, `membership` says which terminal each belongs to,
//! and a [`Scan`] is the outcome of both. A `TreeKill` is the state machine that ends one tree;
//! the [`TreeKiller`] runs all of them.

mod membership;
mod procfs;
mod scan;
mod tree_kill;
mod tree_killer;

pub(crate) use self::membership::{Excluded, Identity, encode_device};
pub(crate) use self::procfs::{name, own_children, read_process, start_time};
pub(crate) use self::scan::RootGroup;
pub(crate) use self::scan::{Scan, Tree, TreeId, signal_process};
pub(crate) use self::tree_killer::{RequestNumber, TreeKiller};
