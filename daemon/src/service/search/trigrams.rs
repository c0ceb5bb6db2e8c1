//! What the index can be asked for a pattern: the trigrams and the parts of numbers that stand in every text
//! that it matches.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::numbers;
use crate::store::IndexQuestion;

/// The most trigrams of a question: more hardly find less.
const MAX_TRIGRAMS: usize = 48;
/// How deep a pattern may be nested; the parser's own bound is 250.
const MAX_NESTING: u32 = 100;
/// The most characters of a class that may be one character in all its cases.
const MAX_CASES: usize = 4;

/// What a text must have in it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    /// This, with its case folded.
    Text(String),
    /// One of these.
    Any(Vec<Self>),
    /// All of these.
    All(Vec<Self>),
}

/// A character without its case. It is the same for all characters that a pattern takes for one where it
/// ignores case, or the pattern is not asked by that character.
fn folded(character: char) -> char {
    match character {
        'ſ' => 's',
        other => other.to_lowercase().next().unwrap_or(other),
    }
}

/// A text as it is indexed.
pub(super) fn fold(text: &str) -> String {
    text.chars().map(folded).collect()
}

/// The question that finds every text in which these patterns match; `None`: any text may.
pub(super) fn question<'a>(
    patterns: impl Iterator<Item = (&'a str, bool)>,
) -> Option<IndexQuestion> {
    let needs = patterns.filter_map(|(pattern, ignores_case)| {
        let mut parser = ParserBuilder::new()
            .case_insensitive(ignores_case)
            .nest_limit(MAX_NESTING)
            .build();
        need(&parser.parse(pattern).ok()?)
    });
    let need = Need::All(needs.collect());
    let numbers = need.numbers();
    let of_numbers = if numbers.is_empty() {
        OfNumbers::Asked
    } else {
        OfNumbers::LeftOut
    };
    let trigrams = need.trigrams(of_numbers, &mut MAX_TRIGRAMS.clone());
    let numbers = joined(numbers, " AND ");
    (trigrams.is_some() || numbers.is_some()).then_some(IndexQuestion { trigrams, numbers })
}

fn need(hir: &Hir) -> Option<Need> {
    let mut run = Run::default();
    run.take(hir);
    run.end();
    (!run.needs.is_empty()).then_some(Need::All(run.needs))
}

/// Goes through a pattern, and collects the text that stands without a gap.
#[derive(Default)]
struct Run {
    text: String,
    needs: Vec<Need>,
}

impl Run {
    fn take(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.text.extend(text.chars().map(folded)),
                Err(_) => self.end(),
            },
            HirKind::Class(class) => match one_character(class) {
                Some(character) => self.text.push(character),
                None => self.end(),
            },
            HirKind::Capture(capture) => self.take(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.take(part)),
            HirKind::Repetition(repetition) => {
                self.end();
                if repetition.min > 0 {
                    self.needs.extend(need(&repetition.sub));
                }
            }
            HirKind::Alternation(branches) => {
                self.end();
                let branches: Option<Vec<Need>> = branches.iter().map(need).collect();
                self.needs.extend(branches.map(Need::Any));
            }
        }
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.text);
        // A trigram of control characters is in no text: a line has none but tabs.
        for part in text.split(char::is_control) {
            if part.chars().nth(2).is_some() {
                self.needs.push(Need::Text(part.to_owned()));
            }
        }
    }
}

/// The character that a class is, whatever its case.
fn one_character(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let mut characters = class.iter().flat_map(|range| range.start()..=range.end());
    let first = folded(characters.next()?);
    let cases = characters.by_ref().take(MAX_CASES);
    let is_one = cases.map(folded).all(|other| other == first);
    (is_one && characters.next().is_none()).then_some(first)
}

/// What becomes of trigrams that stand within a number.
#[derive(Clone, Copy)]
enum OfNumbers {
    /// They are left out: the number is asked for by its parts.
    LeftOut,
    /// They are asked for.
    Asked,
}

