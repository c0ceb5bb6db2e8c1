//! Shell integration: interactive shells say where prompts, command lines and output begin.
//!
//! Scripts for bash, zsh and fish are shipped in the binary, written below the runtime directory
//! at the server's start ([`files`]), and switched on by arguments and environment of the shells
//! that termd starts ([`inject`], pure). They print `FinalTerm`'s OSC 133 A, B, C and D, VS Code's
//! OSC 633;E with the command line and the terminal's [`ShellNonce`], and OSC 7.
//!
//! How each is switched on, and why so:
//! - **bash**: `--init-file`, which bash reads in place of `~/.bashrc`; the script reads that.
//!   Bash itself goes on reading the system's bashrc where it was compiled to, which nobody can
//!   know from outside. A login shell ignores `--init-file`; dropping `-l` would change
//!   `login_shell`, `$0` and `~/.bash_logout`. So it gets `--posix` and `ENV`: the script leaves
//!   posix mode and reads the login files as bash(1) says. Hooks: one in `PROMPT_COMMAND` before
//!   the user's, and the ends of PS0 and PS1. No DEBUG trap: that is the user's.
//! - **zsh**: `ZDOTDIR` leads to our `.zshenv`, which puts it back; zsh finds all further files
//!   itself. Hooks: `precmd_functions` and `preexec_functions`; and while a command runs,
//!   `PROMPT_EOL_MARK` begins with D, for zsh prints that one before its first hook.
//! - **fish**: `XDG_DATA_DIRS` leads to a vendor snippet, which puts it back. Hooks: fish's
//!   events; no function of the user's is touched, and so there is no B.
//!
//! It promises: the user's files are read as ever and never written; prompt, hooks, traps, `$?`
//! and history stay the user's; every variable of ours is gone before the user's first prompt, the
//! nonce before the user's own files are read (in fish: those of `conf.d` that sort before vendor
//! snippets see it, as the system's own `/etc/bash.bashrc` and `/etc/zsh/zshenv` do). A shell that
//! is not understood for certain is left alone, and so is every shell inside a shell.
//!
//! The command line's text comes from the shell, never from the screen: what is typed while ECHO is
//! off is no command line and is never taken for one. A line that begins with a space is delimited
//! by its marks, and its text is not sent. Nor is a text that bash cannot be sure of: with
//! `ignorespace` and `ignoredups` both in HISTCONTROL, a line that its history did not take.
//!
//! It must not know: terminals, the database, what a mark is good for.

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

/// The member of `_meta` that holds what is termd's.
const META_KEY: &str = "termd";
/// The member of that which switches the integration off for one terminal.
const META_SWITCH: &str = "shell_integration";

/// Whether the creator of a terminal left the integration on: `_meta.termd.shell_integration` is
/// not `false`.
pub fn is_wanted(meta: Option<&Meta>) -> bool {
    let switch = meta
        .and_then(|meta| meta.get(META_KEY))
        .and_then(|ours| ours.get(META_SWITCH));
    switch != Some(&serde_json::Value::Bool(false))
}

/// Switches the integration on in arguments and environment, where they are those of a shell that
/// has it. Gives the nonce that the shell will sign with.
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
    Ok(Some(nonce))
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
