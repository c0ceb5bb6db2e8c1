//! The hooks by which agents ask the gate about their commands, and say that they wait or are done: those
//! of each client, and their file.
//!
//! The paths, events and forms are from each client's documentation. Codex has none here: it runs a hook
//! only once a person has trusted it there, and takes no question from one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::clients::{Base, Client, Places, Scope};
use super::list_item::ListItem;
use super::value::{self, Setting};
use super::{Action, Change, Edited, Fault, Outcome, SetupError, file, restoring};

/// The verb of the program that the hooks run.
const VERB: &str = " hook ";

/// The hooks of one client.
#[derive(Debug)]
pub(crate) struct HookEntry {
    client: &'static str,
    base: Base,
    file: &'static str,
    /// The client's name as an argument of `termctl hook`.
    agent: &'static str,
    /// The event, and the tool that it is for.
    events: &'static [(&'static str, Option<&'static str>)],
    form: Form,
}

/// How a client writes its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `{matcher?, hooks: [{type: command, command}]}`.
    Grouped,
    /// `{command}`, in a file that has a version.
    Plain,
}

/// All of them.
const HOOK_ENTRIES: &[HookEntry] = &[
    HookEntry {
        client: "claude-code",
        base: Base::ClaudeFolder,
        file: "settings.json",
        agent: "claude",
        events: &[
            ("PreToolUse", Some("Bash")),
            ("Notification", None),
            ("Stop", None),
        ],
        form: Form::Grouped,
    },
    HookEntry {
        client: "gemini",
        base: Base::Home,
        file: ".gemini/settings.json",
        agent: "gemini",
        events: &[
            ("BeforeTool", Some("run_shell_command")),
            ("Notification", None),
            ("AfterAgent", None),
        ],
        form: Form::Grouped,
    },
    HookEntry {
        client: "cursor",
        base: Base::Home,
        file: ".cursor/hooks.json",
        agent: "cursor",
        events: &[("beforeShellExecution", None), ("stop", None)],
        form: Form::Plain,
    },
];

impl HookEntry {
    /// Those of a client, if it has hooks that ask.
    pub(crate) fn of(client: &Client) -> Option<&'static Self> {
        HOOK_ENTRIES
            .iter()
            .find(|entry| entry.client == client.name)
    }

    /// The file that they are in.
    pub(crate) fn file(&self, places: &Places) -> Option<PathBuf> {
        self.base.file(places, &[self.file])
    }

    /// Enters them in their file, or takes them out.
    pub(crate) fn apply(
        &self,
        path: &Path,
        termctl: &str,
        action: Action,
    ) -> Result<Outcome, SetupError> {
        match action {
            Action::Add => {
                file::rewrite(path, Scope::User, |text| self.edit(text, termctl, action))
            }
            Action::Remove => restoring(path, |text, action| self.edit(text, termctl, action)),
        }
    }

    /// The smallest file with them in it.
    pub(crate) fn fragment(&self, termctl: &str) -> String {
        self.edit("", termctl, Action::Add)
            .map_or_else(|fault| fault.to_string(), |edited| edited.text)
    }

    /// The pure part of [`HookEntry::apply`].
    fn edit(&self, text: &str, termctl: &str, action: Action) -> Result<Edited, Fault> {
        let mut edited = self.with_version(text, action)?;
        for (event, tool) in self.events {
            let item = ListItem {
                container: "hooks",
                list: event,
                item: self.item(termctl, *tool),
                is_ours,
            };
            let next = match action {
                Action::Add => item.add(&edited.text)?,
                Action::Remove => item.remove(&edited.text)?,
            };
            let is_first = !edited.change.writes();
            let change = if is_first { next.change } else { edited.change };
            edited = Edited { change, ..next };
        }
        Ok(edited)
    }

    /// The text with the version that a new file of plain hooks needs.
    fn with_version(&self, text: &str, action: Action) -> Result<Edited, Fault> {
        let path: &[&str] = &["version"];
        let is_due = self.form == Form::Plain && action == Action::Add;
        if !is_due || value::found(text, path)?.is_some() {
            return Ok(Edited::unchanged(Change::AlreadyThere, text));
        }
        let version = Setting {
            path,
            value: json!(1),
            is_ours: |_| false,
        };
        version.add(text)
    }

    fn item(&self, termctl: &str, tool: Option<&str>) -> Value {
        let program = shlex::try_quote(termctl).unwrap_or_default();
        let command = format!("{program}{VERB}{}", self.agent);
        match (self.form, tool) {
            (Form::Plain, _) => json!({ "command": command }),
            (Form::Grouped, None) => {
                json!({ "hooks": [{ "type": "command", "command": command }] })
            }
            (Form::Grouped, Some(tool)) => {
                json!({ "matcher": tool, "hooks": [{ "type": "command", "command": command }] })
            }
        }
    }
}

/// The clients that have hooks, for a person.
pub(crate) fn names() -> String {
    let names: Vec<&str> = HOOK_ENTRIES.iter().map(|entry| entry.client).collect();
    names.join(", ")
}

/// Whether a hook runs `termctl hook`, and nothing else.
fn is_ours(hook: &Value) -> bool {
    let runs_ours = |hook: &Value| {
        let words = hook["command"].as_str().and_then(shlex::split);
        words.is_some_and(|words| match words.as_slice() {
            [program, verb, _] => {
                let name = Path::new(program).file_name();
                name.is_some_and(|name| name == "termctl") && verb == VERB.trim()
            }
            _ => false,
        })
    };
    match hook["hooks"].as_array() {
        Some(hooks) => !hooks.is_empty() && hooks.iter().all(runs_ours),
        None => runs_ours(hook),
    }
}

#[cfg(test)]
mod tests {
    use super::super::restored;
    use super::*;

    const TERMCTL: &str = "/opt/a b/termctl";

    #[test]
    fn each_client_gets_its_hooks_and_every_byte_back() {
        let theirs = "{ \"hooks\": { \"PreToolUse\": [{ \"matcher\": \"Write\", \"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }] }] } }\n";
        for entry in HOOK_ENTRIES {
            for before in ["", "{}\n", "{\r\n\t\"a\": 1, // one\r\n}", theirs] {
                let edit = |text: &str, action| entry.edit(text, TERMCTL, action);
                let added = edit(before, Action::Add).unwrap();
                assert_eq!(added.change, Change::Added, "{before}");
                assert_eq!(
                    added.text.matches("termctl' hook").count(),
                    entry.events.len()
                );
                let again = edit(&added.text, Action::Add).unwrap();
                assert_eq!(again.change, Change::AlreadyThere, "{}", added.text);
                let earlier = [before.to_owned()];
                let gone = restored(&added.text, &earlier, &edit).unwrap();
                assert_eq!((gone.change, gone.text.as_str()), (Change::Removed, before));
                let moved = entry
                    .edit(&added.text, "/usr/bin/termctl", Action::Add)
                    .unwrap();
                assert_eq!(moved.change, Change::Updated);
                assert!(!moved.text.contains(TERMCTL), "{}", moved.text);
            }
        }
    }

    #[test]
    fn a_hook_of_somebody_else_s_is_none_of_ours() {
        for command in [
            "/x/termctl hook claude; rm x",
            "termctl mcp",
            "x hook claude",
        ] {
            assert!(!is_ours(&json!({ "command": command })), "{command}");
        }
        let both = json!({ "hooks": [{ "command": "termctl hook claude" }, { "command": "x" }] });
        assert!(!is_ours(&both));
        assert!(is_ours(&json!({ "command": "'/a b/termctl' hook cursor" })));
    }
}
