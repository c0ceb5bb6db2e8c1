//! What code of another language runs: lines for a shell, further code, and what is only known once it
//! runs.

mod callback;
mod debugger;
mod standard_input;
mod ways_out;

use std::collections::HashMap;

use termd_proto::policy::Span;

use callback::GivenTo;
use standard_input::StandardInput;

use crate::danger::code::call_effect::CallEffect;
use crate::danger::code::calls::aliases;
use crate::danger::code::plain;
use crate::danger::code::tokens::{Token, tokens};
use crate::danger::code::values::{Value, Values};
use crate::program::input::runs_stdin;
use crate::program::kind::{ProgramKind, base_name, has_commands, program_kind};
use crate::program::wrapper::vim_script::is_editor;
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// Modules that start programs.
const MODULES: &str = "subprocess child_process Open3 execa zx pexpect plumbum";
/// Languages in which `exec` and `spawn` are functions of their own.
const EXEC_LANGUAGES: &str = "perl ruby irb php tclsh expect";
/// Programs that run JavaScript.
const SCRIPTS: &str = "node nodejs deno bun tsx ts-node qjs";
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

/// What code is given: its arguments, its variables, and what it reads.
const INPUTS: &str = "
    argv ARGV arg args ARGS input stdin STDIN environ env ENV _SERVER _GET _ENV gets readline readlines recv
    commandArgs getenv";

/// What code does with what it is given: its arguments, its variables, and what it reads.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct UseOfInput {
    pub(super) is_started: bool,
    pub(super) is_evaluated: bool,
}

impl UseOfInput {
    pub(super) fn runs(self) -> bool {
        self.is_started || self.is_evaluated
    }

    pub(super) fn add(&mut self, other: Self) {
        self.is_started |= other.is_started;
        self.is_evaluated |= other.is_evaluated;
    }
}

/// What code runs.
#[derive(Debug, Default)]
pub(super) struct Started {
    pub(super) lines: Vec<String>,
    pub(super) code: Vec<String>,
    /// The texts of code that starts something by a name of its own: each may be what is started.
    pub(super) texts: Vec<String>,
    /// Whether the code starts something that it does not name by a literal.
    pub(super) runs_unread: bool,
    pub(super) input: UseOfInput,
    /// The calls that start what the code puts together at run time, out of what is not known.
    pub(super) assembled_calls: usize,
    /// Whether the code may start something by a way that is not followed. It matters to rules alone.
    pub(super) may_start: bool,
}

/// What code for a program runs.
pub(super) fn started(program: &str, code: &str) -> Started {
    let mut started = Started::default();
    if has_commands(program)
        || is_editor(program)
        || matches!(program, "tclsh" | "expect" | "cmake")
    {
        commands(code, &mut started);
    }
    if program == "perl" {
        lines_of_perl_debugger(code, &mut started);
    }
    if matches!(program, "ipython" | "ipython3" | "IPython") {
        lines_of_ipython(code, &mut started);
    }
    started.may_start |= is_debugger(program) && !debugger::is_plain(code);
    let tokens = if plain::reads(program) {
        tokens(code)
    } else {
        tokens(&without_comments(code))
    };
    let names = aliases(&tokens);
    started.may_start |= ways_out::has_any(program, code, &tokens);
    let mut scan = Scan {
        program,
        tokens: &tokens,
        names: &names,
        values: Values::of(program),
        input: StandardInput::of(program, &tokens, &names),
        started,
        calls: 0,
    };
    scan.read();
    let mut started = scan.started;
    started.runs_unread |= program == "php" && (calls_variable(code) || calls_value(&tokens));
    if started.runs_unread || started.may_start {
        started.texts = texts(&tokens);
    }
    started
}

