//! The control functions that pass from a program to a person's tty.
//!
//! Pure. A function passes if it is known to draw, or to switch something that can be switched back.
//! So does a notification that does no more than tell something. What is not known is dropped, since
//! terminals have functions that answer by typing, write files, use the clipboard, print, resize and
//! run programs, and get new ones. Sources: ECMA-48, xterm's "Control Sequences", kitty's protocol
//! extensions.

use termd_proto::hyperlink::{is_plain, may_link};

use super::notification;
use super::undo::Undo;

/// A sequence that passes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ControlFunction<'a> {
    Draw,
    /// Tells something beside the screen.
    Notify,
    /// Passes, and is switched back at the end.
    Switch(Undo),
    /// DECSET, DECRST: those of its modes pass that are known.
    PrivateModes {
        params: &'a str,
        last: char,
    },
    /// SM, RM likewise.
    AnsiModes {
        params: &'a str,
        last: char,
    },
    /// `CSI > flags u`.
    PushKeys {
        params: &'a str,
    },
    /// `CSI < count u`.
    PopKeys {
        params: &'a str,
    },
    /// `CSI = flags ; mode u`.
    SetKeys,
    /// OSC 0, 1, 2.
    Title,
    /// OSC 8 whose address is not given to a person: a link ends where this one would begin.
    EndLink,
    /// OSC 104, 105, 110 to 119.
    ResetColours(u16),
    /// RIS.
    Reset,
}

/// What a whole sequence does; `None` if it does not pass.
pub(super) fn control_function(sequence: &[u8]) -> Option<ControlFunction<'_>> {
    // No C1 control in UTF-8 and no other byte above 0x7f, which some terminals take for ST or CSI.
    let text = std::str::from_utf8(sequence).ok()?;
    let body = text.strip_prefix('\x1b')?;
    if let Some(csi) = body.strip_prefix('[') {
        return Csi::parse(csi)?.function();
    }
    if let Some(osc) = body.strip_prefix(']') {
        return osc_function(osc);
    }
    escape_function(body)
}

// A line for each kind of function.
#[allow(clippy::match_same_arms)]
fn escape_function(body: &str) -> Option<ControlFunction<'_>> {
    use ControlFunction::{Draw, Reset, Switch};
    Some(match body.as_bytes() {
        // DECSC, DECRC, DECBI, DECFI, IND, NEL, HTS, RI, SS2, SS3.
        b"7" | b"8" | b"6" | b"9" | b"D" | b"E" | b"M" | b"N" | b"O" => Draw,
        b"H" => Switch(Undo::TabStops),
        b"=" | b">" => Switch(Undo::Keypad),
        // LS2, LS3, LS1R, LS2R, LS3R.
        b"n" | b"o" | b"~" | b"}" | b"|" => Switch(Undo::Charsets),
        b"c" => Reset,
        // Sizes of lines, DECALN.
        [b'#', b'3'..=b'6' | b'8'] => Draw,
        // SCS. `ESC %` is none of them: it leaves UTF-8, and then other bytes are controls.
        [
            b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/',
            rest @ ..,
            b'0'..=b'~',
        ] if rest.iter().all(|byte| matches!(byte, b' '..=b'/')) => Switch(Undo::Charsets),
        _ => return None,
    })
}

/// A control sequence by ECMA-48 5.4: `CSI marker params intermediates final`.
struct Csi<'a> {
    /// One of `<=>?`, or nothing.
    marker: &'a str,
    params: &'a str,
    intermediates: &'a str,
    last: char,
}

impl<'a> Csi<'a> {
    fn parse(body: &'a str) -> Option<Self> {
        let last = body
            .chars()
            .next_back()
            .filter(|c| ('@'..='~').contains(c))?;
        let body = body.strip_suffix(last)?;
        let rest = body.trim_start_matches(['<', '=', '>', '?']);
        let (marker, _) = body.split_at(body.len() - rest.len());
        let params = rest.trim_end_matches(|c| (' '..='/').contains(&c));
        let (_, intermediates) = rest.split_at(params.len());
        // Terminals differ in what they make of larger numbers.
        let is_number = |number: &str| number.is_empty() || number.parse::<u16>().is_ok();
        (marker.len() <= 1
            && params.chars().all(|c| matches!(c, '0'..='9' | ';' | ':'))
            && params.split([';', ':']).all(is_number))
        .then_some(Self {
            marker,
            params,
            intermediates,
            last,
        })
    }

