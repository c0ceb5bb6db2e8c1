//! Scripts of sed(1), as far as they run something.

/// What a script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Execution {
    /// This line: the rest of `e`, or the replacement of `s///e`.
    Line(String),
    /// The text that is edited.
    Text,
}

/// What a script runs.
pub(super) fn executions(script: &str) -> Vec<Execution> {
    let mut reader = Reader { rest: script };
    let mut found = Vec::new();
    while reader.address() {
        let Some(command) = reader.next() else {
            break;
        };
        match command {
            's' | 'y' => {
                let Some((replacement, flags)) = reader.substitution() else {
                    break;
                };
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
            '#' | 'a' | 'i' | 'c' | 'r' | 'R' | 'w' | 'W' => {
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
                self.part('/');
                self.modifiers();
            } else if c == '\\' {
                self.next();
                let Some(delimiter) = self.next() else {
                    return false;
                };
                self.part(delimiter);
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

    /// The replacement and the flags of `s`.
    fn substitution(&mut self) -> Option<(String, String)> {
        let delimiter = self.next()?;
        self.part(delimiter)?;
        let replacement = self.part(delimiter)?;
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (flags, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        // `w` takes the rest of the line as a file.
        let flags = flags.split('w').next().unwrap_or(flags).to_owned();
        self.rest = rest;
        Some((replacement, flags))
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
