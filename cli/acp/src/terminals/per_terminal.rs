//! A bounded map from terminals to values.

use std::collections::VecDeque;

/// A value for each of the last `MAX` terminals; the oldest is forgotten first.
#[derive(Debug)]
pub(crate) struct PerTerminal<T, const MAX: usize>(VecDeque<Slot<T>>);

#[derive(Debug)]
struct Slot<T> {
    session: String,
    id: String,
    value: T,
}

impl<T, const MAX: usize> Default for PerTerminal<T, MAX> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T, const MAX: usize> PerTerminal<T, MAX> {
    pub(crate) fn get(&self, session: &str, id: &str) -> Option<&T> {
        let mut all = self.0.iter();
        let found = all.find(|slot| slot.session == session && slot.id == id);
        found.map(|slot| &slot.value)
    }

    pub(crate) fn put(&mut self, session: &str, id: &str, value: T) {
        self.0
            .retain(|slot| slot.session != session || slot.id != id);
        if self.0.len() >= MAX {
            self.0.pop_front();
        }
        self.0.push_back(Slot {
            session: session.to_owned(),
            id: id.to_owned(),
            value,
        });
    }

    /// Forgets the terminals of a session.
    pub(crate) fn forget(&mut self, session: &str) {
        self.0.retain(|slot| slot.session != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_goes_with_its_session() {
        let mut kept = PerTerminal::<u32, 2>::default();
        kept.put("s", "a", 1);
        kept.put("t", "a", 2);
        kept.put("s", "a", 3);
        assert_eq!(
            (kept.get("s", "a"), kept.get("t", "a")),
            (Some(&3), Some(&2))
        );
        kept.put("s", "b", 4);
        assert_eq!((kept.get("t", "a"), kept.get("s", "b")), (None, Some(&4)));
        kept.forget("s");
        assert!(kept.0.is_empty());
    }
}
