//! What is searched for, compiled.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use termd_proto::search::{MAX_PATTERN_BYTES, PatternKind};

use super::trigrams;
use crate::store::IndexQuestion;
use crate::terminal::invalid_param::InvalidParam;

/// The longest compiled pattern, in bytes; the crate's own bound is ten times that.
const MAX_REGEX_BYTES: usize = 1 << 20;
/// The most words: further ones would hardly find less.
const MAX_WORDS: usize = 16;

/// A pattern. It is held against lines.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// All of these match.
    regexes: Vec<Regex>,
    /// What every text has in which it matches; `None`: any text may.
    question: Option<IndexQuestion>,
    /// Words that each line has, whatever their case; `None`: it may have none.
    words: Option<String>,
}

impl Pattern {
    pub(crate) fn compile(
        pattern: &str,
        kind: PatternKind,
        ignores_case: bool,
    ) -> Result<Self, InvalidParam> {
        let wrong = |problem: String| InvalidParam {
            field: "pattern",
            problem,
        };
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(wrong("may be 1,024 bytes long at the most".to_owned()));
        }
        let ignores_case = ignores_case || kind == PatternKind::Words;
        let sources: Vec<String> = match kind {
            PatternKind::Words => {
                let words = pattern.split_whitespace().take(MAX_WORDS);
                words.map(regex::escape).collect()
            }
            PatternKind::Regex => vec![pattern.to_owned()],
            PatternKind::Fixed => vec![regex::escape(pattern)],
        };
        if sources.iter().all(String::is_empty) {
            return Err(wrong("is empty".to_owned()));
        }
        let regexes = sources.iter().map(|source| {
            let built = RegexBuilder::new(source)
                .case_insensitive(ignores_case)
                .size_limit(MAX_REGEX_BYTES)
                .build();
            built.map_err(|error| wrong(format!("is no regular expression: {}", last_line(&error))))
        });
        let regexes = regexes.collect::<Result<_, _>>()?;
        let sources_by_case = sources.iter().map(|source| (source.as_str(), ignores_case));
        let question = trigrams::question(sources_by_case);
        Ok(Self {
            regexes,
            question,
            words: (kind != PatternKind::Regex).then(|| pattern.to_owned()),
        })
    }

    /// What every text has in which it matches.
    pub(super) fn question(&self) -> Option<&IndexQuestion> {
        self.question.as_ref()
    }

    /// Words that each line has.
    pub(super) fn words(&self) -> Option<&str> {
        self.words.as_deref()
    }

    /// Where a line matches first.
    pub(super) fn find(&self, line: &str) -> Option<Range<usize>> {
        let mut found: Option<Range<usize>> = None;
        for regex in &self.regexes {
            let next = regex.find(line)?.range();
            found = Some(match found {
                Some(first) if first.start <= next.start => first,
                _ => next,
            });
        }
        found
    }

    /// Whether no line of the text can match. Cheaper than each line by itself.
    pub(super) fn is_nowhere_in(&self, text: &str) -> bool {
        let literal = self.words.is_some();
        literal && !self.regexes.iter().all(|regex| regex.is_match(text))
    }
}

/// The last line of an error of the regex crate says what is wrong.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}
