//! What was found in a text: each command in it, and what is wrong with it.
//!
//! An [`Inspector`] is given commands by [`shell`](crate::inspect::script), takes the programs off them that
//! only start others ([`wrap`](crate::program::wrapper)), and asks [`danger`](crate::danger) about the rest.
//! It promises to end: commands and nesting are bounded, and what is over a bound is unknown.
//! It must not know rules, clients or settings.

use termd_proto::policy::{MAX_JUDGED_BYTES, MAX_JUDGED_COMMANDS, Span, Verdict};

use crate::program::kind::{self, Reader, SqlClient, base_name};
use crate::shell::word::{UNKNOWN, Variables, Word};
use crate::{danger, danger::code, danger::sql, program::wrapper};

/// Shell lines in shell lines, and statements in statements, that are looked into.
pub(crate) const MAX_DEPTH: usize = 160;

/// Bytes of shell that are read for one text: lines within lines are read again at each depth, and
/// all that is asked of the server meanwhile waits.
const MAX_READ_BYTES: usize = 8 * MAX_JUDGED_BYTES;

/// Bytes of words, of all commands of a text together: what starts another holds the other's words,
/// so `sudo sudo sudo …` holds them as often as it is deep. More than any text has, whose commands
/// are each read a few times.
const MAX_WORD_BYTES: usize = 32 * MAX_JUDGED_BYTES;
/// An argv may be longer than that; then this often.
const MAX_ARGV_READS: usize = 16;

/// Something that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) span: Span,
}

/// One command of a text, for rules to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The last part of its name.
    pub(crate) program: String,
    /// Whether that is not known before it runs, or only by custom (`$EDITOR`).
    pub(crate) computed: bool,
    /// Its arguments.
    pub(crate) args: Vec<Word>,
    /// The same, joined by one space.
    pub(crate) arguments: String,
    /// What is wrong with it itself, not with what it starts.
    pub(crate) finding: Option<Finding>,
}

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// The terminal, or a file that somebody named.
    Given,
    /// This text.
    Literal(String),
    /// What came over a network, or out of a coding that hides it.
    Fetched,
    /// What another command prints.
    Computed,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the text judged.
    Outermost,
    /// It is in this part of the text judged.
    Within(Span),
}

impl Place {
    /// A span of this text as one of the text judged.
    pub(crate) fn span(self, own: Span) -> Span {
        match self {
            Self::Outermost => own,
            Self::Within(outer) => outer,
        }
    }
}

/// Collects what is found.
#[derive(Debug, Default)]
pub(crate) struct Inspector {
    pub(crate) seen: Vec<Seen>,
    /// What is wrong with the text itself and no one command of it.
    pub(crate) findings: Vec<Finding>,
    pub(crate) variables: Variables,
    commands: usize,
    read_bytes: usize,
    word_bytes: usize,
    /// The longest command of it, in bytes of its words.
    longest: usize,
}

impl Inspector {
    /// Notes what is wrong with the text.
    pub(crate) fn note(&mut self, verdict: Verdict, reason: impl Into<String>, span: Span) {
        let reason = reason.into();
        self.findings.push(Finding {
            verdict,
            reason,
            span,
        });
    }

    /// Whether there may be one more command.
    pub(crate) fn count_command(&mut self, span: Span) -> bool {
        self.commands += 1;
        if self.commands == MAX_JUDGED_COMMANDS + 1 {
            self.note(
                Verdict::Unknown,
                "it holds more commands than are looked at (1,000)",
                span,
            );
        }
        self.commands <= MAX_JUDGED_COMMANDS
    }

    /// Whether so many bytes of shell more are read.
    pub(crate) fn may_read(&mut self, bytes: usize) -> bool {
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        self.read_bytes <= MAX_READ_BYTES
    }

    /// Whether the words of one more command are read.
    fn may_read_words(&mut self, words: &[Word], span: Span) -> bool {
        let bytes = words.iter().map(|word| word.text.len() + 1).sum();
        self.word_bytes = self.word_bytes.saturating_add(bytes);
        self.longest = self.longest.max(bytes);
        let most = MAX_WORD_BYTES.max(self.longest.saturating_mul(MAX_ARGV_READS));
        if self.word_bytes > most {
            let reason = "too much of it stands within itself to be looked into";
            self.note(Verdict::Unknown, reason, span);
        }
        self.word_bytes <= most
    }

    /// Whether nesting this deep is looked into.
    pub(crate) fn is_too_deep(&mut self, depth: usize, span: Span) -> bool {
        let too_deep = depth > MAX_DEPTH;
        if too_deep {
            self.note(
                Verdict::Unknown,
                "it is nested deeper than is looked into",
                span,
            );
        }
        too_deep
    }

    /// Judges one command, its words expanded.
    pub(crate) fn argv(&mut self, words: &[Word], stdin: &Stdin, depth: usize) {
        let (Some(name), Some(last)) = (words.first(), words.last()) else {
            return;
        };
        let span = Span {
            start: name.span.start,
            end: last.span.end.max(name.span.end),
        };
        if self.is_too_deep(depth, span)
            || !self.count_command(span)
            || !self.may_read_words(words, span)
        {
            return;
        }
        let Some(program) = known_name(name) else {
            self.see(
                &name.text,
                words,
                Some((
                    Verdict::Unknown,
                    "what it runs is only known once it runs".to_owned(),
                )),
                span,
            );
            return;
        };
        let args = words.get(1..).unwrap_or_default();
        let danger =
            danger::of_init_script(&name.text, args).or_else(|| danger::of_command(&program, args));
        let finding = danger.map(|reason| (Verdict::Dangerous, reason));
        let dangerous = finding.is_some();
        self.see(&program, words, finding, span);
        for started in wrapper::started_by(&program, args) {
            self.started(started, args, stdin, span, depth + 1);
        }
        if !dangerous {
            self.reads(&program, args, stdin, span, depth + 1);
        }
    }

