//! What flows in a shell's text: what commands read and print, as far as the text says it, and what
//! its variables hold.
//!
//! It must not know what is dangerous.

use std::ops::ControlFlow;

use termd_proto::policy::Span;
use tree_sitter::Node;

use crate::inspect::inspector::{Inspector, Stdin};
use crate::inspect::script::{Text, operator};
use crate::program::kind::base_name;
use crate::program::wrapper;
use crate::shell::grammar::{Step, walk};
use crate::shell::word::{Word, expand};

impl Inspector {
    /// What the text sets variables to, wherever it does.
    pub(crate) fn assignments(&mut self, root: Node<'_>, text: Text<'_>) {
        walk(root, |node| {
            match node.kind() {
                "variable_assignment" => self.assignment(node, text),
                "for_statement" => self.for_variable(node, text),
                _ => {}
            }
            ControlFlow::<(), _>::Continue(Step::Into)
        });
    }

    fn assignment(&mut self, node: Node<'_>, text: Text<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let value = node.child_by_field_name("value");
        let name = text.of(name).to_owned();
        let array = value.filter(|value| value.kind() == "array");
        let raws: Vec<&str> = match (array, value) {
            (Some(array), _) => {
                let mut cursor = array.walk();
                let words = array.named_children(&mut cursor);
                words.map(|word| text.of(word)).collect()
            }
            (None, Some(value)) => vec![text.of(value)],
            (None, None) => Vec::new(),
        };
        let mut known = Vec::new();
        for raw in raws {
            let words = expand(raw, Span { start: 0, end: 0 }, &self.variables, 0);
            known.extend(words.iter().all(Word::is_known).then(|| {
                let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                texts.join(" ")
            }));
        }
        let value = known.join(" ");
        let all_known = !value.is_empty();
        self.variables.set(&name, all_known.then_some(value));
    }

    fn for_variable(&mut self, node: Node<'_>, text: Text<'_>) {
        let Some(variable) = node.child_by_field_name("variable") else {
            return;
        };
        let mut cursor = node.walk();
        let values: Vec<Node<'_>> = node.children_by_field_name("value", &mut cursor).collect();
        for value in values {
            for word in expand(
                text.of(value),
                Span { start: 0, end: 0 },
                &self.variables,
                0,
            ) {
                let known = word.is_known().then_some(word.text);
                self.variables.set(text.of(variable), known);
            }
        }
    }

    /// What comes out of a stage of a pipeline.
    pub(crate) fn output_of(&self, stage: Node<'_>, text: Text<'_>, stdin: &Stdin) -> Stdin {
        let raw = text.of(stage);
        if *stdin == Stdin::Fetched {
            return Stdin::Fetched;
        }
        let command = match stage.kind() {
            "redirected_statement" => stage.child_by_field_name("body"),
            _ => Some(stage),
        };
        let Some(command) = command.filter(|node| node.kind() == "command") else {
            return if wrapper::fetches(raw) {
                Stdin::Fetched
            } else {
                Stdin::Computed
            };
        };
        let words = self.words(command, text, 0);
        let name = words.first().map_or("", |word| base_name(&word.text));
        let args = words.get(1..).unwrap_or_default();
        if wrapper::fetches(raw) && !matches!(name, "echo" | "printf") {
            return Stdin::Fetched;
        }
        match name {
            "echo" | "printf" if args.iter().all(Word::is_known) => {
                let flags =
                    |word: &&Word| !matches!(&*word.text, "-e" | "-n" | "-en" | "-ne" | "-E");
                let texts: Vec<&str> = args
                    .iter()
                    .filter(flags)
                    .map(|word| word.text.as_str())
                    .collect();
                Stdin::Literal(texts.join(" ").replace("\\n", "\n").replace("%s\n", ""))
            }
            "cat" | "tac" if !args.is_empty() => Stdin::Given,
            "cat" | "tee" => self.input_of(stage, text).unwrap_or_else(|| stdin.clone()),
            _ => Stdin::Computed,
        }
    }

    /// What a statement is given by its redirects.
    pub(crate) fn input_of(&self, node: Node<'_>, text: Text<'_>) -> Option<Stdin> {
        let mut cursor = node.walk();
        let redirects: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        redirects
            .into_iter()
            .rev()
            .find_map(|redirect| self.given_by(redirect, text))
    }

    fn given_by(&self, redirect: Node<'_>, text: Text<'_>) -> Option<Stdin> {
        match redirect.kind() {
            "heredoc_redirect" => {
                let mut cursor = redirect.walk();
                let body = redirect
                    .named_children(&mut cursor)
                    .find(|child| child.kind() == "heredoc_body");
                Some(Stdin::Literal(
                    body.map_or_else(String::new, |body| text.of(body).to_owned()),
                ))
            }
            "herestring_redirect" => {
                let word = redirect.named_child(0)?;
                let words = expand(text.of(word), text.span(word), &self.variables, 0);
                let all_known = words.iter().all(Word::is_known);
                let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                Some(if all_known {
                    Stdin::Literal(texts.join(" "))
                } else if wrapper::fetches(text.of(word)) {
                    Stdin::Fetched
                } else {
                    Stdin::Computed
                })
            }
            "file_redirect" if operator(redirect, text) == "<" => {
                let file = text.of(redirect.child_by_field_name("destination")?);
                Some(match file.starts_with("<(") {
                    true if wrapper::fetches(file) => Stdin::Fetched,
                    true => Stdin::Computed,
                    false if file.starts_with("/dev/tcp/") => Stdin::Fetched,
                    false => Stdin::Given,
                })
            }
            _ => None,
        }
    }
}
