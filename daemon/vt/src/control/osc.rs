//! Operating system commands: titles, colours, links. Those of shells are in `shell.rs`.
//!
//! A question gets no reply if the reply would hold what a program sent or what a person copied
//! (OSC 52).

use crate::color::Table;
use crate::grid::style::{Link, LinkId};
use crate::parser::ControlString;
use crate::terminal::Terminal;
use crate::terminal::titles::Which;

/// Longest link target kept, in bytes: what browsers and other terminals take.
const MAX_URI_BYTES: usize = 2_083;
const MAX_LINK_ID_BYTES: usize = 250;

impl Terminal {
    /// OSC. A string that is longer than what is kept has no effect.
    pub(crate) fn osc(&mut self, gathered: &ControlString) {
        let bytes = gathered.bytes();
        if !gathered.is_whole() {
            return;
        }
        // dtterm's titles have a letter and no semicolon.
        match bytes.first() {
            Some(b'l') => return self.set_title(Which::Window, &bytes[1..]),
            Some(b'L') => return self.set_title(Which::Icon, &bytes[1..]),
            _ => {}
        }
        let mut parts = bytes.splitn(2, |byte| *byte == b';');
        let number = parts
            .next()
            .and_then(|number| std::str::from_utf8(number).ok());
        // A number with more digits than any function has is not a function.
        let Some(number) = number.and_then(|number| number.parse::<u16>().ok()) else {
            return;
        };
        let data = parts.next().unwrap_or_default();
        if let Some(which) = Which::numbered(number) {
            self.set_title(which, data);
            return;
        }
        // As in xterm only titles may hold control characters.
        let printable = |text: &&str| !text.bytes().any(|byte| byte < 0x20 || byte == 0x7f);
        let Some(text) = std::str::from_utf8(data).ok().filter(printable) else {
            return;
        };
        self.operating_system_command(number, text, gathered);
    }

    fn operating_system_command(&mut self, number: u16, text: &str, gathered: &ControlString) {
        let end = gathered.terminator();
        match number {
            4 => {
                let answers = self.colors.change(Table::Indexed, text);
                self.reply_colors(&answers, end);
            }
            5 => {
                let answers = self.colors.change(Table::Special, text);
                self.reply_colors(&answers, end);
            }
            7 => self.shell_directory_url(text),
            8 => self.hyperlink(text),
            9 => self.conemu(text),
            10..=19 => {
                let answers = self.colors.change_dynamic(number, text);
                self.reply_colors(&answers, end);
            }
            99 => self.kitty_notification(text),
            104 => self.colors.reset(Table::Indexed, text),
            105 => self.colors.reset(Table::Special, text),
            110..=119 if text.is_empty() => self.colors.reset_dynamic(number - 100),
            133 => self.prompt_mark(text),
            633 => self.vs_code_mark(text),
            777 => self.rxvt(text),
            1337 => self.iterm(text),
            _ => {}
        }
    }

    /// OSC 8: `params;URI`, where params are `key=value` with colons between. An empty URI ends the
    /// link, and one that is too long is none.
    fn hyperlink(&mut self, text: &str) {
        let Some((params, uri)) = text.split_once(';') else {
            return;
        };
        let id = params
            .split(':')
            .find_map(|param| param.strip_prefix("id="))
            .filter(|id| !id.is_empty() && id.len() <= MAX_LINK_ID_BYTES);
        self.screen.cursor.style.link = if uri.is_empty() || uri.len() > MAX_URI_BYTES {
            LinkId(0)
        } else {
            self.screen.styles.link_number(Link {
                id: id.map(Into::into),
                uri: uri.into(),
            })
        };
        self.screen.style_changed();
    }
}

#[cfg(test)]
mod tests;
