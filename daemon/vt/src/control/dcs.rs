//! Device control strings: DECRQSS, XTGETTCAP, DECRSPS. Pictures are counted. Key definitions and
//! soft fonts have no effect, nor has the pass-through of tmux and screen, which is meant for
//! another terminal.

use crate::hex;
use crate::parser::ControlString;
use crate::screen::marks::MarkKind;
use crate::terminal::Terminal;
use crate::terminal::terminfo;

/// The most capabilities in one reply to XTGETTCAP.
const MAX_CAPABILITIES: usize = 64;

impl Terminal {
    /// DCS.
    pub(crate) fn dcs(&mut self, gathered: &ControlString) {
        let Some(string) = DeviceControl::parse(gathered.bytes()) else {
            return;
        };
        match (string.prefix, string.intermediate, string.function) {
            // Sixel and ReGIS may be longer than the part of a string that is kept.
            (0, 0, b'q' | b'p') => self.picture(),
            _ if !gathered.is_whole() => {}
            (0, b'$', b'q') => self.report_setting(string.text()),
            (0, b'+', b'q') => self.report_capabilities(string.text()),
            (0, b'$', b't') => self.restore_presentation(string.param, string.text()),
            _ => {}
        }
    }

    /// XTGETTCAP: names and values in hexadecimal. The first unknown name ends the reply; if it is
    /// the first of all, the reply is a refusal.
    fn report_capabilities(&mut self, names: &str) {
        let mut answer = String::new();
        for name in names.split(';').take(MAX_CAPABILITIES) {
            let bytes = hex::decode(name.as_bytes()).unwrap_or_default();
            let known = std::str::from_utf8(&bytes)
                .ok()
                .and_then(|known| Some((known, terminfo::capability(known)?)));
            let Some((known, value)) = known else {
                break;
            };
            if !answer.is_empty() {
                answer.push(';');
            }
            hex::encode(&mut answer, known);
            if !value.is_empty() {
                answer.push('=');
                hex::encode(&mut answer, value);
            }
        }
        if answer.is_empty() {
            self.reply_dcs(format_args!("0+r"));
        } else {
            self.reply_dcs(format_args!("1+r{answer}"));
        }
    }

    /// APC: counts kitty's pictures when they are shown. kitty's question for support gets no
    /// reply, which means no.
    pub(crate) fn apc(&mut self, gathered: &ControlString) {
        let Some(control) = gathered.bytes().strip_prefix(b"G") else {
            return;
        };
        let control = control.split(|byte| *byte == b';').next();
        let shows = |key: &[u8]| matches!(key, b"a=T" | b"a=p");
        if control.is_some_and(|control| control.split(|byte| *byte == b',').any(shows)) {
            self.picture();
        }
    }

    /// Counts a picture and marks its place.
    pub(crate) fn picture(&mut self) {
        self.pictures += 1;
        self.screen.mark(MarkKind::Picture);
    }
}

/// The parts of a device control string (ECMA-48 §5.6, DEC STD 070).
struct DeviceControl<'a> {
    prefix: u8,
    /// The first parameter.
    param: u16,
    intermediate: u8,
    function: u8,
    data: &'a [u8],
}

impl<'a> DeviceControl<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (prefix, rest) = match bytes.first()? {
            prefix @ b'<'..=b'?' => (*prefix, &bytes[1..]),
            _ => (0, bytes),
        };
        let digits = rest
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(rest.len());
        let param = std::str::from_utf8(&rest[..digits])
            .ok()
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0);
        let after = rest.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
        let (intermediate, at) = match rest.get(after)? {
            intermediate @ 0x20..=0x2f => (*intermediate, after + 1),
            _ => (0, after),
        };
        Some(Self {
            prefix,
            param,
            intermediate,
            function: *rest.get(at).filter(|byte| (0x40..=0x7e).contains(*byte))?,
            data: &rest[at + 1..],
        })
    }

    /// The data as text; empty where it is not UTF-8.
    fn text(&self) -> &'a str {
        std::str::from_utf8(self.data).unwrap_or_default()
    }
}
