//! Whether a terminal waits for a line. A shell's mark says so for certain (1); without one the look of
//! the cursor's line is a guess (below 1). An empty line is no prompt, nor is one that goes on after
//! the cursor. Pure.
//!
//! Prompts are learnt: what stood before a line that was typed is a prompt again, also behind output that
//! did not end its line. A shell's prompt that differs from all of those in its sign or its place
//! (`me@host`) may be output that only looks so.

use termd_proto::interact::{AwaitedInput, DoneBy, InputKind, InputKnownBy, PromptHint};

/// The confidence of a prompt that was there before.
const LEARNT_CONFIDENCE: f32 = 0.95;
/// The ends of psql's prompts within a statement.
const SQL_GOES_ON: [&str; 8] = ["-#", "->", "(#", "(>", "'#", "'>", "*#", "*>"];
/// The least confidence of a prompt.
const MIN_CONFIDENCE: f32 = 0.5;
/// Most bytes of a prompt.
const MAX_PROMPT_BYTES: usize = 1_024;

/// Words before a colon that ask for a secret.
const SECRETS: [&str; 6] = [
    "password",
    "passphrase",
    "passcode",
    "pin",
    "otp",
    "verification code",
];
/// Words before a colon that ask for a name.
const NAMES: [&str; 3] = ["login", "username", "user name"];
/// Whole prompts of programs.
const WHOLE: [&str; 9] = [
    ">>>", "...", "...>", "(gdb)", "(lldb)", "(Pdb)", "ipdb>", "sqlite>", "mysql>",
];
/// Signs that end a theme's prompt, and hardly ever a line of output.
const SIGNS: [char; 6] = ['❯', '➜', 'λ', '›', '»', '⟩'];

/// The cursor's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorLine<'a> {
    /// The text before the cursor, with blanks at its end.
    pub before: &'a str,
    /// The text from the cursor on.
    pub after: &'a str,
}

/// The look of the cursor's line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PromptLook {
    /// The confidence that it is a prompt, from 0 to 1.
    pub confidence: f32,
    pub kind: PromptKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// Asks for a command.
    Command,
    /// Asks for the rest of a command.
    Continuation,
    /// Asks a question: for a name, or yes or no.
    Question,
    /// A shell's, and not the one that was there all the time.
    Strange,
}

/// The look of the cursor's line, where these lines stood before what was typed earlier.
pub fn look(line: CursorLine<'_>, lines_before: &[String]) -> PromptLook {
    let learnt = lines_before.iter().map(String::as_str);
    let confidence = confidence(line);
    if let Some(prompt) = learnt_prompt(line, lines_before) {
        return PromptLook {
            confidence: LEARNT_CONFIDENCE,
            kind: kind_of(prompt, lines_before),
        };
    }
    let kind = match shell_prompt(line.before) {
        Some(shown) if learnt.clone().any(|it| shell_prompt(it).is_some()) => {
            let mut known = learnt.filter_map(shell_prompt);
            if known.any(|known| shown.is_like(known)) {
                PromptKind::Command
            } else {
                PromptKind::Strange
            }
        }
        _ => kind_of(line.before, lines_before),
    };
    PromptLook { confidence, kind }
}

/// The prompt at the end of the cursor's line that was there before. A line that is certainly another
/// prompt may end as one of those.
pub fn learnt_prompt<'a>(line: CursorLine<'_>, lines_before: &'a [String]) -> Option<&'a str> {
    let learnt = lines_before.iter().map(String::as_str);
    let is_other = of_text(line.before) >= LEARNT_CONFIDENCE;
    let is_shown =
        |it: &&str| is_prompt(it) && (line.before == *it || !is_other && line.before.ends_with(it));
    learnt
        .filter(is_shown)
        .max_by_key(|it| it.len())
        .filter(|_| line.after.trim().is_empty())
}

