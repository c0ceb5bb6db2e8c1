//! The work that one judgement may take. Beyond it the rest of a text is unknown, so no text takes long.
//!
//! Work is counted and not timed: a text has the same judgement on every machine. Each bound of a part
//! (commands, depth, bytes of a value) lets a text reach many other bounds at once, and this one counts
//! for all of them together.
//!
//! A judgement runs on one thread from its begin to its end. So the count is a thread's, and whatever
//! evaluates a text can spend of it without being handed it.

use std::cell::Cell;

/// Units of one judgement: 64 KiB of plain words take four million. A unit is about what it takes to copy
/// and look at a byte: some ten nanoseconds.
const MAX_UNITS: usize = 6 << 20;

thread_local! {
    /// What is left of the judgement that runs. `None`: none runs, and nothing is counted.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Judges within a budget. Within another judgement, its budget counts.
pub(crate) fn within_budget<T>(judge: impl FnOnce() -> T) -> T {
    if LEFT.get().is_some() {
        return judge();
    }
    LEFT.set(Some(MAX_UNITS));
    let _end = EndOfBudget;
    judge()
}

/// Ends the count of a judgement, also of one that panics: its thread judges again.
struct EndOfBudget;

impl Drop for EndOfBudget {
    fn drop(&mut self) {
        LEFT.set(None);
    }
}

/// Spends units. `false`: there are none left, and what they were for is not to be read.
pub(crate) fn spend(units: usize) -> bool {
    let Some(left) = LEFT.get() else {
        return true;
    };
    let left = left.saturating_sub(units);
    LEFT.set(Some(left));
    left > 0
}

/// Whether nothing is left.
pub(crate) fn is_spent() -> bool {
    LEFT.get() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_within_another_has_its_budget() {
        within_budget(|| {
            assert!(!spend(MAX_UNITS));
            within_budget(|| assert!(is_spent()));
        });
        assert!(!is_spent());
    }
}
