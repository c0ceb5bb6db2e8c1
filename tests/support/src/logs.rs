//! Output as programs print it: of builds, tests, package managers and the journal, by a seed.

use std::fmt::Write as _;

/// A program's way to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogShape {
    /// Coloured lines above a bar that is redrawn.
    Cargo,
    /// A spinner, warnings, a summary.
    Npm,
    /// Dots and percentages, tracebacks.
    Pytest,
    /// A percentage that is redrawn in place, lines of packages.
    Apt,
    /// Long lines with times, hosts and pids.
    Journal,
    /// Lines, and full-screen programs between them.
    Shell,
}

impl LogShape {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Cargo,
        Self::Npm,
        Self::Pytest,
        Self::Apt,
        Self::Journal,
        Self::Shell,
    ];
}

const NAMES: [&str; 24] = [
    "serde",
    "tokio",
    "regex",
    "memchr",
    "hyper",
    "rustls",
    "webpack",
    "lodash",
    "react",
    "eslint",
    "numpy",
    "pandas",
    "libssl3",
    "python3",
    "openssh-server",
    "systemd",
    "nginx",
    "postgres",
    "kernel",
    "docker",
    "käse",
    "naïve",
    "日本語",
    "redis",
];

fn name_of(number: u64) -> &'static str {
    NAMES[usize::try_from(number % NAMES.len() as u64).unwrap()]
}

/// Output of at least `bytes` bytes, in whole lines.
pub fn log(shape: LogShape, seed: u64, bytes: usize) -> Vec<u8> {
    let mut log = Log {
        random: seed.wrapping_mul(2).wrapping_add(1),
        text: String::with_capacity(bytes + 4096),
        lines: 0,
    };
    while log.text.len() < bytes {
        log.lines += 1;
        match shape {
            LogShape::Cargo => log.cargo(),
            LogShape::Npm => log.npm(),
            LogShape::Pytest => log.pytest(),
            LogShape::Apt => log.apt(),
            LogShape::Journal => log.journal(),
            LogShape::Shell => log.shell(),
        }
    }
    log.text.into_bytes()
}

struct Log {
    random: u64,
    text: String,
    lines: u64,
}

impl Log {
    /// `SplitMix64` (public domain).
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn name(&mut self) -> &'static str {
        let at = self.next();
        name_of(at)
    }

    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).unwrap();
    }

    fn cargo(&mut self) {
        let (name, n, lines) = (self.name(), self.below(90), self.lines);
        self.add(format_args!(
            "\x1b[K\x1b[1m\x1b[32m   Compiling\x1b[0m {name} v1.{n}.{} (/home/u/src/{name})\r\n",
            lines % 10
        ));
        self.add(format_args!(
            "\x1b[1m\x1b[36m    Building\x1b[0m [{:<25}] {}/900: {name}, {}\r",
            "=".repeat((lines % 25) as usize),
            lines % 900,
            name_of(n),
        ));
        if self.below(40) == 0 {
            let code = self.below(700);
            self.add(format_args!(
                "\x1b[K\x1b[1m\x1b[31merror[E0{code:03}]\x1b[0m\x1b[1m: mismatched types\x1b[0m\r\n  \
                 --> src/{name}.rs:{n}:9\r\n   |\r\n{n:3}|     let x: u32 = \"{code}\";\r\n   |\r\n\r\n"
            ));
        }
    }

    fn npm(&mut self) {
        let (name, n) = (self.name(), self.next());
        for frame in ["⠋", "⠙", "⠹"] {
            self.add(format_args!(
                "\x1b[1G\x1b[0K{frame} reify:{name}: timing {}",
                n % 100
            ));
        }
        self.add(format_args!(
            "\x1b[1G\x1b[0Knpm \x1b[33mwarn\x1b[39m deprecated {name}@{}.{}.0: use {:08x} instead\n",
            n % 9,
            n % 30,
            n >> 32
        ));
    }

    fn pytest(&mut self) {
        let (name, n) = (self.name(), self.next());
        let dots: String = (0..40)
            .map(|bit| {
                if (n >> bit).trailing_zeros() > 4 {
                    'F'
                } else {
                    '.'
                }
            })
            .collect();
        self.add(format_args!(
            "tests/test_{name}_{}.py {dots} [{:3}%]\n",
            n % 997,
            n % 101
        ));
        if n % 17 == 0 {
            self.add(format_args!(
                "E       AssertionError: assert {:x} == {:x}\nE\n\ntests/test_{name}.py:{}: AssertionError\n",
                n >> 40,
                n >> 42,
                n % 800
            ));
        }
    }

    fn apt(&mut self) {
        let (name, n, lines) = (self.name(), self.next(), self.lines);
        for percent in 0..3 {
            self.add(format_args!(
                "\r{}% [Working] {name}          ",
                percent * 33 + n % 3
            ));
        }
        self.add(format_args!(
            "\rGet:{} http://deb.debian.org/debian trixie/main amd64 {name} amd64 {}.{} [{} kB]\r\n",
            lines,
            n % 12,
            n % 77,
            n % 9_999
        ));
        self.add(format_args!("Unpacking {name} ({:x}) ...\r\n", n >> 44));
    }

    fn journal(&mut self) {
        let (name, n, lines) = (self.name(), self.next(), self.lines);
        self.add(format_args!(
            "Nov {:02} {:02}:{:02}:{:02} host {name}[{}]: connection from 10.{}.{}.{} port {} id={:016x}\n",
            1 + lines / 900_000 % 28,
            lines / 36_000 % 24,
            lines / 600 % 60,
            lines / 10 % 60,
            n % 32_768,
            n % 250,
            n >> 8 & 255,
            n >> 16 & 255,
            n >> 24 & 0xffff,
            n
        ));
    }

    fn shell(&mut self) {
        let (name, n) = (self.name(), self.next());
        self.add(format_args!(
            "\x1b]0;u@host\x07\x1b[32mu@host\x1b[0m:~$ ls {name}\r\n"
        ));
        for file in 0..n % 5 {
            self.add(format_args!(
                "{name}-{file:02}.txt\t{:x}\r\n",
                n >> (file * 8)
            ));
        }
        if n % 11 == 0 {
            self.add(format_args!(
                "\x1b[?1049h\x1b[2J\x1b[3;4Hin {name} of vim\x1b[?1049l{n:>190}\r\n"
            ));
        }
        if n % 13 == 0 {
            self.add(format_args!(
                "one\r\ntwo {name}\r\n\x1b[2A\x1b[2Kup {n}\r\n\r\n"
            ));
        }
    }
}
