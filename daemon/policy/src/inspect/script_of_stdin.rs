//! A script that a shell reads from its standard input, which the programs that it starts read on.

/// Such a script, up to the command that is read now.
#[derive(Debug, Clone)]
pub(super) struct ScriptOfStdin {
    /// The bytes of the script.
    length: usize,
    /// What stands in the lines behind the command.
    pub(super) rest: String,
}

impl ScriptOfStdin {
    pub(super) fn new(script: &str) -> Self {
        Self {
            length: script.len(),
            rest: String::new(),
        }
    }

    /// Goes on to the command that ends here in a text. Another text than the script, which stands within
    /// it, leaves the rest as it is.
    pub(super) fn go_to(&mut self, text: &str, end: usize) {
        if text.len() == self.length {
            let behind = text.get(end..).unwrap_or_default();
            let rest = behind.split_once('\n').map_or("", |(_, rest)| rest);
            rest.clone_into(&mut self.rest);
        }
    }
}
