//! What takes secrets out: one that stands by itself stays only in a text that may evaluate it, of which
//! nothing is hidden; nothing grows beyond its bound.

use serde_json::Value;
use termd_policy::secrets::redact::{MAX_MARK_BYTES, Redactor};

/// Secrets that are known by their shape, with the words that they stand in.
const PLANTED: [(&str, &str); 4] = [
    ("ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6", ""),
    ("AKIAQ1W2E3R4T5Y6U7I8", ""),
    ("Tr0ub4dor3and9", "https://user:{}@host.example/x"),
    ("s3cr3tBearerOfMany1", "Authorization: Bearer {}"),
];

/// The beginning of a mark of termd's own.
const MARK: &str = "[redacted ";

/// The first byte says which secret stands where; the rest is around it.
pub fn holds(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(rest).into_owned();
    let redactor = Redactor::default();
    is_sound(&redactor, &text);
    let (secret, form) = PLANTED[usize::from(*first) % PLANTED.len()];
    if text.contains(secret) || text.contains(MARK) {
        return;
    }
    let planted = if form.is_empty() {
        secret.to_owned()
    } else {
        form.replace("{}", secret)
    };
    let middle = text.floor_char_boundary(text.len() / 2);
    let (before, after) = text.split_at(middle);
    let line = format!("{before}\n{planted}\n{after}");
    let redacted = redactor.text(&line);
    assert!(
        !redacted.contains(secret) || !redacted.contains(MARK),
        "{line:?}"
    );
    let argv: Vec<String> = [before, planted.as_str(), after]
        .map(str::to_owned)
        .to_vec();
    let words = redactor.argv(&argv);
    assert_eq!(words.len(), argv.len());
    let is_in = |text: &str| words.iter().any(|word| word.contains(text));
    assert!(!is_in(secret) || !is_in(MARK), "{argv:?}");
}

fn is_sound(redactor: &Redactor, text: &str) {
    let once = redactor.text(text).into_owned();
    assert!(once.len() <= text.len() * MAX_MARK_BYTES);
    if let Ok(Value::Object(map)) = serde_json::from_str(text) {
        let members = map.len();
        assert_eq!(redactor.map(map).len(), members, "{text:?}");
    }
}
