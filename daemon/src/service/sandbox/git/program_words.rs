//! The words of a command line that git hands to a shell. Quotes are taken off, and nothing is expanded.

use termd_policy::program::{is_interpreter, is_shell};

/// Words that a program follows: words of the shell, programs that start another one.
const BEFORE_PROGRAM: &[&str] = &[
    "{", "if", "then", "else", "elif", "while", "until", "do", "exec", "command", "eval", "env",
    "time", "timeout", "nice", "nohup", "npx", "export",
];
/// Words that a script follows, beside shells and interpreters.
const BEFORE_SCRIPT: &[&str] = &[
    ".", "source", "eval", "xargs", "bun", "deno", "tsx", "ts-node",
];
/// Words that a line follows.
const BEFORE_LINE: &[&str] = &["-c", "eval", "-S"];
/// Words that a directory follows, in which the rest of the line runs.
const BEFORE_DIRECTORY: &[&str] = &["cd", "pushd", "-C"];
/// Options of Node, Deno and Bun that load a module (nodejs.org/api/cli.html, bun.sh/docs/cli/run).
const MODULE_OPTIONS: &[&str] = &[
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--preload",
];
const BETWEEN_COMMANDS: &[u8] = b";|&()!\n";

/// A word of a line, without its quotes.
pub(super) struct Word {
    pub(super) text: Vec<u8>,
    /// The word before it, of whatever command.
    before: Vec<u8>,
    /// Whether it stands where a program does.
    pub(super) is_program: bool,
}

impl Word {
    /// Whether it is a line itself: behind an option that takes one, or one with a shell in it.
    pub(super) fn is_line(&self) -> bool {
        let mut parts = self.text.split(|byte| !byte.is_ascii_graphic());
        let has_blank = self.text.iter().any(u8::is_ascii_whitespace);
        self.is_behind(BEFORE_LINE) || (has_blank && parts.any(runs_scripts))
    }

    /// Whether it is a directory in which the rest of the line runs.
    pub(super) fn is_directory(&self) -> bool {
        self.is_behind(BEFORE_DIRECTORY)
    }

    /// The value, where it sets a variable.
    pub(super) fn assignment(&self) -> Option<(&str, &[u8])> {
        let equals = self.text.iter().position(|&byte| byte == b'=')?;
        let (name, value) = self.text.split_at(equals);
        let name = std::str::from_utf8(name).ok()?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_variable = !name.is_empty() && name.bytes().all(is_name);
        is_variable.then_some((name, value.get(1..).unwrap_or_default()))
    }

    /// The commands whose output is in the word: `$(…)` and backticks.
    pub(super) fn substitutions(&self) -> Vec<&[u8]> {
        let text = self.text.as_slice();
        let begin = |at: usize| match text.get(at..) {
            Some([b'$', b'(', ..]) => Some((at + 2, b')')),
            Some([b'`', ..]) => Some((at + 1, b'`')),
            _ => None,
        };
        let Some((begin, end)) = (0..text.len()).find_map(begin) else {
            return Vec::new();
        };
        let inner = text.get(begin..).unwrap_or_default();
        let end = inner.iter().rposition(|&byte| byte == end);
        vec![inner.get(..end.unwrap_or(inner.len())).unwrap_or_default()]
    }

    /// Whether a shell or an interpreter has this name.
    pub(super) fn runs_scripts(&self) -> bool {
        runs_scripts(&self.text)
    }

    pub(super) fn is_shell(&self) -> bool {
        std::str::from_utf8(base_name(&self.text)).is_ok_and(is_shell)
    }

    /// Whether it stands behind an option that takes code, and no script: `-e`, `-pe`, `-r`. Of a shell it
    /// is a script: `bash -e n`.
    pub(super) fn is_behind_code_option(&self) -> bool {
        self.before.first() == Some(&b'-') && matches!(self.before.last(), Some(b'e' | b'r'))
    }

    /// Whether it stands behind an option by which most programs read a file of commands: `-f`, `-nf`.
    pub(super) fn is_behind_file_option(&self) -> bool {
        let option = self.before.as_slice();
        option.first() == Some(&b'-')
            && option.get(1) != Some(&b'-')
            && option.last() == Some(&b'f')
    }