/// The texts that may be shell lines: those of more than one word, and the elements of each list together.
fn texts(tokens: &[Token]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    // The texts between which only commas and brackets stand.
    let mut list: Vec<&str> = Vec::new();
    for token in tokens.iter().chain([&Token::Sign(';')]) {
        match token {
            Token::Text(text) => list.push(text),
            Token::Sign(',' | '(' | ')' | '[' | ']' | '{' | '}') => {}
            _ => {
                texts.extend(list.iter().map(|text| (*text).to_owned()));
                if list.len() > 1 {
                    texts.push(list.join(" "));
                }
                list.clear();
            }
        }
    }
    texts.retain(|text| text.trim().contains(char::is_whitespace));
    texts
}

/// Whether PHP calls what an expression gives: `("sys" . "tem")(…)`, `$x[0](…)`.
fn calls_value(tokens: &[Token]) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| matches!(pair, [Token::Sign(')' | ']' | '}'), Token::Sign('(')]))
}

/// The lines that perl's debugger gives to a shell: `!!CMD` (perldebug). In a script such a line is no call.
fn lines_of_perl_debugger(text: &str, started: &mut Started) {
    for line in text.lines() {
        let line = line.trim_start();
        let is_word = |shell: &&str| shell.starts_with(char::is_alphabetic);
        let once = || line.strip_prefix('!').filter(is_word);
        let Some(shell) = line.strip_prefix("!!").or_else(once) else {
            continue;
        };
        if shell.trim_start().starts_with(['$', '@', '(']) {
            started.may_start = true;
        } else {
            started.lines.push(shell.to_owned());
        }
    }
}

/// The lines that `IPython` gives to a shell: `!CMD`, `x = !CMD`, `%sx CMD`. Any other `%` may run what is not
/// followed: <https://ipython.readthedocs.io/en/stable/interactive/magics.html>.
fn lines_of_ipython(text: &str, started: &mut Started) {
    for line in text.lines() {
        if let Some((before, shell)) = line.split_once('!') {
            let before = before.trim_end();
            if before.is_empty() || before.ends_with('=') {
                started.lines.push(shell.trim_start_matches('!').to_owned());
            }
        }
        let magic = line.trim_start().strip_prefix('%');
        if let Some((_, shell)) = magic.and_then(|magic| magic.split_once(' ')) {
            started.lines.push(shell.to_owned());
        }
        started.runs_unread |= magic.is_some();
    }
}

fn is_debugger(program: &str) -> bool {
    matches!(
        program,
        "gdb" | "gdb-multiarch" | "cgdb" | "rust-gdb" | "lldb"
    )
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

/// What lines run that are commands of a program: `!CMD`, `:r !CMD`, `shell CMD`, `pipe … | CMD`.
fn commands(text: &str, started: &mut Started) {
    const LINES: [&str; 9] = [
        "shell ",
        "platform shell ",
        ".shell ",
        "sh ",
        "system ",
        "exec ",
        "spawn ",
        "COMMAND ",
        "eval exec ",
    ];
    const CODE: [&str; 6] = ["python3 ", "python ", "py3 ", "py ", "script ", "lua "];
    for line in text.lines() {
        let line = line.trim_start().trim_start_matches(['~', ':']);
        if let Some((before, shell)) = behind_escape(line) {
            started.lines.push(shell.to_owned());
            // `w !CMD` gives what is edited to a command, and `%` is its file.
            let gives_text = !before.is_empty() && !before.starts_with('r');
            started.may_start |= gives_text && runs_input(shell);
            started.may_start |= shell.contains('%') && starts_runner(shell);
        }
        let word = LINES.iter().find_map(|word| line.strip_prefix(word));
        started
            .lines
            .extend(word.map(|line| line.trim_matches(['"', '\'']).to_owned()));
        let code = CODE.iter().find_map(|word| line.strip_prefix(word));
        started.code.extend(code.map(str::to_owned));
        if let Some((_, shell)) = line.split_once('|')
            && (line.starts_with("pipe ") || line.contains("\"|") || line.contains("'|"))
        {
            started
                .lines
                .push(shell.trim_matches([' ', '"', '\'']).to_owned());
        }
        // cmake-commands(7).
        if let Some((_, command)) = line.split_once("COMMAND ") {
            let command = command.trim_end().trim_end_matches(')');
            started.lines.push(command.to_owned());
            started.runs_unread |= command.contains("${");
        }
        // A value of Tcl, of vim or of gdb.
        started.runs_unread |= word.is_some_and(|line| line.contains(['[', '$']));
    }
}

/// What stands before and behind `!`, `r !`, `1,5!` at the beginning of a line.
fn behind_escape(line: &str) -> Option<(&str, &str)> {
    let (before, shell) = line.split_once('!')?;
    let before = before.trim_end();
    let is_address = before
        .chars()
        .all(|c| c.is_ascii_digit() || ",.$%'<>+-\\ ".contains(c));
    let is_between = |c: char| c.is_ascii_digit() || " ,.%$".contains(c);
    let verb = before.rsplit(is_between).next().unwrap_or(before);
    let is_verb = matches!(
        verb,
        "r" | "read" | "w" | "write" | "sil" | "silent" | "e" | "|"
    );
    (is_address || is_verb).then(|| (before, shell.trim_start_matches(['!', ' '])))
}

/// Whether PHP calls what a variable names: `$f(…)`.
fn calls_variable(code: &str) -> bool {
    code.split('$').skip(1).any(|rest| {
        let behind = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        behind.len() < rest.len() && behind.trim_start().starts_with('(')
    })
}

/// A reading of the tokens of code.
struct Scan<'a> {
    program: &'a str,
    tokens: &'a [Token],
    names: &'a HashMap<String, String>,
    /// What variables hold where the reading has come to.
    values: Values,
    input: StandardInput<'a>,
    started: Started,
    /// The calls found that start programs.
    calls: usize,
}

