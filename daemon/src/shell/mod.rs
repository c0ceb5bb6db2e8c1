//! Shell integration: interactive shells report where prompts, command lines and output begin.
//!
//! The binary has scripts for bash, zsh, fish and dash. The server writes them below the runtime directory
//! at its start ([`files`]), and arguments and environment of the shells that termd starts switch them
//! on ([`inject`], pure). They print `FinalTerm`'s OSC 133 A, B, C and D, VS Code's OSC 633;E with the
//! command line and the terminal's [`ShellNonce`], and OSC 7.
//!
//! How each shell is switched on:
//! - **bash**: `--init-file` replaces `~/.bashrc`, which the script then reads. Bash still reads the
//!   system's bashrc from a path that was compiled in. A login shell ignores `--init-file`, and
//!   without `-l` its `login_shell`, `$0` and `~/.bash_logout` would change. So it gets `--posix` and
//!   `ENV`: the script leaves posix mode and reads the login files as bash(1) describes. Hooks: one in
//!   `PROMPT_COMMAND` before the user's, and the ends of PS0 and PS1. The DEBUG trap is the user's.
//! - **zsh**: `ZDOTDIR` leads to termd's `.zshenv`, which restores it; zsh finds all further files
//!   itself. Hooks: `precmd_functions` and `preexec_functions`. While a command runs,
//!   `PROMPT_EOL_MARK` begins with D, because zsh prints it before its first hook.
//! - **fish**: `XDG_DATA_DIRS` leads to a vendor snippet, which restores it. Hooks: fish's events. No
//!   function of the user's is changed, so there is no B.
//! - **dash**: `ENV` leads to a script, which restores it and reads the user's. There are no hooks: PS1
//!   and PS2, which dash expands each time, print D with `$?`, A, and I, after which the line feed that
//!   the tty echoes begins the output (Per Bothner's semantic prompts). There is no command line.
//!
//! The user's files are read as without the integration and never written. Prompt, hooks, traps, `$?`
//! and history stay the user's. Every variable of termd's is unset before the user's first prompt, and
//! the nonce before the user's own files are read. (In fish, files of `conf.d` that sort before vendor
//! snippets see the nonce, as do the system's `/etc/bash.bashrc` and `/etc/zsh/zshenv`.) A shell that
//! is not certainly one of these is left alone, and so is every shell inside a shell.
//!
//! The text of a command line comes from the shell, never from the screen: text that is typed while
//! ECHO is off is never taken for a command line. A line that begins with a space is delimited by its
//! marks, without its text. Nor is a text sent that bash cannot be sure of: with `ignorespace` and
//! `ignoredups` both in HISTCONTROL, a line that its history did not take.
//!
//! **Invariant:** nothing here knows a terminal, the database, or the use of a mark.

pub mod files;
pub mod inject;
mod nonce;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;

use termd_proto::acp::Meta;

pub use files::{FilesError, ShellFiles};
pub use inject::{Injection, Settings, injection};
pub use nonce::ShellNonce;

/// The member of `_meta` that is termd's.
const META_KEY: &str = "termd";
/// The member of it that switches the integration off for one terminal.
const META_SWITCH: &str = "shell_integration";

/// Whether the creator of a terminal left the integration on: `_meta.termd.shell_integration` is
/// not `false`.
pub fn is_wanted(meta: Option<&Meta>) -> bool {
    let switch = meta
        .and_then(|meta| meta.get(META_KEY))
        .and_then(|ours| ours.get(META_SWITCH));
    switch != Some(&serde_json::Value::Bool(false))
}

/// Switches the integration on in the arguments and environment of a shell that has one. Returns the
/// nonce of its command lines, where it tells them.
pub fn integrate(
    files: &ShellFiles,
    argv: &mut Vec<String>,
    env: &mut BTreeMap<OsString, OsString>,
) -> io::Result<Option<ShellNonce>> {
    let nonce = ShellNonce::random()?;
    let settings = Settings {
        files,
        nonce: &nonce,
    };
    let Some(injection) = injection(argv, env, settings) else {
        return Ok(None);
    };
    *argv = injection.argv;
    for name in &injection.env_unset {
        env.remove(name);
    }
    env.extend(injection.env_set);
    Ok(injection.signs_lines.then_some(nonce))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_plain_false_switches_it_off() {
        let table = [
            (json!({}), true),
            (json!({ "termd": { "shell_integration": false } }), false),
            (json!({ "termd": { "shell_integration": true } }), true),
            (json!({ "termd": { "shell_integration": "false" } }), true),
            (json!({ "termd": false }), true),
            (json!({ "shell_integration": false }), true),
        ];
        for (meta, wanted) in table {
            assert_eq!(is_wanted(meta.as_object()), wanted, "{meta}");
        }
        assert!(is_wanted(None));
    }
}
