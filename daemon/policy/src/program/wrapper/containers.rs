//! Commands in containers: docker(1) and its kin.

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

/// The command of `exec`, `run`, `compose exec` or `container run`.
pub(super) fn container(args: &[Word]) -> Vec<InnerCommand> {
    const GLOBAL: Valued<'_> = Valued::These(
        "
        H c l f p config context host log-level file project-name profile project-directory
        env-file",
    );
    // Every other option has a value.
    const SWITCHES: Valued<'_> = Valued::AllBut(
        "
        d i t q P T rm privileged init read-only publish-all tty interactive detach
        no-healthcheck oom-kill-disable quiet no-TTY no-deps build service-ports help latest
        tls-verify replace",
    );
    let outer = options(args, GLOBAL, Order::OptionsFirst);
    let mut verbs = outer.operands.iter();
    let verb = verbs.find(|(_, text)| !matches!(*text, "container" | "compose"));
    let Some((at, "exec" | "run" | "create")) = verb else {
        return Vec::new();
    };
    let inner = args.get(at + 1..).unwrap_or_default();
    let inner_options = options(inner, SWITCHES, Order::OptionsFirst);
    let mut words: Vec<Word> = Vec::new();
    if let Some((at, entry)) = inner_options.value(&["entrypoint"]) {
        words.extend(inner.get(at).map(|word| Word::literal(entry, word.span)));
    }
    let command = inner_options.operands.iter().skip(1);
    words.extend(command.filter_map(|(at, _)| inner.get(*at)).cloned());
    InnerCommand::argv(&words)
}
