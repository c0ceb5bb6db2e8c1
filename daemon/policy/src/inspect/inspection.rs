//! What is found in a text, and how much of it is read.

use termd_proto::policy::{MAX_JUDGED_BYTES, MAX_JUDGED_COMMANDS, Span, Verdict};
use termd_proto::terminal::Front;

use super::command_danger::DaemonSearch;
use super::fetched::Fetched;
use super::finding::{DangerousCommand, Finding, InspectedCommand};
use super::function_calls::FunctionCalls;
use super::program_word::{is_parameter, unknown_name_end};
use super::script_of_stdin::ScriptOfStdin;
use super::secret_flow::SecretFlow;
use super::stdin::Stdin;
use super::unordered::Unordered;
use super::written::WrittenFiles;
use crate::danger::Danger;
use crate::program::kind::{ProgramKind, base_name};
use crate::program::table::Programs;
use crate::program::wrapper::{self, typed_keys::TypedKeys};
use crate::shell::state::ShellState;
use crate::shell::text::quote::command_text;
use crate::shell::word::{Word, joined};
use crate::work;

/// Shell lines in shell lines, and statements in statements, that are read.
pub(crate) const MAX_DEPTH: usize = 160;

/// Bytes of shell that are read for one text. A line within a line is read again at each depth, and
/// other requests wait meanwhile.
const MAX_READ_BYTES: usize = 8 * MAX_JUDGED_BYTES;
/// What a line within a text counts for beside its length. To parse the shortest one takes as long as to
/// read this much.
const BYTES_OF_EACH_TEXT: usize = 2 << 10;

/// What it takes to parse a byte of a text.
const UNITS_OF_BYTE: usize = 16;
/// What it takes to look a command up, and each of its words.
const UNITS_OF_COMMAND: usize = 512;
const UNITS_OF_WORD: usize = 32;

/// Bytes of words, of all commands of a text together. A command that starts another one holds the
/// other's words too, so `sudo sudo sudo …` holds its words as often as it is deep. The commands of a
/// real text are each read a few times.
const MAX_WORD_BYTES: usize = 32 * MAX_JUDGED_BYTES;
/// How often the words of an argv longer than `MAX_WORD_BYTES` are read.
const MAX_ARGV_READS: usize = 16;

/// Dangerous commands that a denial of a text is for, beside the text. Each is a hash in its record.
const MAX_DANGEROUS: usize = 64;

const TOO_MUCH_NESTED: &str = "too much of it stands within itself to be looked into";

/// Where a text and its environment look for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum SearchPath {
    #[default]
    System,
    /// They set a `PATH` that may lead to what an agent has made.
    Own,
}