fn kind_of(prompt: &str, learnt: &[String]) -> PromptKind {
    let text = prompt.trim();
    // node's own prompt is a shell's further one.
    let has_other = || {
        let mut learnt = learnt.iter();
        learnt.any(|it| it.trim() != text && !it.trim().starts_with("...") && is_prompt(it))
    };
    let goes_on = ["...", "...>", "...:", "->"].contains(&text)
        || text == ">" && has_other()
        || SQL_GOES_ON.iter().any(|end| text.ends_with(end));
    if goes_on {
        PromptKind::Continuation
    } else if asked(prompt.trim_end(), prompt.ends_with(' ')).is_some() {
        PromptKind::Question
    } else {
        PromptKind::Command
    }
}

/// A shell's prompt that names a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShellPrompt<'a> {
    sign: char,
    /// What stands before the sign.
    place: &'a str,
}

impl ShellPrompt<'_> {
    /// Whether two are of one shell, in one directory or in two.
    fn is_like(self, other: Self) -> bool {
        let user = |place: &str| {
            let words = place.split([' ', ':', '[', ']', '(', ')']);
            let mut words = words.map(str::to_owned);
            words.find(|word| word.contains('@'))
        };
        self.sign == other.sign && user(self.place) == user(other.place)
    }
}

fn shell_prompt(text: &str) -> Option<ShellPrompt<'_>> {
    let mut signs = text.trim_end().chars();
    let sign = signs.next_back().filter(|sign| "$#%>".contains(*sign))?;
    let place = signs.as_str();
    let names_place = place.contains(['@', '~', '/']);
    names_place.then_some(ShellPrompt { sign, place })
}

/// The wire's hint that a line is awaited. `known` is what is known of that besides the line's look.
pub fn hint(known: Option<AwaitedInput>, look: PromptLook) -> Option<PromptHint> {
    let is_certain = |known: AwaitedInput| {
        known.kind == InputKind::Command && known.known_by == InputKnownBy::Marks
    };
    if known.is_some_and(is_certain) {
        return Some(PromptHint {
            by: DoneBy::Marks,
            confidence: 1.0,
        });
    }
    let is_one =
        look.confidence >= MIN_CONFIDENCE && (look.kind != PromptKind::Strange || known.is_some());
    is_one.then_some(PromptHint {
        by: DoneBy::Prompt,
        confidence: look.confidence,
    })
}

/// The confidence that the cursor's line is a prompt, from 0 to 1.
pub fn confidence(line: CursorLine<'_>) -> f32 {
    if line.after.trim().is_empty() {
        of_text(line.before)
    } else {
        0.0
    }
}

/// Whether a text is a prompt.
pub fn is_prompt(text: &str) -> bool {
    of_text(text) >= MIN_CONFIDENCE
}

fn of_text(before: &str) -> f32 {
    let text = before.trim_end();
    if text.is_empty() || text.len() > MAX_PROMPT_BYTES {
        return 0.0;
    }
    let has_blank = before.len() > text.len();
    if let Some(asked) = asked(text, has_blank) {
        return asked;
    }
    if !has_blank {
        return 0.0;
    }
    let bare = text.trim_start();
    if WHOLE.contains(&bare)
        || is_numbered(bare)
        || is_database(bare)
        || bare.starts_with("PS ") && bare.ends_with('>')
    {
        return 0.95;
    }
    if bare.starts_with('➜') || bare.ends_with(SIGNS) {
        return 0.85;
    }
    let mut signs = bare.chars();
    match signs.next_back() {
        Some(sign @ ('$' | '#' | '%' | '>')) => shell(sign, signs.as_str()),
        _ => 0.0,
    }
}

