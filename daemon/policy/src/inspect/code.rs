//! What code of another language runs: lines for a shell, further code, and what is only known once it
//! runs.

mod arguments;
mod awk_pipe;
mod callback;
mod code_tokens;
mod command_lines;
mod command_words;
mod debugger;
mod environment;
mod input_runner;
mod open_call;
mod standard_input;
mod started;
mod vim_calls;
mod ways_out;

use arguments::{Arguments, has_value, is_interpolated};
use callback::GivenTo;
use code_tokens::CodeTokens;
use command_words::CommandWords;
use input_runner::runs_input;
use standard_input::StandardInput;
pub(super) use started::{Started, UseOfInput};

use crate::danger::code::call_effect::CallEffect;
use crate::danger::code::calls::aliases;
use crate::danger::code::plain;
use crate::danger::code::tokens::{Token, tokens};
use crate::danger::code::values::Values;
use crate::program::wrapper::vim_script::is_editor;
use crate::word_list::is_listed;

/// Modules that start programs.
const MODULES: &str = "subprocess child_process Open3 execa zx pexpect plumbum IPC Pipe";
/// Languages in which `exec` and `spawn` are functions of their own.
const EXEC_LANGUAGES: &str = "perl ruby irb php tclsh expect";
/// Programs that run Tcl, in which a bare word is a text and a bracket holds a command.
const TCL: &str = "tclsh expect";
/// Programs that run JavaScript.
const SCRIPTS: &str = "node nodejs deno bun tsx ts-node qjs";
/// Programs that run Emacs Lisp.
const EMACS: &str = "emacs emacsclient emacs-nox";
/// Languages whose calls get a program and its arguments apart, under names that mean a shell's line elsewhere:
/// `System.cmd("git", x)`, `exec.Command("git", x...)`.
const COMMAND_LANGUAGES: &str = "elixir iex crystal nim go";
/// Programs that run Ruby.
const RUBY: &str = "ruby irb pry";
/// What the module that starts programs is called in JavaScript.
const MODULE_NAMES: &[&str] = &["child_process", "childProcess", "cp", "child", "proc"];
/// What holds functions that evaluate code.
const CODE_HOLDERS: &[&str] = &[
    "builtins",
    "__builtins__",
    "timeit",
    "globalThis",
    "global",
    "window",
    "vm",
];
/// What holds calls that start programs.
const HOLDERS: &str = "os subprocess builtins __builtins__ pty Kernel Process";

/// What code for a program runs.
pub(super) fn started(program: &str, code: &str) -> Started {
    let mut started = command_lines::started(program, code);
    let tokens = if plain::reads(program) {
        tokens(code)
    } else {
        tokens(&without_comments(code))
    };
    let names = aliases(&tokens);
    started.may_start |= ways_out::has_any(program, code, &tokens);
    let code_tokens = CodeTokens::new(program, &tokens, &names);
    started.variables = environment::variables(code_tokens);
    if is_editor(program) {
        started.add(vim_calls::started(code_tokens));
    }
    if code_tokens.is_of(RUBY) {
        started.code.extend(code_of_templates(&tokens));
    }
    let mut scan = Scan {
        code: code_tokens,
        names_module: tokens.iter().any(is_module),
        values: Values::of(program),
        input: StandardInput::of(code_tokens),
        started,
        calls: 0,
        evaluates_later: false,
    };
    scan.read();
    let mut started = scan.started;
    started.runs_unread |= program == "php" && callback::calls_value(code, &tokens);
    if started.runs_unread || started.may_start {
        started.texts = started::texts(&tokens);
    }
    started
}

/// Lines without those that are a comment.
fn without_comments(code: &str) -> String {
    let is_comment = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("# ") || line.starts_with("//")
    };
    let lines: Vec<&str> = code.lines().filter(|line| !is_comment(line)).collect();
    lines.join("\n")
}

/// The code of the templates that Ruby makes texts of: `ERB.new('<% x %>')`.
fn code_of_templates(tokens: &[Token]) -> Option<String> {
    let has_library = tokens.iter().any(
        |token| matches!(token, Token::Word(word) if is_listed(word, "ERB Erubi Erubis Tilt")),
    );
    let texts = tokens.iter().filter_map(|token| match token {
        Token::Text(text) if text.contains("<%") || text.starts_with('%') => Some(text.as_str()),
        _ => None,
    });
    let templates: Vec<&str> = texts.collect();
    (has_library && !templates.is_empty()).then(|| plain::erb::code(&templates.join("\n")))
}

