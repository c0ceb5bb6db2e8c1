//! The text of a shell: what hides in it, and its commands, by its tree or without one.

use termd_proto::policy::{MAX_JUDGED_BYTES, Span, Verdict};
use tree_sitter::Tree;

use super::command_sink::CommandSink;
use super::redirect::inspect_redirect;
use super::stdin::Stdin;
use super::tree::TreeWalk;
use crate::danger::fork_bomb::{FORK_BOMB, looks_like_a_fork_bomb};
use crate::program::output::fetches;
use crate::shell::expansion::choices::{Choices, readings};
use crate::shell::expansion::printed::printed_by;
use crate::shell::expansion::source::{Nesting, Source};
use crate::shell::expansion::{Scope, expand};
use crate::shell::syntax::fallback;
use crate::shell::syntax::grammar::parse;
use crate::shell::syntax::grammar_faults::{
    has_line_as_word, has_pattern_as_subshell, joins_lines, redirect_over_lines, word_over_lines,
};
use crate::shell::syntax::unread_substitutions::unread_substitutions;
use crate::shell::text::confusables::confusable;
use crate::shell::word::{UNKNOWN, Word};

/// Why a text is unknown that the grammar does not take.
pub(crate) const UNREADABLE: &str = "it cannot be read as shell";
/// Why a text is unknown that holds an invisible character, up to the character.
pub(crate) const CONFUSABLE: &str = "it holds a character that hides what it does";

/// Arrays whose elements stand for commands by their keys: bash(1), Shell Variables.
const COMMAND_TABLES: [&str; 2] = ["BASH_CMDS", "BASH_ALIASES"];

/// Inspects the text of a shell.
pub(super) fn inspect_script(
    sink: &mut dyn CommandSink,
    text: &str,
    nesting: Nesting,
    stdin: &Stdin,
    depth: usize,
) {
    let whole = nesting.span(Span {
        start: 0,
        end: text.len(),
    });
    let inspection = sink.inspection();
    if inspection.is_too_deep(depth, whole) {
        return;
    }
    if text.len() > MAX_JUDGED_BYTES {
        inspection.note(
            Verdict::Unknown,
            "it is longer than is looked at (64 KiB)",
            whole,
        );
        return;
    }
    if !inspection.count_text(text.len(), whole) {
        return;
    }
    if nesting != Nesting::Outermost && text.contains(UNKNOWN) {
        // What stands there is read as shell, so it may hold any command.
        inspection.note_possible(whole);
    }
    if COMMAND_TABLES.iter().any(|table| text.contains(table)) {
        inspection.note_possible(whole);
    }
    if let Some((at, c)) = confusable(text) {
        let span = nesting.span(Span {
            start: at,
            end: at + c.len_utf8(),
        });
        let reason = format!("{CONFUSABLE} ({})", c.escape_unicode());
        inspection.note(Verdict::Unknown, reason, span);
        // The rest is read all the same: a danger weighs more than a doubt.
    }
    if let Some(at) = word_over_lines(text) {
        let end = at + "\\\n".len();
        let span = nesting.span(Span { start: at, end });
        let reason = "a word of it goes on in the next line";
        inspection.note(Verdict::Unknown, reason, span);
    }
    let normal: String;
    let text = if text.contains(['\r', '\u{b}', '\u{c}']) {
        normal = text.replace(['\r', '\u{b}', '\u{c}'], "\n");
        normal.as_str()
    } else {
        text
    };
    match parse(text) {
        Some(tree) if is_read(&tree, text) => {
            let source = Source { text, nesting };
            if let Some(redirect) = redirect_over_lines(&tree, text) {
                let reason = "a redirection goes on in the next line";
                inspection.note(Verdict::Unknown, reason, source.span(redirect));
            }
            if has_pattern_as_subshell(&tree, text) || has_line_as_word(&tree, text) {
                inspection.note_possible(whole);
            }
            for (inner, range) in unread_substitutions(&tree, text) {
                let span = nesting.span(Span {
                    start: range.start,
                    end: range.end,
                });
                let state = sink.inspection().state.clone();
                inspect_substitution(sink, &inner, span, depth);
                sink.inspection().state = state;
            }
            TreeWalk { sink, source }.statement(tree.root_node(), stdin, depth);
        }
        _ => inspect_unparsed(sink, text, nesting, whole, stdin, depth),
    }
}