    /// Whether it names a module: behind an option that loads one (`-m n`, `--require n`), or joined to
    /// it (`-r./n`, `--require=./n`).
    pub(super) fn names_module(&self) -> bool {
        let is_joined = |option: &&str| self.text.starts_with(option.as_bytes());
        matches!(
            self.before.as_slice(),
            [b'-', .., b'm' | b'M' | b'r' | b'l']
        ) || matches!(
            self.text.as_slice(),
            [b'-', b'm' | b'M' | b'r' | b'l', _, ..]
        ) || self.is_behind(MODULE_OPTIONS)
            || MODULE_OPTIONS.iter().any(is_joined)
    }

    fn is_behind(&self, words: &[&str]) -> bool {
        words.iter().any(|word| word.as_bytes() == self.before)
    }
}

fn runs_scripts(word: &[u8]) -> bool {
    let name = std::str::from_utf8(base_name(word));
    name.is_ok_and(|name| is_shell(name) || is_interpreter(name) || BEFORE_SCRIPT.contains(&name))
}

pub(super) fn words(line: &[u8]) -> Vec<Word> {
    let mut reader = WordReader {
        words: Vec::new(),
        text: None,
        expects_program: true,
        is_redirected: false,
    };
    let mut quote = None;
    // How many `$(` are open in a word, and whether a backtick is.
    let mut depth = 0_usize;
    let mut in_backticks = false;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'`', None | Some(b'"')) => {
                in_backticks = !in_backticks;
                reader.push(Some(byte));
            }
            _ if in_backticks => reader.push(Some(byte)),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                reader.text.get_or_insert_default();
            }
            (_, Some(open)) if open == byte => quote = None,
            (b'\\', None | Some(b'"')) => reader.push(bytes.next()),
            (b'(', None) if depth > 0 || reader.is_behind_dollar() => {
                depth += 1;
                reader.push(Some(byte));
            }
            (b')', None) if depth > 0 => {
                depth -= 1;
                reader.push(Some(byte));
            }
            (b' ' | b'\t', None) if depth == 0 => reader.end_word(),
            (b'<' | b'>', None) if depth == 0 => {
                reader.end_word();
                reader.is_redirected = true;
            }
            (_, None) if depth == 0 && BETWEEN_COMMANDS.contains(&byte) => {
                reader.end_word();
                reader.expects_program = true;
                reader.is_redirected = false;
            }
            _ => reader.push(Some(byte)),
        }
    }
    reader.end_word();
    reader.words
}

struct WordReader {
    words: Vec<Word>,
    text: Option<Vec<u8>>,
    expects_program: bool,
    /// Whether the next word is a file of `<` or `>`.
    is_redirected: bool,
}

impl WordReader {
    fn push(&mut self, byte: Option<u8>) {
        self.text.get_or_insert_default().extend(byte);
    }

    fn is_behind_dollar(&self) -> bool {
        let text = self.text.as_ref();
        text.is_some_and(|text| text.last() == Some(&b'$'))
    }

    fn end_word(&mut self) {
        let Some(text) = self.text.take() else {
            return;
        };
        let before = self.words.last().map(|word| word.text.clone());
        let mut word = Word {
            before: before.unwrap_or_default(),
            is_program: false,
            text,
        };
        if !std::mem::take(&mut self.is_redirected) {
            let name = base_name(&word.text);
            let begins_program = BEFORE_PROGRAM.iter().any(|word| word.as_bytes() == name);
            let is_option = word.text.first() == Some(&b'-');
            let is_assignment = word.assignment().is_some();
            // The time of timeout(1), and the number of a redirected descriptor.
            let is_number = word.text.first().is_some_and(u8::is_ascii_digit);
            word.is_program = self.expects_program && !is_option && !is_assignment;
            self.expects_program &= is_option || is_assignment || is_number || begins_program;
        }
        self.words.push(word);
    }
}

/// The last part of a program's path.
fn base_name(program: &[u8]) -> &[u8] {
    let slash = program.iter().rposition(|&byte| byte == b'/');
    program
        .get(slash.map_or(0, |at| at + 1)..)
        .unwrap_or_default()
}
