//! Tags: words that group terminals.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest tag, in bytes, as of a label.
pub const MAX_TAG_BYTES: usize = 64;
/// Most tags of a terminal: more than anybody tells apart, and all of them fit into a list.
pub const MAX_TAGS: usize = 16;

/// What stands between tags in tables.
const SEPARATOR: char = ',';

/// A word that groups terminals. Any number of terminals may have it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(String);

/// Why a text cannot be a tag.
#[derive(Debug, Clone, Copy, Error, PartialEq, Eq)]
pub enum InvalidTag {
    /// Nothing in it.
    #[error("a tag may not be empty")]
    Empty,
    /// Longer than [`MAX_TAG_BYTES`].
    #[error("a tag may be {MAX_TAG_BYTES} bytes long at the most")]
    TooLong,
    /// It is not one word, or would end where a list of tags goes on.
    #[error("a tag may not hold white space, control characters or commas")]
    BadCharacter,
    /// It would be taken for an option.
    #[error("a tag may not begin with `-`")]
    LooksLikeAnOption,
}

impl Tag {
    /// The tag as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tag that is most like a name, such as a directory's: `-` stands for each character that a tag
    /// may not hold.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.trim().trim_start_matches('-');
        let mut word = String::new();
        for c in name.chars() {
            if word.len() + c.len_utf8() > MAX_TAG_BYTES {
                break;
            }
            word.push(if is_of_tag(c) { c } else { '-' });
        }
        word.parse().ok()
    }
}

fn is_of_tag(c: char) -> bool {
    !(c.is_control() || c.is_whitespace() || c == SEPARATOR)
}

impl FromStr for Tag {
    type Err = InvalidTag;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            Err(InvalidTag::Empty)
        } else if text.len() > MAX_TAG_BYTES {
            Err(InvalidTag::TooLong)
        } else if !text.chars().all(is_of_tag) {
            Err(InvalidTag::BadCharacter)
        } else if text.starts_with('-') {
            Err(InvalidTag::LooksLikeAnOption)
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl TryFrom<String> for Tag {
    type Error = InvalidTag;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> Self {
        tag.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The tags of a terminal, each once and sorted; at most [`MAX_TAGS`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<Tag>", into = "BTreeSet<Tag>")]
pub struct Tags(BTreeSet<Tag>);

/// More than [`MAX_TAGS`] tags.
#[derive(Debug, Clone, Copy, Error, PartialEq, Eq)]
#[error("a terminal may have {MAX_TAGS} tags at the most")]
pub struct TooManyTags;

impl Tags {
    /// These tags.
    pub fn of(tags: impl IntoIterator<Item = Tag>) -> Result<Self, TooManyTags> {
        tags.into_iter().collect::<BTreeSet<_>>().try_into()
    }

    /// The tags of what an agent's front creates: the name of the agent, and that of the directory in which
    /// the agent works.
    pub fn of_agent(client: Option<&str>, directory: Option<&Path>) -> Self {
        let directory = directory.and_then(Path::file_name);
        let directory = directory.map(|name| name.to_string_lossy());
        let names = [client, directory.as_deref()].into_iter().flatten();
        Self(names.filter_map(Tag::of_name).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Tag> {
        self.0.iter()
    }

    /// Whether some tag is in both.
    pub fn meet(&self, others: &Self) -> bool {
        !self.0.is_disjoint(&others.0)
    }

    /// All that are in either.
    pub fn and(&self, others: &Self) -> Result<Self, TooManyTags> {
        self.0
            .union(&others.0)
            .cloned()
            .collect::<BTreeSet<_>>()
            .try_into()
    }

    /// All but these.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        Self(self.0.difference(&others.0).cloned().collect())
    }
}

impl TryFrom<BTreeSet<Tag>> for Tags {
    type Error = TooManyTags;

    fn try_from(tags: BTreeSet<Tag>) -> Result<Self, Self::Error> {
        if tags.len() > MAX_TAGS {
            return Err(TooManyTags);
        }
        Ok(Self(tags))
    }
}

impl From<Tags> for BTreeSet<Tag> {
    fn from(tags: Tags) -> Self {
        tags.0
    }
}

/// With commas between.
impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, tag) in self.0.iter().enumerate() {
            if number > 0 {
                write!(f, "{SEPARATOR}")?;
            }
            write!(f, "{tag}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_one_printable_word() {
        let table = [
            ("web", None),
            ("feature/login", None),
            ("größe✓", None),
            ("", Some(InvalidTag::Empty)),
            ("a b", Some(InvalidTag::BadCharacter)),
            ("a\u{a0}b", Some(InvalidTag::BadCharacter)),
            ("a,b", Some(InvalidTag::BadCharacter)),
            ("a\u{1b}[31m", Some(InvalidTag::BadCharacter)),
            ("-x", Some(InvalidTag::LooksLikeAnOption)),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<Tag>().err(), error, "{text:?}");
        }
        assert_eq!("x".repeat(65).parse::<Tag>(), Err(InvalidTag::TooLong));
    }

    #[test]
    fn a_name_becomes_the_tag_that_is_most_like_it() {
        let of_name = |name: &str| Tag::of_name(name).map(String::from);
        for (name, tag) in [
            ("termd", "termd"),
            ("Claude Code", "Claude-Code"),
            ("--x,y\u{1b}", "x-y-"),
            (" spaced ", "spaced"),
        ] {
            assert_eq!(of_name(name).as_deref(), Some(tag), "{name:?}");
        }
        assert_eq!(of_name(""), None);
        assert_eq!(of_name("--"), None);
        // Cut between characters.
        assert_eq!(of_name(&"ü".repeat(40)), Some("ü".repeat(32)));
        assert_eq!(of_name(&format!("x{}", "ü".repeat(40))).unwrap().len(), 63);
    }

    #[test]
    fn an_agents_tags_are_its_name_and_its_directorys() {
        let tags = |client, directory: Option<&str>| {
            Tags::of_agent(client, directory.map(Path::new)).to_string()
        };
        assert_eq!(tags(Some("zed"), Some("/src/my app/")), "my-app,zed");
        assert_eq!(tags(Some("zed"), Some("/")), "zed");
        assert_eq!(tags(None, None), "");
    }

    #[test]
    fn tags_are_bounded_sorted_and_each_once() {
        let tags = |json: &str| serde_json::from_str::<Tags>(json);
        let three = tags(r#"["b","a","b","c"]"#).unwrap();
        assert_eq!(three.to_string(), "a,b,c");
        assert_eq!(serde_json::to_string(&three).unwrap(), r#"["a","b","c"]"#);
        let other = tags(r#"["c","d"]"#).unwrap();
        assert!(three.meet(&other) && !three.meet(&Tags::default()));
        assert_eq!(three.and(&other).unwrap().to_string(), "a,b,c,d");
        assert_eq!(three.without(&other).to_string(), "a,b");
        let numbered = |count: usize| {
            let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            serde_json::to_string(&numbers).unwrap()
        };
        assert!(tags(&numbered(MAX_TAGS)).is_ok());
        assert!(tags(&numbered(MAX_TAGS + 1)).is_err());
        let most = tags(&numbered(MAX_TAGS)).unwrap();
        assert_eq!(most.and(&three), Err(TooManyTags));
        assert!(tags(r#"["a b"]"#).is_err());
    }
}
