//! How the program wants keys to be encoded: kitty's keyboard flags and xterm's XTMODKEYS.

use serde::{Deserialize, Serialize};

use crate::screen::ActiveScreen;

/// The flags of kitty's protocol: 1 disambiguate, 2 event types, 4 alternate keys, 8 all keys as
/// escape codes, 16 associated text.
const KNOWN_FLAGS: u16 = 0x1f;
/// How many flags can be pushed on each screen. As the protocol asks, the oldest give way.
const MAX_PUSHED: usize = 16;
/// Kinds of keys that XTMODKEYS knows, from 0 to 7.
const KINDS: usize = 8;
/// XTMODKEYS' settings at the start, as in xterm: 2 for cursor and function keys, else 0.
const DEFAULTS: [u8; KINDS] = [0, 2, 2, 0, 0, 0, 0, 0];
/// XTMODKEYS' number for modifyOtherKeys.
pub(crate) const OTHER_KEYS: u16 = 4;

/// What `CSI = flags ; mode u` does with the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// 1: sets the flags to these.
    Replace,
    /// 2: adds these.
    Add,
    /// 3: removes these.
    Remove,
}

/// The flags of one screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FlagStack {
    current: u8,
    pushed: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Keyboard {
    primary: FlagStack,
    alternate: FlagStack,
    modified: [u8; KINDS],
}

impl Default for Keyboard {
    fn default() -> Self {
        Self {
            primary: FlagStack::default(),
            alternate: FlagStack::default(),
            modified: DEFAULTS,
        }
    }
}

impl Keyboard {
    fn stack(&self, shown: ActiveScreen) -> &FlagStack {
        match shown {
            ActiveScreen::Primary => &self.primary,
            ActiveScreen::Alternate => &self.alternate,
        }
    }

    fn stack_mut(&mut self, shown: ActiveScreen) -> &mut FlagStack {
        match shown {
            ActiveScreen::Primary => &mut self.primary,
            ActiveScreen::Alternate => &mut self.alternate,
        }
    }

    pub(crate) fn flags(&self, shown: ActiveScreen) -> u8 {
        self.stack(shown).current
    }

    /// `CSI > flags u`.
    pub(crate) fn push(&mut self, shown: ActiveScreen, flags: u16) {
        let stack = self.stack_mut(shown);
        if stack.pushed.len() == MAX_PUSHED {
            stack.pushed.remove(0);
        }
        stack.pushed.push(stack.current);
        stack.current = known(flags);
    }

    /// `CSI < count u`. After more than were pushed there are no flags.
    pub(crate) fn pop(&mut self, shown: ActiveScreen, count: usize) {
        let stack = self.stack_mut(shown);
        for _ in 0..count.min(MAX_PUSHED + 1) {
            stack.current = stack.pushed.pop().unwrap_or(0);
        }
    }

    /// `CSI = flags ; mode u`.
    pub(crate) fn set(&mut self, shown: ActiveScreen, flags: u16, change: Change) {
        let current = &mut self.stack_mut(shown).current;
        match change {
            Change::Replace => *current = known(flags),
            Change::Add => *current |= known(flags),
            Change::Remove => *current &= !known(flags),
        }
    }

    /// XTMODKEYS; `None` restores the first setting. An unknown kind and a value above 3 are
    /// ignored.
    pub(crate) fn modify(&mut self, kind: u16, value: Option<u16>) {
        let Some((slot, default)) = self
            .modified
            .get_mut(usize::from(kind))
            .zip(DEFAULTS.get(usize::from(kind)))
        else {
            return;
        };
        match value.map(u8::try_from) {
            None => *slot = *default,
            Some(Ok(value @ 0..=3)) => *slot = value,
            Some(_) => {}
        }
    }

    /// XTMODKEYS without parameters.
    pub(crate) fn modify_none(&mut self) {
        self.modified = DEFAULTS;
    }

    /// XTQMODKEYS; `None` for an unknown kind.
    pub(crate) fn modified(&self, kind: u16) -> Option<u8> {
        self.modified.get(usize::from(kind)).copied()
    }
}

fn known(flags: u16) -> u8 {
    u8::try_from(flags & KNOWN_FLAGS).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_bounded_and_one_a_screen() {
        let mut keyboard = Keyboard::default();
        for n in 0..100_000_u32 {
            keyboard.push(ActiveScreen::Alternate, u16::try_from(n % 32).unwrap_or(0));
        }
        assert_eq!(keyboard.alternate.pushed.len(), MAX_PUSHED);
        assert_eq!(keyboard.flags(ActiveScreen::Alternate), 31);
        assert_eq!(keyboard.flags(ActiveScreen::Primary), 0);
        keyboard.pop(ActiveScreen::Alternate, usize::MAX);
        assert_eq!(keyboard.flags(ActiveScreen::Alternate), 0);
    }
}
