//! Commands in the windows of a multiplexer: tmux(1), screen(1).

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

/// The line that tmux(1) runs in a window, or types into one.
pub(super) fn tmux(args: &[Word]) -> Vec<InnerCommand> {
    const GLOBAL: Valued<'_> = Valued::These("L S f c T");
    const INNER: Valued<'_> = Valued::These("c F n s t x y e l p N");
    let outer = options(args, GLOBAL, Order::OptionsFirst);
    let Some((at, verb)) = outer.operands.first() else {
        return Vec::new();
    };
    let inner = args.get(at + 1..).unwrap_or_default();
    let parsed = match *verb {
        "send-keys" | "send" => options(inner, Valued::These("t N"), Order::OptionsFirst),
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw"
        | "respawn-pane" | "respawn-window" | "run-shell" | "run" | "popup" | "display-popup"
        | "pipe-pane" => options(inner, INNER, Order::OptionsFirst),
        _ => return Vec::new(),
    };
    let is_key = |text: &str| matches!(text, "Enter" | "C-m" | "KPEnter" | "C-j");
    let words: Vec<&str> = parsed
        .operands
        .iter()
        .map(|(_, text)| if is_key(text) { "\n" } else { *text })
        .collect();
    let text = words.join(" ");
    if text.trim().is_empty() {
        Vec::new()
    } else {
        vec![InnerCommand::Line { text, at: *at }]
    }
}

/// The command of screen(1), or the line that `stuff` types.
pub(super) fn screen(args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These("S c e h p s t T x r");
    let options = options(args, VALUED, Order::OptionsFirst);
    let Some((at, first)) = options.operands.first() else {
        return Vec::new();
    };
    if *first == "stuff" {
        let text = options.operand(1).unwrap_or_default();
        let text = text.replace("\\n", "\n").replace("^M", "\n");
        return vec![InnerCommand::Line { text, at: at + 1 }];
    }
    InnerCommand::argv(args.get(*at..).unwrap_or_default())
}
