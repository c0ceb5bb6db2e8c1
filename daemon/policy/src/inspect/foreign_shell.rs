//! Texts that other shells than bash read as bash does: simple commands, pipes, lists, quotes and
//! variables. Anything else in the text of such a shell may run any command.

use std::iter::Peekable;
use std::str::Chars;

use crate::program::kind::base_name;
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// Builtins and reserved words that zsh and ksh have and bash has not, or that run what bash does not
/// see: zshmisc(1), zshbuiltins(1), zshzle(1), zshmodules(1), zshcontrib(1), ksh(1).
const ZSH_WORDS: &str = "
    - always autoload bindkey builtin case compadd compcall compctl compdef coproc declare disable emulate enable end
    enum eval fc float foreach function functions hash integer nameref nocorrect noglob print pushln r repeat sched
    select setopt sysread trap typeset unhash unsetopt vared zargs zcompile zed zeval zformat zle zmodload zmv
    zparseopts zpty zregexparse zselect zsocket zstyle zsystem ztcp add-zsh-hook add-zle-hook-widget";
/// The same of fish: fish-doc(1).
const FISH_WORDS: &str = "
    abbr alias and argparse begin bind block breakpoint builtin case commandline complete else emit eval
    fish_command_not_found for funced funcsave functions history if not or psub read set switch time trap
    vared while";
/// The same of csh: tcsh(1).
const CSH_WORDS: &str = "
    @ alias bindkey case complete default else end endif endsw eval foreach goto history if onintr repeat sched set
    setenv settc switch uncomplete while";
/// Reserved words of zsh behind which a command stands, as in bash.
const RESERVED: &str = "! if then elif else while until do time exec command env nohup";
/// Options of `set` that leave the grammar as it is.
const SET_OPTIONS: &str = "set -e -u -x -eu -ex -eux -euo -euxo -exo -xe -ue -o +e +x pipefail";

/// The grammar of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grammar {
    Zsh,
    Fish,
    Csh,
}

impl Grammar {
    fn words(self) -> &'static str {
        match self {
            Self::Zsh => ZSH_WORDS,
            Self::Fish => FISH_WORDS,
            Self::Csh => CSH_WORDS,
        }
    }
}

/// The grammar of a shell by its name, whose digits are those of a version.
fn grammar(name: &str) -> Option<Grammar> {
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-')) {
        "zsh" | "rzsh" | "ksh" | "rksh" | "mksh" | "yash" => Some(Grammar::Zsh),
        "fish" => Some(Grammar::Fish),
        "csh" | "tcsh" => Some(Grammar::Csh),
        _ => None,
    }
}

/// Whether a shell, by its name or path, reads a text as bash does.
pub(super) fn reads_as_bash(shell: &str, text: &str) -> bool {
    let name = base_name(shell);
    let Some(grammar) = grammar(name) else {
        // These have grammars of their own. Any other shell is bash, or one that POSIX describes.
        return !matches!(name, "nu" | "xonsh" | "elvish");
    };
    let Some(text) = without_documents(text) else {
        return false;
    };
    let reader = Reader {
        chars: text.chars().peekable(),
        grammar,
        command: Vec::new(),
        word: None,
        is_target: false,
        outer: Vec::new(),
    };
    reader.read().is_some()
}

/// Whether an option of zsh changes how it reads a text: `-o autocd`, `-J`, `--rc-quotes`.
pub(super) fn changes_grammar(shell: &str, args: &[Word]) -> bool {
    const LETTERS: &str = "cdefilnsuvx";
    let is_option = |word: &&Word| word.text.starts_with(['-', '+']);
    let mut options = args.iter().take_while(is_option);
    let is_plain = |word: &Word| {
        let letters = word.text.trim_start_matches(['-', '+']);
        letters.chars().all(|c| LETTERS.contains(c))
    };
    grammar(base_name(shell)) == Some(Grammar::Zsh) && !options.all(is_plain)
}

/// A text without its here-documents that expand nothing. `None`: it has others.
fn without_documents(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut end: Option<String> = None;
    for line in text.lines() {
        if let Some(marker) = &end {
            if line == marker {
                end = None;
            }
            continue;
        }
        if let Some((_, behind)) = line.replace("<<<", "<").split_once("<<") {
            let quote = behind.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
            let marker = behind.get(1..)?.split(quote).next()?;
            if behind.contains("<<") || marker.contains(['\\', '$']) {
                return None;
            }
            end = Some(marker.to_owned());
        }
        kept.push_str(line);
        kept.push('\n');
    }
    Some(kept)
}

/// A word of a command, without its quotes.
#[derive(Debug, Default)]
struct RawWord {
    text: String,
    begins_quoted: bool,
}

/// The command in which a substitution stands.
#[derive(Debug)]
struct Outer {
    command: Vec<String>,
    word: Option<RawWord>,
    is_target: bool,
    is_quoted: bool,
}

/// A reading of a text. Each step is `None` where the text is not known to mean the same to bash.
struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    grammar: Grammar,
    /// The words of the command so far.
    command: Vec<String>,
    /// The word that is being read.
    word: Option<RawWord>,
    /// Whether the word is the file of a redirection.
    is_target: bool,
    outer: Vec<Outer>,
}

