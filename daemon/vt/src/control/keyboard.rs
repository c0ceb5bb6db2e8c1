//! kitty's keyboard protocol and XTMODKEYS.

use crate::parser::Params;
use crate::terminal::Terminal;
use crate::terminal::keyboard::{Change, OTHER_KEYS};

impl Terminal {
    /// `CSI ? u`: the flags in force.
    pub(crate) fn report_keyboard_flags(&mut self) {
        let flags = self.keyboard.flags(self.screen.active);
        self.reply_csi(format_args!("?{flags}u"));
    }

    /// `CSI > flags u`.
    pub(crate) fn push_keyboard_flags(&mut self, params: &Params) {
        self.keyboard.push(self.screen.active, params.get(0));
    }

    /// `CSI < count u`.
    pub(crate) fn pop_keyboard_flags(&mut self, params: &Params) {
        self.keyboard.pop(self.screen.active, params.count(0));
    }

    /// `CSI = flags ; mode u`.
    pub(crate) fn set_keyboard_flags(&mut self, params: &Params) {
        let change = match params.get(1) {
            0 | 1 => Change::Replace,
            2 => Change::Add,
            3 => Change::Remove,
            _ => return,
        };
        self.keyboard.set(self.screen.active, params.get(0), change);
    }

    /// XTMODKEYS, `CSI > kind ; value m`.
    pub(crate) fn modify_keys(&mut self, params: &Params) {
        let keyboard = &mut self.keyboard;
        if params.is_empty() {
            keyboard.modify_none();
        } else {
            keyboard.modify(params.get(0), (params.len() > 1).then(|| params.get(1)));
        }
        self.other_keys_changed();
    }

    /// XTMODKEYS, `CSI > kind n`: switches the kind's modifiers off.
    pub(crate) fn modify_keys_not(&mut self, params: &Params) {
        // Without parameters the function keys are meant.
        let kind = if params.is_empty() { 2 } else { params.get(0) };
        self.keyboard.modify(kind, Some(0));
        self.other_keys_changed();
    }

    fn other_keys_changed(&mut self) {
        let value = self.keyboard.modified(OTHER_KEYS);
        self.modes.modify_other_keys = value.unwrap_or(0);
    }

    /// XTQMODKEYS, `CSI ? kind m`: replies with the XTMODKEYS that sets the value.
    pub(crate) fn report_modified_keys(&mut self, params: &Params) {
        for kind in params.values() {
            match self.keyboard.modified(*kind) {
                Some(value) => self.reply_csi(format_args!(">{kind};{value}m")),
                None => self.reply_csi(format_args!(">{kind}m")),
            }
        }
    }
}

#[cfg(test)]
mod tests;
