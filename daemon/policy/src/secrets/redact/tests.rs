//! What is taken out and what is left, as tables; and what holds for any text.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

use super::*;

mod fixpoint;

/// A mark whose length and hash do not matter.
const MARK: &str = "[redacted]";

/// The processor time that some work takes on this thread.
fn processor_time_of(work: impl FnOnce()) -> Duration {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::from_secs(now.tv_sec.unsigned_abs())
            + Duration::from_nanos(now.tv_nsec.unsigned_abs())
    };
    let begun = now();
    work();
    now().saturating_sub(begun)
}

/// A text in which each mark is [`MARK`].
fn plain_marks(text: &str) -> String {
    let form = Regex::new(r"\[redacted [0-9]+ bytes? [0-9a-f]{12}\]").unwrap();
    form.replace_all(text, MARK).into_owned()
}

fn redacted(text: &str) -> String {
    plain_marks(&Redactor::default().text(text))
}

/// What a second redaction leaves of a text whose marks are termd's own.
fn hidden_again(redactor: &Redactor, text: &str) -> String {
    redactor.hide(text).into_owned()
}

fn argv_again(redactor: &Redactor, argv: &[String]) -> Vec<String> {
    redactor.hide_in_argv(argv.to_vec())
}

/// The lines of a table.
fn lines(table: &str) -> impl Iterator<Item = String> {
    let is_remark = |line: &str| line.is_empty() || line.starts_with("## ");
    let lines = table.lines().filter(move |line| !is_remark(line));
    lines.map(|line| line.replace('⏎', "\n"))
}

