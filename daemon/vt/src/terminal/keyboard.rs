//! How a program wants keys to be written: kitty's keyboard flags and xterm's XTMODKEYS.
//!
//! State alone; who writes keys reads it, and `control` changes it.

use serde::{Deserialize, Serialize};

use crate::screen::ActiveScreen;

/// The flags that kitty's protocol has: 1 disambiguate, 2 event types, 4 alternate keys, 8 all keys
/// as escape codes, 16 associated text.
const KNOWN_FLAGS: u16 = 0x1f;
/// Flags that can be pushed on each screen; as the protocol asks, the oldest give way.
const MAX_PUSHED: usize = 16;
/// Kinds of keys that XTMODKEYS knows, from 0 to 7.
const KINDS: usize = 8;
/// XTMODKEYS' settings as xterm starts with them: cursor and function keys 2, the rest 0.
const DEFAULTS: [u8; KINDS] = [0, 2, 2, 0, 0, 0, 0, 0];
/// modifyOtherKeys.
pub(crate) const OTHER_KEYS: u16 = 4;

/// What `CSI = flags ; mode u` does with the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// 1: these alone.
    Replace,
    /// 2: these too.
    Add,
    /// 3: without these.
    Remove,
}

/// The flags of one screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FlagStack {
    current: u8,
    pushed: Vec<u8>,
}

/// All of it.
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

    /// The flags in force on a screen.
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

    /// `CSI < count u`; after more than were pushed there are no flags.
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

    /// XTMODKEYS; `None`: as at the start. What is not known, or above 3, is passed over.
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

    /// XTQMODKEYS; `None`: not known.
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
