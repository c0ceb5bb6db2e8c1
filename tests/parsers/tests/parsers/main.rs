//! Every parser that a peer, a child or a file can feed, by what holds for any bytes: on the seeds
//! of the fuzz targets, on these with changes, and on what is made to take long. Shell text also beside bash.

// A test's way to fail is to panic, and its way to tell figures is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod bash;
mod change;
mod seeds;
mod slow;
