//! DECRQM: whether a mode is set. Replies as xterm's `do_ansi_rqm` and `do_dec_rqm`.

use crate::terminal::Terminal;

/// DECRPM's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    Unknown = 0,
    Set = 1,
    Reset = 2,
    AlwaysReset = 4,
}

impl From<bool> for Setting {
    fn from(set: bool) -> Self {
        if set { Self::Set } else { Self::Reset }
    }
}

impl Terminal {
    /// DECRQM of an ANSI mode.
    pub(crate) fn report_ansi_mode(&mut self, mode: u16) {
        if self.level() < 3 {
            return;
        }
        let setting = match (mode, self.modes.ansi(mode)) {
            (_, Some(set)) => set.into(),
            (3, _) => Setting::Reset,
            (1 | 5 | 7 | 10 | 11 | 13..=19, _) => Setting::AlwaysReset,
            _ => Setting::Unknown,
        };
        self.reply_csi(format_args!("{mode};{}$y", setting as u8));
    }

    /// DECRQM of a private mode.
    pub(crate) fn report_dec_mode(&mut self, mode: u16) {
        if self.level() < 3 {
            return;
        }
        let setting = self.dec_mode(mode);
        self.reply_csi(format_args!("?{mode};{}$y", setting as u8));
    }

    fn dec_mode(&self, mode: u16) -> Setting {
        let level = self.level();
        match mode {
            // Not available at this level.
            42 if level < 2 => Setting::Unknown,
            69 if level < 4 => Setting::Unknown,
            95 if level < 5 => Setting::Unknown,
            // DECARM: no keyboard repeats.
            8 => Setting::AlwaysReset,
            // The coding of characters, and whether some are wide: ambiguous, emoji, private use.
            1020 => self.modes.utf8.into(),
            1021 | 1023 => Setting::Reset,
            1022 => Setting::Set,
            // xterm reports here whether the alternate screen is refused.
            1046 => (!self.modes.allow_alternate).into(),
            1048 => self.screen.saved[self.screen.active as usize]
                .is_some()
                .into(),
            _ => match self.private_mode(mode) {
                Some(set) => set.into(),
                None => self.dec_mode_without_effect(mode),
            },
        }
    }

    /// Modes of DEC's terminals that xterm knows by name and does not implement.
    fn dec_mode_without_effect(&self, mode: u16) -> Setting {
        let since = match mode {
            // How the two ways to make the cursor blink combine.
            13 => return Setting::Reset,
            14 => 1,
            11 | 16 | 53 | 59 | 60 | 61 | 64 | 68 | 73 => 3,
            81 => 4,
            34 | 36 | 57 | 58 | 96..=104 | 106 | 108..=117 => 5,
            _ => return Setting::Unknown,
        };
        if self.level() >= since {
            Setting::AlwaysReset
        } else {
            Setting::Unknown
        }
    }
}
