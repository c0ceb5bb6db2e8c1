//! The settings by which agents run termd's shells: one of each client, and its place.
//!
//! The paths and settings are from each client's documentation, and the tests of real clients use the same
//! ones but for VS Code's.

use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::clients::{Base, Client, Places, Scope};
use super::shells::{Shells, is_shell_path};
use super::value::Setting;
use super::{
    Action, Change, Edited, Fault, Outcome, SetupError, environments, file, restoring, shells,
    value,
};

/// The setting of one client.
#[derive(Debug)]
pub(crate) struct ShellEntry {
    client: &'static str,
    base: Base,
    /// The first file that exists, else the first.
    files: &'static [&'static str],
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The path of a shell at this place of JSON settings.
    Path(Syntax, &'static [&'static str]),
    /// A terminal profile with the path of a shell.
    Profile(&'static [&'static str]),
    /// An environment of Codex's.
    Environment,
    /// A script that starts the client.
    Launcher,
}

/// What a client's reader of JSON takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// JSON alone. A client that finds something else ignores the whole file, and does not say so.
    Json,
    /// Comments and trailing commas, too.
    JsonWithComments,
}

impl Syntax {
    /// Refuses a text that the client would not read.
    fn check(self, text: &str) -> Result<(), Fault> {
        let is_read_by_us = self == Self::JsonWithComments || text.trim().is_empty();
        match serde_json::from_str::<IgnoredAny>(text) {
            Err(error) if !is_read_by_us => Err(Fault {
                line: error.line(),
                column: error.column(),
                reason: "the client reads JSON without comments and trailing commas, and ignores a file \
                         with others"
                    .to_owned(),
            }),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

/// How an entry can be tried without its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// The client executes the shell.
    Shell,
    /// The client executes the shell, and it cannot be seen from here whether it does.
    Unseen,
    /// The client speaks with this program, which names the shell.
    ExecServer,
    /// The client is started by this program, and takes the shell from PATH.
    Launcher,
}

/// All of them.
const SHELL_ENTRIES: &[ShellEntry] = &[
    ShellEntry {
        client: "claude-code",
        base: Base::ClaudeFolder,
        files: &["settings.json"],
        kind: Kind::Path(Syntax::Json, &["env", "CLAUDE_CODE_SHELL"]),
    },
    ShellEntry {
        client: "codex",
        base: Base::Codex,
        files: &["environments.toml"],
        kind: Kind::Environment,
    },
    ShellEntry {
        client: "gemini",
        base: Base::Data,
        files: &["termd/launchers/gemini"],
        kind: Kind::Launcher,
    },
    ShellEntry {
        client: "opencode",
        base: Base::Config,
        files: &["opencode/opencode.json", "opencode/opencode.jsonc"],
        kind: Kind::Path(Syntax::JsonWithComments, &["shell"]),
    },
    ShellEntry {
        client: "vscode",
        base: Base::Config,
        files: &["Code/User/settings.json"],
        kind: Kind::Profile(&["terminal.integrated.agentHostProfile.linux"]),
    },
    ShellEntry {
        client: "vscode-insiders",
        base: Base::Config,
        files: &["Code - Insiders/User/settings.json"],
        kind: Kind::Profile(&["terminal.integrated.agentHostProfile.linux"]),
    },
];

impl ShellEntry {
    /// That of a client, if it takes a shell.
    pub(crate) fn of(client: &Client) -> Option<&'static Self> {
        SHELL_ENTRIES
            .iter()
            .find(|entry| entry.client == client.name)
    }

    /// The file that it is in.
    pub(crate) fn file(&self, places: &Places) -> Option<PathBuf> {
        self.base.file(places, self.files)
    }

    /// What a person still has to do for it to be used.
    pub(crate) fn hint(&self, path: &Path) -> Option<String> {
        let client = self.client;
        match self.kind {
            Kind::Launcher => {
                let folder = path.parent().unwrap_or(path).display();
                Some(format!(
                    "{client} is started with termd's shell by {}: put {folder} first on PATH, or make an alias",
                    path.display()
                ))
            }
            Kind::Path(..) | Kind::Profile(_) | Kind::Environment => None,
        }
    }

    /// Enters it in its file, or takes it out.
    pub(crate) fn apply(
        &self,
        path: &Path,
        shells: &Shells,
        termctl: &str,
        action: Action,
    ) -> Result<Outcome, SetupError> {
        let change = |change| Outcome {
            change,
            backup: None,
        };
        match (self.kind, action) {
            (Kind::Launcher, Action::Add) => shells.add_launcher(path, self.client).map(change),
            (Kind::Launcher, Action::Remove) => shells.remove_launcher(path).map(change),
            (_, Action::Add) => file::rewrite(path, Scope::User, |text| {
                self.edit(text, shells, termctl, action)
            }),
            (_, Action::Remove) => restoring(path, |text, action| {
                self.edit(text, shells, termctl, action)
            }),
        }
    }

    /// What the client is told of at present: the path of a shell of ours, or of the program that the
    /// entry is. `None` where there is none.
    pub(crate) fn entered(&self, path: &Path) -> Result<Option<PathBuf>, SetupError> {
        if let Kind::Launcher = self.kind {
            let is_there = shells::launcher_at(path)?.is_some();
            return Ok(is_there.then(|| path.to_owned()));
        }
        let text = file::text(path)?;
        let found = match self.kind {
            Kind::Environment => environments::found(&text),
            Kind::Path(syntax, names) => syntax
                .check(&text)
                .and_then(|()| value::found(&text, names))
                .map(|value| ours(value.as_ref())),
            Kind::Profile(names) => {
                let profile = value::found(&text, names);
                profile.map(|value| ours(value.as_ref().and_then(|value| value.get("path"))))
            }
            Kind::Launcher => Ok(None),
        };
        let found = found.map_err(|fault| SetupError::Text {
            path: path.to_owned(),
            fault,
        })?;
        Ok(found.map(PathBuf::from))
    }

    /// Why the entry cannot be entered in its file; `None`: it can.
    pub(crate) fn hindrance(&self, path: &Path, shells: &Shells) -> Option<String> {
        // Which termctl it names hinders nothing.
        let edited = self.edit(&file::text(path).ok()?, shells, "termctl", Action::Add);
        edited.err().map(|fault| fault.to_string())
    }

    /// How the entry is to be tried.
    pub(crate) fn trial(&self) -> Trial {
        match self.kind {
            Kind::Path(..) => Trial::Shell,
            Kind::Profile(_) => Trial::Unseen,
            Kind::Environment => Trial::ExecServer,
            Kind::Launcher => Trial::Launcher,
        }
    }

    /// The smallest file with the entry in it.
    pub(crate) fn fragment(&self, shells: &Shells, termctl: &str) -> String {
        match self.kind {
            Kind::Launcher => shells.launcher(self.client),
            _ => self
                .edit("", shells, termctl, Action::Add)
                .map_or_else(|fault| fault.to_string(), |edited| edited.text),
        }
    }

    /// The pure part of [`ShellEntry::apply`].
    pub(super) fn edit(
        &self,
        text: &str,
        shells: &Shells,
        termctl: &str,
        action: Action,
    ) -> Result<Edited, Fault> {
        let shell = shells.own();
        let shell = shell.to_string_lossy();
        let setting = match self.kind {
            Kind::Launcher => return Ok(Edited::unchanged(Change::NotThere, text)),
            Kind::Environment => {
                return match action {
                    Action::Add => environments::add(text, termctl),
                    Action::Remove => environments::remove(text),
                };
            }
            Kind::Path(syntax, path) => {
                if action == Action::Add {
                    syntax.check(text)?;
                }
                Setting {
                    path,
                    value: json!(shell),
                    is_ours: is_path_of_ours,
                }
            }
            Kind::Profile(path) => Setting {
                path,
                value: json!({ "path": shell }),
                is_ours: is_profile_of_ours,
            },
        };
        match action {
            Action::Add => setting.add(text),
            Action::Remove => setting.remove(text),
        }
    }
}

/// The clients that take a shell, for a person.
pub(crate) fn names() -> String {
    let names: Vec<&str> = SHELL_ENTRIES.iter().map(|entry| entry.client).collect();
    names.join(", ")
}

/// The path, if it is one of our shells.
fn ours(value: Option<&Value>) -> Option<String> {
    let value = value.filter(|value| is_path_of_ours(value))?;
    value.as_str().map(str::to_owned)
}

fn is_path_of_ours(value: &Value) -> bool {
    value.as_str().is_some_and(is_shell_path)
}

fn is_profile_of_ours(value: &Value) -> bool {
    value.get("path").is_some_and(is_path_of_ours)
}

#[cfg(test)]
mod tests {
    use super::super::restored;
    use super::*;

