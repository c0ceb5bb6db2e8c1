//! Perl, by a reader of its own: perlop(1), perldata(1), perlpod(1). What only a parser of Perl can tell
//! (is this slash a division?) is unread where more than one reading hides something.

mod interpolation;
mod quotes;

use super::escapes;
use super::spelling::Spelling;
use crate::word_list::is_listed;
use crate::work;
use interpolation::Kind;
use quotes::{Quoted, quoted};

/// How deep code may stand within the texts of code.
const MAX_DEPTH: usize = 16;
/// Words behind which a value stands, so a slash begins a pattern.
const BEFORE_VALUE: &str = "
    and cmp defined die do else elsif eq eval foreach for ge grep gt if join le lt map ne not or print printf push ref
    return say scalar split tr uc unless unshift until warn when while x xor y lc lcfirst ucfirst keys values sort
    reverse chomp length push exit local my our BEGIN END";
/// Operators that are texts by a delimiter of one's choice.
const QUOTES: &str = "q qq qw qx qr m s tr y";
/// Words behind which a name stands, also one that is an operator elsewhere: `package s;`.
const DECLARES: &str = "sub package use no method class";
/// Words behind which a here-document may begin. Behind any other name `<<` may be a shift.
const BEFORE_HERE: &str = "system exec eval qx STDOUT STDERR";
/// Tests of files, of which one has the name of an operator.
const FILE_TEST: &str = "s";

/// Code in the one spelling. `None`: it is not read whole.
pub(super) fn plain(code: &str) -> Option<String> {
    plain_within(code, 0)
}

fn plain_within(code: &str, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH || code.contains('\0') {
        return None;
    }
    let mut reader = Reader {
        code,
        at: 0,
        depth,
        is_value: false,
        word: "",
        braces: Vec::new(),
        behind_here: None,
        spelling: Spelling::default(),
    };
    while reader.at < code.len() {
        reader.token()?;
    }
    Some(reader.spelling.finish())
}

