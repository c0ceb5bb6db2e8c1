//! A file on standard input of an agent's shell, for the gate: the shell's script, or what its text may run.
//!
//! The file is read at its place and the place stays, so that the shell reads it all. What comes by a pipe
//! could only be looked at by taking it away, and is not judged.

use std::os::fd::BorrowedFd;

use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::io::pread;

/// The most that is read of a script: of more than the gate can judge it asks anyway.
const MAX_SCRIPT_BYTES: usize = 1 << 20;
/// The longest file that is judged as the input of a text that may run it (`bash -c 'sh -s' < file`). A longer
/// one is data, and the gate would ask about each.
const MAX_INPUT_BYTES: usize = 32 << 10;
/// The end of the here-document that stands for the file.
const END: &str = "TERMD_END_OF_FILE";

/// What a shell does with a file on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdinUse {
    /// It runs it.
    Script,
    /// What its text starts may run it.
    Input,
}

/// The line that does the same with the file's text in it. `None`: standard input is no file, or an empty
/// one, or a long one that is not the script. `argv` is the shell's, as a line.
pub(super) fn line_with_stdin(argv: &str, stdin: BorrowedFd<'_>, used: StdinUse) -> Option<String> {
    let script = text_in(stdin, used).filter(|text| !text.is_empty())?;
    let mut end = END.to_owned();
    while script.lines().any(|line| line == end) {
        end.push('_');
    }
    let newline = if script.ends_with('\n') { "" } else { "\n" };
    Some(format!("{argv} <<'{end}'\n{script}{newline}{end}"))
}

/// What a file holds from its place on, if it is to be judged.
fn text_in(file: BorrowedFd<'_>, used: StdinUse) -> Option<String> {
    let metadata = fstat(file).ok()?;
    if FileType::from_raw_mode(metadata.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut place = seek(file, SeekFrom::Current(0)).ok()?;
    let size = u64::try_from(metadata.st_size).ok()?;
    let left = usize::try_from(size.saturating_sub(place)).ok()?;
    if used == StdinUse::Input && left > MAX_INPUT_BYTES {
        return None;
    }
    let mut text = vec![0; left.min(MAX_SCRIPT_BYTES)];
    let mut length = 0;
    while let Some(rest) = text.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match pread(file, rest, place) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                length += count;
                place += count as u64;
            }
        }
    }
    text.truncate(length);
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_file_is_read_from_its_place_on_and_keeps_it() {
        let mut file = tempfile::tempfile().unwrap();
        write!(file, "first\nsecond\nTERMD_END_OF_FILE").unwrap();
        file.seek(std::io::SeekFrom::Start(6)).unwrap();
        let line = line_with_stdin("bash -s", file.as_fd(), StdinUse::Script).unwrap();
        let expected =
            "bash -s <<'TERMD_END_OF_FILE_'\nsecond\nTERMD_END_OF_FILE\nTERMD_END_OF_FILE_";
        assert_eq!(line, expected);
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        assert!(rest.starts_with("second\n"), "{rest}");
        assert_eq!(
            line_with_stdin("bash", file.as_fd(), StdinUse::Script),
            None,
            "nothing is left"
        );
        // A long one is a script, or data.
        file.set_len(MAX_INPUT_BYTES as u64 + 1).unwrap();
        file.rewind().unwrap();
        let long = |used| line_with_stdin("bash", file.as_fd(), used).is_some();
        assert!(long(StdinUse::Script) && !long(StdinUse::Input));
        let (reader, _writer) = std::io::pipe().unwrap();
        assert_eq!(
            line_with_stdin("bash", reader.as_fd(), StdinUse::Input),
            None
        );
    }
}
