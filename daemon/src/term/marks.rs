//! Marks on rows. A placeholder until the rows have ids that scrolling and reflow keep.

use super::core::Core;

/// What is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// OSC 133;A: the prompt begins.
    PromptStart,
    /// OSC 133;B: the prompt ends, what is typed follows.
    PromptEnd,
    /// OSC 133;C: the command's output follows.
    OutputStart,
    /// OSC 133;D: the command has ended, with this exit code where it was said.
    CommandEnd(Option<i32>),
}

impl Core {
    /// Marks the place of the cursor.
    pub fn mark(&mut self, kind: MarkKind) {
        let _ = kind;
    }
}