fn is_module(token: &Token) -> bool {
    match token {
        Token::Word(word) | Token::Text(word) => is_listed(word, MODULES),
        Token::Shell(_) | Token::Sign(_) => false,
    }
}

/// A reading of the tokens of code.
struct Scan<'a> {
    code: CodeTokens<'a>,
    /// Whether the code names a module that starts programs.
    names_module: bool,
    /// What variables hold where the reading has come to.
    values: Values,
    input: StandardInput<'a>,
    started: Started,
    /// The calls found that start programs.
    calls: usize,
    /// Whether JavaScript names `eval` and does not call it there.
    evaluates_later: bool,
}

impl Scan<'_> {
    fn read(&mut self) {
        for at in 0..self.code.all().len() {
            self.values.read(self.code.all(), at);
            match self.code.get(at) {
                Some(Token::Word(word)) => {
                    let name = self.code.meaning(word);
                    self.word(name, at);
                }
                Some(Token::Shell(text)) if self.code.runs_backticks() => {
                    self.calls += 1;
                    self.started.runs_unread |= has_value(text) || is_interpolated(text);
                    self.started.assembled_calls +=
                        usize::from(self.values.begins_with_assembled(text));
                    self.started.input.is_started |= self.input.begins(text);
                }
                // Opened as a file, such a text is a command.
                Some(Token::Text(text)) if self.code.is_of("perl ruby irb tclsh expect") => {
                    let text = text.trim();
                    if text.len() > 1 && (text.starts_with('|') || text.ends_with('|')) {
                        let line = text.trim_matches(['|', ' ']).to_owned();
                        self.started.lines.push(line);
                    }
                }
                Some(Token::Sign('|')) if self.code.is_awk() => {
                    let pipe = awk_pipe::started(self.code, at, &self.values, &self.input);
                    self.started.add(pipe);
                }
                _ => {}
            }
        }
        if self.evaluates_later {
            // What is called later may be any of the texts.
            let texts = self.code.all().iter().filter_map(|token| match token {
                Token::Text(text) => Some(text.clone()),
                _ => None,
            });
            self.started.code.extend(texts);
        }
        // A module is there to be used, so an index hides the call.
        let indexes = self.code.all().contains(&Token::Sign('['));
        self.started.runs_unread |= self.names_module && self.calls == 0 && indexes;
        // A later line of the same program may use it.
        self.started.may_start |= self.names_module && self.calls == 0;
    }

    fn word(&mut self, name: &str, at: usize) {
        let before = at.checked_sub(1);
        let arguments = Arguments::new(self.code, at + 1);
        let is_member = self.code.is_member(at);
        let has_exec = self.code.is_of(EXEC_LANGUAGES);
        let starts = CallEffect::Starts.is_of(name)
            || (self.names_module && CallEffect::StartsByModule.is_of(name))
            || (has_exec && !is_member && matches!(name, "exec" | "spawn"))
            || (self.code.is_lua() && name == "execute")
            || ((self.code.is_of(EMACS) || self.code.is_of(COMMAND_LANGUAGES))
                && CallEffect::RunsLine.is_of(name));
        let next = self.code.get(at + 1);
        let is_call = self.code.sign(at + 1) == Some('(')
            || (self.takes_bare_words()
                && matches!(
                    next,
                    Some(Token::Text(_) | Token::Word(_) | Token::Shell(_))
                ));
        if self.code.is_of("php") && CallEffect::TakesCallback.is_of(name) {
            let given = callback::started(self.code.all(), at + 1);
            self.started.runs_unread |= given.is_some();
            self.started.input.is_started |= given == Some(GivenTo::Unknown);
        }
        if starts && is_call {
            self.starting_call(name, at);
        } else if starts {
            let is_import = before.is_some_and(|at| self.code.is_word(at, &["import"]))
                || self.code.is_word(at + 1, &["as"]);
            // Perl's `exec` alone executes `$_`.
            let is_value = is_member
                || CallEffect::Starts.is_of(name)
                || (name == "exec" && self.code.is_of("perl"))
                || self.code.is_of(TCL);
            self.started.runs_unread |= is_value && !is_import && !self.is_key(at);
        } else if CallEffect::RunsFile.is_of(name) && is_call
            || (self.loads_file(name)
                && (matches!(next, Some(Token::Text(_) | Token::Sign('(')))
                    || self.code.is_of(TCL) && next.is_some()))
        {
            self.started.runs_unread = true;
            self.started.input.is_evaluated |= self.loads_input(at + 1);
        } else if name == "eval" && self.code.is_of("perl") && self.ends_statement(at + 1) {
            // Without an argument it evaluates `$_`.
            self.started.runs_unread = true;
            self.started.input.is_evaluated = true;
        } else if (CallEffect::RunsCode.is_of(name)
            && is_call
            && (!is_member || self.is_of_code(at)))
            || (name == "trap" && self.traps_by_text(at))
            || (name == "new" && at >= 2 && self.code.is_word(at - 2, &["InstructionSequence"]))
        {
            let last = self.place_of_code(name, at + 1);
            let code = Arguments::new(self.code, last);
            // Ruby and awk load a file by this name.
            let is_code = name != "load" || self.code.is_lua();
            match self.code.get(last) {
                Some(Token::Text(text)) if is_code && code.are_literal() => {
                    self.started.code.push(text.clone());
                }
                _ => {
                    self.started.runs_unread = true;
                    let assembles = self.values.assembles_code(self.code.all(), last);
                    self.started.assembled_calls += usize::from(is_code && assembles);
                    let is_input = code.are_input() || self.input.begins_at(last);
                    self.started.input.is_evaluated |= is_code && is_input;
                    self.started.input.is_evaluated |= !is_code && self.loads_input(at + 1);
                }
            }
        } else if name == "eval" && self.code.is_of(SCRIPTS) && !is_call && !is_member {
            // `(0, eval)("…")`
            self.evaluates_later = true;
            self.started.runs_unread = true;
            self.started.input.is_evaluated |= self.input.is_read();
        } else if name.ends_with("send") && is_call && self.code.is_of(RUBY) {
            // A method whose name is put together: `send(:sys.to_s + "tem", "x")`.
            let from = self.code.behind_bracket(at + 1);
            let is_symbol = self.code.sign(from) == Some(':')
                && matches!(self.code.sign(from + 2), Some(')' | ','));
            let assembles = self.values.assembles_code(self.code.all(), at + 1);
            self.started.assembled_calls += usize::from(!is_symbol && assembles);
        } else if self.code.is_of(TCL) && self.gets_value(name, at + 1) {
            self.started.runs_unread = true;
        } else if CallEffect::Finds.is_of(name) && is_call {
            let holds = matches!(self.code.get(at + 2), Some(Token::Word(word)) if is_listed(word, HOLDERS));
            let is_getter = name == "getattr" || name == "const_get";
            self.started.runs_unread |= holds || (!is_getter && !arguments.are_literal());
        } else if name == "open" && self.code.is_of("perl ruby irb") {
            let opened = open_call::started(self.code, at, &self.values, &self.input);
            self.started.add(opened);
        }
    }

    /// Takes what a call starts.
    fn starting_call(&mut self, name: &str, at: usize) {
        let arguments = Arguments::new(self.code, at + 1);
        self.calls += 1;
        if self.code.is_lua() {
            self.lua_line(at + 1);
        }
        let command = CommandWords::of(name, arguments, self.code);
        self.started.runs_unread |= !(command.is_list() || arguments.are_literal());
        // `call-process` has an input and two places for output before its words.
        if !self.code.is_of(EMACS) {
            self.started.partly_known.extend(command.partly_known());
        }
        self.started.runs_unread |= arguments.name_unknown_file();
        self.started.may_start |= arguments.start_input_runner();
        if self.is_line_of(at) {
            self.started.shell_lines.extend(arguments.shell_line(name));
        }
        // `popen("sh", "w")`: the second text is a mode.
        let line = self.code.text(self.code.behind_bracket(at + 1));
        self.started.may_start |= name == "popen" && line.is_some_and(runs_input);
        self.started.input.is_started |=
            arguments.are_input() || self.is_line_of(at) && self.input.begins_at(at + 1);
        self.started.assembled_calls +=
            usize::from(self.is_line_of(at) && arguments.are_assembled(&self.values));
    }

    /// Where the text stands that a function evaluates, whose arguments begin at a token.
    fn place_of_code(&self, name: &str, from: usize) -> usize {
        let places = Arguments::new(self.code, from).places();
        let place = match name {
            // JavaScript takes the names of parameters first.
            "Function" => places.last(),
            // Ruby takes a signal first.
            "trap" => places.get(1),
            _ => None,
        };
        let first = self.code.behind_bracket(from);
        place.copied().unwrap_or(first)
    }

    /// Whether Ruby's `trap` is given a text to evaluate, and no block and no object that is called.
    fn traps_by_text(&self, at: usize) -> bool {
        let places = Arguments::new(self.code, at + 1).places();
        let Some(place) = places.get(1).filter(|_| self.code.is_of(RUBY)) else {
            return false;
        };
        let is_called = self
            .code
            .is_word(*place, &["proc", "lambda", "Proc", "method", "nil"])
            || matches!(self.code.sign(*place), Some('-' | '&'));
        !is_called
    }

    /// Whether a function runs the file that its first text names.
    fn loads_file(&self, name: &str) -> bool {
        let files = match self.code.program() {
            "perl" => "do require",
            "php" => "include include_once require require_once",
            "Rscript" | "R" | "tclsh" | "expect" => "source",
            _ => return false,
        };
        is_listed(name, files)
    }

    /// Whether Tcl evaluates or opens what another command or a variable gives: `eval [f]`, `open |[f]`.
    fn gets_value(&self, name: &str, from: usize) -> bool {
        match name {
            "eval" | "uplevel" => matches!(self.code.sign(from), Some('[' | '$')),
            "open" => {
                let from = from + usize::from(self.code.sign(from) == Some('{'));
                self.code.sign(from) == Some('|')
            }
            _ => false,
        }
    }

    /// Whether a call that runs a file is given its standard input: `do '/dev/stdin'`, Lua's `dofile()`.
    fn loads_input(&self, from: usize) -> bool {
        let from = self.code.behind_bracket(from);
        match self.code.get(from) {
            Some(Token::Text(file)) => self.input.is_name(file),
            Some(Token::Sign(')')) => self.code.is_lua(),
            _ => false,
        }
    }

    fn ends_statement(&self, at: usize) -> bool {
        matches!(
            self.code.get(at),
            None | Some(Token::Sign(';' | '}' | '\n'))
        ) || self
            .code
            .is_word(at, &["for", "foreach", "while", "if", "unless"])
    }

    /// Whether a method evaluates code, and is none of a pattern or of a template: `builtins.exec(…)`.
    fn is_of_code(&self, at: usize) -> bool {
        let is_held = at >= 2 && self.code.is_word(at - 2, CODE_HOLDERS);
        let runs_in =
            matches!(self.code.get(at), Some(Token::Word(name)) if name.starts_with("runIn"));
        // A block of Ruby's is code that is read with the rest.
        let is_ruby = self.code.is_of(RUBY) && !self.code.is_word(at + 1, &["do"]);
        is_held || runs_in || is_ruby
    }

    /// Whether a name is that of a call that starts something, and no method of a pattern: `/x/.exec(text)`.
    fn is_line_of(&self, at: usize) -> bool {
        let is_exec = self.code.is_word(at, &["exec"]) && self.code.is_of(SCRIPTS);
        let is_member = at.checked_sub(1).and_then(|at| self.code.sign(at)) == Some('.');
        !(is_exec && is_member)
            || at >= 2 && self.code.is_word(at - 2, MODULE_NAMES)
            || at >= 2 && self.code.sign(at - 2) == Some(')')
    }

    /// Takes the line that Lua gives to a shell: whatever `os` is called, `execute` is its function.
    fn lua_line(&mut self, from: usize) {
        let from = self.code.behind_bracket(from);
        if let Some(Token::Text(line)) = self.code.get(from) {
            self.started.lines.push(line.clone());
        }
    }

    /// Whether calls of the language need no brackets.
    fn takes_bare_words(&self) -> bool {
        self.code
            .is_of("perl ruby irb php tclsh expect awk gawk mawk nawk lua")
    }

    /// Whether a name is a key, a module or the beginning of a longer name.
    fn is_key(&self, at: usize) -> bool {
        let next = self.code.sign(at + 1);
        next == Some('.') || (next == Some(':') && self.code.sign(at + 2) != Some(':'))
    }
}

/// Whether code sends a signal to the process that has started it.
pub(super) fn signals_parent(code: &str) -> bool {
    code.contains("ppid") && code.contains("kill")
}