impl Scan<'_> {
    fn read(&mut self) {
        let names_module = self.tokens.iter().any(|token| match token {
            Token::Word(word) | Token::Text(word) => is_listed(word, MODULES),
            Token::Shell(_) | Token::Sign(_) => false,
        });
        for at in 0..self.tokens.len() {
            self.values.read(self.tokens, at);
            match self.tokens.get(at) {
                Some(Token::Word(word)) => {
                    let name = self.names.get(word).unwrap_or(word).clone();
                    self.word(&name, at, names_module);
                }
                Some(Token::Shell(text)) if self.runs_backticks() => {
                    self.calls += 1;
                    self.started.runs_unread |= has_value(text) || is_interpolated(text);
                    self.started.assembled_calls +=
                        usize::from(self.values.begins_with_assembled(text));
                    self.started.input.is_started |= self.input.begins(text);
                }
                // Opened as a file, such a text is a command.
                Some(Token::Text(text)) if is_listed(self.program, "perl ruby irb") => {
                    let text = text.trim();
                    if text.len() > 1 && (text.starts_with('|') || text.ends_with('|')) {
                        let line = text.trim_matches(['|', ' ']).to_owned();
                        self.started.lines.push(line);
                    }
                }
                Some(Token::Sign('|')) if self.program.ends_with("awk") => self.pipe(at),
                _ => {}
            }
        }
        // A module is there to be used, so an index hides the call.
        let indexes = self.tokens.contains(&Token::Sign('['));
        self.started.runs_unread |= names_module && self.calls == 0 && indexes;
        // A later line of the same program may use it.
        self.started.may_start |= names_module && self.calls == 0;
    }

    fn runs_backticks(&self) -> bool {
        is_listed(self.program, "perl ruby irb php julia")
    }

    /// Whether texts in double quotes hold values.
    fn interpolates(&self) -> bool {
        self.runs_backticks() || is_listed(self.program, "tclsh expect")
    }

    /// Whether a name is that of a method or a member: `x.f`, `X::f`, `$x->f`, Lua's `x:f`.
    fn is_member(&self, at: usize) -> bool {
        let sign = |back: usize| at.checked_sub(back).and_then(|at| self.sign(at));
        match (sign(2), sign(1)) {
            (_, Some('.')) | (Some(':'), Some(':')) | (Some('-'), Some('>')) => true,
            (_, Some(':')) => self.program.starts_with("lua"),
            _ => false,
        }
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at) {
            Some(Token::Sign(sign)) => Some(*sign),
            _ => None,
        }
    }

    fn word(&mut self, name: &str, at: usize, names_module: bool) {
        let before = at.checked_sub(1);
        let is_member = self.is_member(at);
        let has_exec = is_listed(self.program, EXEC_LANGUAGES);
        let starts = CallEffect::Starts.is_of(name)
            || (names_module && CallEffect::StartsByModule.is_of(name))
            || (has_exec && !is_member && matches!(name, "exec" | "spawn"))
            || (self.program.starts_with("lua") && name == "execute");
        let next = self.tokens.get(at + 1);
        let is_call = self.sign(at + 1) == Some('(')
            || (self.takes_bare_words()
                && matches!(
                    next,
                    Some(Token::Text(_) | Token::Word(_) | Token::Shell(_))
                ));
        if self.program == "php" && CallEffect::TakesCallback.is_of(name) {
            let given = callback::started(self.tokens, at + 1);
            self.started.runs_unread |= given.is_some();
            self.started.input.is_started |= given == Some(GivenTo::Unknown);
        }
        if starts && is_call {
            self.calls += 1;
            if self.program.starts_with("lua") {
                self.lua_line(at + 1);
            }
            self.started.runs_unread |= !self.is_literal(at + 1);
            self.started.may_start |= self.feeds(at + 1);
            self.started.input.is_started |=
                self.is_input(at + 1) || self.is_line_of(at) && self.input.begins_at(at + 1);
            self.started.assembled_calls +=
                usize::from(self.is_line_of(at) && self.is_assembled(at + 1));
        } else if starts {
            let is_import = before.is_some_and(|at| self.is_word(at, &["import"]))
                || self.is_word(at + 1, &["as"]);
            // Perl's `exec` alone executes `$_`.
            let is_value = is_member
                || CallEffect::Starts.is_of(name)
                || (name == "exec" && self.program == "perl");
            self.started.runs_unread |= is_value && !is_import && !self.is_key(at);
        } else if CallEffect::RunsFile.is_of(name) && is_call
            || (self.loads_file(name) && matches!(next, Some(Token::Text(_) | Token::Sign('('))))
        {
            self.started.runs_unread = true;
            self.started.input.is_evaluated |= self.loads_input(at + 1);
        } else if name == "eval" && self.program == "perl" && self.ends_statement(at + 1) {
            // Without an argument it evaluates `$_`.
            self.started.runs_unread = true;
            self.started.input.is_evaluated = true;
        } else if CallEffect::RunsCode.is_of(name) && is_call && (!is_member || self.is_of_code(at))
        {
            // JavaScript's `Function` takes the names of parameters first.
            let mut last = at + 1 + usize::from(self.sign(at + 1) == Some('('));
            while name == "Function" && self.sign(last + 1) == Some(',') {
                last += 2;
            }
            // Ruby and awk load a file by this name.
            let is_code = name != "load" || self.program.starts_with("lua");
            match self.tokens.get(last) {
                Some(Token::Text(text)) if is_code && self.is_literal(at + 1) => {
                    self.started.code.push(text.clone());
                }
                _ => {
                    self.started.runs_unread = true;
                    let assembles = self.values.assembles_code(self.tokens, at + 1);
                    self.started.assembled_calls += usize::from(is_code && assembles);
                    let is_input = self.is_input(at + 1) || self.input.begins_at(last);
                    self.started.input.is_evaluated |= is_code && is_input;
                    self.started.input.is_evaluated |= !is_code && self.loads_input(at + 1);
                }
            }
        } else if name == "eval" && is_listed(self.program, SCRIPTS) && !is_call && !is_member {
            // `(0, eval)("…")`: what is called later may be any of the texts.
            let texts = self.tokens.iter().filter_map(|token| match token {
                Token::Text(text) => Some(text.clone()),
                _ => None,
            });
            self.started.code.extend(texts);
            self.started.runs_unread = true;
            self.started.input.is_evaluated |= self.input.is_read();
        } else if name.ends_with("send") && is_call && is_listed(self.program, "ruby irb pry") {
            // A method whose name is put together: `send(:sys.to_s + "tem", "x")`.
            self.started.assembled_calls +=
                usize::from(self.values.assembles_code(self.tokens, at + 1));
        } else if CallEffect::Finds.is_of(name) && is_call {
            let holds = matches!(self.tokens.get(at + 2), Some(Token::Word(word)) if is_listed(word, HOLDERS));
            let is_getter = name == "getattr" || name == "const_get";
            self.started.runs_unread |= holds || (!is_getter && !self.is_literal(at + 1));
        } else if name == "open" && is_listed(self.program, "perl ruby irb") {
            self.open(at);
        }
    }

    /// Whether a function runs the file that its first text names.
    fn loads_file(&self, name: &str) -> bool {
        let files = match self.program {
            "perl" => "do require",
            "php" => "include include_once require require_once",
            "Rscript" | "R" | "tclsh" => "source",
            _ => return false,
        };
        is_listed(name, files)
    }

    /// Whether a call that runs a file is given its standard input: `do '/dev/stdin'`, Lua's `dofile()`.
    fn loads_input(&self, from: usize) -> bool {
        let from = from + usize::from(self.sign(from) == Some('('));
        match self.tokens.get(from) {
            Some(Token::Text(file)) => self.input.is_name(file),
            Some(Token::Sign(')')) => self.program.starts_with("lua"),
            _ => false,
        }
    }

    fn ends_statement(&self, at: usize) -> bool {
        matches!(
            self.tokens.get(at),
            None | Some(Token::Sign(';' | '}' | '\n'))
        ) || self.is_word(at, &["for", "foreach", "while", "if", "unless"])
    }

    /// Whether the arguments that begin at a token begin with a text that is put together.
    fn is_assembled(&self, from: usize) -> bool {
        let from = from + usize::from(self.sign(from) == Some('('));
        self.values.expression(self.tokens, from).0 == Value::Assembled
    }

    /// Whether a method evaluates code, and is none of a pattern or of a template: `builtins.exec(…)`.
    fn is_of_code(&self, at: usize) -> bool {
        let is_held = at >= 2 && self.is_word(at - 2, CODE_HOLDERS);
        let runs_in =
            matches!(self.tokens.get(at), Some(Token::Word(name)) if name.starts_with("runIn"));
        // A block of Ruby's is code that is read with the rest.
        let is_ruby = is_listed(self.program, "ruby irb pry") && !self.is_word(at + 1, &["do"]);
        is_held || runs_in || is_ruby
    }

    /// Whether a name is that of a call that starts something, and no method of a pattern: `/x/.exec(text)`.
    fn is_line_of(&self, at: usize) -> bool {
        let is_exec = self.is_word(at, &["exec"]) && is_listed(self.program, SCRIPTS);
        let is_member = at.checked_sub(1).and_then(|at| self.sign(at)) == Some('.');
        !(is_exec && is_member)
            || at >= 2 && self.is_word(at - 2, MODULE_NAMES)
            || at >= 2 && self.sign(at - 2) == Some(')')
    }

    /// Takes the line that Lua gives to a shell: whatever `os` is called, `execute` is its function.
    fn lua_line(&mut self, from: usize) {
        let from = from + usize::from(self.sign(from) == Some('('));
        if let Some(Token::Text(line)) = self.tokens.get(from) {
            self.started.lines.push(line.clone());
        }
    }

    /// Whether calls of the language need no brackets.
    fn takes_bare_words(&self) -> bool {
        is_listed(
            self.program,
            "perl ruby irb php tclsh expect awk gawk mawk nawk lua",
        )
    }

    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        matches!(self.tokens.get(at), Some(Token::Word(word)) if words.contains(&word.as_str()))
    }

    /// Whether a name is a key, a module or the beginning of a longer name.
    fn is_key(&self, at: usize) -> bool {
        let next = self.sign(at + 1);
        next == Some('.') || (next == Some(':') && self.sign(at + 2) != Some(':'))
    }

    /// Whether the arguments that begin at a token begin with a text, or with a list of texts.
    fn is_literal(&self, from: usize) -> bool {
        let mut at = from;
        let mut in_list = false;
        while let Some(open @ ('(' | '[' | '{')) = self.sign(at) {
            in_list |= open != '(' || at > from;
            at += 1;
        }
        loop {
            if self.is_word(at, &["r", "b", "u", "rb", "br"]) {
                at += 1;
            }
            let is_known = match self.tokens.get(at) {
                Some(Token::Text(text)) => {
                    !(has_value(text) || self.interpolates() && is_interpolated(text))
                }
                _ => false,
            };
            if !is_known {
                return false;
            }
            match self.tokens.get(at + 1) {
                None | Some(Token::Sign(')' | ']' | '}' | ';' | '\n' | '|')) => return true,
                Some(Token::Sign(',')) if in_list => at += 2,
                Some(token) => return *token == Token::Sign(','),
            }
            while self.sign(at) == Some('\n') {
                at += 1;
            }
            if matches!(self.sign(at), Some(']' | ')' | '}')) {
                return true;
            }
        }
    }

    /// Whether the texts that begin at a token start a program that runs what it reads: `["sh"]`, `"bash -s"`.
    fn feeds(&self, from: usize) -> bool {
        let behind = self.tokens.iter().skip(from);
        let opens = |token: &&Token| matches!(token, Token::Sign('(' | '[' | '{' | ','));
        let mut texts = Vec::new();
        for token in behind {
            match token {
                Token::Text(text) => texts.push(text.as_str()),
                token if opens(&token) => {}
                _ => break,
            }
        }
        runs_input(&texts.join(" "))
    }

    /// Whether the arguments that begin at a token name what the code is given, and no text but a key.
    fn is_input(&self, from: usize) -> bool {
        let mut depth = 0_usize;
        let mut is_input = false;
        for at in from..self.tokens.len() {
            match self.tokens.get(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth += 1,
                Some(Token::Sign(')' | ']' | '}')) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                Some(Token::Sign(';' | '\n')) if depth == 0 => break,
                Some(Token::Word(word)) => {
                    let is_field =
                        self.program.ends_with("awk") && word.chars().all(|c| c.is_ascii_digit());
                    let is_topic = word == "_" && is_listed(self.program, "perl ruby");
                    if self.names.contains_key(&format!("={word}")) {
                        return false;
                    }
                    is_input |= is_field || is_topic || is_listed(word, INPUTS);
                }
                Some(Token::Text(text) | Token::Shell(text)) if !text.trim().is_empty() => {
                    let is_key = at >= 2
                        && self.sign(at - 1) == Some('[')
                        && matches!(self.tokens.get(at - 2), Some(Token::Word(_)));
                    if !is_key {
                        return false;
                    }
                }
                _ => {}
            }
        }
        is_input
    }

    /// awk(1p): `cmd | getline`, `print | cmd`.
    fn pipe(&mut self, at: usize) {
        let is_or = self.sign(at + 1) == Some('|')
            || at
                .checked_sub(1)
                .is_some_and(|at| self.sign(at) == Some('|'));
        if is_or {
            return;
        }
        if self.is_word(at + 1, &["getline"]) {
            let is_text = |back: usize| {
                at.checked_sub(back)
                    .is_some_and(|at| matches!(self.tokens.get(at), Some(Token::Text(_))))
            };
            self.started.runs_unread |= !is_text(1) || is_text(2);
            let name = at.checked_sub(1).and_then(|at| self.tokens.get(at));
            self.started.input.is_started |= self.input.ends_at(at);
            self.started.assembled_calls += usize::from(
                matches!(name, Some(Token::Word(name)) if self.values.is_assembled(name)),
            );
            return;
        }
        // gawk(1): `|&` leads both ways.
        let from = at + 1 + usize::from(self.sign(at + 1) == Some('&'));
        match self.tokens.get(from) {
            Some(Token::Text(text)) => {
                self.started.lines.push(text.clone());
                self.started.may_start |= runs_input(text);
            }
            _ if self.is_word(from, &["getline"]) => {}
            _ => {
                self.started.runs_unread = true;
                self.started.input.is_started |= self.input.begins_at(from);
                self.started.assembled_calls += usize::from(self.is_assembled(from));
            }
        }
        self.started.runs_unread |= !self.is_literal(from);
    }

    /// Whether a value alone says what is opened, and how: `open(F, $x)`, and Ruby's `open(x)`.
    fn opens_value(&self, at: usize) -> bool {
        let ends = |token: &&Token| match token {
            Token::Sign(sign) => matches!(sign, ')' | ';' | '\n' | '|'),
            Token::Word(word) => matches!(word.as_str(), "or" | "and" | "if" | "unless" | "do"),
            Token::Text(_) | Token::Shell(_) => false,
        };
        let is_member = at
            .checked_sub(1)
            .is_some_and(|at| matches!(self.sign(at), Some('.' | ':' | '>')));
        let rest = self.tokens.iter().skip(at + 1);
        let args: Vec<&Token> = rest.take_while(|token| !ends(token)).collect();
        let is_comma = |token: &&&Token| ***token == Token::Sign(',');
        let commas = args.iter().filter(is_comma).count();
        let is_perl = self.program == "perl";
        let has_mode = args.iter().any(|token| match token {
            Token::Text(text) => !is_perl || text.starts_with(['<', '>']) || !is_interpolated(text),
            _ => false,
        });
        !is_member && !has_mode && !args.is_empty() && commas == usize::from(is_perl)
    }

    /// `open(F, "cmd|")`, `open(F, "-|", "cmd")`, `open("|cmd")`.
    fn open(&mut self, at: usize) {
        self.started.may_start |= self.opens_value(at);
        let rest = self.tokens.iter().skip(at + 1);
        let args: Vec<&Token> = rest
            .take_while(|token| !matches!(token, Token::Sign(';' | '\n')))
            .collect();
        let texts = args.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.trim()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        if !texts
            .iter()
            .any(|text| text.starts_with('|') || text.ends_with('|'))
        {
            return;
        }
        let lines = texts
            .iter()
            .map(|text| text.trim_matches(['|', '-']).trim());
        self.started
            .lines
            .extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
        let joins = args
            .iter()
            .any(|token| matches!(token, Token::Sign('.' | '+')));
        let feeds = texts
            .iter()
            .any(|text| runs_input(text.trim_matches(['|', ' '])));
        self.started.may_start |= feeds;
        self.started.runs_unread |= joins || texts.iter().any(|text| is_interpolated(text));
    }
}

