//! The seeds, as they are and changed.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use termd_parser_tests::{ALL, Property};

use crate::change::{Random, changed};

/// Changed seeds of each parser; `TERMD_PARSER_CASES` says otherwise.
const CASES: usize = 1_000;
/// Longest changed seed, in bytes: long ones have a test of their own.
const MAX_BYTES: usize = 4_096;

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/seeds")
        .join(name);
    let mut paths: Vec<_> = (fs::read_dir(&directory).unwrap().flatten())
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    assert!(
        paths.len() >= 5,
        "{} seeds in {}",
        paths.len(),
        directory.display()
    );
    paths
        .into_iter()
        .map(|path| fs::read(path).unwrap())
        .collect()
}

#[track_caller]
fn holds(name: &str, property: Property, bytes: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| property(bytes)));
    assert!(outcome.is_ok(), "{name} on \"{}\"", bytes.escape_ascii());
}

fn all_hold(name: &str) {
    let (_, property) = *ALL.iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    for seed in &seeds {
        holds(name, property, seed);
    }
    let cases = std::env::var("TERMD_PARSER_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    for case in 0..cases {
        let mut bytes = changed(&seeds, &mut Random::new(case as u64 + 1));
        bytes.truncate(MAX_BYTES);
        holds(name, property, &bytes);
    }
}

macro_rules! a_test_each {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            all_hold(stringify!($name));
        })*

        #[test]
        fn none_is_left_out() {
            assert_eq!(ALL.map(|(name, _)| name), [$(stringify!($name)),*]);
        }
    };
}

a_test_each!(
    acp, asciicast, code, config, control, marks, policy, redact, rpc, typed
);
