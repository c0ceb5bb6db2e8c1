//! Code in one spelling, which everything that looks for calls and words in code reads: without
//! comments, with each text between single quotes and its escapes decoded, and with the code that stands
//! within texts (`f"{x()}"`) in lines of its own.
//!
//! A language is read by its grammar ([`grammar`]) where there is one, else by a reader of its own. Code
//! that such a reader does not take is unread: it may do anything.

mod awk;
pub(crate) mod erb;
mod escapes;
mod grammar;
mod javascript;
mod lua;
mod perl;
mod python;
mod ruby;
mod spelling;
mod unread;

use termd_proto::policy::MAX_JUDGED_BYTES;

use crate::work;
use grammar::Grammar;

/// Units of work of a byte that a grammar reads.
const UNITS_OF_BYTE: usize = 16;

/// Code of a program, as far as it can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// In one spelling.
    Plain(String),
    /// Its language is known, and it cannot be read.
    Unread,
    /// There is no reader of its language.
    OfOtherLanguage,
}

/// Reads code that a program is given.
pub(crate) fn read(program: &str, code: &str) -> Code {
    let Some(reader) = reader_of(program) else {
        return if unread::hides_text(program, code) {
            Code::Unread
        } else {
            Code::OfOtherLanguage
        };
    };
    let fits = code.len() <= MAX_JUDGED_BYTES && work::spend(code.len() * UNITS_OF_BYTE);
    let plain = match reader {
        _ if !fits => None,
        Reader::Grammar(grammar) => grammar.plain(code),
        Reader::Own(plain) => plain(code),
    };
    match plain {
        Some(plain) => Code::Plain(plain),
        None if fits && is_bare(code) => Code::Plain(code.to_owned()),
        None => Code::Unread,
    }
}

/// Whether there is a reader of the code of a program.
pub(crate) fn reads(program: &str) -> bool {
    reader_of(program).is_some()
}

/// Reads a line that is typed into an interpreter, and may be a part of a longer text: the head of a
/// block, its end, or a call that goes on.
pub(crate) fn read_line(program: &str, line: &str) -> Code {
    let whole = read(program, line);
    if whole != Code::Unread {
        return whole;
    }
    let mut parts = completed(line).into_iter();
    let part = parts.find_map(|text| match read(program, &text) {
        Code::Plain(plain) => Some(Code::Plain(plain)),
        Code::Unread | Code::OfOtherLanguage => None,
    });
    part.unwrap_or(Code::Unread)
}

/// Whether a code has no sign by which a text, a comment or a pattern begins in any language. It has one
/// reading then, also where it is wrong.
fn is_bare(code: &str) -> bool {
    const SIGNS: [&str; 11] = ["'", "\"", "`", "#", "/", "\\", "%", "[[", "[=", "<", "--"];
    code.is_ascii()
        && !SIGNS.iter().any(|sign| code.contains(sign))
        && !code.starts_with('=')
        && !code.contains("\n=")
}

/// What may make a part of a text a whole one.
fn completed(line: &str) -> Vec<String> {
    let line = line.trim();
    let opened = line.trim_start_matches(['}', ')', ']', ';', ',']).trim();
    let (mut opening, mut closing) = (String::new(), String::new());
    for c in opened.chars() {
        match c {
            '(' => closing.insert(0, ')'),
            '[' => closing.insert(0, ']'),
            '{' => closing.insert(0, '}'),
            ')' | ']' | '}' if closing.starts_with(c) => {
                closing.remove(0);
            }
            ')' => opening.insert_str(0, "f("),
            ']' => opening.insert(0, '['),
            '}' => opening.insert(0, '{'),
            _ => {}
        }
    }
    let list = opened.trim_end_matches(',');
    let heads = [&*opening, "if x:\n pass\n", "try:\n pass\n", "if (x) {} "];
    let with_head = heads
        .iter()
        .flat_map(|head| ["", "\n pass"].map(|body| format!("{head}{opened}{body}\n{closing}")));
    let others = [
        format!("{opened}\nend"),
        format!("{opening}{list} 0{closing}"),
        format!("{opening}{list}{closing}"),
    ];
    with_head.chain(others).collect()
}

/// What reads a language.
enum Reader {
    Grammar(&'static Grammar),
    /// A reader of its own: there is no grammar of it.
    Own(fn(&str) -> Option<String>),
}

/// What reads the code that a program is given.
fn reader_of(program: &str) -> Option<Reader> {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match stem {
        "python" | "pypy" | "micropython" | "jython" | "ipython" | "IPython" | "bpython"
        | "ptpython" => Reader::Grammar(&python::PYTHON),
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "qjs" => {
            Reader::Grammar(&javascript::JAVASCRIPT)
        }
        "ruby" | "irb" | "pry" => Reader::Grammar(&ruby::RUBY),
        "lua" | "luajit" | "texlua" => Reader::Grammar(&lua::LUA),
        "erb" | "erubi" => Reader::Own(erb::plain),
        "perl" => Reader::Own(perl::plain),
        _ if stem.ends_with("awk") => Reader::Own(awk::plain),
        _ => return None,
    })
}
