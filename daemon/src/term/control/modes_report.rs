//! DECRQM: whether a mode is set. Answers as xterm's `do_ansi_rqm` and `do_dec_rqm`.

use termd_proto::screen::{MouseEncoding, MouseMode};

use crate::term::core::{Core, Shown};

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

impl Core {
    /// DECRQM of an ANSI mode.
    pub(super) fn report_ansi_mode(&mut self, mode: u16) {
        if self.level() < 3 {
            return;
        }
        let setting = match mode {
            2 => self.modes.keyboard_locked.into(),
            3 => Setting::Reset,
            4 => self.modes.insert.into(),
            12 => self.modes.send_receive.into(),
            20 => self.modes.line_feed_new_line.into(),
            1 | 5 | 7 | 10 | 11 | 13..=19 => Setting::AlwaysReset,
            _ => Setting::Unknown,
        };
        self.answer_csi(format_args!("{mode};{}$y", setting as u8));
    }

    /// DECRQM of a private mode.
    pub(super) fn report_dec_mode(&mut self, mode: u16) {
        if self.level() < 3 {
            return;
        }
        let setting = self.dec_mode(mode);
        self.answer_csi(format_args!("?{mode};{}$y", setting as u8));
    }

    fn dec_mode(&self, mode: u16) -> Setting {
        let modes = &self.modes;
        match mode {
            1 => modes.application_cursor_keys.into(),
            2 => (!modes.vt52).into(),
            3 => modes.column_132.into(),
            5 => modes.reverse_video.into(),
            6 => self.cursor.origin.into(),
            7 => modes.autowrap.into(),
            9 => (modes.mouse == MouseMode::X10).into(),
            12 => modes.cursor_blinks.into(),
            25 => modes.cursor_visible.into(),
            40 => modes.allow_column_mode.into(),
            45 => modes.reverse_wrap.into(),
            47 | 1047 | 1049 => (self.shown == Shown::Alternate).into(),
            66 => modes.application_keypad.into(),
            69 if self.level() >= 4 => modes.left_right_margins.into(),
            95 if self.level() >= 5 => modes.no_clear_on_column.into(),
            1000 => (modes.mouse == MouseMode::Normal).into(),
            1001 => (modes.mouse == MouseMode::Highlight).into(),
            1002 => (modes.mouse == MouseMode::Button).into(),
            1003 => (modes.mouse == MouseMode::Any).into(),
            1004 => modes.focus_events.into(),
            1005 => (modes.mouse_encoding == MouseEncoding::Utf8).into(),
            1006 => (modes.mouse_encoding == MouseEncoding::Sgr).into(),
            1007 => modes.alternate_scroll.into(),
            1015 => (modes.mouse_encoding == MouseEncoding::Urxvt).into(),
            1016 => (modes.mouse_encoding == MouseEncoding::SgrPixels).into(),
            // How characters are coded, and whether some are wide: ambiguous, emoji, private.
            1020 => modes.utf8.into(),
            1021 | 1023 => Setting::Reset,
            1022 => Setting::Set,
            1045 => modes.extended_reverse_wrap.into(),
            1048 => self.saved[self.shown as usize].is_some().into(),
            2004 => modes.bracketed_paste.into(),
            2026 => modes.synchronized_output.into(),
            2027 => modes.grapheme_clusters.into(),
            _ => match self.extras.remembered.get(mode) {
                Some(set) => set.into(),
                None => self.dec_mode_without_effect(mode),
            },
        }
    }

    /// Modes of DEC's terminals that xterm knows by name and does not have.
    fn dec_mode_without_effect(&self, mode: u16) -> Setting {
        let since = match mode {
            // DECARM, and since xterm has no keyboard of its own, how it blinks the cursor.
            8 | 14 => 1,
            13 => return Setting::Reset,
            10 | 11 | 16 | 53 | 59 | 60 | 61 | 64 | 68 | 73 => 3,
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
