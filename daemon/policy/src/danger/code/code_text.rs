//! Code without its white space, in which fragments are searched for.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::fragment::{Fragment, Quotes};

/// Code, and its spellings without white space.
#[derive(Debug)]
pub(super) struct CodeText<'a> {
    pub(super) source: &'a str,
    /// Without white space.
    pub(super) tight: String,
    /// Without white space, with `'` for `"`.
    double_as_single: String,
    /// Without white space, with `'` for `"` and for backticks.
    all_as_single: String,
    /// The effects that were asked for, which every call of the code may do.
    known: RefCell<BTreeMap<Fragment, bool>>,
    /// The same of single words.
    known_words: RefCell<BTreeMap<&'static str, bool>>,
}

impl<'a> CodeText<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let tight: String = source.chars().filter(|c| !c.is_whitespace()).collect();
        let double_as_single = tight.replace('"', "'");
        Self {
            source,
            all_as_single: double_as_single.replace('`', "'"),
            double_as_single,
            tight,
            known: RefCell::default(),
            known_words: RefCell::default(),
        }
    }

    /// The spelling in which quotes of these kinds are alike.
    pub(super) fn with(&self, quotes: Quotes) -> &str {
        match quotes {
            Quotes::None => &self.tight,
            Quotes::Double => &self.double_as_single,
            Quotes::DoubleAndBacktick => &self.all_as_single,
        }
    }

    /// Whether a fragment in it has this effect.
    pub(super) fn has(&self, effect: Fragment) -> bool {
        let text = self.with(effect.quotes());
        let search = || effect.all().any(|fragment| text.contains(fragment));
        *self.known.borrow_mut().entry(effect).or_insert_with(search)
    }

    /// Whether it holds a word. The code is searched once for each, however many calls ask.
    pub(super) fn holds(&self, word: &'static str) -> bool {
        let search = || self.tight.contains(word);
        *self
            .known_words
            .borrow_mut()
            .entry(word)
            .or_insert_with(search)
    }

    /// Whether what stands behind a fragment of this effect passes a test.
    pub(super) fn any_behind(&self, effect: Fragment, test: impl Fn(&str) -> bool) -> bool {
        let text = self.with(effect.quotes());
        let mut fragments = effect.all();
        fragments.any(|fragment| text.split(fragment).skip(1).any(&test))
    }
}
