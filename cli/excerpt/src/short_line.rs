//! One line of output, cut to a length that a person reads. Pure.

/// The most of one line, in bytes: no error says more in one that a person would read.
const MAX_LINE_BYTES: usize = 400;

/// The line, cut at a character and marked with `…` if it is longer than `MAX_LINE_BYTES`.
pub fn short_line(line: &str) -> String {
    if line.len() <= MAX_LINE_BYTES {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(MAX_LINE_BYTES);
    format!("{} …", line.get(..end).unwrap_or_default())
}
