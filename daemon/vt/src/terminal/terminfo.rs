//! What XTGETTCAP answers: the capabilities that programs ask for by name, because no terminfo
//! entry is certain to have them.

/// The terminfo entry of this terminal.
const TERMINAL_NAME: &str = "xterm-256color";

/// A capability's value; `None` if it is unknown or absent. A boolean capability has an empty
/// value.
pub(crate) fn capability(name: &str) -> Option<&'static str> {
    Some(match name {
        "Co" | "colors" => "256",
        "TN" | "name" => TERMINAL_NAME,
        // Truecolor, bits a channel.
        "RGB" => "8",
        "Tc" | "Su" | "AX" | "XT" | "am" | "km" | "mir" | "msgr" | "xenl" | "bce" | "ccc" => "",
        "setrgbf" => "\x1b[38:2:%p1%d:%p2%d:%p3%dm",
        "setrgbb" => "\x1b[48:2:%p1%d:%p2%d:%p3%dm",
        // Underlines: styles and colours.
        "Smulx" => "\x1b[4:%p1%dm",
        "Setulc" => "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m",
        "Smol" => "\x1b[53m",
        "Rmol" => "\x1b[55m",
        "smxx" => "\x1b[9m",
        "rmxx" => "\x1b[29m",
        "sitm" => "\x1b[3m",
        "ritm" => "\x1b[23m",
        // Cursor styles.
        "Ss" => "\x1b[%p1%d q",
        "Se" => "\x1b[2 q",
        // Synchronized output, pastes, focus.
        "Sync" => "\x1b[?2026%?%p1%{1}%-%tl%eh%;",
        "BE" => "\x1b[?2004h",
        "BD" => "\x1b[?2004l",
        "PS" => "\x1b[200~",
        "PE" => "\x1b[201~",
        "fe" => "\x1b[?1004h",
        "fd" => "\x1b[?1004l",
        "E3" => "\x1b[3J",
        // Margins.
        "Enmg" => "\x1b[?69h",
        "Dsmg" => "\x1b[?69l",
        "Cmg" => "\x1b[%i%p1%d;%p2%ds",
        "Clmg" => "\x1b[s",
        // Versions.
        "XR" => "\x1b[>0q",
        "RV" => "\x1b[>c",
        _ => return None,
    })
}
