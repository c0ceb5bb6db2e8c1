//! What holds for any text.

use termd_proto::policy::Verdict;

use super::judged;
use super::rules::rules;
use crate::danger::code::plain::{self, Code};
use crate::{CompiledGate, Invocation, Policy, Request, TypedLines, judge};
use termd_proto::policy::Effect;

/// A generator of noise that repeats itself from run to run (xorshift).
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Some pieces of shell, one behind the other.
    pub(super) fn text(&mut self, pieces: usize) -> String {
        let count = self.below(pieces) + 1;
        (0..count)
            .map(|_| PIECES[self.below(PIECES.len())])
            .collect()
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

const PIECES: [&str; 48] = [
    "rm",
    " ",
    "-rf",
    "x",
    "'",
    "\"",
    "$",
    "(",
    ")",
    "{",
    "}",
    "`",
    "\\",
    "\n",
    ";",
    "|",
    "&",
    "<",
    ">",
    "<<EOF\n",
    "EOF\n",
    "$(",
    "${",
    "$'",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "case ",
    "esac",
    "in ",
    "=",
    "#",
    "*",
    "é",
    "\u{fffc}",
    "\r",
    "\t",
    "\u{0}",
    "[[",
    "]]",
    "((",
    "))",
    "sudo ",
    "bash -c ",
    "--",
    "DROP TABLE",
];

#[test]
fn no_text_makes_it_fail() {
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    let programs = [
        None,
        Some("psql"),
        Some("python3"),
        Some("redis-cli"),
        Some("cat"),
        Some("vim"),
    ];
    let mut typed = TypedLines::default();
    for _ in 0..3_000 {
        let text: String = (0..noise.below(40))
            .map(|_| PIECES[noise.below(PIECES.len())])
            .collect();
        let program = programs[noise.below(programs.len())];
        judged(&text, program);
        let bytes: Vec<u8> = (0..noise.below(60))
            .map(|_| noise.next().to_le_bytes()[0])
            .collect();
        typed.feed(&bytes, program);
        typed.feed(text.as_bytes(), program);
        judged(&String::from_utf8_lossy(&bytes), program);
    }
}

/// Pieces of code: where texts, comments, patterns and values in texts begin and end.
const CODE: [&str; 40] = [
    "'",
    "\"",
    "`",
    "/",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "\n",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "${",
    "#{",
    "f'",
    "r\"",
    "<<A\n",
    "<<~A\n",
    "\nA\n",
    "q(",
    "qq{",
    "s/",
    "m'",
    "%x(",
    "%w[",
    "--[[",
    "]]",
    "=pod\n",
    "=cut\n",
    "x",
    " ",
    "=",
    "|",
    "@{[",
    "\u{17f}",
    "system('y')",
];

#[test]
fn code_that_is_not_read_is_never_fine() {
    let mut noise = Noise::new(11);
    let programs = [
        ("python3", "-c"),
        ("node", "-e"),
        ("ruby", "-e"),
        ("lua", "-e"),
        ("perl", "-e"),
        ("awk", "-e"),
        ("php", "-r"),
        ("julia", "-e"),
    ];
    let mut unread = 0;
    for _ in 0..3_000 {
        let code: String = (0..=noise.below(12))
            .map(|_| CODE[noise.below(CODE.len())])
            .collect();
        let (program, option) = programs[noise.below(programs.len())];
        let argv = [program, option, &code].map(str::to_owned);
        let request = Request::from(Invocation::Argv(&argv));
        let judgement = judge(&request, &CompiledGate::default(), &Policy::default());
        if plain::read(program, &code) == Code::Unread {
            unread += 1;
            assert_ne!(judgement.verdict, Verdict::Safe, "{program} {code:?}");
        }
    }
    assert!(unread > 100, "{unread}");
}

#[test]
fn what_is_dangerous_stays_so_behind_what_is_safe() {
    for safe in [
        "ls",
        "echo 'a b'",
        "cd x && make",
        "for i in 1; do echo; done",
        "[[ -f x ]]",
        "x=1",
        "cat <<EOF\nhi\nEOF\n",
        "f() { ls; }",
        "# comment\n",
        "ls | wc -l",
    ] {
        for (before, after) in [("; ", ""), ("\n", ""), (" && ", "")] {
            let joiner = if safe.ends_with('\n') { "" } else { before };
            let line = format!("{safe}{joiner}rm -rf /{after}");
            assert_eq!(judged(&line, None).verdict, Verdict::Dangerous, "{line:?}");
        }
    }
}

#[test]
fn quoting_a_word_otherwise_changes_nothing() {
    for line in [
        "rm -rf x",
        "sudo reboot",
        "git reset --hard",
        "kill -9 1",
        "ls -la x",
        "echo hi you",
        "chmod 777 x",
        "git status -s",
    ] {
        let verdict = judged(line, None).verdict;
        let words: Vec<&str> = line.split(' ').collect();
        for at in 0..words.len() {
            let forms = [
                format!("'{}'", words[at]),
                format!("\"{}\"", words[at]),
                format!("$'{}'", words[at]),
                words[at].chars().flat_map(|c| ['\\', c]).collect(),
                format!("{}''{}", &words[at][..1], &words[at][1..]),
            ];
            for form in forms {
                let mut quoted: Vec<&str> = words.clone();
                quoted[at] = &form;
                let line = quoted.join(" ");
                assert_eq!(judged(&line, None).verdict, verdict, "{line}");
            }
        }
    }
}

/// A value that is known is never treated more strictly by a rule than one that is not.
#[test]
fn what_is_not_known_is_never_left_out() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let effect = |line: &str| {
        let request = Request::line(line);
        judge(&request, &CompiledGate::default(), &policy).effect
    };
    let frames = [
        "$v",
        "$v x",
        "\"$v\" x",
        "x$v",
        "$v/frob",
        "/x/$v",
        "fr$v",
        "\"fr$v\"",
        "env $v",
        "sudo A=$v $v",
        "nice \"$v\"",
        "eval \"$v\"",
        "eval ls $v",
        "sh -c \"$v\"",
        "sh <<< $v",
        "echo $v | sh",
        "printf %s $v | sh",
        "echo $v | xargs env",
        "xargs -I{} env {} <<< $v",
        "$(echo $v)",
        "`echo $v`",
        "c=($v); ${c[0]}",
        "c=(ls $v); \"${c[@]}\"",
        "y=$v; $y",
        "y+=$v; $y",
        "${v:-ls}",
        "${v:+frob}",
        "${v#x}",
        "f() { \"$@\"; }; f $v",
        "set -- $v; $1",
        "for y in $v; do $y; done",
        "sh <<E\n$v\nE",
        "trap \"$v\" EXIT",
        "if $v; then :; fi",
        "case a in a) $v;; esac",
        "ls; $v",
        "a && $v",
        "exec $v",
        "y=ls; read y <<< $v; $y",
        "printf -v y %s $v; $y",
        "export y=$v; $y",
        "alias y=$v; y",
    ];
    let values = [
        "frob", "/x/frob", "frob x", "x frob", "ob", "", "ls; frob", "-c frob", "[f]rob", "r",
    ];
    let mut left_out = Vec::new();
    for frame in frames {
        let unknown = effect(frame);
        for value in values {
            let known = format!("v='{value}'; {frame}");
            if effect(&known) == Effect::Deny && unknown == Effect::Allow {
                left_out.push(known);
            }
        }
    }
    assert!(left_out.is_empty(), "{left_out:#?}");
    // The noise of the other properties, with a variable in it.
    let mut noise = Noise::new(7);
    for _ in 0..1_000 {
        let text = format!("{}$v{}", noise.text(6), noise.text(6));
        if effect(&text) == Effect::Allow {
            let known = format!("v=frob\n{text}");
            assert_ne!(effect(&known), Effect::Deny, "{known:?}");
        }
    }
}
