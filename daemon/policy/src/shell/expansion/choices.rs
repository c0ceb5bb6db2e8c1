//! Which of several possible values a reading takes.
//!
//! A text may leave open which value a variable has. It is then read once for each combination of
//! values, up to a bound. Beyond the bound one more reading takes every such value as unknown.

use std::collections::HashMap;

use crate::work;

/// Readings of one command in which every value is known.
const MAX_READINGS: usize = 12;

/// The choices of one reading.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// The choices in their order: which was taken, and of how many.
    taken: Vec<(usize, usize)>,
    next: usize,
    /// A variable has one value in all of a reading.
    by_name: HashMap<String, usize>,
    gives_up: bool,
    /// Whether the reading takes a variable from the environment that has a default in the text.
    pub(crate) overrides_default: bool,
}

impl Choices {
    /// Takes every value that is not certain as unknown.
    pub(crate) fn none() -> Self {
        Self {
            gives_up: true,
            ..Self::default()
        }
    }

    /// Takes one of `of` possibilities; `None`: it stays open.
    pub(crate) fn take(&mut self, of: usize) -> Option<usize> {
        if of <= 1 {
            return Some(0);
        }
        if self.gives_up {
            return None;
        }
        let at = self.next;
        self.next += 1;
        if let Some((taken, _)) = self.taken.get(at) {
            return Some(*taken);
        }
        self.taken.push((0, of));
        Some(0)
    }

    /// Takes one of `of` values of a variable, the same one each time.
    pub(crate) fn take_of_variable(&mut self, name: &str, of: usize) -> Option<usize> {
        if let Some(taken) = self.by_name.get(name) {
            return Some(*taken);
        }
        let taken = self.take(of)?;
        self.by_name.insert(name.to_owned(), taken);
        Some(taken)
    }

    /// The choices of the next reading. `None`: every combination is read.
    fn following(mut self) -> Option<Self> {
        self.taken.truncate(self.next);
        while let Some((taken, of)) = self.taken.pop() {
            if taken + 1 < of {
                self.taken.push((taken + 1, of));
                return Some(Self {
                    taken: self.taken,
                    ..Self::default()
                });
            }
        }
        None
    }
}

/// What `read` makes of each combination of values. `true` beside it: the reading
/// [overrides a default](Choices::overrides_default).
pub(crate) fn readings<T>(mut read: impl FnMut(&mut Choices) -> T) -> Vec<(T, bool)> {
    let mut found = Vec::new();
    let mut choices = Some(Choices::default());
    while let Some(mut current) = choices.take() {
        if found.len() == MAX_READINGS || work::is_spent() {
            current = Choices::none();
            let made = read(&mut current);
            found.push((made, false));
            break;
        }
        let made = read(&mut current);
        found.push((made, current.overrides_default));
        choices = current.following();
    }
    found
}
