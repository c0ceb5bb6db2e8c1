//! A text that is read by its tree, and where it stands in the text that is judged.

use termd_proto::policy::Span;
use tree_sitter::Node;

use super::choices::Choices;
use super::{Scope, expand};
use crate::shell::syntax::grammar_faults::words_behind_redirects;
use crate::shell::word::Word;

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// It is the text judged.
    Outermost,
    /// It is in this part of the text judged.
    Within(Span),
}

impl Nesting {
    /// A span of this text as one of the text judged.
    pub(crate) fn span(self, own: Span) -> Span {
        match self {
            Self::Outermost => own,
            Self::Within(outer) => outer,
        }
    }
}

/// A text with a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) nesting: Nesting,
}

impl<'a> Source<'a> {
    /// The text of a node.
    pub(crate) fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The span of a node in the text judged.
    pub(crate) fn span(&self, node: Node<'_>) -> Span {
        self.nesting.span(Span {
            start: node.start_byte(),
            end: node.end_byte(),
        })
    }

    /// The words that a node becomes.
    pub(crate) fn expand(
        &self,
        node: Node<'_>,
        scope: Scope<'_>,
        choices: &mut Choices,
    ) -> Vec<Word> {
        expand(self.of(node), self.span(node), scope, choices)
    }

    /// The words of a command, expanded.
    pub(crate) fn words(
        &self,
        command: Node<'_>,
        scope: Scope<'_>,
        choices: &mut Choices,
    ) -> Vec<Word> {
        let mut cursor = command.walk();
        let own = command.children(&mut cursor).filter(|child| {
            !matches!(
                child.kind(),
                "variable_assignment"
                    | "file_redirect"
                    | "herestring_redirect"
                    | "heredoc_redirect"
                    | "comment"
                    | "subshell"
            )
        });
        let nodes = own.chain(words_behind_redirects(command, self.text));
        let mut words: Vec<Word> = nodes
            .flat_map(|node| self.expand(node, scope, choices))
            .collect();
        if self.has_dash_behind(command) {
            words.push(Word::literal("-", self.span(command)));
        }
        words
    }

    /// Whether the last word of a command is the `-` that the grammar takes for a part of the here-document
    /// behind it: `make -f - <<X`.
    fn has_dash_behind(&self, command: Node<'_>) -> bool {
        let behind = self.text.get(command.end_byte()..).unwrap_or_default();
        let dash = behind.trim_start_matches([' ', '\t']).strip_prefix('-');
        dash.is_some_and(|rest| {
            let rest = rest.trim_start_matches([' ', '\t']);
            rest.starts_with("<<")
        })
    }

    /// The operator of a redirection. Of a here-string that was parsed as a file it is `<<<`.
    pub(crate) fn operator(&self, redirect: Node<'_>) -> &'a str {
        let mut cursor = redirect.walk();
        let found = redirect.children(&mut cursor).find(|child| {
            child.kind().contains(['<', '>']) && child.kind() != "process_substitution"
        });
        let Some(operator) = found else { return "" };
        let start = operator.start_byte();
        let widened = self.text.get(start.saturating_sub(2)..operator.end_byte());
        match widened {
            Some("<<<") => "<<<",
            _ => self.of(operator),
        }
    }
}
