//! Reads code by a grammar of tree-sitter.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Language, Node, Parser, Tree};

use super::spelling::{Spelling, put_in};
use crate::bounded_parse::{self, OnError};
use crate::shell::word::UNKNOWN;

/// A letter of every language, as long as [`UNKNOWN`], which stands for it where the code is parsed.
const LETTER: &str = "\u{4e0d}";
/// Bytes of code that is parsed on the stack of its thread. tree-sitter forgets a reading by a function
/// that calls itself for each bracket that is open: 20,000 of them take more than two megabytes.
const MAX_ON_OWN_STACK: usize = 4 << 10;
/// A stack for as many open brackets as a code can have. What is not used of it costs nothing.
const LARGE_STACK: usize = 64 << 20;
/// How deep texts may stand within the code that is within texts.
const MAX_DEPTH: usize = 16;

/// What a node of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Code: a word or a sign, or what holds such.
    Code,
    /// A comment, or what says nothing.
    Nothing,
    /// A text between delimiters, which are its first and its last child.
    Text,
    /// A text between delimiters that a shell runs.
    Command,
    /// A text between delimiters that a function may be given: zx' and Bun's `$` gives it to a shell.
    Template,
    /// Texts that are one text together.
    Joined,
    /// A pattern between delimiters.
    Pattern,
    /// A text without delimiters.
    BareText,
    /// Texts without delimiters between those of a list.
    List,
    /// Where a here-document is read that begins here.
    HereDocument,
    /// The text of a here-document.
    HereBody,
    /// Code between delimiters within a text.
    PutIn,
    /// A construct that is not followed.
    Unread,
}

/// A language, and how its code is read.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) language: fn() -> Language,
    /// Whether a carriage return ends a line.
    pub(super) has_old_line_ends: bool,
    /// Whether a line goes on within brackets.
    pub(super) joins_lines: bool,
    /// Whether a code names an encoding in which it is another text.
    pub(super) is_encoded: fn(&str) -> bool,
    pub(super) part: fn(Node<'_>) -> Part,
    /// Decodes a part of the text that a delimiter opens. `None`: something else is in it.
    pub(super) decode: fn(&str, &str) -> Option<String>,
    /// Decodes a word.
    pub(super) word: fn(&str) -> Option<String>,
}

/// A word that is what is written.
#[allow(clippy::unnecessary_wraps)] // As other languages have it.
pub(super) fn as_written(source: &str) -> Option<String> {
    Some(source.to_owned())
}

/// No code of the language names an encoding.
pub(super) fn is_never_encoded(_code: &str) -> bool {
    false
}

thread_local! {
    /// Creating a parser costs more than parsing a line.
    static PARSERS: RefCell<HashMap<usize, Parser>> = RefCell::default();
}

impl Grammar {
    /// Code in the one spelling. `None`: the grammar does not take it, or it holds what is not followed.
    pub(super) fn plain(&'static self, code: &str) -> Option<String> {
        if code.contains(['\0', '\u{2028}', '\u{2029}']) || (self.is_encoded)(code) {
            return None;
        }
        let code = if self.has_old_line_ends && code.contains('\r') {
            code.replace("\r\n", "\n").replace('\r', "\n")
        } else {
            code.to_owned()
        };
        let parsed = code.replace(UNKNOWN, LETTER);
        let tree = if parsed.len() > MAX_ON_OWN_STACK {
            self.parse_on_large_stack(&parsed)?
        } else {
            self.parse(&parsed)?
        };
        if tree.root_node().has_error() {
            return None;
        }
        let bodies = if code.contains("<<") {
            self.here_bodies(tree.root_node())
        } else {
            Vec::new()
        };
        let mut reader = Reader {
            grammar: self,
            code: &code,
            depth: 0,
            bodies: bodies.into_iter(),
        };
        let whole = 0..code.len();
        let plain = reader.spell(tree.root_node(), whole)?;
        reader.bodies.next().is_none().then_some(plain)
    }

    fn parse(&'static self, code: &str) -> Option<Tree> {
        PARSERS.with_borrow_mut(|parsers| {
            let key = std::ptr::from_ref(self) as usize;
            let parser = parsers.entry(key).or_default();
            if parser.language().is_none() {
                parser.set_language(&(self.language)()).ok()?;
            }
            bounded_parse::tree(parser, code, OnError::Stop)
        })
    }