impl Reader<'_> {
    fn read(mut self) -> Option<()> {
        while let Some(c) = self.chars.next() {
            match c {
                ' ' | '\t' => self.end_word()?,
                '&' if self.chars.peek() == Some(&'>') => self.end_word()?,
                '\n' | ';' | '|' | '&' => self.end_command()?,
                '<' | '>' => self.redirect()?,
                '\'' => self.single_quoted()?,
                '"' => {
                    self.begin_quotes();
                    self.double_quoted()?;
                }
                '$' => self.variable(false)?,
                ')' => {
                    self.end_command()?;
                    let outer = self.outer.pop()?;
                    self.command = outer.command;
                    self.word = outer.word;
                    self.is_target = outer.is_target;
                    if outer.is_quoted {
                        self.double_quoted()?;
                    }
                }
                '\\' if self.grammar == Grammar::Zsh => {
                    let escaped = self.chars.next().filter(|c| *c != '\n')?;
                    self.begin_quotes();
                    self.push(escaped);
                }
                '(' | '`' | '\\' => return None,
                '!' if self.grammar == Grammar::Csh => return None,
                c => self.push(c),
            }
        }
        self.end_command()?;
        self.outer.is_empty().then_some(())
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    fn begin_quotes(&mut self) {
        let quoted = RawWord {
            begins_quoted: true,
            ..RawWord::default()
        };
        self.word.get_or_insert(quoted);
    }

    fn redirect(&mut self) -> Option<()> {
        // The number of a descriptor is no word.
        let is_number = |word: &RawWord| word.text.parse::<u32>().is_ok();
        self.word = self.word.take().filter(|word| !is_number(word));
        self.end_word()?;
        while self
            .chars
            .next_if(|c| matches!(c, '<' | '>' | '&' | '|'))
            .is_some()
        {}
        self.is_target = true;
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        Some(())
    }

    fn single_quoted(&mut self) -> Option<()> {
        self.begin_quotes();
        loop {
            match self.chars.next()? {
                '\'' => return Some(()),
                '\\' if self.grammar == Grammar::Fish => return None,
                '!' if self.grammar == Grammar::Csh => return None,
                c => self.push(c),
            }
        }
    }

    fn double_quoted(&mut self) -> Option<()> {
        loop {
            match self.chars.next()? {
                '"' => return Some(()),
                '\\' if self.grammar != Grammar::Csh => {
                    let escaped = self.chars.next()?;
                    self.push(escaped);
                }
                '$' => {
                    let depth = self.outer.len();
                    self.variable(true)?;
                    if self.outer.len() > depth {
                        return Some(());
                    }
                }
                '`' | '\\' => return None,
                '!' if self.grammar == Grammar::Csh => return None,
                c => self.push(c),
            }
        }
    }

    /// `$name`, `${name}`, `$(…)`.
    fn variable(&mut self, is_quoted: bool) -> Option<()> {
        self.push('$');
        match self.chars.peek().copied() {
            Some('(') if self.grammar != Grammar::Csh => {
                self.chars.next();
                self.outer.push(Outer {
                    command: std::mem::take(&mut self.command),
                    word: self.word.take(),
                    is_target: std::mem::take(&mut self.is_target),
                    is_quoted,
                });
                // An arithmetic expansion may set what stands for a command.
                (self.chars.peek() != Some(&'(')).then_some(())
            }
            Some('{') => {
                self.chars.next();
                let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                while self.chars.next_if(is_part).is_some() {}
                self.chars.next_if_eq(&'}').map(|_| ())
            }
            Some('\'' | '[' | '=' | '~' | '^' | '+' | ':' | '(') => None,
            Some('"') if !is_quoted => None,
            _ => Some(()),
        }
    }

    /// Ends a word. `None`: it runs something by a sign or by its name.
    fn end_word(&mut self) -> Option<()> {
        let Some(word) = self.word.take() else {
            return Some(());
        };
        let text = word.text;
        let is_comparison = matches!(text.as_str(), "=" | "==" | "=~");
        let sets_element = text.contains("]=") || text.contains("]+=");
        if sets_element || (text.starts_with('=') && !word.begins_quoted && !is_comparison) {
            return None;
        }
        if std::mem::take(&mut self.is_target) {
            return Some(());
        }
        if !self.command.is_empty() {
            let is_block = matches!(text.as_str(), "{" | "}");
            self.command.push(text);
            return (!is_block).then_some(());
        }
        let is_zsh = self.grammar == Grammar::Zsh;
        if is_zsh && (is_listed(&text, RESERVED) || sets_variable(&text)) {
            return Some(());
        }
        let is_test = text == "[" || (is_zsh && text == "[[");
        let is_name = !text.contains(['*', '?', '[', ']', '{', '}', '^', '#', '=', '$']);
        let is_same = !is_listed(&text, self.grammar.words());
        self.command.push(text);
        ((is_name || is_test) && is_same).then_some(())
    }

    fn end_command(&mut self) -> Option<()> {
        self.end_word()?;
        self.is_target = false;
        let words = std::mem::take(&mut self.command);
        let mut words = words.iter().map(String::as_str);
        match words.next() {
            Some("source" | ".") => {
                let file = words.next()?;
                let is_device = file == "-" || file.contains("/dev/") || file.contains("/proc/");
                (!is_device).then_some(())
            }
            Some("set") => words.all(|word| is_listed(word, SET_OPTIONS)).then_some(()),
            _ => Some(()),
        }
    }
}

/// Whether a word sets a variable for what follows.
fn sets_variable(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_part))
}
