//! How the terminal reads the lines that are typed, where stty(1) and tset(1) set it. What is typed then
//! is not what runs: after `stty erase x`, the line `fryxob` is `frob`.

use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// Settings that leave a typed line what it is. A dash before one switches it off.
const SETTINGS: &str = "
    all help save size speed version sane cooked raw cbreak crt dec ek echo echoctl ctlecho echoe crterase echok
    echoke crtkill echonl echoprt prterase icanon noflsh tostop flusho
    ixon ixoff ixany tandem decctlq imaxbel brkint ignbrk inpck ignpar
    opost onlcr ocrnl onocr onlret ofill ofdel olcuc tabs tab0 tab1 tab2 tab3 cr0 cr1 cr2 cr3 nl0 nl1 ff0 ff1
    vt0 vt1 bs0 bs1 cs8 cstopb cread clocal crtscts hupcl hup parenb parodd cmspar drain";
/// Settings that do so in this one direction: without `icrnl` a line does not end, and without `isig` or
/// `iexten` what was taken back stays.
const ONE_WAY: &str = "icrnl isig iexten iutf8 -xcase -istrip -igncr -inlcr -iuclc -parmrk -nl";
/// Settings with a number behind them.
const NUMBERED: &str = "rows columns cols min time ispeed ospeed";
/// Characters that edit or end a line, each with what it is in every terminal: as `^X`, and as a number.
const CHARACTERS: [(&str, &str); 17] = [
    ("intr", "^C 3 0x3 0x03 003"),
    ("quit", "^\\ 28 0x1c 034"),
    ("erase", "^H ^? 8 127 0x8 0x08 0x7f 010 0177"),
    ("erase2", "^H ^? 8 127 0x8 0x08 0x7f 010 0177"),
    ("kill", "^U 21 0x15 025"),
    ("eof", "^D 4 0x4 0x04 004"),
    ("eol", "undef ^- <undef>"),
    ("eol2", "undef ^- <undef>"),
    ("swtch", "undef ^- <undef>"),
    ("start", "^Q 17 0x11 021 undef ^-"),
    ("stop", "^S 19 0x13 023 undef ^-"),
    ("susp", "^Z 26 0x1a 032"),
    ("dsusp", "^Y 25 0x19 031 undef ^-"),
    ("rprnt", "^R 18 0x12 022"),
    ("reprint", "^R 18 0x12 022"),
    ("werase", "^W 23 0x17 027"),
    ("lnext", "^V 22 0x16 026"),
];
/// The character that an option of tset(1) sets.
const OF_TSET: [(&str, &str); 3] = [("e", "erase"), ("i", "intr"), ("k", "kill")];

/// Whether a program with these arguments makes the terminal read typed lines otherwise.
pub(super) fn is_changed(program: &str, args: &[Word]) -> bool {
    match program {
        "stty" => is_changed_by_stty(args),
        "tset" | "reset" => {
            let given = options(args, Valued::These("e i k m"), Order::Permuted);
            OF_TSET.iter().any(|(option, name)| {
                let names = [*option];
                given
                    .values(&names)
                    .any(|(_, value)| !is_usual(name, value))
            })
        }
        _ => false,
    }
}

fn is_changed_by_stty(args: &[Word]) -> bool {
    let mut texts = args.iter().map(|word| word.text.as_str());
    while let Some(text) = texts.next() {
        let is_plain = match text {
            "-F" | "-f" | "--file" => texts.next().is_some(),
            "-a" | "-g" | "-e" => true,
            _ if text.starts_with("-F") || text.starts_with("--") => true,
            _ if is_listed(text, NUMBERED) => texts.next().is_some(),
            _ if is_character(text) => texts.next().is_some_and(|value| is_usual(text, value)),
            _ => {
                let name = text.strip_prefix('-').unwrap_or(text);
                let is_speed = text.chars().all(|c| c.is_ascii_digit());
                is_speed || is_listed(text, ONE_WAY) || is_listed(name, SETTINGS)
            }
        };
        if !is_plain {
            return true;
        }
    }
    false
}

fn is_character(name: &str) -> bool {
    CHARACTERS.iter().any(|(listed, _)| *listed == name)
}

/// Whether a character of the terminal is what it is in every terminal.
fn is_usual(name: &str, value: &str) -> bool {
    let value = match value.strip_prefix('^') {
        Some(letter) => format!("^{}", letter.to_ascii_uppercase()),
        None => value.to_owned(),
    };
    let mut listed = CHARACTERS.iter().filter(|(listed, _)| *listed == name);
    listed.any(|(_, usual)| is_listed(&value, usual))
}