    fn parse_on_large_stack(&'static self, code: &str) -> Option<Tree> {
        std::thread::scope(|scope| {
            let parser = std::thread::Builder::new().stack_size(LARGE_STACK);
            let parsing = parser.spawn_scoped(scope, || self.parse(code)).ok()?;
            parsing.join().ok()?
        })
    }

    /// The texts of here-documents, in their order.
    fn here_bodies<'t>(&self, root: Node<'t>) -> Vec<Node<'t>> {
        let mut bodies = Vec::new();
        let mut cursor = root.walk();
        loop {
            if (self.part)(cursor.node()) == Part::HereBody {
                bodies.push(cursor.node());
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return bodies;
                }
            }
        }
    }
}

/// A reading of a tree.
struct Reader<'t> {
    grammar: &'static Grammar,
    code: &'t str,
    depth: usize,
    /// The texts of here-documents that are still to be read.
    bodies: std::vec::IntoIter<Node<'t>>,
}

impl<'t> Reader<'t> {
    /// The code of a node in the one spelling, as far as it is within a range.
    fn spell(&mut self, root: Node<'t>, range: Range<usize>) -> Option<String> {
        let mut spelling = Spelling::default();
        let mut cursor = root.walk();
        let mut end = range.start;
        let mut brackets = 0_usize;
        loop {
            let node = cursor.node();
            let part = (self.grammar.part)(node);
            let is_within = node.start_byte() >= range.start && node.end_byte() <= range.end;
            let is_inner = part == Part::Code && node.child_count() > 0;
            if is_within && !is_inner && node.start_byte() >= end {
                self.gap(end..node.start_byte(), brackets > 0, &mut spelling)?;
                end = node.end_byte();
                let source = self.code.get(node.byte_range())?;
                match source {
                    "(" | "[" | "{" => brackets += 1,
                    ")" | "]" | "}" => brackets = brackets.saturating_sub(1),
                    _ => {}
                }
                self.add(node, part, &mut spelling)?;
            }
            if is_inner && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    self.gap(end..range.end, false, &mut spelling)?;
                    return Some(spelling.finish());
                }
            }
        }
    }

    /// Adds what stands between two nodes: blanks, and the ends of lines that go on.
    fn gap(&self, range: Range<usize>, in_brackets: bool, spelling: &mut Spelling) -> Option<()> {
        let gap = self.code.get(range)?.replace("\\\n", " ");
        if gap.contains(|c: char| !c.is_whitespace() && c != '\u{feff}') {
            return None;
        }
        if in_brackets && self.grammar.joins_lines {
            spelling.code(&gap.replace('\n', " "));
        } else {
            spelling.code(&gap);
        }
        Some(())
    }

    fn add(&mut self, node: Node<'t>, part: Part, spelling: &mut Spelling) -> Option<()> {
        let source = self.code.get(node.byte_range())?;
        match part {
            Part::Code => {
                let word = (self.grammar.word)(source)?;
                if word.contains(['\'', '"', '`']) {
                    return None;
                }
                spelling.code(&word);
            }
            Part::Nothing => spelling.code(" "),
            Part::Text | Part::Joined | Part::BareText => {
                let text = self.text(node, part, spelling)?;
                spelling.text(&text);
            }
            Part::Template => {
                let text = self.text(node, part, spelling)?;
                let before = self.code.get(..node.start_byte())?.trim_end();
                if before.ends_with('$') {
                    spelling.command(&text);
                } else {
                    spelling.text(&text);
                }
            }
            Part::Command => {
                let text = self.text(node, part, spelling)?;
                spelling.command(&text);
            }
            Part::Pattern => {
                let mut cursor = node.walk();
                let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
                for child in children {
                    if (self.grammar.part)(child) == Part::PutIn {
                        self.put_in(child, spelling)?;
                    }
                }
                spelling.pattern();
            }
            Part::List => {
                spelling.code("[");
                let mut cursor = node.walk();
                let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
                for child in children {
                    let text = self.text(child, Part::BareText, spelling)?;
                    spelling.text(&text);
                    spelling.code(", ");
                }
                spelling.code("]");
            }
            Part::HereDocument => {
                let body = self.bodies.next()?;
                let delimiter = source.trim_start_matches(['<', '-', '~']).to_owned();
                let text = self.put_together(body, &delimiter, spelling)?;
                let text = text.strip_prefix('\n').unwrap_or(&text).to_owned();
                let text = if source.starts_with("<<~") {
                    text.lines()
                        .map(str::trim_start)
                        .collect::<Vec<_>>()
                        .join("\n")
                } else {
                    text
                };
                if delimiter.starts_with('`') {
                    spelling.command(&text);
                } else {
                    spelling.text(&text);
                }
            }
            // It has been read where it began.
            Part::HereBody => spelling.code("\n"),
            Part::PutIn | Part::Unread => return None,
        }
        Some(())
    }

    fn text(&mut self, node: Node<'t>, part: Part, spelling: &mut Spelling) -> Option<String> {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        if part == Part::Joined {
            let mut joined = String::new();
            for child in children {
                match (self.grammar.part)(child) {
                    Part::Nothing => {}
                    Part::Text => joined.push_str(&self.text(child, Part::Text, spelling)?),
                    _ => return None,
                }
            }
            return Some(joined);
        }
        let opening = match (part, children.first()) {
            (Part::BareText, _) | (_, None) => "",
            (_, Some(opening)) => self.code.get(opening.byte_range())?,
        };
        let opening = opening.to_owned();
        self.put_together(node, &opening, spelling)
    }

    /// The text of a node, of whose children some are delimiters and some are values that are put in.
    fn put_together(
        &mut self,
        node: Node<'t>,
        opening: &str,
        spelling: &mut Spelling,
    ) -> Option<String> {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let part = (self.grammar.part)(node);
        let (mut from, to) = match (part, children.as_slice()) {
            (Part::BareText, _) | (_, []) => (node.start_byte(), node.end_byte()),
            (Part::HereBody, [.., closing]) => (node.start_byte(), closing.start_byte()),
            (_, [opening, .., closing]) => (opening.end_byte(), closing.start_byte()),
            (_, [_]) => return None,
        };
        let mut text = String::new();
        let decode = |from: usize, to: usize, text: &mut String| {
            let segment = self.code.get(from..to)?;
            text.push_str(&(self.grammar.decode)(opening, segment)?);
            Some(())
        };
        let mut put: Vec<Node<'t>> = Vec::new();
        for child in &children {
            if (self.grammar.part)(*child) != Part::PutIn {
                continue;
            }
            decode(from, child.start_byte(), &mut text)?;
            from = child.end_byte();
            if let Some(constant) = self.text_put_in(*child) {
                text.push_str(&constant);
                continue;
            }
            text.push_str(&put_in(self.name_put_in(*child)));
            put.push(*child);
        }
        decode(from, to, &mut text)?;
        for node in put {
            if self.name_put_in(node).is_none() {
                self.put_in(node, spelling)?;
            }
        }
        Some(text)
    }

    /// The text that is put in by itself: `f"{'rm'} x"`.
    fn text_put_in(&mut self, node: Node<'t>) -> Option<String> {
        if self.depth == MAX_DEPTH || node.named_child_count() != 1 {
            return None;
        }
        let child = node.named_child(0)?;
        let part = (self.grammar.part)(child);
        if part != Part::Text {
            return None;
        }
        self.depth += 1;
        let text = self.text(child, part, &mut Spelling::default());
        self.depth -= 1;
        text.filter(|text| !text.contains(UNKNOWN) && !text.contains("#{"))
    }

    /// The name whose value is put in, where nothing else is.
    fn name_put_in(&self, node: Node<'t>) -> Option<&'t str> {
        let inner = self.code.get(node.byte_range())?;
        let inner = inner.trim_start_matches(['$', '#']);
        let name = match inner.strip_prefix('{') {
            Some(inner) => inner.strip_suffix('}')?.trim(),
            None => inner,
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then_some(name)
    }

    /// Reads the code that is put into a text.
    fn put_in(&mut self, node: Node<'t>, spelling: &mut Spelling) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        for child in children.into_iter().filter(Node::is_named) {
            match (self.grammar.part)(child) {
                Part::Code => {
                    let code = self.spell(child, child.byte_range())?;
                    spelling.within(&code);
                }
                Part::Nothing => {}
                // The format of a value, which may have values put in, too.
                Part::BareText => {
                    self.put_together(child, "", spelling)?;
                }
                Part::PutIn => self.put_in(child, spelling)?,
                _ => {
                    let mut inner = Spelling::default();
                    self.add(child, (self.grammar.part)(child), &mut inner)?;
                    spelling.within(&inner.finish());
                }
            }
        }
        self.depth -= 1;
        Some(())
    }
}
