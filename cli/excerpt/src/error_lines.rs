//! Gathers the lines of a long text that look like errors, with their neighbours, within a budget. Pure.

use crate::severity::{Severity, severity};
use crate::short_line::short_line;

/// Lines before an error that belong to it, such as the name of the test.
const LINES_BEFORE: usize = 1;
/// Lines behind an error that belong to it: rustc's excerpt of the source has some six.
const LINES_AFTER: usize = 6;

/// Some lines that stand together.
#[derive(Debug)]
struct Block {
    /// The number of its first line, from 0.
    first: u64,
    lines: Vec<String>,
    severity: Severity,
}

impl Block {
    fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum()
    }
}

/// The error-like lines of a text that is fed line by line.
#[derive(Debug)]
pub struct ErrorLines {
    budget: usize,
    /// Lines that were fed.
    fed: u64,
    /// The last lines, which may belong to an error to come.
    before: Vec<String>,
    /// How many more lines belong to the last block.
    after: usize,
    blocks: Vec<Block>,
    /// Bytes in blocks of each severity.
    certain: usize,
    likely: usize,
}

impl ErrorLines {
    /// Keeps at most `budget` bytes.
    pub fn new(budget: usize) -> Self {
        Self {
            budget,
            fed: 0,
            before: Vec::new(),
            after: 0,
            blocks: Vec::new(),
            certain: 0,
            likely: 0,
        }
    }

    /// Takes the next line, without its newline.
    pub fn feed(&mut self, line: &str) {
        let found = severity(line);
        if let Some(severity) = found {
            self.found(severity, line);
        } else if self.after > 0 && !line.trim().is_empty() {
            self.after -= 1;
            self.extend(line);
        } else {
            self.after = 0;
            self.before.push(short_line(line));
            if self.before.len() > LINES_BEFORE {
                self.before.remove(0);
            }
        }
        self.fed += 1;
    }

    fn found(&mut self, severity: Severity, line: &str) {
        let stands_behind = self.after > 0;
        self.after = LINES_AFTER;
        match self.blocks.last_mut() {
            Some(last) if stands_behind && last.severity >= severity => self.extend(line),
            _ => {
                if self.is_full(severity) {
                    self.after = 0;
                    return;
                }
                let mut lines = std::mem::take(&mut self.before);
                lines.retain(|line| !line.trim().is_empty());
                let first = self.fed - lines.len() as u64;
                lines.push(short_line(line));
                let block = Block {
                    first,
                    lines,
                    severity,
                };
                *self.used(severity) += block.bytes();
                self.blocks.push(block);
            }
        }
    }

    /// Whether no more blocks of this severity have room. Errors of a known shape need none that words
    /// have taken.
    fn is_full(&self, severity: Severity) -> bool {
        let used = match severity {
            Severity::Shape => self.certain,
            Severity::Word => self.certain + self.likely,
        };
        used >= self.budget
    }

    fn used(&mut self, severity: Severity) -> &mut usize {
        match severity {
            Severity::Shape => &mut self.certain,
            Severity::Word => &mut self.likely,
        }
    }

    fn extend(&mut self, line: &str) {
        let Some(mut last) = self.blocks.pop() else {
            return;
        };
        if self.is_full(last.severity) {
            self.after = 0;
        } else {
            let line = short_line(line);
            *self.used(last.severity) += line.len() + 1;
            last.lines.push(line);
        }
        self.blocks.push(last);
    }

    /// The lines within the budget, those of known shapes first, in their order, with lines between
    /// that count the rest.
    pub fn finish(self) -> String {
        let mut left = self.budget;
        let mut kept: Vec<&Block> = Vec::new();
        for severity in [Severity::Shape, Severity::Word] {
            for block in self
                .blocks
                .iter()
                .filter(|block| block.severity == severity)
            {
                if block.bytes() <= left {
                    left -= block.bytes();
                    kept.push(block);
                }
            }
        }
        kept.sort_by_key(|block| block.first);
        let mut text = String::new();
        let mut at = 0;
        for block in kept {
            left_out(&mut text, block.first.saturating_sub(at));
            at = block.end();
            for line in &block.lines {
                text.push_str(line);
                text.push('\n');
            }
        }
        left_out(&mut text, self.fed.saturating_sub(at));
        text
    }
}

/// Says in a line how many lines are left out there.
fn left_out(text: &mut String, lines: u64) {
    match lines {
        0 => {}
        1 => text.push_str("... [1 line left out] ...\n"),
        lines => {
            text.push_str("... [");
            text.push_str(&lines.to_string());
            text.push_str(" lines left out] ...\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str, budget: usize) -> String {
        let mut errors = ErrorLines::new(budget);
        text.lines().for_each(|line| errors.feed(line));
        errors.finish()
    }

    #[test]
    fn errors_come_with_their_neighbours_and_the_rest_is_counted() {
        let text = "a\nb\nc\nerror[E1]: x\n  --> y\n\nd\ne\nf\n";
        assert_eq!(
            errors(text, 1_000),
            "... [2 lines left out] ...\nc\nerror[E1]: x\n  --> y\n... [4 lines left out] ...\n"
        );
        assert_eq!(errors("a\nb\n", 1_000), "... [2 lines left out] ...\n");
    }

    #[test]
    fn known_shapes_go_before_words() {
        let words = "it failed\n\n".repeat(100);
        let text = format!("{words}error: real\n{words}");
        let found = errors(&text, 60);
        assert!(found.contains("error: real"), "{found}");
        assert!(found.len() < 200, "{found}");
    }

    #[test]
    fn no_budget_is_exceeded_by_more_than_its_marks() {
        let text = "error: x\n\n".repeat(10_000) + &"error: y".repeat(10_000);
        let found = errors(&text, 500);
        let kept: usize = found
            .lines()
            .filter(|line| !line.starts_with("..."))
            .map(|line| line.len() + 1)
            .sum();
        assert!(kept <= 500, "{kept}");
    }
}