    fn see(
        &mut self,
        program: &str,
        words: &[Word],
        finding: Option<(Verdict, String)>,
        span: Span,
    ) {
        let args: Vec<&str> = words
            .iter()
            .skip(1)
            .map(|word| word.text.as_str())
            .collect();
        let name = words.first().map_or("", |word| base_name(&word.text));
        self.seen.push(Seen {
            program: program.to_owned(),
            computed: name.contains([UNKNOWN, '*', '?']),
            args: words.get(1..).unwrap_or_default().to_vec(),
            arguments: args.join(" "),
            finding: finding.map(|(verdict, reason)| Finding {
                verdict,
                reason,
                span,
            }),
        });
    }

    fn started(
        &mut self,
        started: wrapper::Started,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let within = |at: usize| Place::Within(args.get(at).map_or(span, |word| word.span));
        match started {
            wrapper::Started::Argv(words) => self.argv(&words, stdin, depth),
            wrapper::Started::Line { text, at } => {
                if text.chars().all(|c| c == UNKNOWN) && !text.is_empty() {
                    self.computed_line(args, at, span);
                } else {
                    self.shell(&text, within(at), stdin, depth);
                }
            }
            wrapper::Started::Code { text, at } => {
                if let Some(reason) = code::danger(&text) {
                    self.note(Verdict::Dangerous, reason, within(at).span(span));
                }
            }
            wrapper::Started::Sql { client, text, at } => {
                self.sql(client, &text, within(at), span, depth);
            }
            wrapper::Started::Opaque(reason) => self.note(Verdict::Unknown, reason, span),
        }
    }

    /// A shell line that another command makes: `bash -c "$(curl …)"`, `eval "$(ssh-agent)"`.
    fn computed_line(&mut self, args: &[Word], at: usize, span: Span) {
        let raw = args.get(at).map_or("", |word| word.raw.as_str());
        let span = args.get(at).map_or(span, |word| word.span);
        if wrapper::fetches(raw) {
            self.note(Verdict::Dangerous, FETCHED, span);
        } else if !wrapper::prints_environment(raw) {
            self.note(Verdict::Unknown, COMPUTED, span);
        }
    }

    /// SQL, and what a client of a database does with lines that are not.
    pub(crate) fn sql(
        &mut self,
        client: SqlClient,
        text: &str,
        place: Place,
        own: Span,
        depth: usize,
    ) {
        let span = place.span(own);
        if let Some(reason) = sql::danger(client, text) {
            self.note(Verdict::Dangerous, reason, span);
        }
        for line in sql::shell_lines(client, text) {
            self.shell(line, Place::Within(span), &Stdin::Given, depth);
        }
    }

    /// What a program that runs its standard input reads there.
    fn reads(&mut self, program: &str, args: &[Word], stdin: &Stdin, span: Span, depth: usize) {
        let reader = if matches!(program, "at" | "batch") {
            Reader::Shell
        } else {
            kind::reader(program)
        };
        if let Some(raw) = wrapper::script_substitution(program, args) {
            if wrapper::fetches(raw) {
                self.note(Verdict::Dangerous, FETCHED, span);
            } else if !wrapper::prints_environment(raw) {
                self.note(Verdict::Unknown, COMPUTED, span);
            }
            return;
        }
        if !wrapper::runs_stdin(program, args) {
            return;
        }
        match (reader, stdin) {
            (_, Stdin::Given)
            | (Reader::Text | Reader::Other, _)
            | (Reader::Sql(_), Stdin::Fetched | Stdin::Computed) => {}
            (Reader::Shell, Stdin::Literal(text)) => {
                self.shell(text, Place::Within(span), &Stdin::Given, depth);
            }
            (Reader::Code, Stdin::Literal(text)) => {
                if let Some(reason) = code::danger(text) {
                    self.note(Verdict::Dangerous, reason, span);
                }
            }
            (Reader::Sql(client), Stdin::Literal(text)) => {
                self.sql(client, text, Place::Within(span), span, depth);
            }
            (_, Stdin::Fetched) => self.note(Verdict::Dangerous, FETCHED, span),
            (_, Stdin::Computed) => self.note(Verdict::Unknown, COMPUTED, span),
        }
    }
}

const FETCHED: &str = "it runs what is fetched or decoded, unseen";
const COMPUTED: &str = "it runs what another command prints";

/// The program that a word names, where that is known: its last part is enough.
fn known_name(word: &Word) -> Option<String> {
    let name = base_name(&word.text);
    if !name.contains([UNKNOWN, '*', '?']) {
        return Some(name.to_owned());
    }
    // Names that people keep in variables, by what they are for.
    let variable = word.raw.trim_matches(['"', '{', '}', '$']);
    let known = match variable {
        "SHELL" | "BASH" => "sh",
        "EDITOR" | "VISUAL" | "PAGER" | "BROWSER" | "CC" | "CXX" | "LD" | "AR" | "MAKE"
        | "CARGO" | "RUSTC" | "GIT" | "NODE" | "NPM" | "GO" | "JAVA" => "true",
        "PYTHON" | "PYTHON3" => "python3",
        _ => return None,
    };
    Some(known.to_owned())
}