/// The commands of a text and what is wrong with it. Commands and nesting are bounded; a text beyond
/// a bound is unknown.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    pub(crate) commands: Vec<InspectedCommand>,
    /// What runs if the text does not run in its order.
    pub(crate) unordered: Unordered,
    /// The dangerous ones of which all words are known, up to [`MAX_DANGEROUS`].
    pub(crate) dangerous: Vec<DangerousCommand>,
    /// What is wrong with the text and with no one command of it.
    pub(crate) text_findings: Vec<Finding>,
    /// What the text has set in its shell so far.
    pub(crate) state: ShellState,
    /// What is read now runs only if the environment has set a variable that the text gives a default.
    /// It matters to rules, and is no reason to doubt the text.
    pub(super) is_unlikely: bool,
    /// The calls of functions that the text has defined.
    pub(super) calls: FunctionCalls,
    /// What is known of programs.
    pub(crate) programs: Programs,
    /// The kind of client that asks. A command that speaks for a person is no danger of a person's.
    pub(crate) front: Option<Front>,
    /// What the program does with the text, where the text is typed into one.
    pub(crate) reader: Option<ProgramKind>,
    /// Whether a command that the table does not call harmless is unknown.
    pub(crate) asks_unlisted: bool,
    /// Where programs are looked for by their names.
    pub(crate) search_path: SearchPath,
    /// What the text has fetched.
    pub(super) fetched: Fetched,
    /// What the text has written to files.
    pub(super) written: WrittenFiles,
    /// Runs of files that the text has written and that are not read.
    pub(super) runs_of_written: usize,
    /// What `exec < FILE` has made the standard input of the shell.
    pub(super) stdin_of_shell: Option<Stdin>,
    /// The text that code of an interpreter is given, while that code is read.
    pub(crate) stdin_of_code: Option<Stdin>,
    /// The script that a shell reads from its standard input, and what of it stands behind the command that
    /// is read now. A program that reads its code there, too, runs this rest.
    pub(super) script_of_stdin: Option<ScriptOfStdin>,
    /// Words that name what a compiler has made, as they are written.
    pub(super) built: Vec<String>,
    /// Functions that are being read where they are defined.
    pub(super) definitions: usize,
    /// What the text has typed into other terminals since a line was ended there.
    pub(super) typed_ahead: TypedKeys,
    /// The settings of git that the text sets by variables.
    pub(crate) git_settings: Vec<(String, String)>,
    /// What the text reads and sends.
    pub(super) secret_flow: SecretFlow,
    /// Whether it is read for rules alone.
    pub(super) is_aside: bool,
    pub(super) daemon_search: DaemonSearch,
    command_count: usize,
    read_bytes: usize,
    word_bytes: usize,
    /// The bytes of words of the longest command.
    longest_command: usize,
}

impl Inspection {
    /// Adds something that is wrong with the text.
    pub(crate) fn note(&mut self, verdict: Verdict, reason: impl Into<String>, span: Span) {
        if self.is_unlikely && verdict == Verdict::Unknown {
            self.note_possible(span);
            return;
        }
        self.text_findings.push(Finding {
            verdict,
            reason: reason.into(),
            span,
            needs_person: false,
            is_read: false,
        });
    }

    /// Adds something to which only a person can agree.
    pub(super) fn note_for_person(&mut self, reason: impl Into<String>, span: Span) {
        self.text_findings.push(Finding {
            verdict: Verdict::Dangerous,
            reason: reason.into(),
            span,
            needs_person: true,
            is_read: true,
        });
    }

    /// Adds a reason to doubt what is read.
    pub(super) fn note_doubt(&mut self, reason: &str, span: Span) {
        if !self.is_unlikely {
            self.text_findings.push(Finding {
                verdict: Verdict::Unknown,
                reason: reason.to_owned(),
                span,
                needs_person: false,
                is_read: true,
            });
        }
    }

    /// Adds something that is wrong with the text because it runs what is not read.
    pub(super) fn note_unread(&mut self, verdict: Verdict, reason: impl Into<String>, span: Span) {
        self.note(verdict, reason, span);
        self.note_possible(span);
    }

    /// Adds that any command may run here, which matters to rules alone.
    pub(super) fn note_possible(&mut self, span: Span) {
        self.commands.push(InspectedCommand::any(span));
    }