    // A line for each kind of function.
    #[allow(clippy::match_same_arms)]
    fn function(self) -> Option<ControlFunction<'a>> {
        use ControlFunction::{AnsiModes, Draw, PopKeys, PrivateModes, PushKeys, SetKeys, Switch};
        let Self { params, last, .. } = self;
        Some(match (self.marker, self.intermediates, last) {
            // XTHIMOUSE is SD with more parameters.
            ("", "", 'T') if params.contains(';') => return None,
            // DECSTBM, and DECSLRM or SCOSC.
            ("", "", 'r' | 's') => Switch(Undo::Margins),
            ("", "", 'g') => Switch(Undo::TabStops),
            ("", "", 'm') => Switch(Undo::Rendition),
            ("", "", 'h' | 'l') => AnsiModes { params, last },
            // ICH, cursor movements, CHT, ED, EL, IL, DL, DCH, SU, SD, ECH, CBT, HPA, HPR, REP, VPA,
            // VPR, HVP, HPB, VPB, SCORC. MC (`i`), DA (`c`), DSR (`n`), LEDs (`q`), the window (`t`)
            // and tests (`x`, `y`) are not among them.
            ("", "", '@'..='M' | 'P' | 'S' | 'T' | 'X' | 'Z' | '`' | 'a' | 'b' | 'd'..='f') => Draw,
            ("", "", 'j' | 'k' | 'u') => Draw,
            ("?", "", 'h' | 'l') => PrivateModes { params, last },
            // DECSED, DECSEL.
            ("?", "", 'J' | 'K') => Draw,
            // DECST8C.
            ("?", "", 'W') => Switch(Undo::TabStops),
            (">", "", 'm') if params == "4" || params.starts_with("4;") => Switch(Undo::OtherKeys),
            (">", "", 'u') => PushKeys { params },
            ("<", "", 'u') => PopKeys { params },
            ("=", "", 'u') => SetKeys,
            // DECSTR.
            ("", "!", 'p') => Draw,
            // SL, SR.
            ("", " ", '@' | 'A') => Draw,
            ("", " ", 'q') => Switch(Undo::CursorStyle),
            ("", "\"", 'q') | ("", "*", 'x') => Switch(Undo::Protection),
            // Rectangles: DECCARA, DECRARA, DECCRA, DECFRA, DECERA, DECSERA.
            ("", "$", 'r' | 't' | 'v' | 'x' | 'z' | '{') => Draw,
            // DECIC, DECDC.
            ("", "'", '}' | '~') => Draw,
            // XTPUSHSGR, XTPOPSGR.
            ("", "#", 'p' | 'q' | '{' | '}') => Switch(Undo::Rendition),
            _ => return None,
        })
    }
}

fn osc_function(body: &str) -> Option<ControlFunction<'_>> {
    let payload = body
        .strip_suffix("\x1b\\")
        .or_else(|| body.strip_suffix('\x07'))?;
    let (number, value) = match payload.split_once(';') {
        Some((number, value)) => (number, Some(value)),
        None => (payload, None),
    };
    if payload.chars().any(char::is_control) || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match number.parse().ok()? {
        0_u16..=2 => ControlFunction::Title,
        8 => link(value?)?,
        // `?` asks for a colour.
        number @ (4 | 5 | 10..=19) if value.is_some_and(|value| !value.contains('?')) => {
            ControlFunction::Switch(Undo::Colours(number + 100))
        }
        number @ (9 | 99 | 777) => notification::function(number, value?)?,
        number @ (104 | 105 | 110..=119) => ControlFunction::ResetColours(number),
        _ => return None,
    })
}

/// OSC 8: `params;address`. An empty address ends a link.
fn link(value: &str) -> Option<ControlFunction<'_>> {
    let (params, target) = value.split_once(';')?;
    let passes = is_plain(params) && (target.is_empty() || may_link(target));
    Some(if passes {
        ControlFunction::Switch(Undo::Link)
    } else {
        ControlFunction::EndLink
    })
}
