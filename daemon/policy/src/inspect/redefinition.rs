//! Names that the text itself has given a meaning: aliases and functions.

use termd_proto::policy::{Span, Verdict};

use super::function_calls::CallReading;
use super::inspector::Inspector;
use super::script::inspect_script;
use super::stdin::Stdin;
use crate::shell::expansion::source::Nesting;
use crate::shell::state::Content;
use crate::shell::text::quote::quoted;
use crate::shell::word::Word;

impl Inspector {
    /// Inspects what a name stands for that the text has defined: a function, or an alias. It is
    /// inspected as a program too, since the definition may be of another shell.
    pub(super) fn redefined(&mut self, words: &[Word], stdin: &Stdin, span: Span, depth: usize) {
        let Some((name, args)) = words.split_first() else {
            return;
        };
        if let Some(text) = self.inspection.state.take_alias(&name.text) {
            let mut rest: Vec<String> = args.iter().map(|word| quoted(&word.text)).collect();
            // bash(1), ALIASES: behind a blank at its end, the next word may be an alias too.
            let next = args.first().filter(|_| text.ends_with([' ', '\t']));
            let next = next.and_then(|word| self.inspection.state.alias(&word.raw));
            if let (Some(next), Some(first)) = (next, rest.first_mut()) {
                *first = next.to_string();
            }
            let line = format!("{text} {}", rest.join(" "));
            inspect_script(self, &line, Nesting::Within(span), stdin, depth + 1);
            self.inspection.state.define_alias(&name.text, &text);
        }
        if args
            .iter()
            .any(|word| self.inspection.state.is_global_alias(&word.raw))
        {
            let reason = "a word of it is an alias for something else";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        let Some(body) = self.inspection.state.function(&name.text) else {
            return;
        };
        let reading = self.inspection.calls.count(&name.text);
        if reading == CallReading::TooMany {
            self.inspection.note_possible(span);
        }
        if reading != CallReading::WithArguments {
            self.inspection.state.blur_all();
        }
        if matches!(reading, CallReading::Skip | CallReading::TooMany) {
            return;
        }
        let is_known =
            reading == CallReading::WithArguments && args.iter().all(|word| !word.splits);
        let given = args.iter().map(|word| word.text.clone());
        let given = is_known.then(|| vec![Content::List(given.collect())]);
        self.inspection.calls.enter(&name.text);
        let outer = self.inspection.state.replace_parameters(given);
        let locals = self.inspection.state.enter_function();
        inspect_script(self, &body, Nesting::Within(span), stdin, depth + 1);
        self.inspection.state.leave_function(locals);
        self.inspection.state.replace_parameters(outer);
        self.inspection.calls.leave();
    }
}