/// Whether the grammar takes all of a text, and as a shell does.
fn is_read(tree: &Tree, text: &str) -> bool {
    !tree.root_node().has_error() && !joins_lines(tree, text)
}

/// Inspects a text that the grammar does not take. What is plainly dangerous in it is found; the rest
/// is unknown.
fn inspect_unparsed(
    sink: &mut dyn CommandSink,
    text: &str,
    nesting: Nesting,
    whole: Span,
    stdin: &Stdin,
    depth: usize,
) {
    if looks_like_a_fork_bomb(text) {
        sink.inspection().note(Verdict::Dangerous, FORK_BOMB, whole);
    }
    inspect_without_grammar(sink, text, nesting, stdin, depth);
    if fallback::has_reserved_word(text) {
        sink.inspection().note_possible(whole);
    }
    if !fallback::is_plain(text) {
        sink.inspection().note(Verdict::Unknown, UNREADABLE, whole);
    }
}

/// Inspects the commands of a text without the grammar.
pub(super) fn inspect_without_grammar(
    sink: &mut dyn CommandSink,
    text: &str,
    nesting: Nesting,
    stdin: &Stdin,
    depth: usize,
) {
    let mut prints_fetched = false;
    let whole = nesting.span(Span {
        start: 0,
        end: text.len(),
    });
    for command in fallback::commands(text) {
        let inspection = sink.inspection();
        let scope = Scope::of(&inspection.state);
        let read = |choices: &mut Choices| -> Vec<Word> {
            let words = command.words.iter();
            let words = words.map(|(raw, span)| expand(raw, nesting.span(*span), scope, choices));
            words.flatten().collect()
        };
        let alternatives = readings(read);
        for redirect in &command.redirects {
            let span = nesting.span(redirect.span);
            inspect_redirect(inspection, redirect.operator, &redirect.target, span);
        }
        let (words, _) = alternatives.first().cloned().unwrap_or_default();
        let printed = printed_by(&words, None);
        let printed = printed.map_or(Stdin::Computed, |text| Stdin::of_text(text, false));
        let written = command.redirects.iter();
        for redirect in written.filter(|redirect| redirect.operator.contains('>')) {
            let appends = redirect.operator.contains(">>");
            let scope = Scope::of(&inspection.state);
            let target = expand(&redirect.target, whole, scope, &mut Choices::none());
            if let [target] = target.as_slice() {
                let path = target.path();
                inspection.written.learn(&path, &printed, appends);
            }
        }
        let reads_fetched = command.reads_pipe && prints_fetched;
        let reads = match (command.reads_pipe, reads_fetched) {
            (false, _) => stdin.clone(),
            (true, false) => Stdin::Computed,
            (true, true) => Stdin::Fetched,
        };
        for (words, is_unlikely) in alternatives {
            let inspection = sink.inspection();
            let was_unlikely = std::mem::replace(&mut inspection.is_unlikely, is_unlikely);
            sink.command(&words, &reads, depth + 1);
            sink.inspection().is_unlikely = was_unlikely;
        }
        for (inner, span) in &command.substitutions {
            inspect_substitution(sink, inner, nesting.span(*span), depth);
        }
        // `-d` decodes.
        let mut raws = command.words.iter().map(|(raw, _)| raw);
        prints_fetched = reads_fetched || raws.any(|raw| fetches(raw) || raw == "-d");
    }
}

/// Inspects the commands in the subscript of a variable's name, which runs where the name is evaluated:
/// `test -v 'a[$(cmd)]'`.
pub(super) fn inspect_subscript(sink: &mut dyn CommandSink, text: &str, span: Span, depth: usize) {
    let Some((_, behind)) = text.split_once('[') else {
        return;
    };
    for inner in fallback::substituted(behind.trim_matches('\'')) {
        inspect_substitution(sink, &inner, span, depth);
    }
}

fn inspect_substitution(sink: &mut dyn CommandSink, text: &str, span: Span, depth: usize) {
    let nesting = Nesting::Within(span);
    inspect_script(sink, text, nesting, &Stdin::Given, depth + 1);
}
