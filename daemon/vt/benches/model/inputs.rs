//! What programs print, made here so that each run gets the same.

// Small numbers, and lines made once.
#![allow(clippy::cast_possible_truncation, clippy::format_push_string)]

/// About this many bytes of each kind.
pub(crate) const INPUT_BYTES: usize = 8 << 20;

/// A kind of output, and how it is made.
pub(crate) struct Input {
    pub(crate) name: &'static str,
    /// How many times as fast as `alacritty_terminal` the model must be.
    pub(crate) at_least: f64,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn all() -> Vec<Input> {
    let input = |name, at_least, line: fn(usize) -> Vec<u8>| Input {
        name,
        at_least,
        bytes: repeat(line, INPUT_BYTES),
    };
    vec![
        input("log lines", 3.7, log_line),
        input("coloured ls", 3.0, ls_line),
        input("cargo output", 2.0, cargo_line),
        input("dense cells", 1.5, dense_row),
        input("vim session", 2.0, vim_step),
        input("short lines", 2.0, short_line),
        input("scroll region", 4.0, region_line),
        input("CJK", 2.0, cjk_line),
        input("emoji", 1.5, emoji_line),
    ]
}

pub(crate) fn repeat(line: fn(usize) -> Vec<u8>, length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 4096);
    let mut at = 0;
    while bytes.len() < length {
        bytes.extend(line(at));
        at += 1;
    }
    bytes
}

fn log_line(at: usize) -> Vec<u8> {
    let (seconds, micros) = (at % 60, at * 37 % 1_000_000);
    format!(
        "2026-11-21T15:00:{seconds:02}.{micros:06}Z INFO  service::worker{{id={}}}: handled request \
         path=/api/v1/items/{at} status=200 in {}us\r\n",
        at % 16,
        at * 7 % 1999
    )
    .into_bytes()
}

fn ls_line(at: usize) -> Vec<u8> {
    let (color, kind) = [("01;34", ""), ("01;32", "*"), ("01;36", "@"), ("0", "")][at % 4];
    format!(
        "-rw-r--r-- 1 user user {:>8} Nov 21 15:{:02} \x1b[{color}mfile-{at}.rs\x1b[0m{kind}\r\n",
        at * 7919 % 99_999_999,
        at % 60
    )
    .into_bytes()
}

/// A line of a build in cargo's colours.
pub(crate) fn cargo_line(at: usize) -> Vec<u8> {
    match at % 8 {
        7 => format!(
            "\x1b[0m\x1b[1m\x1b[33mwarning\x1b[0m\x1b[0m\x1b[1m: unused variable: `value{at}`\x1b[0m\r\n\
             \x1b[0m \x1b[0m\x1b[0m\x1b[1m\x1b[38;5;12m--> \x1b[0m\x1b[0msrc/main.rs:{at}:9\x1b[0m\r\n"
        ),
        6 => format!(
            "\x1b[K\x1b[0m\x1b[0;1;36m    Building\x1b[0m [===>      ] {at}/9999: serde, tokio\r"
        ),
        _ => format!("\x1b[0m\x1b[0;1;32m   Compiling\x1b[0m some-crate-{at} v1.{}.3\r\n", at % 40),
    }
    .into_bytes()
}

fn dense_row(at: usize) -> Vec<u8> {
    let mut row = format!("\x1b[{};1H", at % 24 + 1);
    for col in 0..80 {
        let value = at * 31 + col * 7;
        row.push_str(&format!(
            "\x1b[38;5;{};48;5;{}m{}",
            value % 256,
            value / 3 % 256,
            char::from(b'!' + (value % 90) as u8)
        ));
    }
    row.into_bytes()
}

fn vim_step(at: usize) -> Vec<u8> {
    let row = at % 22 + 1;
    let mut step = format!(
        "\x1b[?25l\x1b[{row};1H\x1b[38;5;130m{at:>4} \x1b[m\x1b[38;5;121mlet\x1b[m value_{at} = \
         \x1b[38;5;81mcall\x1b[m(\x1b[38;5;217m\"text {at}\"\x1b[m, {});\x1b[K\x1b[24;1H\x1b[7m main.rs \
         {row},9 \x1b[m\x1b[24;63H{row},9\x1b[9C{}%\x1b[{row};9H\x1b[?25h",
        at % 100,
        at % 100
    );
    if at.is_multiple_of(16) {
        step.push_str("\x1b[1;22r\x1b[1;1H\x1bM\x1b[1;24r");
    }
    step.into_bytes()
}

fn short_line(at: usize) -> Vec<u8> {
    format!("{at}\r\n").into_bytes()
}

fn region_line(at: usize) -> Vec<u8> {
    let margins = if at.is_multiple_of(64) {
        "\x1b[3;20r\x1b[20;1H"
    } else {
        ""
    };
    format!("{margins}line {at} in a region\r\n").into_bytes()
}

fn cjk_line(at: usize) -> Vec<u8> {
    let mut line = String::new();
    for col in 0..38 {
        let code = 0x4e00 + (at * 31 + col * 17) % 0x5000;
        line.extend(u32::try_from(code).ok().and_then(char::from_u32));
    }
    line.push_str("\r\n");
    line.into_bytes()
}

fn emoji_line(at: usize) -> Vec<u8> {
    const EMOJI: [&str; 8] = ["😀", "🚀", "👍🏽", "❤️", "👩‍💻", "🇫🇷", "✅", "🔥"];
    let mut line = String::new();
    for col in 0..16 {
        line.push_str(EMOJI[(at * 5 + col * 3) % EMOJI.len()]);
        line.push_str(" ok");
    }
    line.push_str("\r\n");
    line.into_bytes()
}

/// Bytes without sense (Marsaglia's xorshift64).
pub(crate) fn random(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
