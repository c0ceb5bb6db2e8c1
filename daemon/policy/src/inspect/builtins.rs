//! What builtins of a shell evaluate, and what they set.

use termd_proto::policy::{Span, Verdict};

use super::assignment::{is_setter, run_builtin};
use super::command_sink::CommandSink;
use super::inspector::Inspector;
use super::line_discipline;
use super::script::inspect_subscript;
use super::stdin::Stdin;
use crate::shell::expansion::source::Nesting;
use crate::shell::word::{UNKNOWN, Word};

impl Inspector {
    /// Takes what a builtin sets, and inspects what it evaluates.
    pub(super) fn builtin(&mut self, program: &str, args: &[Word], span: Span, depth: usize) {
        self.inspection.unordered.matters |= is_setter(program);
        run_builtin(program, args, &mut self.inspection.state);
        match program {
            "test" | "[" | "let" | "printf" | "read" | "unset" | "declare" | "typeset"
            | "local" | "export" | "readonly" | "mapfile" | "readarray" | "getopts" | "wait" => {
                for word in args {
                    inspect_subscript(self, &word.text, word.span, depth + 1);
                    let name = word.text.split(['[', '=', '+']).next().unwrap_or_default();
                    let is_computed = name.contains(UNKNOWN) && word.text.contains('[');
                    let is_test = matches!(program, "test" | "[");
                    if !is_test
                        && (is_computed || self.inspection.programs.variable(name).is_some())
                    {
                        self.inspection.note_possible(word.span);
                    }
                }
                if program == "mapfile" || program == "readarray" {
                    let callback = args.iter().position(|word| word.text == "-C");
                    if let Some(line) = callback.and_then(|at| args.get(at + 1)) {
                        let nesting = Nesting::Within(line.span);
                        self.script(&line.text, nesting, depth + 1);
                    }
                }
            }
            "enable" if args.iter().any(|word| word.text.starts_with("-f")) => {
                let reason = "it loads a builtin from a file";
                self.inspection.note(Verdict::Unknown, reason, span);
            }
            "bind" | "bindkey" if binds(args) => {
                let reason = "it gives keys a meaning that is not known";
                self.inspection.note(Verdict::Unknown, reason, span);
            }
            "stty" | "tset" | "reset" if line_discipline::is_changed(program, args) => {
                let reason = "it changes how the terminal reads the lines that are typed";
                self.inspection.note_unread(Verdict::Unknown, reason, span);
            }
            "fc" if !args.iter().any(|word| word.text.starts_with("-l")) => {
                let reason = "it runs a line of the history, changed";
                self.inspection.note(Verdict::Unknown, reason, span);
            }
            // zshmisc(1), csh(1).
            "repeat" => {
                let words = args.get(1..).unwrap_or_default();
                self.command(words, &Stdin::Given, depth + 1);
            }
            // Its keys edit lines in ways that are not followed.
            "set" if args.iter().any(|word| word.text == "vi") => {
                self.inspection.note_possible(span);
            }
            // bash(1), HISTORY EXPANSION: a script has it, too, once it is switched on.
            "set" if expands_history(args) => {
                let reason = "the lines behind it may be made of earlier ones";
                self.inspection.note(Verdict::Unknown, reason, span);
            }
            "coproc" => self.inspection.state.feeds_program = true,
            _ => {}
        }
    }
}

/// Whether set(1) switches history expansion on: `-H`, `-o histexpand`.
fn expands_history(args: &[Word]) -> bool {
    let is_on = |text: &str| {
        let letters = text.strip_prefix('-').unwrap_or_default();
        letters.contains('H') && letters.chars().all(|letter| letter.is_ascii_alphabetic())
    };
    let mut texts = args.iter().map(|word| word.text.as_str());
    let by_name = args.windows(2).any(|pair| {
        let [option, name] = pair else { return false };
        option.text.starts_with('-') && option.text.ends_with('o') && name.text == "histexpand"
    });
    by_name || texts.any(is_on)
}

/// Whether bind or bindkey gives keys a meaning: `bind '"\e[24~": "rm"'`, `bind -f FILE`,
/// `bindkey q accept-line`.
fn binds(args: &[Word]) -> bool {
    let mut texts = args.iter().map(|word| word.text.as_str());
    let is_set = |text: &str| {
        let option = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        option.is_some_and(|letters| letters.contains(['x', 's', 'f']))
            || text.contains(':')
            || text.contains(UNKNOWN)
    };
    if texts.clone().any(is_set) {
        return true;
    }
    let mut operands = 0;
    while let Some(text) = texts.next() {
        match text {
            // A keymap; what a function's keys are, and to take them away (bash(1)).
            "-m" | "-M" | "-q" | "-u" | "-r" => {
                texts.next();
            }
            _ if text.starts_with('-') || text.starts_with("set ") => {}
            _ => operands += 1,
        }
    }
    operands > 1
}