    const TERMCTL: &str = "/opt/termctl";

    fn shells() -> Shells {
        let places =
            Places::of_environment(|name| (name == "HOME").then(|| "/h".into()), "/".into());
        Shells::of(&places.unwrap(), Some(Path::new("/bin/zsh")))
    }

    fn entry(client: &str) -> &'static ShellEntry {
        SHELL_ENTRIES
            .iter()
            .find(|entry| entry.client == client)
            .unwrap()
    }

    fn edit(client: &str, text: &str, action: Action) -> Result<Edited, Fault> {
        entry(client).edit(text, &shells(), TERMCTL, action)
    }

    /// Before and after, byte for byte, and back.
    #[test]
    fn everything_else_stays_and_removing_undoes_adding() {
        let table = [
            (
                "claude-code",
                "",
                "{\n  \"env\": {\n    \"CLAUDE_CODE_SHELL\": \"/h/.local/share/termd/shells/zsh\"\n  }\n}\n",
            ),
            (
                "claude-code",
                "{\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t},\n\t\"model\":  \"x\"\n}",
                "{\n\t\"env\": {\n\t\t\"A\": \"1\",\n\t\t\"CLAUDE_CODE_SHELL\": \"/h/.local/share/termd/shells/zsh\"\n\t},\n\t\"model\":  \"x\"\n}",
            ),
            (
                "opencode",
                "// mine\n{\n  \"$schema\": \"s\", // s\n  \"share\": \"no\",\n}\n",
                "// mine\n{\n  \"$schema\": \"s\", // s\n  \"share\": \"no\",\n  \"shell\": \"/h/.local/share/termd/shells/zsh\",\n}\n",
            ),
            (
                "vscode",
                "{\r\n    \"a.b\": 1\r\n}\r\n",
                "{\r\n    \"a.b\": 1,\r\n    \"terminal.integrated.agentHostProfile.linux\": {\r\n        \"path\": \"/h/.local/share/termd/shells/zsh\"\r\n    }\r\n}\r\n",
            ),
            (
                "codex",
                "",
                "default = \"termd\"\ninclude_local = false\n\n[[environments]]\nid = \"termd\"\nprogram = \"/opt/termctl\"\nargs = [\"codex-exec-server\"]\n",
            ),
            (
                "codex",
                "# mine\n[[environments]]\nid = \"b\" # b\nurl = \"ws://b\"",
                "default = \"termd\"\ninclude_local = false\n# mine\n[[environments]]\nid = \"b\" # b\nurl = \"ws://b\"\n\n[[environments]]\nid = \"termd\"\nprogram = \"/opt/termctl\"\nargs = [\"codex-exec-server\"]",
            ),
            (
                "codex",
                "include_local = true\n",
                "default = \"termd\"\ninclude_local = true\n\n[[environments]]\nid = \"termd\"\nprogram = \"/opt/termctl\"\nargs = [\"codex-exec-server\"]\n",
            ),
        ];
        for (client, before, after) in table {
            let added = edit(client, before, Action::Add).unwrap();
            assert_eq!(added.text, after, "{client}");
            assert_eq!(added.change, Change::Added);
            let again = edit(client, after, Action::Add).unwrap();
            assert_eq!(again, Edited::unchanged(Change::AlreadyThere, after));
            // Also where no backup tells what was there.
            let removed = edit(client, after, Action::Remove).unwrap();
            assert_eq!(removed.change, Change::Removed);
            let is_made_by_us = before.is_empty();
            assert!(
                removed.text == before || is_made_by_us,
                "{client}: {}",
                removed.text
            );
            let edit = |text: &str, action| edit(client, text, action);
            let removed = restored(after, &[before.to_owned()], &edit).unwrap();
            assert_eq!(removed.text, before, "{client}");
            let gone = restored(before, &[], &edit).unwrap();
            assert_eq!(gone, Edited::unchanged(Change::NotThere, before));
        }
    }

