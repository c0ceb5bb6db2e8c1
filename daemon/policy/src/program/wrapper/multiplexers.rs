//! Commands in the windows of a multiplexer: tmux(1), screen(1).

use super::inner_command::InnerCommand;
use super::typed_keys::TypedKeys;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// Commands of tmux(1) that start nothing but the user's shell.
const TMUX_COMMANDS: &str = "
    ls list-sessions list-windows lsw list-panes lsp list-clients lsc list-keys lsk list-buffers lsb list-commands lscm
    capture-pane capturep display-message display show-options show show-window-options showw show-messages showmsgs
    show-buffer showb show-environment showenv has-session has attach-session attach at a detach-client detach
    kill-session kill-window killw kill-pane killp kill-server start-server start select-window selectw select-pane selectp
    rename-session rename rename-window renamew resize-window resizew resize-pane resizep swap-pane swapp
    switch-client switchc next-window next previous-window prev last-window last clear-history clearhist wait-for wait
    set-buffer setb delete-buffer deleteb save-buffer saveb refresh-client refresh";

/// What tmux(1) runs: the command of `-c`, and what its own commands start or type. These are parted by `;`.
pub(super) fn tmux(args: &[Word]) -> Vec<InnerCommand> {
    const GLOBAL: Valued<'_> = Valued::These("L S f c T");
    let outer = options(args, GLOBAL, Order::OptionsFirst);
    let mut started: Vec<InnerCommand> = outer
        .value(&["c"])
        .map(InnerCommand::line)
        .into_iter()
        .collect();
    let first = outer.operands.first().map_or(args.len(), |(at, _)| *at);
    let mut from = first;
    for at in first..args.len() {
        let is_last = at + 1 == args.len();
        let ends = args.get(at).is_some_and(|word| word.text.ends_with(';'));
        if ends || is_last {
            let end =
                at + usize::from(!(ends && args.get(at).is_some_and(|word| word.text == ";")));
            started.extend(tmux_command(args.get(from..end).unwrap_or_default(), from));
            from = at + 1;
        }
    }
    started
}

/// What one command of tmux(1) starts. `at` is the number of its first argument.
fn tmux_command(words: &[Word], at: usize) -> Option<InnerCommand> {
    const INNER: Valued<'_> = Valued::These("c F n s t x y e l p N");
    const POPUP: Valued<'_> = Valued::These("b c d e h s S t T w x y");
    let (verb, inner) = words.split_first()?;
    // tmux(1), FORMATS: `#(CMD)`.
    let has_format = words.iter().any(|word| word.text.contains("#("));
    let parsed = match verb.text.as_str() {
        // A command of the copy mode may be given the output.
        "send-keys" | "send" => {
            let given = options(inner, Valued::These("c t N"), Order::OptionsFirst);
            if given.has_exactly("X") || has_format {
                return Some(InnerCommand::Any);
            }
            let keys = TypedKeys::of_tmux(&given);
            return Some(InnerCommand::Keys { keys, at });
        }
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw"
        | "respawn-pane" | "respawn-window" | "pipe-pane" => {
            options(inner, INNER, Order::OptionsFirst)
        }
        "run-shell" | "run" | "if-shell" | "if" => {
            let options = options(inner, Valued::These("c d t"), Order::OptionsFirst);
            if options.has_exactly("C") || options.has_exactly("F") {
                return Some(InnerCommand::Any);
            }
            options
        }
        "popup" | "display-popup" => options(inner, POPUP, Order::OptionsFirst),
        verb if is_listed(verb, TMUX_COMMANDS) && !has_format => return None,
        // A name may be abbreviated, and a setting may name what runs.
        _ => return Some(InnerCommand::Any),
    };
    let is_branch = matches!(verb.text.as_str(), "if-shell" | "if") && parsed.operands.len() > 1;
    if has_format || is_branch {
        return Some(InnerCommand::Any);
    }
    let words: Vec<&str> = parsed
        .operands
        .iter()
        .map(|(_, text)| text.trim_end_matches(';'))
        .collect();
    let text = words.join(" ");
    (!text.trim().is_empty()).then_some(InnerCommand::Line { text, at })
}

/// The command of screen(1), or the keys that `stuff` types.
pub(super) fn screen(args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These("S c e h p s t T x r");
    let options = options(args, VALUED, Order::OptionsFirst);
    if let Some((at, shell)) = options.value(&["s"]) {
        return vec![InnerCommand::line((at, shell)), InnerCommand::Any];
    }
    let Some((at, first)) = options.operands.first() else {
        return Vec::new();
    };
    if matches!(
        *first,
        "backtick" | "bind" | "bindkey" | "eval" | "paste" | "process"
    ) {
        return vec![InnerCommand::Any];
    }
    if *first == "stuff" {
        let keys = TypedKeys::of_screen(options.operand(1).unwrap_or_default());
        return vec![InnerCommand::Keys { keys, at: at + 1 }];
    }
    InnerCommand::argv(args.get(*at..).unwrap_or_default())
}
