//! The daemon end to end: the real binary, over its real socket, a fresh home for every test.
//!
//! One file for each thing that is promised; `support` is all that they share.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

#[path = "../support/mod.rs"]
mod support;

mod acp_create;
mod acp_environment;
mod acp_examples;
mod acp_kill;
mod acp_output;
mod acp_release;
mod acp_sessions;
mod acp_wait;
mod approval;
mod attacks;
mod audit;
mod audit_refusal;
mod audit_typing;
mod bad_clients;
mod closing;
mod commands;
mod confine;
mod confine_user;
mod database;
mod disk;
mod disk_floor;
mod end_causes;
mod gate;
mod hung_up;
mod idle;
mod native;
mod native_events;
mod native_io;
mod native_life;
mod native_plain;
mod other_uid;
mod peers;
mod pipes;
mod policy;
mod postgres;
mod protocol;
mod runtime_dir;
mod screen;
mod screen_replies;
mod screen_wait;
mod shell;
mod shell_manners;
mod stopping;
mod typing;
mod typing_programs;
mod typing_secrets;
mod waits;
mod waits_done;
mod waits_many;
