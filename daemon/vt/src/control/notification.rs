//! What a program tells a person beside its screen: OSC 9 (iTerm2), OSC 777 (rxvt-unicode) and OSC 99
//! (kitty).
//!
//! None is kept here: each is an event. Buttons, icons and questions of OSC 99 have no effect.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::event::Event;
use crate::terminal::Terminal;

/// Longest text, in bytes: a line or two of a desktop's notification.
const MAX_NOTIFICATION_BYTES: usize = 512;

impl Terminal {
    /// OSC 9 with a text.
    pub(crate) fn notification(&mut self, text: &str) {
        let shown: String = text.chars().filter(|c| !c.is_control()).collect();
        let shown = shown.trim();
        if !shown.is_empty() {
            let end = shown.floor_char_boundary(MAX_NOTIFICATION_BYTES);
            self.event(Event::Notification(shown[..end].to_owned()));
        }
    }

    /// OSC 777: `notify;title;body`.
    pub(crate) fn rxvt(&mut self, text: &str) {
        let Some(("notify", text)) = text.split_once(';') else {
            return;
        };
        match text.split_once(';') {
            Some((title, body)) if !title.is_empty() && !body.is_empty() => {
                self.notification(&format!("{title}: {body}"));
            }
            Some((title, body)) => self.notification(&format!("{title}{body}")),
            None => self.notification(text),
        }
    }

    /// OSC 99: `key=value` with colons between, and a payload. One in several parts is one for each part.
    pub(crate) fn kitty_notification(&mut self, text: &str) {
        let Some((metadata, payload)) = text.split_once(';') else {
            return;
        };
        let value = |key: &str| {
            let mut pairs = metadata.split(':').filter_map(|pair| pair.split_once('='));
            pairs.find_map(|(name, value)| (name == key).then_some(value))
        };
        if !matches!(value("p"), None | Some("title" | "body")) {
            return;
        }
        if value("e") != Some("1") {
            return self.notification(payload);
        }
        let decoded = STANDARD_NO_PAD.decode(payload.trim_end_matches('='));
        if let Some(decoded) = decoded.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
            self.notification(&decoded);
        }
    }
}