/// Questions: secrets, names, yes or no.
fn asked(text: &str, has_blank: bool) -> Option<f32> {
    let lower = text.to_lowercase();
    if let Some(question) = lower.strip_suffix(':') {
        let last = question.rsplit(['\n', '.']).next().unwrap_or_default();
        let asks = |words: &[&str]| words.iter().any(|word| has_word(last, word));
        if asks(&SECRETS) {
            return Some(0.95);
        }
        if NAMES.iter().any(|name| question.ends_with(name)) {
            return Some(0.9);
        }
        let is_plain = !is_numbered(text) && !question.ends_with(':');
        return (has_blank && is_plain).then_some(0.6);
    }
    let choice = lower.trim_end_matches(['?', ':']).trim_end();
    let is_choice = [("(", ")"), ("[", "]")].iter().any(|(open, close)| {
        let inner = choice
            .strip_suffix(close)
            .and_then(|rest| rest.rsplit_once(open));
        inner.is_some_and(|(_, inner)| inner.starts_with('y') && inner.contains('/'))
    });
    if is_choice || choice.ends_with("/[fingerprint])") {
        return Some(0.9);
    }
    (text.ends_with('?') && has_blank).then_some(0.7)
}

/// Whether a text holds a word by itself.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text
            .get(at + word.len()..)
            .and_then(|tail| tail.chars().next());
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !is_part(before) && !is_part(after)
    })
}

/// `In [1]:`, `irb(main):001>`, `iex(1)>`, `...:`.
fn is_numbered(text: &str) -> bool {
    let inner = |open: &str, close: &str| {
        let inner = text
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(|inner| inner.bytes().all(|byte| byte.is_ascii_digit()))
    };
    inner("In [", "]:")
        || inner("iex(", ")>")
        || text == "...:"
        || (text.starts_with("irb(") && text.ends_with(['>', '*', '"', '\'']))
}

/// `postgres=#`, `name=>`, `name-#`, `MariaDB [name]>`, `127.0.0.1:6379>`.
fn is_database(text: &str) -> bool {
    let psql = ["=#", "=>", "-#", "->", "(#", "(>", "'#", "'>", "*#", "*>"];
    let name = psql.iter().find_map(|end| text.strip_suffix(end));
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-.!*^".contains(c))
            && name.chars().next_back().is_some_and(char::is_alphanumeric)
    };
    let is_address = |text: &str| {
        let parts = text
            .strip_suffix('>')
            .and_then(|text| text.rsplit_once(':'));
        parts.is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
    };
    name.is_some_and(is_name)
        || (text.starts_with("MariaDB [") && text.ends_with("]>"))
        || is_address(text)
}

