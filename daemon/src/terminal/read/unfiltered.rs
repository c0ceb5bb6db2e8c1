//! Output of a terminal with the secrets in it.

/// What was printed, with its secrets. Nothing writes it into an answer: `service::OutputSecrets` makes one of
/// it, and knows who reads it.
#[derive(Debug, Clone)]
#[must_use]
pub struct Unfiltered<T>(T);

impl<T> Unfiltered<T> {
    pub(crate) fn new(printed: T) -> Self {
        Self(printed)
    }

    /// What was printed: for the filter itself, and for what is not given out.
    pub(crate) fn into_printed(self) -> T {
        self.0
    }

    /// Adds what is no output.
    pub(crate) fn map(self, change: impl FnOnce(T) -> T) -> Self {
        Self(change(self.0))
    }
}