impl Need {
    fn trigrams(&self, of_numbers: OfNumbers, left: &mut usize) -> Option<String> {
        match self {
            Self::Text(text) => {
                let characters: Vec<char> = text.chars().collect();
                let in_numbers = numbers::in_numbers(&characters);
                let trigrams = characters.windows(3).zip(in_numbers.windows(3));
                let trigrams = trigrams.filter(|(_, in_number)| match of_numbers {
                    OfNumbers::LeftOut => in_number.contains(&false),
                    OfNumbers::Asked => true,
                });
                let trigrams = trigrams.map(|(trigram, _)| quoted(trigram));
                let trigrams: Vec<String> = trigrams.take(*left).collect();
                *left -= trigrams.len();
                joined(trigrams, " AND ")
            }
            Self::All(needs) => {
                let parts = needs
                    .iter()
                    .filter_map(|need| need.trigrams(of_numbers, left));
                joined(parts.collect(), " AND ")
            }
            // The numbers of one branch need not be there.
            Self::Any(needs) => {
                let parts = needs.iter();
                let parts: Option<Vec<String>> = parts
                    .map(|need| need.trigrams(OfNumbers::Asked, left))
                    .collect();
                joined(parts?, " OR ")
            }
        }
    }

    /// The queries of the numbers that are in every text.
    fn numbers(&self) -> Vec<String> {
        match self {
            Self::Text(text) => {
                let characters: Vec<char> = text.chars().collect();
                numbers::query(&characters).into_iter().collect()
            }
            Self::All(needs) => needs.iter().flat_map(Self::numbers).collect(),
            Self::Any(_) => Vec::new(),
        }
    }
}

fn joined(mut parts: Vec<String>, word: &str) -> Option<String> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(format!("({})", parts.join(word))),
    }
}

/// A trigram as an FTS5 string: nothing in it is an operator.
fn quoted(trigram: &[char]) -> String {
    let text: String = trigram.iter().collect();
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_asked_by_what_it_cannot_be_without() {
        for (pattern, ignores_case, wanted) in [
            ("error", false, Some(r#"("err" AND "rro" AND "ror")"#)),
            ("ErR", true, Some(r#""err""#)),
            ("Kiſ", true, Some(r#""kis""#)),
            (
                r"err\w+code",
                false,
                Some(r#"("err" AND ("cod" AND "ode"))"#),
            ),
            ("(?:abc|def)+", false, Some(r#"("abc" OR "def")"#)),
            (r#"^a"b$"#, false, Some(r#""a""b""#)),
            ("a\tbcd", false, Some(r#""bcd""#)),
            ("(?:abc|d)", false, None),
            ("ab", false, None),
            (".*", false, None),
            ("(?:abc)?", false, None),
        ] {
            let got = question([(pattern, ignores_case)].into_iter());
            let got = got.map(|question| question.trigrams.unwrap_or_default());
            assert_eq!(got.as_deref(), wanted, "{pattern}");
        }
    }

    #[test]
    fn a_number_is_asked_by_its_parts() {
        for (pattern, trigrams, numbers) in [
            ("123456", None, Some(r#"(("12345" AND "23456") OR "long")"#)),
            (
                "id=12345",
                Some(r#"("id=" AND "d=1" AND "=12")"#),
                Some(r#"(("12345") OR "long")"#),
            ),
            ("1234", Some(r#"("123" AND "234")"#), None),
            (
                "(?:12345|abcx)",
                Some(r#"(("123" AND "234" AND "345") OR ("abc" AND "bcx"))"#),
                None,
            ),
        ] {
            let got = question([(pattern, false)].into_iter()).unwrap();
            assert_eq!(got.trigrams.as_deref(), trigrams, "{pattern}");
            assert_eq!(got.numbers.as_deref(), numbers, "{pattern}");
        }
    }
}
