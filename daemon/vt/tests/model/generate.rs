//! Random bytes that speak a terminal's language, right and wrong.

/// Marsaglia's xorshift64: the same seed gives the same bytes.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // A state of 0 would stay 0, and small seeds are alike at first.
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from((self.next() >> 16) % end.max(1) as u64).unwrap_or(0)
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    fn byte_of(&mut self, of: &[u8]) -> u8 {
        of[self.below(of.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// About `length` bytes of everything.
pub(crate) fn anything(random: &mut Random, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < length {
        match random.below(20) {
            0..6 => text(random, &mut out),
            6 => wide(random, &mut out),
            7 => clusters(random, &mut out),
            8 | 9 => new_line(random, &mut out),
            10 => out.push(random.byte_of(b"\r\t\x08\x0b\x0c\x0e\x0f\x07\0\x7f\x05\x18\x1a")),
            11..14 => control_sequence(random, &mut out),
            14 => rendition(random, &mut out),
            15 => mode(random, &mut out),
            16 => escape(random, &mut out),
            17 => string(random, &mut out),
            18 => noise(random, &mut out),
            _ => program(random, &mut out),
        }
    }
    out
}

/// About `length` bytes of lines of text. Nothing else moves the cursor.
pub(crate) fn lines(random: &mut Random, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < length {
        match random.below(8) {
            0..4 => text(random, &mut out),
            4 => wide(random, &mut out),
            5 => rendition(random, &mut out),
            _ => out.extend_from_slice(b"\r\n"),
        }
    }
    out
}

pub(crate) fn text(random: &mut Random, out: &mut Vec<u8>) {
    let most = if random.one_in(10) { 200 } else { 20 };
    for _ in 0..random.below(most) {
        let byte = if random.one_in(5) {
            0
        } else {
            random.below(95)
        };
        out.push(b' ' + u8::try_from(byte).unwrap_or(0));
    }
}

pub(crate) fn wide(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..random.below(12) {
        let base = [0x4e00, 0xac00, 0x3041, 0xff21, 0x1f300][random.below(5)];
        push(
            out,
            char::from_u32(base + u32::try_from(random.below(80)).unwrap_or(0)),
        );
        if random.one_in(4) {
            out.push(b'-');
        }
    }
}

fn clusters(random: &mut Random, out: &mut Vec<u8>) {
    const CLUSTERS: [&str; 12] = [
        "e\u{301}",
        "a\u{300}\u{301}\u{302}",
        "👩\u{200d}👩\u{200d}👧",
        "❤\u{fe0f}",
        "☎\u{fe0e}",
        "🇩🇪🇫🇷",
        "👍🏽",
        "각",
        "\u{200b}",
        "\u{301}",
        "é–ß—ñ│─┼",
        "\u{ad}\u{feff}",
    ];
    out.extend_from_slice(random.pick(&CLUSTERS).as_bytes());
}

fn push(out: &mut Vec<u8>, c: Option<char>) {
    out.extend_from_slice(c.unwrap_or('?').encode_utf8(&mut [0; 4]).as_bytes());
}

fn new_line(random: &mut Random, out: &mut Vec<u8>) {
    out.extend_from_slice(
        random
            .pick(&["\r\n", "\r\n", "\n", "\x1bE", "\x1bD", "\x1bM"])
            .as_bytes(),
    );
}

pub(crate) fn number(random: &mut Random, out: &mut Vec<u8>) {
    let number = match random.below(12) {
        0 => return,
        1 => 0,
        2 => 65_535,
        3 => 99_999_999,
        4 => random.below(300),
        _ => random.below(12),
    };
    out.extend_from_slice(number.to_string().as_bytes());
}

fn control_sequence(random: &mut Random, out: &mut Vec<u8>) {
    out.extend_from_slice(
        random
            .pick(&["\x1b[", "\x1b[", "\x1b[", "\u{9b}"])
            .as_bytes(),
    );
    if random.one_in(5) {
        out.push(random.byte_of(b"?>=<"));
    }
    let count = if random.one_in(30) {
        40
    } else {
        random.below(5)
    };
    for at in 0..count {
        if at > 0 {
            out.push(random.byte_of(b";;;;:"));
        }
        number(random, out);
    }
    if random.one_in(8) {
        out.push(random.byte_of(b" !\"#$%&'()*+,-./"));
    }
    if random.one_in(20) {
        out.push(random.byte_of(b"\n\r\x08\x18\x1a\x1b\x7f"));
    }
    out.push(random.byte_of(b"@ABCDEFGHIJKLMPSTXYZ`abcdefghijklmnopqrstuvwxyz{|}~"));
}

pub(crate) fn rendition(random: &mut Random, out: &mut Vec<u8>) {
    const RENDITIONS: [&str; 16] = [
        "",
        "0",
        "1",
        "1;31",
        "32",
        "44",
        "7",
        "4:3",
        "38;5;200",
        "48;5;17",
        "38;2;1;2;3",
        "48:2::9:8:7",
        "58;5;3",
        "9;53",
        "22;27;39;49",
        "97;100",
    ];
    out.extend_from_slice(format!("\x1b[{}m", random.pick(&RENDITIONS)).as_bytes());
}

fn mode(random: &mut Random, out: &mut Vec<u8>) {
    const MODES: [&str; 30] = [
        "?1", "?2", "?3", "?5", "?6", "?7", "?12", "?25", "?40", "?45", "?47", "?66", "?69", "?95",
        "?1000", "?1002", "?1004", "?1006", "?1045", "?1047", "?1048", "?1049", "?2004", "?2026",
        "?2027", "4", "20", "2", "12", "?1049",
    ];
    let how = ["h", "h", "l", "l", "s", "r", "$p"][random.below(7)];
    out.extend_from_slice(format!("\x1b[{}{how}", random.pick(&MODES)).as_bytes());
}

fn escape(random: &mut Random, out: &mut Vec<u8>) {
    const ESCAPES: [&str; 30] = [
        "7", "8", "c", "D", "E", "H", "M", "N", "O", "Z", "=", ">", "(0", "(B", ")0", "*A", "#3",
        "#4", "#5", "#6", "#8", "%G", "%@", "n", "o", "|", "6", "9", " F", "V",
    ];
    out.push(0x1b);
    out.extend_from_slice(random.pick(&ESCAPES).as_bytes());
}

fn string(random: &mut Random, out: &mut Vec<u8>) {
    const STRINGS: [&str; 24] = [
        "]0;a title",
        "]2;ü",
        "]8;;https://example.org/",
        "]8;id=x;file:///tmp",
        "]8;;",
        "]133;A",
        "]133;B",
        "]133;C",
        "]133;D;1",
        "]133;D;5;aid=1",
        "]633;A",
        "]633;E;ls\\x3b;nonce",
        "]633;C",
        "]7;file://host/tmp/%20a",
        "]9;4;1;50",
        "]4;1;rgb:11/22/33",
        "]10;?",
        "]104",
        "P$qm",
        "P+q544e",
        "Pq#0~~",
        "_Gi=1;AAAA",
        "^private",
        "Xstart",
    ];
    out.push(0x1b);
    out.extend_from_slice(random.pick(&STRINGS).as_bytes());
    if random.one_in(6) {
        wide(random, out);
    }
    let end = ["\x07", "\x1b\\", "\x1b\\", "\u{9c}", "\x18", "", "\x1b[m"][random.below(7)];
    out.extend_from_slice(end.as_bytes());
}

fn noise(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..random.below(12) {
        out.push(u8::try_from(random.below(256)).unwrap_or(0));
    }
}

/// What full-screen programs and shells do.
fn program(random: &mut Random, out: &mut Vec<u8>) {
    const PROGRAMS: [&str; 12] = [
        "\x1b[?1049h\x1b[2J\x1b[H",
        "\x1b[?1049l",
        "\x1b[3;10r\x1b[5;1H",
        "\x1b[r",
        "\x1b[?69h\x1b[3;20s",
        "\x1b[?69l",
        "\x1b[41m\x1b[K\x1b[m",
        "\x1b[H\x1b[J",
        "\x1b[3J",
        "\x1b[1\"q",
        "\x1b[!p",
        "\x1b[2;3;4;20$x",
    ];
    out.extend_from_slice(random.pick(&PROGRAMS).as_bytes());
}

/// About `length` bytes of what every emulator supports, for a screen of this size. What they do
/// differently (`differential.rs`) is left out.
pub(crate) fn common(random: &mut Random, length: usize, cols: usize, rows: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < length {
        let (row, col) = (1 + random.below(rows), 1 + random.below(cols));
        let count = 1 + random.below(4);
        let sequence = match random.below(24) {
            0..8 => {
                text(random, &mut out);
                continue;
            }
            8..10 => "\r\n".to_owned(),
            10..14 => format!("\x1b[{row};{col}H"),
            14 => format!("\x1b[{count}{}", random.pick(&["C", "D"])),
            15 => format!("\x1b[{row};{col}H\x1b[{}K", random.below(3)),
            16 => {
                let what = if row == 2 { 0 } else { random.below(2) };
                format!("\x1b[{row};{col}H\x1b[{what}J")
            }
            17 => format!(
                "\x1b[{row};{col}H\x1b[{count}{}",
                random.pick(&["@", "P", "X"])
            ),
            18 => format!("\x1b[{row};1H\x1b[{count}{}", random.pick(&["L", "M"])),
            19 => format!("\x1b[{count}{}", random.pick(&["S", "T"])),
            20 => {
                let bottom = (row + 1 + random.below(rows)).min(rows);
                format!("\x1b[{};{bottom}r\x1b[{row};{col}H", row.min(rows - 1))
            }
            21 => format!("\x1b[r\x1b[{row};1H\x1bM"),
            22 => {
                rendition(random, &mut out);
                continue;
            }
            _ => "\x1b[r\x1b[H".to_owned(),
        };
        out.extend_from_slice(sequence.as_bytes());
    }
    out
}