#[test]
fn secrets_are_taken_out_of_lines_and_the_rest_stays() {
    let form = Regex::new("«[^»]*»").unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in lines(include_str!("tests/secrets.txt")) {
        count += 1;
        let wanted = form.replace_all(&line, MARK);
        let got = redacted(&line.replace(['«', '»'], ""));
        if got != wanted {
            wrong.push(format!("{line}\n  gave   {got}\n  wanted {wanted}"));
        }
    }
    assert!(count >= 250);
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_is_no_secret_stays() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in lines(include_str!("tests/harmless.txt")) {
        count += 1;
        let got = redacted(&line);
        if got != line {
            wrong.push(format!("{line}\n  gave {got}"));
        }
    }
    assert!(count >= 150);
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_a_shell_may_run_stays() {
    let mut wrong = Vec::new();
    for line in lines(include_str!("tests/code.txt")) {
        let (code, wanted) = line.split_once(" => ").unwrap_or((&line, &line));
        let got = redacted(code);
        if got != wanted {
            wrong.push(format!("{code}\n  gave   {got}\n  wanted {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_mark_tells_length_and_whether_two_secrets_are_equal() {
    let redactor = Redactor::default().with_key(RedactionKey::new([3; KEY_BYTES]));
    let text = redactor
        .text("a --password hunter2; b --token hunter2 --secret hunter3")
        .into_owned();
    let marks: Vec<&str> = text
        .split('[')
        .skip(1)
        .map(|rest| &rest[..rest.find(']').unwrap()])
        .collect();
    assert_eq!(marks.len(), 3, "{text}");
    assert_eq!(marks[0], marks[1]);
    assert_ne!(marks[1], marks[2]);
    assert!(marks[0].starts_with("redacted 7 bytes "), "{text}");
    assert_ne!(
        redactor.text("x --password hunter2"),
        Redactor::default().text("x --password hunter2")
    );
}

#[test]
fn a_mark_that_was_typed_says_so() {
    let redactor = Redactor::default();
    for (typed, stored) in [
        (
            "x [redacted 12 bytes 3f9a2c51b0d4] || true",
            "x [typed: redacted 12 bytes 3f9a2c51b0d4] || true",
        ),
        (
            "x --password '[redacted]'",
            "x --password '[typed: redacted]'",
        ),
        (
            "[redacted 1 byte 3f9a2c51b0d4]",
            "[typed: redacted 1 byte 3f9a2c51b0d4]",
        ),
        ("[redacted 12 bytes]", "[redacted 12 bytes]"),
    ] {
        assert_eq!(redactor.text(typed), stored);
        let words = redactor.argv(&["x".to_owned(), typed.to_owned()]);
        assert_eq!(words[1], stored);
        let Value::Object(map) = json!({ "password": typed, "a": [typed, 1], "b": typed }) else {
            unreachable!()
        };
        let map = Value::Object(redactor.map(map)).to_string();
        assert!(stored == typed || !map.contains("[redacted"), "{map}");
    }
    // The words beside it are looked at all the same.
    let text = redactor.text("x --token [redacted] --password hunter2");
    assert_eq!(
        plain_marks(&text),
        "x --token [typed: redacted] --password [redacted]"
    );
}

#[test]
fn an_argv_is_read_as_words() {
    let table: &[(&[&str], &[&str])] = &[
        (&["x", "--password", "ab"], &["x", "--password", MARK]),
        (&["x", "--password=ab"], &["x", "--password=[redacted]"]),
        // A value of several words may be a command.
        (&["x", "--password", "a b"], &["x", "--password", "a b"]),
        (
            &["env", "X_TOKEN=rm", "sh", "-c", "$X_TOKEN -rf y"],
            &["env", "X_TOKEN=rm", "sh", "-c", "$X_TOKEN -rf y"],
        ),
        (
            &["sh", "-c", "./sk-live-abcdefghij0123456789 x"],
            &["sh", "-c", "./sk-live-abcdefghij0123456789 x"],
        ),
        (
            &["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "x"],
            &["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "x"],
        ),
        (&["mysql", "-phunter2"], &["mysql", "-p[redacted]"]),
        (
            &["sh", "-c", "mysql -phunter2"],
            &["sh", "-c", "mysql -p[redacted]"],
        ),
        (
            &["curl", "-H", "Authorization: Bearer abc"],
            &["curl", "-H", "Authorization: Bearer [redacted]"],
        ),
        (
            &["env", "A_TOKEN=abc", "ls"],
            &["env", "A_TOKEN=[redacted]", "ls"],
        ),
        (
            &["grep", "-p", "password", "x"],
            &["grep", "-p", "password", "x"],
        ),
        (&["ls", "-la"], &["ls", "-la"]),
    ];
    for (argv, wanted) in table {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let got = Redactor::default().argv(&argv);
        let got: Vec<String> = got.iter().map(|word| plain_marks(word)).collect();
        assert_eq!(got, *wanted);
    }
}

#[test]
fn details_are_looked_through_by_name_and_by_content() {
    let detail = json!({
        "argv": ["mysql", "-phunter2"],
        "command": "deploy --password hunter2",
        "deep": { "password": "hunter2", "list": [1, "A_TOKEN=hunter2"] },
        "env": ["A_TOKEN", "PASSWORD"],
        "uid": 7,
    });
    let Value::Object(map) = detail.clone() else {
        unreachable!()
    };
    let redacted = Value::Object(Redactor::default().map(map));
    assert!(!redacted.to_string().contains("hunter2"), "{redacted}");
    assert_eq!(redacted["env"], detail["env"]);
    assert_eq!(redacted["uid"], 7);
}

#[test]
fn patterns_of_ones_own_add_to_it_and_bad_ones_are_refused() {
    let own = Redactor::with_patterns(&["CUST-[0-9]+".to_owned(), "pin is (\\d+)".to_owned()]);
    let own = own.unwrap();
    let text = plain_marks(&own.text("x CUST-12 pin is 99"));
    assert_eq!(text, "x [redacted] pin is [redacted]");
    let text = plain_marks(&own.text("x --password=y"));
    assert_eq!(text, "x --password=[redacted]");
    // Of a pattern each word is hidden, and what stands between the words is shown.
    let own = Redactor::with_patterns(&["secret .*".to_owned()]).unwrap();
    let text = plain_marks(&own.text("x secret a $(b); d 'c'"));
    assert_eq!(text, "x [redacted] [redacted] $(b); d '[redacted]'");
    let refused = |pattern: &str| Redactor::with_patterns(&[pattern.to_owned()]).unwrap_err();
    assert!(matches!(
        refused("("),
        PatternError::NoPattern { number: 1, .. }
    ));
    assert!(matches!(
        refused("a{1000}{1000}"),
        PatternError::NoPattern { .. }
    ));
    assert_eq!(refused("a*"), PatternError::FitsNothing(1));
    assert_eq!(refused(&"a".repeat(2_000)), PatternError::TooLong(1));
    let many = vec!["a".to_owned(); MAX_PATTERNS + 1];
    assert_eq!(
        Redactor::with_patterns(&many).unwrap_err(),
        PatternError::TooMany(MAX_PATTERNS + 1)
    );
}

/// A small generator: the same texts each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

const PIECES: &[&str] = &[
    "--password",
    "=",
    " ",
    "'",
    "\"",
    "\\",
    "mysql",
    "-p",
    "hunter2",
    "$",
    "(",
    ")",
    "|",
    ";",
    "Authorization",
    ":",
    "Bearer ",
    "https://",
    "@",
    "/",
    "a",
    "7",
    "[redacted]",
    "[redacted 7 bytes 0123456789ab]",
    "[",
    "]",
    "é",
    "\u{1f600}",
    "\n",
    "-----BEGIN PRIVATE KEY-----",
    "-----END",
    "ghp_",
    "abcdefghijklmnopqrstuvwxyz",
    "0123456789",
    "curl",
    "-u",
    "sk-",
    "eyJ",
    ".",
    "_TOKEN",
    "&",
    "?",
    "{",
    "}",
    "\"secret\":",
    "\t",
    "\0",
    "sshpass",
    "docker login",
    "pass:",
    "openssl",
    "X-Api-Key: ",
    "xoxb-",
];

#[test]
fn any_text_is_taken_once_and_for_all_within_bounds() {
    let redactor = Redactor::default();
    let mut random = Random(7);
    for _ in 0..4_000 {
        let pieces = 1 + random.below(14);
        let text: String = (0..pieces)
            .map(|_| PIECES[random.below(PIECES.len())])
            .collect();
        let once = redactor.text(&text).into_owned();
        assert_eq!(
            hidden_again(&redactor, &once),
            once,
            "twice is not once: {text:?}"
        );
        assert!(once.len() <= text.len() * MAX_MARK_BYTES, "{text:?}");
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let argv = redactor.argv(&words);
        assert_eq!(argv.len(), words.len());
        assert_eq!(
            argv_again(&redactor, &argv),
            argv,
            "twice is not once: {words:?}"
        );
    }
}

/// Twice the text takes about twice the time, also for texts made to be slow. The bound is wide, so
/// that a busy machine does not fail it; what is quadratic takes a thousand times as long.
#[test]
fn time_is_linear_in_the_text() {
    let redactor = Redactor::default();
    for piece in [
        "a",
        "=",
        "'",
        "\"",
        "--password ",
        "mysql -p",
        "https://",
        "eyJ.",
        "a=",
        "\\\"",
        "(",
        "-----BEGIN PRIVATE KEY-----",
        "Authorization: ",
        "'a ",
        "\"password\":\"",
        "a-",
        "://a:",
    ] {
        let text = piece.repeat((256 << 10) / piece.len());
        let took = processor_time_of(|| drop(redactor.text(&text)));
        assert!(took < Duration::from_secs(20), "{piece:?} took {took:?}");
    }
}

/// White space that is no blank of a shell ends a word, too, and is none.
#[test]
fn any_white_space_is_passed() {
    let redactor = Redactor::default();
    for space in [
        '\u{b}', '\u{c}', '\u{85}', '\u{a0}', '\u{2003}', '\u{2028}', '\u{3000}',
    ] {
        let line = format!("mysql{space}-pHunter2!x{space}{space}db");
        let left = format!("mysql{space}-p{MARK}{space}{space}db");
        assert_eq!(plain_marks(&redactor.text(&line)), left, "{line:?}");
        assert_eq!(redactor.text(&format!("{space}")), format!("{space}"));
    }
}

#[test]
fn what_a_text_evaluates_stays() {
    let mut wrong = Vec::new();
    for line in lines(include_str!("tests/evaluated.txt")) {
        let got = redacted(&line);
        if got != line {
            wrong.push(format!("{line}\n  gave   {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