    /// An object that was empty is empty again, where the text before is known.
    #[test]
    fn the_bytes_before_are_restored_only_if_nothing_else_has_changed() {
        let edit = |text: &str, action| edit("claude-code", text, action);
        let before = "{\n  \"env\": { }\n}\n";
        let after = edit(before, Action::Add).unwrap().text;
        let backups = ["{}".to_owned(), before.to_owned()];
        assert_eq!(restored(&after, &backups, &edit).unwrap().text, before);
        let changed = after.replace("{\n  \"env\"", "{\n  \"a\": 1,\n  \"env\"");
        let removed = restored(&changed, &backups, &edit).unwrap();
        assert_eq!(removed.text, "{\n  \"a\": 1\n}\n");
        // The text of a backup with the entry in it is no text before the entry.
        let removed = restored(&after, std::slice::from_ref(&after), &edit).unwrap();
        assert_eq!(removed.change, Change::Removed);
        assert!(!removed.text.contains("SHELL"), "{}", removed.text);
    }

    #[test]
    fn what_a_person_has_set_stays() {
        let table = [
            (
                "claude-code",
                "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/bin/zsh\"}}",
                "1:31: env.CLAUDE_CODE_SHELL is set to something else",
            ),
            (
                "claude-code",
                "{\"env\": 3}",
                "1:9: \"env\" is not an object",
            ),
            (
                "claude-code",
                "{\n  // mine\n}",
                "2:3: the client reads JSON without comments",
            ),
            (
                "opencode",
                "{\n  \"shell\": \"/opt/termd/bash\"\n}",
                "2:12: shell is set",
            ),
            (
                "opencode",
                "{\"shell\": \"a\", \"shell\": \"b\"}",
                "\"shell\" is there twice",
            ),
            (
                "vscode",
                "{\"terminal.integrated.agentHostProfile.linux\": \"mine\"}",
                "is set to something else",
            ),
            (
                "codex",
                "default = \"other\"\n",
                "1:11: default is set to something else",
            ),
            (
                "codex",
                "[[environments]]\nid = \"termd\"\nprogram = \"/x\"\n",
                "somebody else's",
            ),
            (
                "codex",
                "environments = [{id = \"a\", url = \"ws://a\"}]\n",
                "cannot be added to",
            ),
            ("codex", "a = \n", "1:"),
        ];
        for (client, text, want) in table {
            let fault = edit(client, text, Action::Add).unwrap_err().to_string();
            assert!(fault.contains(want), "{text}: {fault}");
            if let Ok(removed) = edit(client, text, Action::Remove) {
                assert_eq!(removed, Edited::unchanged(Change::NotThere, text));
            }
        }
    }

