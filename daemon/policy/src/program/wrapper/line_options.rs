//! Programs that run a shell line which an option or an argument gives: su(1), git(1), vim(1), tar(1).

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

/// The line of `su -c`. The option stands on either side of the user.
pub(super) fn su(args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These("c command session-command s shell g group G w");
    let options = options(args, VALUED, Order::Permuted);
    let line = options.value(&["c", "command", "session-command"]);
    line.map(InnerCommand::line).into_iter().collect()
}

/// The aliases of git(1) that are shell lines, and the commands of its verbs that run some.
pub(super) fn git(args: &[Word]) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    for (at, word) in args.iter().enumerate() {
        let line = word.text.strip_prefix("alias.").and_then(|alias| {
            let (_, line) = alias.split_once("=!")?;
            Some((at, line))
        });
        let configured = args.get(at + 1).and_then(|next| {
            let line = next.text.strip_prefix('!')?;
            word.text.starts_with("alias.").then_some((at + 1, line))
        });
        started.extend(line.or(configured).map(InnerCommand::line));
    }
    let verb = args
        .iter()
        .position(|word| matches!(&*word.text, "foreach" | "bisect" | "rebase"));
    match verb.and_then(|at| Some((at, args.get(at)?.text.as_str()))) {
        Some((at, "foreach")) => started.extend(InnerCommand::joined_line(args, at + 1)),
        Some((_, "bisect")) => started.extend(InnerCommand::after_mark(args, &["run"])),
        Some((at, "rebase")) => {
            let rest = args.get(at + 1..).unwrap_or_default();
            let options = options(rest, Valued::These("x exec"), Order::Permuted);
            let line = options.value(&["x", "exec"]);
            started.extend(line.map(|(line, text)| InnerCommand::line((at + 1 + line, text))));
        }
        _ => {}
    }
    started
}

/// The lines of `vim +!LINE`.
pub(super) fn editor(args: &[Word]) -> Vec<InnerCommand> {
    let lines = args.iter().enumerate().filter_map(|(at, word)| {
        let text = word.text.trim_start_matches(['+', ':', ' ']);
        Some((at, text.strip_prefix('!')?))
    });
    lines.map(InnerCommand::line).collect()
}

/// The lines that tar(1) runs at a checkpoint or for each member.
pub(super) fn tar(args: &[Word]) -> Vec<InnerCommand> {
    const OPTIONS: [&str; 2] = ["--checkpoint-action=exec=", "--to-command="];
    let lines = args.iter().enumerate().filter_map(|(at, word)| {
        let line = OPTIONS
            .iter()
            .find_map(|option| word.text.strip_prefix(option));
        Some((at, line?))
    });
    lines.map(InnerCommand::line).collect()
}
