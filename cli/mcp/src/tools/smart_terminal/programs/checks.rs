//! The checks of a run's success by `terminal_run`'s parameters: an exit code, and a file.

use serde_json::{Map, Value, json};
use termd_client::ClientError;
use termd_proto::file::SearchFile;
use termd_proto::{TerminalId, TerminalRef};

use crate::tool::{Call, ToolError};
use crate::tools::smart_terminal::files::failed::detail;
use crate::tools::smart_terminal::output::pattern::check_pattern;
use crate::tools::smart_terminal::results::bad;

/// The conditions of a run's success.
#[derive(Debug)]
pub(crate) struct Checks {
    /// The exit code of success. `None`: any.
    expected: Option<i64>,
    file: Option<SuccessFile>,
}

/// A file that a pattern has to match after a run.
#[derive(Debug)]
pub(crate) struct SuccessFile {
    path: String,
    pattern: String,
}

/// What was found out about the file: why it does not mean success, where it does not.
pub(crate) type FileCheck = Result<(), String>;

impl SuccessFile {
    /// Looks for it, as the run's own command would see it.
    pub(super) async fn check(&self, call: &Call, id: &TerminalId) -> FileCheck {
        let request = SearchFile {
            id: TerminalRef::from(id),
            path: self.path.clone(),
            pattern: Some(self.pattern.clone()),
            confirmed: None,
        };
        let found = call.backend().pool().repeat(&request).await;
        match found.map_err(|error: ClientError| detail(&error).unwrap_or(error.to_string())) {
            Ok(found) if found.matched => Ok(()),
            Ok(_) => Err("the pattern does not match".to_owned()),
            Err(problem) => Err(problem),
        }
    }
}

impl Checks {
    /// The checks that the parameters name.
    pub(crate) fn new(
        expected: Option<i64>,
        file: Option<String>,
        pattern: Option<&str>,
    ) -> Result<Self, ToolError> {
        if let Some(pattern) = pattern {
            check_pattern(pattern, "successFilePattern")?;
        }
        let file = match (file, pattern) {
            (Some(path), Some(pattern)) => Some(SuccessFile {
                path,
                pattern: pattern.to_owned(),
            }),
            (None, None) => None,
            // Without a pattern an old file would count as the run's success.
            (Some(_), None) | (None, Some(_)) => {
                return Err(bad(
                    "successFile and successFilePattern must be provided together.",
                ));
            }
        };
        Ok(Self { expected, file })
    }

    /// The file that has to be there.
    pub(crate) fn file(&self) -> Option<&SuccessFile> {
        self.file.as_ref()
    }

    /// Judges a run. Returns the fields of the result too, of which a plain run has none.
    pub(crate) fn judge(
        &self,
        exit_code: Option<i64>,
        of_file: Option<FileCheck>,
    ) -> (bool, Map<String, Value>) {
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
        if let (Some(file), Some(found)) = (&self.file, of_file) {
            let matched = found.is_ok();
            let mut of_file = json!({ "path": file.path, "matched": matched });
            if let (Err(problem), Some(of_file)) = (found, of_file.as_object_mut()) {
                of_file.insert("error".to_owned(), problem.into());
            }
            ok &= matched;
            checks.insert("successFile".to_owned(), of_file);
        }
        said.insert("checks".to_owned(), checks.into());
        (ok, said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_is_what_the_parameters_say() {
        let table = [
            (Some(0), None, Some(0), true),
            (Some(0), None, Some(1), false),
            (Some(0), None, None, false),
            (Some(3), None, Some(3), true),
            (None, None, Some(9), true),
            (None, None, None, false),
            (Some(0), Some(Ok(())), Some(0), true),
            (Some(0), Some(Err("no match".to_owned())), Some(0), false),
            (Some(0), Some(Ok(())), Some(1), false),
        ];
        for (expected, found, exit_code, want) in table {
            let file = found.as_ref().map(|_| "log".to_owned());
            let pattern = file.as_ref().map(|_| "x");
            let checks = Checks::new(expected, file, pattern).unwrap();
            let ok = checks.judge(exit_code, found.clone()).0;
            assert_eq!(ok, want, "{expected:?} {found:?} {exit_code:?}");
        }
        assert!(Checks::new(Some(0), None, Some("x")).is_err());
        assert!(Checks::new(Some(0), Some("log".to_owned()), None).is_err());
        assert!(Checks::new(Some(0), Some("log".to_owned()), Some("(")).is_err());
    }

    #[test]
    fn the_words_are_the_original_s() {
        let checks = Checks::new(None, None, None).unwrap();
        let (_, said) = checks.judge(Some(1), None);
        assert_eq!(
            json!(said),
            json!({
                "exitCodeIgnored": true,
                "checks": { "exitCode": { "ok": true, "expected": null, "actual": 1 } },
            })
        );
        let plain = Checks::new(Some(0), None, None).unwrap();
        assert!(plain.judge(Some(0), None).1.is_empty());
    }
}