/// The confidence for a sign that ends a shell's prompt, and the text before it.
fn shell(sign: char, body: &str) -> f32 {
    let body = body.trim_end();
    let last = body.chars().next_back();
    let is_place = body.contains(['@', '~', '/', '\\']) || body.ends_with([']', ')']);
    let is_word = !body.is_empty()
        && body
            .chars()
            .all(|c| c.is_alphanumeric() || "-_.".contains(c));
    match (sign, last) {
        // 100 %, a bar, a tag.
        ('%', Some(last)) if last.is_ascii_digit() => 0.0,
        ('>', Some('=' | '-' | '>')) => 0.0,
        ('>', _) if body.contains('<') => 0.0,
        ('$' | '#', None) => 0.8,
        ('%' | '>', None) => 0.6,
        ('$' | '#', _) if is_place => 0.9,
        _ if is_place => 0.8,
        ('$' | '#', _) if is_word => 0.75,
        ('>' | '%', _) if is_word => 0.65,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_end(before: &str) -> f32 {
        confidence(CursorLine {
            before,
            after: "  ",
        })
    }

    #[test]
    fn prompts_are_known_by_their_look() {
        for prompt in [
            "$ ",
            "# ",
            "% ",
            "> ",
            "user@host:~/src$ ",
            "root@host:/# ",
            "[me@host dir]$ ",
            "host% ",
            "bash-5.2$ ",
            "~/src ❯ ",
            "❯ ",
            "➜  dir git:(main) ✗ ",
            "In [1]: ",
            "   ...: ",
            ">>> ",
            "... ",
            "mysql> ",
            "postgres=# ",
            "db=> ",
            "postgres-# ",
            "MariaDB [(none)]> ",
            "sqlite> ",
            "   ...> ",
            "(gdb) ",
            "irb(main):001> ",
            "irb(main):001:0> ",
            "Password: ",
            "Password:",
            "[sudo] password for me: ",
            "Enter passphrase for key '/home/me/.ssh/id': ",
            "login: ",
            "host login: ",
            "Proceed [y/N] ",
            "[y/N] ",
            "Overwrite? (yes/no) ",
            "Continue? ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
            "PS C:\\> ",
            "127.0.0.1:6379> ",
            "Enter your name: ",
            "iex(1)> ",
            "(venv) me@host:~$ ",
        ] {
            let confidence = at_end(prompt);
            assert!(
                (MIN_CONFIDENCE..1.0).contains(&confidence),
                "{prompt:?}: {confidence}"
            );
        }
    }

    #[test]
    fn prompts_are_learnt_and_a_strange_one_is_told_from_them() {
        use PromptKind::{Command, Continuation, Question, Strange};
        let at_root = "root@vm:~# ";
        for (before, learnt, kind, is_prompt) in [
            ("nonl>>> ", [">>> ", at_root], Command, true),
            ("nonl(gdb) ", ["(gdb) ", ""], Command, true),
            ("nonl>>> ", ["(gdb) ", ""], Command, false),
            (">>> ", ["> ", at_root], Command, true),
            ("root@vm:/tmp# ", [at_root, ""], Command, true),
            ("(venv) root@vm:~# ", [at_root, ""], Command, true),
            ("root@vm:~$ ", [at_root, ""], Strange, true),
            ("me@other:~# ", [at_root, ""], Strange, true),
            ("me@other:~# ", [at_root, "me@other:/# "], Command, true),
            ("root@vm:~$ ", ["", ""], Command, true),
            (">>> ", [at_root, ""], Command, true),
            ("> ", ["$ ", ""], Continuation, true),
            ("> ", ["> ", ""], Command, true),
            ("> ", ["> ", "... "], Command, true),
            ("> ", ["> ", "$ "], Continuation, true),
            ("> ", ["", ""], Command, true),
            ("... ", [">>> ", ""], Continuation, true),
            ("postgres-# ", ["postgres=# ", ""], Continuation, true),
            ("Proceed? [y/N] ", [at_root, ""], Question, true),
        ] {
            let learnt = learnt.map(str::to_owned);
            let look = look(CursorLine { before, after: "" }, &learnt);
            let is_one = look.confidence >= MIN_CONFIDENCE;
            assert_eq!(
                (look.kind, is_one),
                (kind, is_prompt),
                "{before} {learnt:?}"
            );
        }
    }

    #[test]
    fn output_is_no_prompt() {
        for output in [
            "100%",
            "100% ",
            " 42 % ",
            "<html>",
            "<html> ",
            "Compiling…",
            "50% [====>   ]",
            "[====> ",
            "",
            "   ",
            "hello",
            "hello ",
            "error:",
            "total 12",
            "-> ",
            "=> ",
            "a -> ",
            "x = 5 ",
            "see http://x ",
            "done.",
            "price 5$",
            "c#",
        ] {
            assert!(
                at_end(output) < MIN_CONFIDENCE,
                "{output:?}: {}",
                at_end(output)
            );
        }
    }

    #[test]
    fn marks_are_certain_and_a_line_behind_the_cursor_is_none() {
        let line = CursorLine {
            before: "$ ",
            after: "ls",
        };
        let known = |known_by| {
            Some(AwaitedInput {
                kind: InputKind::Command,
                known_by,
            })
        };
        let look_at = |line| look(line, &[]);
        assert_eq!(hint(None, look_at(line)), None);
        let by_marks = hint(known(InputKnownBy::Marks), look_at(line)).unwrap();
        assert_eq!((by_marks.by, by_marks.confidence), (DoneBy::Marks, 1.0));
        let at_end = CursorLine { after: "", ..line };
        let guess = hint(known(InputKnownBy::Kernel), look_at(at_end)).unwrap();
        assert_eq!(guess.by, DoneBy::Prompt);
        assert!(guess.confidence < 1.0);
    }
}
