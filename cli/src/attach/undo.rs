//! What a program has switched on a person's tty, and how each is switched back.
//!
//! Pure. Whatever is switched is switched back at the end, also if the program has done so itself:
//! a restored cursor may bring it back.

/// Private modes (DECSET) that pass to a tty. Each changes the screen alone, or how keys, the mouse,
/// focus and pastes are typed. The others make the tty answer (2048), send what nobody typed (2031,
/// 5522), wait for the program (1001), read other sequences (2), resize (3, 40) or keep keys from the
/// person (8).
pub(super) const PRIVATE_MODES: [u16; 25] = [
    1, 5, 6, 7, 9, 25, 45, 47, 66, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1045,
    1047, 1048, 1049, 2004, 2026,
];

/// Modes of SM that pass to a tty: IRM and LNM. KAM (2) locks the keyboard, SRM (12) echoes it.
pub(super) const ANSI_MODES: [u16; 2] = [4, 20];

/// A state of a tty that is switched back in one way. The order is that of switching back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Undo {
    /// A mode of [`PRIVATE_MODES`]. A program's alternate screen and the origin are not here: [`TtyFilter`]
    /// knows whether they are on, since leaving them moves the cursor.
    ///
    /// [`TtyFilter`]: super::tty_filter::TtyFilter
    PrivateMode(u16),
    AnsiMode(u16),
    /// DECKPAM.
    Keypad,
    /// XTMODKEYS of other keys.
    OtherKeys,
    /// DECSCUSR.
    CursorStyle,
    /// DECSTBM, DECSLRM. Their reset moves the cursor.
    Margins,
    TabStops,
    Charsets,
    /// DECSCA and DECSACE.
    Protection,
    /// OSC 8.
    Link,
    /// SGR.
    Rendition,
    /// A colour set by OSC 4, 5 or 10 to 19, by the number of the OSC that resets it.
    Colours(u16),
    /// OSC 9;4.
    Progress,
    /// The title before was pushed on the tty's stack (XTWINOPS 22).
    Title,
    /// The tty's alternate screen is the program's whole screen. Last: everything else is of that screen.
    AlternateScreen,
}

impl Undo {
    /// Everything that may be switched back without knowing whether it was switched.
    fn all() -> impl Iterator<Item = Self> {
        let private = PRIVATE_MODES
            .into_iter()
            .filter(|mode| !matches!(mode, 6 | 47 | 1047..=1049));
        let others = [
            Self::Keypad,
            Self::OtherKeys,
            Self::CursorStyle,
            Self::Margins,
            Self::TabStops,
            Self::Charsets,
            Self::Protection,
            Self::Link,
            Self::Rendition,
            Self::AlternateScreen,
        ];
        private
            .map(Self::PrivateMode)
            .chain(ANSI_MODES.map(Self::AnsiMode))
            .chain(others)
    }

    /// The bytes that switch it back.
    pub(super) fn put(self, out: &mut Vec<u8>) {
        let bytes: &[u8] = match self {
            Self::PrivateMode(mode) => {
                // Autowrap and the cursor are on at rest.
                let last = if matches!(mode, 7 | 25) { 'h' } else { 'l' };
                return out.extend(format!("\x1b[?{mode}{last}").bytes());
            }
            Self::AnsiMode(mode) => return out.extend(format!("\x1b[{mode}l").bytes()),
            Self::Colours(number) => return out.extend(format!("\x1b]{number}\x1b\\").bytes()),
            Self::Keypad => b"\x1b>",
            Self::OtherKeys => b"\x1b[>4m",
            Self::CursorStyle => b"\x1b[0 q",
            Self::Margins => b"\x1b7\x1b[?69l\x1b[r\x1b8",
            Self::TabStops => b"\x1b[?5W",
            Self::Charsets => b"\x0f\x1b(B\x1b)B",
            Self::Protection => b"\x1b[0\"q\x1b[0*x",
            Self::Link => b"\x1b]8;;\x1b\\",
            Self::Rendition => b"\x1b[0m",
            Self::Progress => b"\x1b]9;4;0\x1b\\",
            Self::Title => b"\x1b[23;0t",
            // A tty without an alternate screen goes on below the picture.
            Self::AlternateScreen => b"\x1b[999;1H\r\n\x1b[?1049l",
        };
        out.extend(bytes);
    }
}

/// Resets an attached tty of which nothing else is known, after a panic.
pub(crate) fn undo_all() -> Vec<u8> {
    // CAN ends an unfinished sequence.
    let mut out = vec![0x18];
    for undo in Undo::all() {
        undo.put(&mut out);
    }
    out
}
