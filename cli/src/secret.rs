//! A secret from standard input: one line, without echo on a tty.
//!
//! Nothing of the secret is printed. The tty gets its modes back on every path (`attach::tty`).

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use crate::attach::tty::ChangedTty;
use crate::error::CliError;
use crate::usage_error::UsageError;

/// The longest secret.
const MAX_SECRET_BYTES: usize = 4_095;

/// Reads one line, without its end.
pub(crate) fn read_secret() -> Result<String, CliError> {
    let stdin = io::stdin();
    let line = if stdin.is_terminal() {
        // On standard error, because standard output may be a file.
        let mut stderr = io::stderr();
        let _ = write!(stderr, "Secret: ");
        let _ = stderr.flush();
        let raw = ChangedTty::raw()?;
        let line = edited(bytes_of_stdin());
        drop(raw);
        let _ = writeln!(stderr);
        line?
    } else {
        plain(bytes_of_stdin())?
    };
    String::from_utf8(line).map_err(|_| UsageError::SecretNotUtf8.into())
}

fn bytes_of_stdin() -> impl Iterator<Item = io::Result<u8>> {
    io::stdin().lock().bytes()
}

/// Reads a line of a file or a pipe.
fn plain(bytes: impl Iterator<Item = io::Result<u8>>) -> Result<Vec<u8>, CliError> {
    let mut line = Vec::new();
    for byte in bytes {
        match byte.map_err(cannot)? {
            b'\n' => break,
            byte => push(&mut line, byte)?,
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

/// Reads a line of a raw tty, with the editing keys of a cooked one.
fn edited(bytes: impl Iterator<Item = io::Result<u8>>) -> Result<Vec<u8>, CliError> {
    let mut line: Vec<u8> = Vec::new();
    for byte in bytes {
        match byte.map_err(cannot)? {
            b'\r' | b'\n' => return Ok(line),
            // End of file.
            0x04 if !line.is_empty() => return Ok(line),
            // Interrupt, quit.
            0x03 | 0x04 | 0x1c => break,
            // Kill the line.
            0x15 => line.clear(),
            0x08 | 0x7f => while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            byte => push(&mut line, byte)?,
        }
    }
    Err(UsageError::NoSecret.into())
}

fn push(line: &mut Vec<u8>, byte: u8) -> Result<(), CliError> {
    if line.len() == MAX_SECRET_BYTES {
        return Err(UsageError::SecretTooLong(MAX_SECRET_BYTES).into());
    }
    line.push(byte);
    Ok(())
}

fn cannot(error: io::Error) -> CliError {
    CliError::Io("cannot read standard input", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> impl Iterator<Item = io::Result<u8>> {
        text.as_bytes().iter().copied().map(Ok)
    }

    #[test]
    fn a_line_is_read_and_edited() {
        for (typed, secret) in [
            ("abc\rd", Some("abc")),
            ("abc\n", Some("abc")),
            ("aé\u{7f}b\r", Some("ab")),
            ("abc\u{15}d\r", Some("d")),
            ("\u{7f}a\u{4}", Some("a")),
            ("\r", Some("")),
            ("ab\u{3}c\r", None),
            ("\u{4}", None),
            ("abc", None),
        ] {
            let read = edited(bytes(typed)).ok();
            assert_eq!(read, secret.map(|s| s.as_bytes().to_vec()), "{typed:?}");
        }
        for (piped, secret) in [("a b\n", "a b"), ("a", "a"), ("a\r\nb", "a"), ("", "")] {
            assert_eq!(plain(bytes(piped)).unwrap(), secret.as_bytes());
        }
        assert!(plain(bytes(&"x".repeat(MAX_SECRET_BYTES + 1))).is_err());
    }
}
