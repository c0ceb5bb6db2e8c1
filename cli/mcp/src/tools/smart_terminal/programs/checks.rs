//! The checks of a run's success by `terminal_run`'s parameters: an exit code, and a file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use regex::Regex;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::tool::ToolError;
use crate::tools::smart_terminal::output::pattern::check_pattern;
use crate::tools::smart_terminal::results::bad;

/// The most bytes of a file that are searched for a pattern.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The conditions of a run's success.
#[derive(Debug)]
pub(crate) struct Checks {
    /// The exit code of success. `None`: any.
    expected: Option<i64>,
    file: Option<(String, Option<Regex>)>,
}

impl Checks {
    /// The checks that the parameters name.
    pub(crate) fn new(
        expected: Option<i64>,
        file: Option<String>,
        pattern: Option<&str>,
    ) -> Result<Self, ToolError> {
        let pattern = pattern
            .map(|pattern| check_pattern(pattern, "successFilePattern"))
            .transpose()?;
        let file = match (file, pattern) {
            (Some(file), pattern) => Some((file, pattern)),
            (None, None) => None,
            (None, Some(_)) => {
                return Err(bad("successFilePattern is of use with successFile only"));
            }
        };
        Ok(Self { expected, file })
    }

    /// Judges a run. Returns the fields of the result too, of which a plain run has none.
    pub(crate) fn judge(&self, exit_code: Option<i64>, cwd: &Path) -> (bool, Map<String, Value>) {
        let exited_well = match self.expected {
            None => exit_code.is_some(),
            expected => exit_code == expected,
        };
        let mut said = Map::new();
        if self.expected.is_none() {
            said.insert("exitCodeIgnored".to_owned(), true.into());
        }
        if self.expected == Some(0) && self.file.is_none() {
            return (exited_well, said);
        }
        let mut checks = Map::new();
        let of_exit = json!({ "ok": exited_well, "expected": self.expected, "actual": exit_code });
        checks.insert("exitCode".to_owned(), of_exit);
        let mut ok = exited_well;
        if let Some((path, pattern)) = &self.file {
            let looked = look(&cwd.join(path), pattern.as_ref());
            let matched = looked.is_ok();
            let mut of_file = json!({ "path": path, "matched": matched });
            if let (Err(problem), Some(of_file)) = (looked, of_file.as_object_mut()) {
                of_file.insert("error".to_owned(), problem.to_string().into());
            }
            ok &= matched;
            checks.insert("successFile".to_owned(), of_file);
        }
        said.insert("checks".to_owned(), checks.into());
        (ok, said)
    }
}

/// Why a file does not mean success.
#[derive(Debug, Error)]
enum FileProblem {
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("it is not a file")]
    NoFile,
    #[error("the pattern does not match")]
    NoMatch,
}

/// Checks that the file is there and holds the pattern.
fn look(path: &Path, pattern: Option<&Regex>) -> Result<(), FileProblem> {
    let metadata = std::fs::metadata(path)?;
    let Some(pattern) = pattern else {
        return Ok(());
    };
    // A read of a FIFO would wait for a writer.
    if !metadata.is_file() {
        return Err(FileProblem::NoFile);
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES)
        .read_to_end(&mut bytes)?;
    if pattern.is_match(&String::from_utf8_lossy(&bytes)) {
        Ok(())
    } else {
        Err(FileProblem::NoMatch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_is_what_the_parameters_say() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("log"), "all\nhi there\n").unwrap();
        let judge = |expected, file: Option<&str>, pattern, exit_code| {
            let checks = Checks::new(expected, file.map(str::to_owned), pattern).unwrap();
            checks.judge(exit_code, folder.path()).0
        };
        let table = [
            (Some(0), None, None, Some(0), true),
            (Some(0), None, None, Some(1), false),
            (Some(0), None, None, None, false),
            (Some(3), None, None, Some(3), true),
            (None, None, None, Some(9), true),
            (None, None, None, None, false),
            (Some(0), Some("log"), None, Some(0), true),
            (Some(0), Some("log"), Some("^hi"), Some(0), true),
            (Some(0), Some("log"), Some("^ho"), Some(0), false),
            (Some(0), Some("none"), None, Some(0), false),
            (Some(0), Some("log"), Some("^hi"), Some(1), false),
        ];
        for (expected, file, pattern, exit_code, want) in table {
            let ok = judge(expected, file, pattern, exit_code);
            assert_eq!(ok, want, "{expected:?} {file:?} {pattern:?} {exit_code:?}");
        }
        assert!(Checks::new(Some(0), None, Some("x")).is_err());
        assert!(Checks::new(Some(0), Some("log".to_owned()), Some("(")).is_err());
    }

    #[test]
    fn the_words_are_the_original_s() {
        let checks = Checks::new(None, None, None).unwrap();
        let (_, said) = checks.judge(Some(1), Path::new("/"));
        assert_eq!(
            json!(said),
            json!({
                "exitCodeIgnored": true,
                "checks": { "exitCode": { "ok": true, "expected": null, "actual": 1 } },
            })
        );
        let plain = Checks::new(Some(0), None, None).unwrap();
        assert!(plain.judge(Some(0), Path::new("/")).1.is_empty());
    }
}