    #[test]
    fn an_entry_of_an_older_termctl_is_mended() {
        let table = [
            (
                "claude-code",
                "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/old/termd/shells/bash\", \"B\": \"\"}}",
                "{\"env\": {\"CLAUDE_CODE_SHELL\": \"/h/.local/share/termd/shells/zsh\", \"B\": \"\"}}",
            ),
            (
                "codex",
                "default = \"termd\"\n\n[[environments]]\nid = \"termd\"\nprogram = \"/old/termctl\"\nargs = []\nx = 1\n",
                "default = \"termd\"\n\n[[environments]]\nid = \"termd\"\nprogram = \"/opt/termctl\"\nargs = []\nx = 1\n",
            ),
        ];
        for (client, before, after) in table {
            let edited = edit(client, before, Action::Add).unwrap();
            assert_eq!(
                (edited.change, edited.text.as_str()),
                (Change::Updated, after)
            );
        }
    }

    /// Whatever is cut off a file, there is an edit or a fault; no panic.
    #[test]
    fn cut_texts_are_refused_or_edited_and_never_panic() {
        let json = "// é\n{\n\t\"a\": [1, {\"b\": null,}], /* ü */ \"env\": {\"x\": \"y\"},\n}\n";
        let toml =
            "# é\na = [1, {b = 'ü'}]\ninclude_local = true\n[[environments]]\nid = \"\"\"q\"\"\"\n";
        for (client, text) in [("opencode", json), ("codex", toml)] {
            for cut in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let part = &text[..cut];
                if let Ok(edited) = edit(client, part, Action::Add) {
                    let again = edit(client, &edited.text, Action::Add).unwrap();
                    assert_eq!(again.change, Change::AlreadyThere, "{part:?}");
                    edit(client, &edited.text, Action::Remove).unwrap();
                }
            }
        }
    }
}
