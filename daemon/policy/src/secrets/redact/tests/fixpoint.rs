//! That nothing is left to do the second time, also in texts that are made to change for long; and
//! that what is made to be slow is not.

use super::super::*;
use super::{argv_again, hidden_again, processor_time_of};

/// Quotes that open and never close, each before a place of a secret.
const CHAIN: &str = "'curl -u x:";

/// What the shapes and the reader of words look for, and what stands around it.
const PIECES: [&str; 36] = [
    "sshpass -p ",
    "curl -u ",
    "mysql -p",
    "a_token=",
    "\\\"",
    "'",
    "\"",
    " ",
    "x:",
    "x",
    "\\",
    "openssl pass:",
    "--password ",
    "--password=",
    "Authorization: ",
    "-----BEGIN PRIVATE KEY-----",
    "-----END",
    "\n",
    ";",
    "[redacted]",
    "net -U ",
    "%",
    "y z",
    "\"password\":\"",
    "https://a:",
    "@",
    "\"password\":",
    "=",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "eyJaaaaaaaa.aaaaaaaa.",
    "[redacted 7 bytes 0123456789ab]",
    "X_TOKEN=",
    "$X_TOKEN",
    "sh -c ",
    "password: ",
    "echo x | docker login --password-stdin ",
];

/// How many texts are made.
const TEXTS: usize = 1_000;

fn is_at_rest(redactor: &Redactor, text: &str) {
    let once = redactor.text(text).into_owned();
    assert_eq!(hidden_again(redactor, &once), once, "{text:?}");
    for between in [' ', '\n'] {
        let words: Vec<String> = text.split(between).map(str::to_owned).collect();
        let once = redactor.argv(&words);
        assert_eq!(once.len(), words.len());
        assert_eq!(argv_again(redactor, &once), once, "{words:?}");
    }
}

#[test]
fn what_changes_with_each_pass_is_at_rest_in_the_end() {
    let redactor = Redactor::default();
    for count in 1..40 {
        is_at_rest(&redactor, &CHAIN.repeat(count));
        is_at_rest(&redactor, &format!("ls; {}; ls", CHAIN.repeat(count)));
    }
    is_at_rest(&redactor, &CHAIN.repeat((64 << 10) / CHAIN.len()));
}

#[test]
fn texts_of_what_is_looked_for_are_at_rest() {
    let redactor = Redactor::with_patterns(&["red(act)".to_owned(), "y .".to_owned()]).unwrap();
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % bound
    };
    for count in 0..TEXTS {
        let text: String = (0..=below(60))
            .map(|_| PIECES[below(PIECES.len())])
            .collect();
        is_at_rest(&Redactor::default(), &text);
        if count % 8 == 0 {
            is_at_rest(&redactor, &text);
        }
    }
}

/// Eight times the text takes some eight times the work. What is quadratic takes 64 times as much.
#[test]
fn work_grows_as_the_text_does() {
    let redactor = Redactor::default();
    let work = |piece: &str, bytes: usize| {
        let text = piece.repeat(bytes / piece.len());
        let once = || processor_time_of(|| drop(redactor.text(&text)));
        (0..3).map(|_| once()).min().unwrap_or_default()
    };
    for piece in [
        CHAIN,
        "a=x\\\"",
        "a_token=x\\\"",
        "a_token=x ",
        "a_token=[redacted] ",
        "a_token=[redacted 7 bytes 0123456789ab] ",
        "X_TOKEN=x;$X_TOKEN ",
        "echo x | docker login --password-stdin\n",
        "-----BEGIN PRIVATE KEY-----ABCDefgh01234567",
        "/ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "hooks.slack.com/services/",
        "password: x\n",
        "curl -b a=b ",
        "eyJ-AKIA0000000000000000-",
        "SG.-AKIA0000000000000000-",
        "https://a:b@c ",
        "\"password\":\"x\" ",
        "Authorization: x\n",
        "mysql -p\"",
        "'--password ",
    ] {
        let (short, long) = (work(piece, 16 << 10), work(piece, 128 << 10));
        assert!(long < 24 * short, "{piece:?}: {short:?} and {long:?}");
    }
}
