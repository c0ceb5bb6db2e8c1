//! A pattern that is compiled once a text may fit it. Compiled, one takes 20 to 100 KiB, and most fit
//! nothing in a day.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;

#[derive(Debug)]
pub(super) struct LazyRegex {
    pattern: Cow<'static, str>,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    pub(super) const fn new(pattern: &'static str) -> Self {
        Self {
            pattern: Cow::Borrowed(pattern),
            compiled: OnceLock::new(),
        }
    }

    /// `None`: the pattern is wrong. Tests compile every pattern.
    pub(super) fn get(&self) -> Option<&Regex> {
        let compile = || Regex::new(&self.pattern).ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl From<String> for LazyRegex {
    fn from(pattern: String) -> Self {
        Self {
            pattern: Cow::Owned(pattern),
            compiled: OnceLock::new(),
        }
    }
}
