//! Where walls are tried: a user's home with a workspace, secrets and a keeper.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{TestKeeper, User};

/// A user's home with a workspace in it, and what a sandbox makes of it.
pub(crate) struct Ground {
    pub(crate) keeper: TestKeeper,
    pub(crate) work: PathBuf,
}

impl Ground {
    pub(crate) fn new(user: User) -> Self {
        let keeper = TestKeeper::start_as(user);
        let home = fs::canonicalize(keeper.home.path()).unwrap();
        let work = home.join("project");
        let ground = Self { keeper, work };
        for directory in [
            "project",
            "project/.git",
            "project/.git/hooks",
            "project/src",
            ".secret",
            "other",
        ] {
            ground.directory(&home.join(directory));
        }
        ground.file("project/file", "text");
        ground.file("project/.git/config", "[core]\n");
        ground.file("project/.git/hooks/pre-commit", "#!/bin/sh\n");
        ground.file("project/.env", "PASSWORD=hidden");
        ground.file(".secret/key", "the key");
        ground.file("other/file", "text");
        ground.file(".profile", "umask 022\n");
        ground
    }

    pub(crate) fn home(&self) -> &Path {
        self.work.parent().unwrap()
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.home().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn directory(&self, path: &Path) {
        fs::create_dir(path).unwrap();
        self.keeper.home.give(path);
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.home().join(name);
        fs::write(&path, text).unwrap();
        self.keeper.home.give(&path);
    }

    /// A workspace with its hooks and settings protected, secrets hidden, no network.
    pub(crate) fn workspace(&self) -> Value {
        json!({ "sandbox": {
            "writable": [self.at("project")],
            "protected": [
                [self.at("project/.git/hooks"), "directory"],
                [self.at("project/.git/config"), "leave"],
                [self.at("project/deep/er/.agent"), "directory"],
                [self.at("project/.mcp.json"), "file"],
                [self.at("project/none"), "leave"],
                [self.at(".profile"), "leave"],
            ],
            "hidden": [self.at(".secret"), self.at("project/.env"), self.at("no/such")],
        }})
    }

    /// What became of each try.
    pub(crate) fn try_all(&self, confinement: &Value, tries: &[Vec<String>]) -> Vec<String> {
        let program = self.keeper.home.program();
        let tries = json!(tries).to_string();
        let argv = [program.to_str().unwrap(), "--attack", &tries];
        let (id, answer) = self.keeper.try_confined(&argv, &self.work, confinement);
        assert!(answer.is_number(), "{answer}");
        let output = self.keeper.output(&id, "");
        assert!(output.ends_with("tried all\n"), "{output}");
        output.lines().map(str::to_owned).collect()
    }

    /// Tries what is before each `=` (its words parted by a space, `~` for the home), and compares
    /// with one of the results behind it.
    pub(crate) fn expect(&self, user: User, confinement: &Value, table: &[&str]) {
        let rows: Vec<(Vec<String>, &str)> = table
            .iter()
            .map(|row| {
                let (words, results) = row.split_once(" = ").unwrap();
                let home = self.home().to_str().unwrap();
                let words = words.split(' ').map(|word| word.replace('~', home));
                (words.collect(), results)
            })
            .collect();
        let tries: Vec<Vec<String>> = rows.iter().map(|(words, _)| words.clone()).collect();
        let lines = self.try_all(confinement, &tries);
        let mut wrong = Vec::new();
        for ((_, expected), line) in rows.iter().zip(&lines) {
            let (_, result) = line.rsplit_once(" = ").unwrap();
            if !expected.split('|').any(|one| one == result) {
                wrong.push(format!("{line}, and not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "as {user:?}: {wrong:#?}");
    }
}