/// Whether a line starts a shell or an interpreter that runs what the code gives it, also behind what hands
/// its input on: `sort | sh`, `xargs sh -c`.
fn runs_input(line: &str) -> bool {
    let mut stages = line.split(['|', ';', '&', '(', '{', '\n']).map(str::trim);
    stages.any(|stage| {
        let runs_each = matches!(program_of(stage), "xargs" | "parallel");
        runs_each || stage_runs_input(stage)
    })
}

fn stage_runs_input(line: &str) -> bool {
    let span = Span { start: 0, end: 0 };
    let words = line.split_whitespace().skip(1);
    let args: Vec<Word> = words.map(|text| Word::literal(text, span)).collect();
    starts_runner(line) && runs_stdin(program_of(line), &args)
}

/// Whether a line starts a shell or an interpreter.
fn starts_runner(line: &str) -> bool {
    let kind = program_kind(program_of(line));
    matches!(kind, ProgramKind::Shell | ProgramKind::Code)
}

fn program_of(line: &str) -> &str {
    base_name(line.split_whitespace().next().unwrap_or_default())
}

/// Whether a text of code in the one spelling holds values.
fn has_value(text: &str) -> bool {
    text.contains(UNKNOWN) || text.contains("#{")
}

/// Whether a text holds values of variables, to Perl, Ruby, PHP and Tcl.
fn is_interpolated(text: &str) -> bool {
    text.contains(['$', '@', '[']) || text.contains("#{")
}

/// Whether code sends a signal to the process that has started it.
pub(super) fn signals_parent(code: &str) -> bool {
    code.contains("ppid") && code.contains("kill")
}
