//! Scripts of sed(1), as far as they run or write something.

/// What a script runs or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Execution {
    /// This line: the rest of `e`, or the replacement of `s///e`.
    Line(String),
    /// The text that is edited.
    Text,
    /// It writes this file: `w FILE`, `W FILE`, `s///w FILE`.
    File(String),
}

/// What a script runs and writes.
pub(super) fn executions(script: &str) -> Vec<Execution> {
    let mut reader = Reader { rest: script };
    let mut found = Vec::new();
    while reader.address() {
        let Some(command) = reader.next() else {
            break;
        };
        match command {
            's' | 'y' => {
                let Some((replacement, flags, file)) = reader.substitution(command) else {
                    break;
                };
                found.extend(file.map(Execution::File));
                if command == 's' && flags.contains('e') {
                    found.push(Execution::Line(replacement));
                    // The text around what is replaced runs too.
                    found.push(Execution::Text);
                }
            }
            'e' => {
                let line = reader.line();
                found.push(match line.trim_end_matches('}').trim() {
                    "" => Execution::Text,
                    line => Execution::Line(line.to_owned()),
                });
            }
            'w' | 'W' => found.push(Execution::File(reader.line().trim_start().to_owned())),
            // A text goes on behind a backslash.
            'a' | 'i' | 'c' => while reader.line().ends_with('\\') {},
            '#' | 'r' | 'R' => {
                reader.line();
            }
            ':' | 'b' | 't' | 'T' | 'q' | 'Q' | 'l' | 'L' | 'v' => reader.label(),
            _ => {}
        }
    }
    found
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    /// Skips what stands before a command. `false`: the script ends.
    fn address(&mut self) -> bool {
        loop {
            let Some(c) = self.rest.chars().next() else {
                return false;
            };
            let is_skipped = c.is_whitespace() || c.is_ascii_digit() || "$,;{}!~+".contains(c);
            if is_skipped {
                self.next();
            } else if c == '/' {
                self.next();
                self.pattern('/');
                self.modifiers();
            } else if c == '\\' {
                self.next();
                let Some(delimiter) = self.next() else {
                    return false;
                };
                self.pattern(delimiter);
                self.modifiers();
            } else {
                return true;
            }
        }
    }

    /// `I` and `M` behind a regular expression.
    fn modifiers(&mut self) {
        self.rest = self.rest.trim_start_matches(['I', 'M']);
    }

    /// The text up to a delimiter. An escaped delimiter is one of the text.
    fn part(&mut self, delimiter: char) -> Option<String> {
        let mut part = String::new();
        while let Some(c) = self.next() {
            if c == delimiter {
                return Some(part);
            }
            if c == '\\' {
                let escaped = self.next()?;
                if escaped != delimiter {
                    part.push('\\');
                }
                part.push(escaped);
            } else {
                part.push(c);
            }
        }
        None
    }

    /// Skips a regular expression up to its delimiter, which in brackets is one of the characters there.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                c if c == delimiter => return Some(()),
                '\\' => {
                    self.next()?;
                }
                '[' => self.brackets()?,
                _ => {}
            }
        }
    }

    /// Skips the rest of `[…]`. Its first character may be `]`, and `[:alpha:]` is a part of it.
    fn brackets(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
        loop {
            match self.next()? {
                ']' => return Some(()),
                '[' => {
                    let class = self.rest.chars().next().filter(|c| ":.=".contains(*c));
                    if let Some((_, behind)) = class.and_then(|c| {
                        let end = format!("{c}]");
                        self.rest.get(1..)?.split_once(&end)
                    }) {
                        self.rest = behind;
                    }
                }
                _ => {}
            }
        }
    }

    /// The replacement and the flags of `s`, and the file that it writes.
    fn substitution(&mut self, command: char) -> Option<(String, String, Option<String>)> {
        let delimiter = self.next()?;
        if command == 's' {
            self.pattern(delimiter)?;
        } else {
            self.part(delimiter)?;
        }
        let replacement = self.part(delimiter)?;
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (flags, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        // `w` takes the rest of the line as a file.
        let Some((flags, file)) = flags.split_once('w') else {
            let flags = flags.to_owned();
            self.rest = rest;
            return Some((replacement, flags, None));
        };
        let (flags, begin) = (flags.to_owned(), file.to_owned());
        self.rest = rest;
        let file = begin + &self.line();
        Some((replacement, flags, Some(file.trim_start().to_owned())))
    }

    fn line(&mut self) -> String {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        let line = line.to_owned();
        self.rest = rest;
        line
    }

    fn label(&mut self) {
        let end = self.rest.find(['\n', ';', '}']).unwrap_or(self.rest.len());
        self.rest = self.rest.get(end..).unwrap_or_default();
    }
}
