//! The assignments before a command, which hold for the command alone: `A=b CMD`.

use tree_sitter::Node;

use super::{TreeWalk, named_children};
use crate::inspect::assignment::is_special;
use crate::shell::state::{Content, ShellState};
use crate::shell::word::Word;

/// Assignments that were made for one command.
pub(super) struct TemporaryAssignments {
    names: Vec<String>,
    /// What was so before them.
    before: ShellState,
}

impl TemporaryAssignments {
    /// Makes the assignments that stand before a command.
    pub(super) fn make(walk: &mut TreeWalk<'_>, command: Node<'_>, depth: usize) -> Self {
        let before = walk.state().clone();
        let mut names = Vec::new();
        for child in named_children(command) {
            if child.kind() == "variable_assignment" {
                walk.assign(child, depth);
                let name = child.child_by_field_name("name");
                let name = name.map_or("", |name| walk.source.of(name)).to_owned();
                walk.state().export(&name);
                names.push(name);
            }
        }
        Self { names, before }
    }

    /// Takes them back behind the command, but for one that they may outlive (POSIX 2.14).
    pub(super) fn restore(&self, state: &mut ShellState, words: &[Word]) {
        let program = words.first().map_or("", |word| word.text.as_str());
        let lasts = words.is_empty() || is_special(program) || state.function(program).is_some();
        for name in &self.names {
            let was = self.before.contents(name).map(<[Content]>::to_vec);
            match (was, lasts) {
                (was, true) => {
                    state.may_assign(name, was.unwrap_or_else(|| vec![Content::Unknown]));
                }
                (Some(was), false) => state.assign(name, was),
                (None, false) => state.forget(name),
            }
        }
    }
}