/// A reading of code.
struct Reader<'a> {
    code: &'a str,
    at: usize,
    depth: usize,
    /// Whether a value stands before, which a slash divides.
    is_value: bool,
    /// The word before, where nothing else stands between.
    word: &'a str,
    /// The braces that are open: whether each holds a key.
    braces: Vec<bool>,
    /// Where the code goes on behind the here-documents of this line.
    behind_here: Option<usize>,
    spelling: Spelling,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.code.get(self.at..).unwrap_or_default()
    }

    /// The rest of the line.
    fn line(&self) -> Option<&'a str> {
        let line = self.rest().lines().next()?;
        work::spend(line.len()).then_some(line)
    }

    /// Takes code as it is written.
    fn take(&mut self, length: usize) -> Option<&'a str> {
        let taken = self.rest().get(..length)?;
        self.spelling.code(taken);
        self.at += length;
        Some(taken)
    }

    fn token(&mut self) -> Option<()> {
        let rest = self.rest();
        let c = rest.chars().next()?;
        let is_line_start = self.at == 0 || self.code.as_bytes().get(self.at - 1) == Some(&b'\n');
        if is_line_start && is_pod(rest) {
            self.skip_pod();
            return Some(());
        }
        if c == '\n' {
            self.spelling.code("\n");
            self.at = self.behind_here.take().unwrap_or(self.at + 1);
            return Some(());
        }
        if c.is_whitespace() {
            self.take(c.len_utf8())?;
            return Some(());
        }
        if c == '#' {
            self.at += rest.find('\n').unwrap_or(rest.len());
            return Some(());
        }
        if is_letter(c) && !c.is_ascii_digit() {
            return self.name();
        }
        let word = std::mem::take(&mut self.word);
        match c {
            '$' | '@' => {
                self.spelling.code_apart("");
                if c == '$' {
                    self.scalar()?;
                } else {
                    self.sigil()?;
                }
            }
            '%' | '&' | '*' if !self.is_value => self.sigil()?,
            '\'' | '"' | '`' => {
                let text = self.quoted("")?;
                let within = self.text(c, &text, Kind::Text)?;
                if c == '`' {
                    self.spelling.command(&within);
                } else {
                    self.spelling.text(&within);
                }
                self.is_value = true;
            }
            '/' if !self.is_value => self.slash(word)?,
            '<' if rest.starts_with("<<") && self.is_here_document(rest, word)? => {
                self.here_document()?;
            }
            '<' if !self.is_value => self.angle()?,
            '{' => {
                let is_key = self.is_value || self.code.get(..self.at)?.ends_with("->");
                self.braces.push(is_key);
                self.is_value = false;
                self.take(1)?;
            }
            '}' => {
                self.is_value = self.braces.pop()?;
                self.take(1)?;
            }
            ')' | ']' => {
                self.is_value = true;
                self.take(1)?;
            }
            '0'..='9' => {
                let end = rest.find(|c: char| !is_letter(c));
                self.take(end.unwrap_or(rest.len()))?;
                self.is_value = true;
            }
            '+' | '-' if rest.starts_with("++") || rest.starts_with("--") => {
                self.take(2)?;
            }
            '\\' if rest.starts_with("\\\n") => self.at += 1,
            _ => {
                self.is_value = false;
                self.take(c.len_utf8())?;
            }
        }
        Some(())
    }

    /// Passes over documentation, up to the line `=cut`.
    fn skip_pod(&mut self) {
        let rest = self.rest();
        let cut = rest
            .starts_with("=cut")
            .then_some(0)
            .or_else(|| rest.find("\n=cut").map(|at| at + 1));
        let behind = cut.and_then(|at| {
            let line = rest.get(at..)?.find('\n')?;
            Some(at + line)
        });
        self.at += behind.unwrap_or(rest.len());
        // What is empty between two of them is no line of code.
        if behind == Some(0) {
            self.at += 1;
        }
    }

    /// A word: a name, or an operator that is one.
    fn name(&mut self) -> Option<()> {
        let rest = self.rest();
        let name = name_of(rest);
        let before = self.code.get(..self.at)?;
        let behind = rest.get(name.len()..)?;
        let is_member = before.ends_with("->");
        let next = behind.trim_start();
        let is_key =
            next.starts_with("=>") || before.trim_end().ends_with('{') && next.starts_with('}');
        let is_declared = is_listed(self.word, DECLARES);
        let is_member = is_member || before.trim_end().ends_with("->");
        let is_test = before.ends_with('-') && name == FILE_TEST;
        if is_member || is_key || is_declared || is_test {
            self.take(name.len())?;
            self.is_value = is_member || is_key;
            self.word = name;
            if is_declared {
                self.prototype();
            }
            return Some(());
        }
        if is_listed(name, QUOTES) {
            return self.operator(name);
        }
        if matches!(name, "__END__" | "__DATA__") {
            self.at = self.code.len();
            return Some(());
        }
        // The sign of packages of old: `isn't(x)` is `isn::t(x)`.
        let mut behind = behind.chars();
        if behind.next() == Some('\'')
            && behind.next().is_some_and(is_letter)
            && !is_listed(name, BEFORE_VALUE)
        {
            let is_call = is_listed(name, "system exec eval require use open qx");
            if !is_call {
                return None;
            }
        }
        if name == "format" && rest.lines().next()?.trim_end().ends_with('=') {
            return None;
        }
        self.take(name.len())?;
        self.word = name;
        self.is_value = false;
        if name == "sub" {
            self.prototype();
        }
        Some(())
    }

    /// Takes the signs that stand for the arguments of a function: `($$;@)`.
    fn prototype(&mut self) {
        let rest = self.rest();
        let inner = rest.trim_start();
        let Some(signs) = inner.strip_prefix('(') else {
            return;
        };
        let behind = signs.trim_start_matches(|c| "$@%&*;\\[]_+ ".contains(c));
        if let Some(behind) = behind.strip_prefix(')') {
            self.at += rest.len() - behind.len();
            self.spelling.code("()");
        }
    }

    /// A variable.
    fn scalar(&mut self) -> Option<()> {
        let rest = self.rest();
        let behind = rest.get(1..)?;
        // `$#a`, `$#{a}`, `$#$a`.
        let behind = match behind.strip_prefix('#') {
            Some(name) if name.starts_with(|c| is_letter(c) || c == '{' || c == '$') => name,
            _ => behind,
        };
        let sigil = rest.len() - behind.len();
        let next = behind.chars().next();
        let is_dereferenced = behind.starts_with('$')
            && behind
                .get(1..)?
                .starts_with(|c| is_letter(c) || c == '$' || c == '{' || c == ':');
        match next {
            Some('{') => {
                self.take(sigil + 1)?;
                self.braces.push(true);
                self.is_value = false;
            }
            Some(_) if is_dereferenced => {
                self.take(sigil)?;
            }
            Some(c) if is_letter(c) || behind.starts_with("::") => {
                let length = name_of(behind).len();
                let mut quote = behind.get(length..)?.chars();
                if quote.next() == Some('\'') && quote.next().is_some_and(is_letter) {
                    return None;
                }
                self.take(sigil + length)?;
                self.is_value = true;
            }
            Some('^') => {
                self.at += sigil + 2;
                self.spelling.code("$_p");
                self.is_value = true;
            }
            Some(c) if !c.is_whitespace() => {
                self.at += sigil + c.len_utf8();
                self.spelling.code("$_p");
                self.is_value = true;
            }
            _ => return None,
        }
        Some(())
    }

    /// A sign that begins the name of an array, a hash, a function or a glob.
    fn sigil(&mut self) -> Option<()> {
        let rest = self.rest();
        let behind = rest.get(1..)?;
        let next = behind.chars().next();
        match next {
            Some('\'' | '"' | '`' | '/' | '#') => None,
            Some('{') => {
                self.take(2)?;
                self.braces.push(true);
                self.is_value = false;
                Some(())
            }
            Some('$') => {
                self.take(1)?;
                Some(())
            }
            Some(c) if is_letter(c) || c == ':' => {
                let length = name_of(behind).len();
                if behind.get(length..)?.starts_with('\'') {
                    return None;
                }
                self.take(1 + length.max(1))?;
                self.is_value = true;
                Some(())
            }
            _ => {
                self.take(1)?;
                self.is_value = false;
                Some(())
            }
        }
    }

    /// A pattern, or a division behind a word whose arguments are not known.
    fn slash(&mut self, word: &str) -> Option<()> {
        let is_known = word.is_empty() || is_listed(word, BEFORE_VALUE);
        if !is_known {
            let line = self.line()?;
            if line.contains(['\'', '"', '`', '#']) {
                return None;
            }
            self.take(1)?;
            return Some(());
        }
        self.pattern("")
    }

    fn pattern(&mut self, operator: &str) -> Option<()> {
        let pattern = self.quoted(operator)?;
        self.text(pattern.quote, &pattern, Kind::Pattern)?;
        self.spelling.pattern();
        self.flags()?;
        self.is_value = true;
        Some(())
    }

    fn flags(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic());
        let flags = rest.get(..end.unwrap_or(rest.len()))?;
        // `s/a/b/ee` runs what it has put in.
        let known = if flags.matches('e').count() > 1 {
            "ee"
        } else {
            ""
        };
        let is_word = is_listed(flags, BEFORE_VALUE);
        if !is_word {
            self.spelling.code(known);
            self.at += flags.len();
        }
        Some(if is_word { "" } else { flags })
    }

    /// What stands behind an operator between its delimiters.
    fn quoted(&mut self, operator: &str) -> Option<Quoted<'a>> {
        let text = quoted(self.rest().get(operator.len()..)?)?;
        let length = operator.len() + text.length;
        // A here-document begins in the next line, in the middle of the text.
        if self.behind_here.is_some() && self.rest().get(..length)?.contains('\n') {
            return None;
        }
        self.at += length;
        Some(text)
    }

    /// A text with its escapes decoded. Code in it is added.
    fn text(&mut self, quote: char, text: &Quoted<'a>, kind: Kind) -> Option<String> {
        if quote == '\'' {
            return Some(escapes::single_quoted(text.inner, "'"));
        }
        self.interpolated(text.inner, kind)
    }

    fn interpolated(&mut self, text: &str, kind: Kind) -> Option<String> {
        let (text, codes) = interpolation::interpolated(text, kind)?;
        for code in codes {
            let code = plain_within(&code, self.depth + 1)?;
            self.spelling.within(&code);
        }
        Some(text)
    }

    fn operator(&mut self, name: &'a str) -> Option<()> {
        match name {
            "q" => {
                let text = self.quoted(name)?;
                let text = escapes::single_quoted(text.inner, "'()[]{}<>/|!#,");
                self.spelling.text(&text);
            }
            "qq" | "qx" => {
                let text = self.quoted(name)?;
                let kind = Kind::Text;
                let within = match (name, text.quote) {
                    ("qq", '\'') => self.interpolated(text.inner, kind)?,
                    (_, quote) => self.text(quote, &text, kind)?,
                };
                if name == "qx" {
                    self.spelling.command(&within);
                } else {
                    self.spelling.text(&within);
                }
            }
            "qw" => {
                let text = self.quoted(name)?;
                self.spelling.code("(");
                for word in text.inner.split_whitespace() {
                    self.spelling.text(word);
                    self.spelling.code(", ");
                }
                self.spelling.code(")");
            }
            "qr" | "m" => self.pattern(name)?,
            _ => self.replacement(name)?,
        }
        self.is_value = true;
        Some(())
    }

    /// `s/a/b/`, `tr/a/b/`.
    fn replacement(&mut self, name: &str) -> Option<()> {
        let pattern = self.quoted(name)?;
        if name == "s" {
            self.text(pattern.quote, &pattern, Kind::Pattern)?;
        }
        let second = if pattern.is_bracketed {
            let rest = self.rest();
            let skipped = rest.len() - rest.trim_start().len();
            self.at += skipped;
            self.quoted("")?
        } else {
            // The delimiter in the middle closes one and opens the other.
            self.at -= pattern.quote.len_utf8();
            self.quoted("")?
        };
        // The name tells that a text is changed.
        self.spelling.code_apart(name);
        self.spelling.pattern();
        let flags = self.flags()?;
        if name == "s" && flags.contains('e') {
            let code = plain_within(second.inner, self.depth + 1)?;
            self.spelling.within(&code);
        } else if name == "s" {
            self.text(second.quote, &second, Kind::Text)?;
        }
        Some(())
    }

    /// Whether `<<` begins a here-document, and is no shift.
    fn is_here_document(&self, rest: &str, word: &str) -> Option<bool> {
        let name = rest.get(2..)?.trim_start_matches('~');
        let Some((delimiter, _)) = quotes::here_delimiter(name) else {
            return Some(false);
        };
        let is_operand =
            word.is_empty() || is_listed(word, BEFORE_VALUE) || is_listed(word, BEFORE_HERE);
        if !self.is_value && is_operand {
            return Some(true);
        }
        // The code is searched to both its ends.
        if !work::spend(self.code.len()) {
            return None;
        }
        let ends = rest
            .lines()
            .skip(1)
            .any(|line| line.trim_start() == delimiter);
        // `print $file <<X`.
        let statement = self
            .code
            .get(..self.at)?
            .rsplit([';', '{', '}', '\n'])
            .next()?;
        let prints = ["print ", "printf ", "say "]
            .iter()
            .any(|verb| statement.trim_start().starts_with(verb));
        match (ends, prints) {
            (false, _) => Some(false),
            (true, true) => Some(true),
            (true, false) => None,
        }
    }

    fn here_document(&mut self) -> Option<()> {
        let rest = self.rest();
        let name = rest.get(2..)?;
        let is_indented = name.starts_with('~');
        let name = name.trim_start_matches('~');
        let (delimiter, length) = quotes::here_delimiter(name)?;
        let from = match self.behind_here {
            Some(from) => from,
            None => self.at + rest.find('\n')? + 1,
        };
        let mut at = from;
        let mut lines = Vec::new();
        loop {
            let line = self.code.get(at..).filter(|rest| !rest.is_empty())?;
            let line = line.split_inclusive('\n').next()?;
            at += line.len();
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let bare = if is_indented { bare.trim_start() } else { bare };
            if bare == delimiter {
                break;
            }
            lines.push(bare);
        }
        // The newline before stays for the next token.
        self.behind_here = Some(at);
        let body = lines.join("\n");
        let quote = name.chars().next()?;
        let text = if quote == '\'' {
            body
        } else {
            self.interpolated(&body, Kind::Text)?
        };
        if quote == '`' {
            self.spelling.command(&text);
        } else {
            self.spelling.text(&text);
        }
        self.at += rest.len() - name.len() + length;
        self.is_value = true;
        Some(())
    }

    /// `<STDIN>`, `<$file>`, `<*.c>`, or a sign.
    fn angle(&mut self) -> Option<()> {
        let line = self.line()?;
        let end = line
            .find('>')
            .filter(|end| !line.get(1..*end).unwrap_or_default().contains('<'));
        match end {
            Some(end) => {
                let inner = line.get(1..end)?;
                if inner.contains(['\'', '"', '`', '#']) {
                    return None;
                }
                let is_handle = |c: char| c.is_alphanumeric() || "_:$".contains(c);
                if matches!(inner, "" | "STDIN" | "ARGV") {
                    // perlop(1), "I/O Operators".
                    self.spelling.code_apart("readline(STDIN)");
                    self.at += end + 1;
                } else if inner.chars().all(is_handle) {
                    self.take(end + 1)?;
                } else {
                    // It lists the files that fit.
                    self.spelling.code_apart("glob(");
                    self.spelling.text(inner);
                    self.spelling.code(")");
                    self.at += end + 1;
                }
                self.is_value = true;
            }
            None => {
                self.take(1)?;
            }
        }
        Some(())
    }
}

/// Whether a line begins documentation.
fn is_pod(line: &str) -> bool {
    line.strip_prefix('=')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == crate::shell::word::UNKNOWN
}

/// The name at the beginning of a text, with the names of packages.
fn name_of(text: &str) -> &str {
    let mut end = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            c if is_letter(c) => c.len_utf8(),
            ':' if rest.starts_with("::") => 2,
            _ => break,
        };
        end += length;
        rest = text.get(end..).unwrap_or_default();
    }
    text.get(..end).unwrap_or_default()
}
