//! What is typed in pieces: any bytes, cut anywhere, make lines; none is longer than is judged.

use termd_policy::{CompiledGate, Completeness, Invocation, Policy, TypedLines};
use termd_proto::policy::MAX_JUDGED_BYTES;

use super::policy::{PROGRAMS, request};

/// The first byte chooses a program; the rest is typed into it, whole and byte by byte.
pub fn holds(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let program = PROGRAMS[usize::from(*first) % PROGRAMS.len()];
    let mut typed = TypedLines::default();
    let lines = typed.feed(bytes, program);
    for line in &lines {
        assert!(line.text.len() <= MAX_JUDGED_BYTES);
        let request = request(Invocation::Line(&line.text), program);
        Policy::default().decide(&request, line.completeness, &CompiledGate::default());
    }
    let mut split = TypedLines::default();
    let mut cut = Vec::new();
    for byte in bytes {
        cut.extend(split.feed(&[*byte], program));
    }
    // Bytes that come one by one are asked about more often, never less.
    for line in lines
        .iter()
        .filter(|line| line.completeness == Completeness::Whole)
    {
        let last = line.text.lines().last().unwrap_or_default();
        let asked = cut
            .iter()
            .any(|cut| cut.text == line.text || cut.text.ends_with(last));
        assert!(asked, "{:?} is not in {cut:?}", line.text);
    }
    a_plain_line_is_itself(bytes);
}

fn a_plain_line_is_itself(bytes: &[u8]) {
    let plain = bytes
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if plain && !text.trim().is_empty() {
        let mut typed = TypedLines::default();
        assert!(typed.feed(bytes, None).is_empty());
        let lines = typed.feed(b"\r", None);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert!(texts.contains(&text), "{texts:?}");
    }
}
