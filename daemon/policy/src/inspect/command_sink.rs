//! What takes the commands of a script.

use termd_proto::policy::Span;

use super::inspection::Inspection;
use super::stdin::Stdin;
use crate::shell::word::Word;

/// Takes the commands of a script, in the order of the text. A command may start further scripts, so
/// the readers of scripts know this trait and not who implements it.
pub(super) trait CommandSink {
    /// What is found so far.
    fn inspection(&mut self) -> &mut Inspection;

    /// Takes a variable that the script sets.
    fn assignment(&mut self, name: &str, value: &str, span: Span, depth: usize);

    /// Takes one command, its words expanded.
    fn command(&mut self, words: &[Word], stdin: &Stdin, depth: usize);
}