    /// What is wrong with the commands, then what is wrong with the text.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Finding> {
        let of_commands = self.commands.iter();
        let of_commands = of_commands.filter_map(|command| command.finding.as_ref());
        of_commands.chain(&self.text_findings)
    }

    /// Why something of the text is not known.
    pub(crate) fn first_unknown(&self) -> Option<&str> {
        let mut findings = self.findings();
        let unknown = findings.find(|finding| finding.verdict == Verdict::Unknown);
        unknown.map(|finding| finding.reason.as_str())
    }

    /// Leaves out what is only unknown.
    pub(crate) fn keep_dangers(&mut self) {
        let is_danger = |finding: &Finding| finding.verdict == Verdict::Dangerous;
        self.text_findings.retain(is_danger);
        for command in &mut self.commands {
            command.finding = command.finding.take().filter(is_danger);
        }
    }

    /// Begins to read something for rules alone, from the same bounds.
    pub(super) fn aside(&self) -> Self {
        Self {
            state: self.state.clone(),
            programs: self.programs.clone(),
            front: self.front,
            written: self.written.clone(),
            stdin_of_shell: self.stdin_of_shell.clone(),
            script_of_stdin: self.script_of_stdin.clone(),
            typed_ahead: self.typed_ahead.clone(),
            is_aside: true,
            command_count: self.command_count,
            read_bytes: self.read_bytes,
            word_bytes: self.word_bytes,
            longest_command: self.longest_command,
            ..Self::default()
        }
    }

    /// Adds the commands of what was read for rules alone.
    pub(super) fn add_aside(&mut self, aside: Self, span: Span) {
        let is_unread = |finding: &Finding| finding.verdict == Verdict::Unknown && !finding.is_read;
        if aside.findings().any(is_unread) {
            self.note_possible(span);
        }
        self.unordered.matters |= aside.unordered.matters;
        self.command_count = aside.command_count;
        self.read_bytes = aside.read_bytes;
        self.word_bytes = aside.word_bytes;
        self.longest_command = aside.longest_command;
        let commands = aside.commands.into_iter();
        self.commands
            .extend(commands.map(|command| InspectedCommand {
                finding: None,
                ..command
            }));
    }

    /// Learns of a variable that is about to be set.
    pub(super) fn learn_assigned(&mut self, name: &str) {
        self.unordered.matters |= self.state.contents(name).is_some();
    }

    /// Counts one more command. `false`: it is one too many.
    pub(super) fn count_command(&mut self, span: Span) -> bool {
        self.command_count += 1;
        if self.command_count == MAX_JUDGED_COMMANDS + 1 {
            let reason = "it holds more commands than are looked at (1,000)";
            self.note(Verdict::Unknown, reason, span);
        }
        self.command_count <= MAX_JUDGED_COMMANDS
    }

    /// Whether there were too many commands. The text is unknown then, whatever follows.
    pub(super) fn is_over_cap(&self) -> bool {
        self.command_count > MAX_JUDGED_COMMANDS
    }

    /// Counts a text of shell or code of this length. `false`: it is not to be read.
    pub(super) fn count_text(&mut self, bytes: usize, span: Span) -> bool {
        let bytes = bytes.saturating_add(BYTES_OF_EACH_TEXT);
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        let fits = work::spend(bytes.saturating_mul(UNITS_OF_BYTE)) && self.has_read_all();
        if !fits {
            self.note_too_much(span);
        }
        fits
    }

    fn has_read_all(&self) -> bool {
        self.read_bytes <= MAX_READ_BYTES
    }

    /// Notes that a part is not read, because too much would have to be.
    pub(super) fn note_too_much(&mut self, span: Span) {
        if self
            .text_findings
            .last()
            .is_none_or(|last| last.reason != TOO_MUCH_NESTED)
        {
            self.note(Verdict::Unknown, TOO_MUCH_NESTED, span);
        }
    }

    /// Begins where another inspection of the same text is with its counting.
    pub(super) fn count_on_from(&mut self, other: &Self) {
        self.read_bytes = other.read_bytes;
    }

    /// Goes on where another inspection of the same text has ended its counting.
    pub(super) fn count_on_behind(&mut self, other: &Self, span: Span) {
        self.read_bytes = other.read_bytes;
        if !self.has_read_all() {
            self.note_too_much(span);
        }
    }

    /// Counts the words of one more command. `false`: they are not to be read.
    pub(super) fn count_words(&mut self, words: &[Word], span: Span) -> bool {
        let bytes = words.iter().map(|word| word.text.len() + 1).sum();
        self.word_bytes = self.word_bytes.saturating_add(bytes);
        self.longest_command = self.longest_command.max(bytes);
        let of_longest = self.longest_command.saturating_mul(MAX_ARGV_READS);
        let units = UNITS_OF_COMMAND + words.len() * UNITS_OF_WORD + bytes;
        let fits = work::spend(units) && self.word_bytes <= MAX_WORD_BYTES.max(of_longest);
        if !fits {
            self.note_too_much(span);
        }
        fits
    }

    /// Whether text at this depth is not read any more.
    pub(super) fn is_too_deep(&mut self, depth: usize, span: Span) -> bool {
        let too_deep = depth > MAX_DEPTH;
        if too_deep {
            let reason = "it is nested deeper than is looked into";
            self.note(Verdict::Unknown, reason, span);
        }
        too_deep
    }

    /// Adds a command, with what is wrong with it.
    pub(super) fn add_command(
        &mut self,
        program: &str,
        words: &[Word],
        danger: Option<Danger>,
        span: Span,
    ) {
        let args = words.get(1..).unwrap_or_default();
        if danger.as_ref().is_some_and(|danger| danger.runs_unread) {
            self.note_possible(span);
        }
        // A name that splits may hold the first arguments too.
        let in_name = words
            .first()
            .filter(|name| name.splits && !self.awaits_call(name));
        let in_name = in_name.map(|name| Word::unknown(name.span));
        let is_unlikely = self.is_unlikely;
        let is_persons = self.front == Some(Front::Cli);
        let danger = danger
            .filter(|danger| !is_unlikely || danger.verdict == Verdict::Dangerous)
            .filter(|danger| !is_persons || !danger.needs_person);
        let is_dangerous = |danger: &Danger| danger.verdict == Verdict::Dangerous;
        if danger.as_ref().is_some_and(is_dangerous) {
            self.add_dangerous(program, args);
        }
        self.commands.push(InspectedCommand {
            program: program.to_owned(),
            name_end: words.first().and_then(unknown_name_end),
            is_installed: words
                .first()
                .is_some_and(|name| wrapper::is_installed(&name.text)),
            is_certain: true,
            arguments: joined(args),
            args: in_name.into_iter().chain(args.iter().cloned()).collect(),
            finding: danger.map(|danger| Finding {
                verdict: danger.verdict,
                reason: danger.reason,
                span,
                needs_person: danger.needs_person,
                is_read: !danger.runs_unread,
            }),
        });
    }

    /// Whether a word is an argument of the function whose definition is read. It is known where the function is
    /// called.
    pub(super) fn awaits_call(&self, word: &Word) -> bool {
        self.definitions > 0 && is_parameter(word)
    }

    fn add_dangerous(&mut self, program: &str, args: &[Word]) {
        // What these write is no word of theirs: the same words with another content are another command.
        let writes_input = matches!(program, "tee" | "sponge");
        let is_known = args.iter().all(Word::is_known) && !writes_input;
        if !is_known {
            return;
        }
        let program = std::iter::once(program.to_owned());
        let words: Vec<String> = program
            .chain(args.iter().map(|word| word.text.clone()))
            .collect();
        let command = DangerousCommand {
            text: command_text(&words),
            directories: self.state.place.paths(),
        };
        self.add_dangerous_command(command);
    }

    /// Adds a dangerous command of which all words are known.
    pub(super) fn add_dangerous_command(&mut self, command: DangerousCommand) {
        if self.dangerous.len() < MAX_DANGEROUS && !self.dangerous.contains(&command) {
            self.dangerous.push(command);
        }
    }

    /// Adds a script as the program that it is, for rules.
    pub(super) fn add_script_file(&mut self, words: &[Word]) {
        let Some(file) = words.first() else {
            return;
        };
        let args = words.get(1..).unwrap_or_default();
        self.commands.push(InspectedCommand {
            program: base_name(&file.text).to_owned(),
            name_end: unknown_name_end(file),
            is_installed: false,
            is_certain: true,
            args: args.to_vec(),
            arguments: joined(args),
            finding: None,
        });
    }
}
