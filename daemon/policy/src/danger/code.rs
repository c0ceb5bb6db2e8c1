//! Code of an interpreter: calls that remove, start, send and write, and the shell lines that calls give
//! to the system.
//!
//! Code is first put into one spelling, by the grammar of its language ([`plain`]). Then it is read as
//! words, texts and signs, which Python, JavaScript, Perl, Ruby, PHP, Lua and awk share.
//! Names that are imported or assigned are followed; code that hides what it does is not seen through.
//!
//! What a call does by its name is a row of `code/calls.toml` ([`call_effect`]). What other code does is a
//! row of `code/fragments.toml` ([`fragment`]).

mod argv0;
pub(crate) mod call_effect;
pub(crate) mod calls;
mod code_text;
pub(crate) mod constants;
mod effect_table;
mod emptied_database;
pub(crate) mod fetching;
mod fragment;
mod harmless;
mod hidden;
mod lines;
pub(crate) mod lisp;
pub(crate) mod plain;
mod processes;
mod remote;
mod sending;
pub(crate) mod session;
pub(crate) mod tokens;
pub(crate) mod values;

use termd_proto::policy::MAX_JUDGED_BYTES;

use super::files::is_kept;
use super::writes::Files;
use super::{sql, writes};
use crate::program::kind::{SqlClient, base_name, is_shell};
use crate::program::table::ProgramTable;
use crate::shell::state::place::Place;
use crate::word_list::is_listed;
use call_effect::CallEffect;
use calls::{Call, calls};
use code_text::CodeText;
use fragment::{Fragment, Quotes};
pub(crate) use harmless::{is_harmless, is_harmless_plain};
pub(crate) use lines::{shell_lines, with_unknown};
use tokens::{Token, tokens};

/// Tokens of an import before a name that it imports. Of a longer one the name counts as used.
const MAX_IMPORT_TOKENS: usize = 64;
/// What gives a program a connection where both stand in one code.
const TIED: [[&str; 2]; 11] = [
    ["dup2(", "socket"],
    ["dup2(", "connect"],
    ["pty.spawn", "socket"],
    ["TCPSocket", "exec"],
    ["TCPSocket", "spawn"],
    ["fsockopen", "exec"],
    ["fsockopen", "proc_open"],
    ["net.Socket", "spawn"],
    ["net.Socket", "exec"],
    ["createConnection", "spawn("],
    ["useSocket", "exec"],
];

/// Why code is dangerous by itself.
pub(crate) fn danger(table: &ProgramTable, place: &Place, code: &str) -> Option<String> {
    let code = CodeText::new(judged_part(code));
    let files = Files::new(table.files(), place);
    let of_text = of_forks(&code)
        .or_else(|| of_connection(&code))
        .or_else(|| hidden::danger(&code))
        .or_else(|| fetching::danger(&code))
        .or_else(|| of_emptied(&code))
        .or_else(|| of_cmdlets(&code))
        .or_else(|| of_decoded(&code));
    of_text
        .or_else(|| of_tokens(files, &code))
        .or_else(|| of_calls(files, &calls(code.source), &code))
        .or_else(|| remote::of_emptied_store(&code))
}

fn of_forks(code: &CodeText<'_>) -> Option<String> {
    let loops = code.has(Fragment::Loops) && code.has(Fragment::Forks);
    (loops || code.has(Fragment::ForksForever))
        .then(|| "it starts itself over and over: a fork bomb".to_owned())
}

fn of_connection(code: &CodeText<'_>) -> Option<String> {
    let holds = |parts: &[&str; 2]| parts.iter().all(|part| code.tight.contains(part));
    let ties = TIED.iter().any(holds)
        || code.tight.contains("usesocket")
        || (code.has(Fragment::Connects) && code.has(Fragment::Starts));
    ties.then(|| "it ties a program to a connection".to_owned())
}

fn of_emptied(code: &CodeText<'_>) -> Option<String> {
    (code.has(Fragment::EmptiesFile) || writes_empty_text(code) || opens_to_empty(code))
        .then(|| "it empties files".to_owned())
}

fn of_cmdlets(code: &CodeText<'_>) -> Option<String> {
    let words = code
        .source
        .split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let mut words = words.map(str::to_ascii_lowercase);
    words
        .any(|word| Fragment::Stops.all().any(|verb| word.starts_with(verb)))
        .then(|| "it removes or stops something".to_owned())
}

fn of_decoded(code: &CodeText<'_>) -> Option<String> {
    (code.has(Fragment::Decodes) && code.has(Fragment::RunsDecoded))
        .then(|| "it runs what it decodes, unseen".to_owned())
}

/// Why tokens are dangerous that are no call: `> "/etc/x"`, `| "sh"`.
fn of_tokens(files: Files<'_>, code: &CodeText<'_>) -> Option<String> {
    let tokens = tokens(code.source);
    if tokens.windows(2).any(feeds_shell) {
        return Some("it gives a shell what it prints".to_owned());
    }
    let redirected = tokens.windows(2).find_map(|pair| match pair {
        [Token::Sign('>'), Token::Text(path)] if !path.is_empty() => {
            writes::danger(files, path, false)
        }
        _ => None,
    });
    redirected
        .or_else(|| of_listed(&tokens, code))
        .or_else(|| of_value(&tokens, code))
        .or_else(|| of_options(&tokens, code))
        .or_else(|| of_each(files, &tokens))
}

/// Why code is dangerous that gives what removes to something as a value: `map(shutil.rmtree, xs)`,
/// `rmSync.call(null, x, {recursive: true})`, `FileUtils.send(:rm_rf, x)`.
fn of_value(tokens: &[Token], code: &CodeText<'_>) -> Option<String> {
    let is_recursive = tokens.iter().any(|token| match token {
        Token::Word(word) | Token::Text(word) => word.contains("recursive"),
        Token::Shell(_) | Token::Sign(_) => false,
    });
    let lists = code.has(Fragment::ListsFiles);
    tokens.iter().enumerate().find_map(|(at, token)| {
        let Token::Word(name) = token else {
            return None;
        };
        let removes_tree = CallEffect::RemovesTree.is_of(name)
            || (is_recursive && CallEffect::MayRemoveTree.is_of(name));
        let removes_all = lists && CallEffect::RemovesFile.is_of(name);
        if !(removes_tree || removes_all) || !is_value(tokens, at) {
            return None;
        }
        // Lists and sets have methods of these names, too.
        let is_common = is_listed(name, "rm remove delete rmdir unlink removeAll remove_all");
        let holder = at.checked_sub(2).and_then(|at| tokens.get(at));
        let is_of_files = matches!(holder, Some(Token::Word(holder)) if is_listed(holder, "os fs File FileUtils file"));
        if is_common && !is_of_files {
            return None;
        }
        let what = if removes_tree {
            "whole trees"
        } else {
            "all that it finds"
        };
        Some(format!("`{name}` removes {what}"))
    })
}

/// Why code is dangerous that removes with options which it has put into a variable: `rmSync(x, o)`.
fn of_options(tokens: &[Token], code: &CodeText<'_>) -> Option<String> {
    if !code.holds("recursive") {
        return None;
    }
    tokens.iter().enumerate().find_map(|(at, token)| {
        let Token::Word(name) = token else {
            return None;
        };
        let is_call = tokens.get(at + 1) == Some(&Token::Sign('('));
        if !is_call || !CallEffect::MayRemoveTree.is_of(name) {
            return None;
        }
        let near = tokens.get(at + 1..).unwrap_or_default();
        let near = near
            .get(..near.len().min(MAX_IMPORT_TOKENS))
            .unwrap_or(near);
        let end = calls::arguments_end(near, 0);
        let last = near.get(end.saturating_sub(2)..end);
        matches!(last, Some([Token::Sign(','), Token::Word(_)]))
            .then(|| format!("`{name}` removes whole trees"))
    })
}

/// Why code is dangerous that hands a function on which removes what it is given: `names.map(fs.unlinkSync)`. Of
/// texts that stand there, each is looked at.
fn of_each(files: Files<'_>, tokens: &[Token]) -> Option<String> {
    let begin = |at: usize| tokens.get(..at).unwrap_or_default();
    tokens.iter().enumerate().find_map(|(at, token)| {
        let Token::Word(name) = token else {
            return None;
        };
        let of_files = matches!(begin(at), [.., Token::Word(holder), Token::Sign('.')] if is_listed(holder, "os fs File FileUtils"));
        if !of_files || !CallEffect::RemovesFile.is_of(name) || !is_value(tokens, at) {
            return None;
        }
        let (receiver, is_behind) = match begin(at - 2) {
            // JavaScript and Ruby: `[…].map(f)`.
            [receiver @ .., Token::Sign('.'), Token::Word(each), Token::Sign('(')]
                if is_listed(each, "map forEach each flatMap filter") => (receiver, false),
            // Python: `map(f, […])`.
            [.., Token::Word(each), Token::Sign('(')] if each == "map" => {
                (tokens.get(at + 2..).unwrap_or_default(), true)
            }
            _ => return None,
        };
        let is_constant = if is_behind {
            receiver.first() == Some(&Token::Sign('['))
        } else {
            receiver.last() == Some(&Token::Sign(']'))
        };
        if !is_constant {
            return Some(format!("`{name}` removes all that it is given"));
        }
        let texts: Vec<&String> = receiver
            .iter()
            .filter_map(|token| match token {
                Token::Text(text) => Some(text),
                _ => None,
            })
            .take(MAX_IMPORT_TOKENS)
            .collect();
        texts.into_iter().find_map(|path| writes::removal(files, path))
    })
}

/// Whether a name is used as a value: it is not called, imported, defined or given something.
fn is_value(tokens: &[Token], at: usize) -> bool {
    let is_called = matches!(
        tokens.get(at + 1),
        Some(Token::Sign('(' | '=' | ':') | Token::Text(_))
    );
    let before = tokens.get(..at).unwrap_or_default();
    let is_end = |token: &Token| matches!(token, Token::Sign(';' | '\n'));
    let near = before
        .get(before.len().saturating_sub(MAX_IMPORT_TOKENS)..)
        .unwrap_or_default();
    let begin = near.iter().rposition(is_end).map_or(0, |at| at + 1);
    let is_word = |token: Option<&Token>, words| matches!(token, Some(Token::Word(word)) if is_listed(word, words));
    let is_named =
        is_word(near.get(begin), "import from") || is_word(before.last(), "def function sub");
    !is_called && !is_named
}

/// Whether a call writes an empty text: `write_text('')`.
fn writes_empty_text(code: &CodeText<'_>) -> bool {
    code.any_behind(Fragment::WritesText, |rest| {
        let arguments = rest.split(')').next().unwrap_or_default();
        arguments.ends_with("''") || arguments.ends_with("\"\"")
    })
}

/// Whether Perl opens a file anew and prints nothing: `open(F, ">", "x")`.
fn opens_to_empty(code: &CodeText<'_>) -> bool {
    let text = code.with(Quotes::Double);
    let has = |part: &&str| text.contains(*part);
    text.contains("open(")
        && text.contains(",'>")
        && !["print", "say", "write", "dup"].iter().any(has)
}

/// Whether two tokens give a shell what code prints: `print | "sh"`, `open(F, "|sh")`.
fn feeds_shell(pair: &[Token]) -> bool {
    let starts_shell =
        |line: &str| is_shell(base_name(line.split_whitespace().next().unwrap_or("")));
    match pair {
        // A shell may stand behind what hands its input on: `sort | sh`.
        [Token::Sign('|'), Token::Text(line)] => {
            line.split(['|', ';', '&', '\n']).any(starts_shell)
        }
        [Token::Text(line), _] | [_, Token::Text(line)] => {
            let command = line.trim_start().strip_prefix('|');
            command.is_some_and(starts_shell)
        }
        _ => false,
    }
}

fn of_calls(files: Files<'_>, calls: &[Call], code: &CodeText<'_>) -> Option<String> {
    let of_any = calls.iter().find_map(|call| {
        of_removal(files, call, code)
            .or_else(|| remote::of_library(call, code))
            .or_else(|| remote::of_store(call, code))
            .or_else(|| emptied_database::danger(call, code))
            .or_else(|| of_write(files, call, code))
            .or_else(|| processes::danger(call, code))
            .or_else(|| of_decoding(call))
            .or_else(|| of_statement(call))
    });
    of_any.or_else(|| sending::danger(files, calls, code))
}

/// Why a call is dangerous that runs what the code decodes.
fn of_decoding(call: &Call) -> Option<String> {
    let runs = [
        CallEffect::RunsLine,
        CallEffect::CallsByName,
        CallEffect::RunsDecoded,
    ]
    .into_iter()
    .any(|effect| call.does(effect));
    let mut words = call.words.iter();
    let decodes = words.any(|word| CallEffect::Decodes.is_of(word));
    (runs && decodes).then(|| "it runs what it decodes, unseen".to_owned())
}

/// Why code is dangerous that gives what lists files a call that removes one: `foreach(rm, readdir())`.
fn of_listed(tokens: &[Token], code: &CodeText<'_>) -> Option<String> {
    let is_remover = |token: &Token| matches!(token, Token::Word(word) if matches!(&**word, "unlink" | "rm" | "unlinkSync" | "delete_file" | "removeFile"));
    // Ruby's `File.delete f`.
    let is_method = |window: &[Token]| {
        matches!(window, [Token::Word(class), Token::Sign('.'), Token::Word(name)]
            if is_listed(class, "File FileUtils Pathname Dir") && is_listed(name, "delete rm rm_f unlink"))
    };
    if tokens
        .iter()
        .enumerate()
        .any(|(at, token)| is_remover(token) && takes_topic(tokens, at))
    {
        return Some("it removes all that it is given".to_owned());
    }
    let removes = tokens.iter().any(is_remover) || tokens.windows(3).any(is_method);
    (removes && code.has(Fragment::ListsFiles)).then(|| "it removes all that it finds".to_owned())
}

/// Whether Perl's `unlink` gets what is read or listed: `unlink`, `unlink $_`, `unlink for …`.
fn takes_topic(tokens: &[Token], at: usize) -> bool {
    let is_unlink = matches!(tokens.get(at), Some(Token::Word(name)) if name == "unlink");
    let is_bare = match at.checked_sub(1).and_then(|at| tokens.get(at)) {
        None => true,
        Some(Token::Sign(sign)) => matches!(sign, ';' | '{' | '\n'),
        Some(_) => false,
    };
    let has_topic = match tokens.get(at + 1) {
        None | Some(Token::Sign(';' | '\n')) => true,
        Some(Token::Word(word)) => is_listed(word, "_ for foreach"),
        Some(_) => false,
    };
    is_unlink && is_bare && has_topic
}

fn of_removal(files: Files<'_>, call: &Call, code: &CodeText<'_>) -> Option<String> {
    let recursive = |word: &String| word == "recursive";
    // A key in quotes, or an object as JSON.
    let has_key = |text: &String| text == "recursive" || text.contains("\"recursive\"");
    // shelljs' and sh's `rm('-rf', x)`.
    let is_option = |text: &String| matches!(text.as_str(), "-rf" | "-fr" | "-r" | "-R" | "-Rf");
    let loads = call.name == "require"
        && call
            .texts
            .iter()
            .any(|text| matches!(text.as_str(), "rimraf" | "del"));
    if loads
        || call.path == "delete.directory"
        || call.path.ends_with("delete.tree")
        || call.path.ends_with("delete_directory.files")
        || call.path.ends_with("remove.all")
        || call.does(CallEffect::RemovesTree)
        || (call.does(CallEffect::MayRemoveTree)
            && (call.words.iter().any(recursive)
                || call
                    .texts
                    .iter()
                    .any(|text| is_option(text) || has_key(text))))
    {
        return Some(format!("`{}` removes whole trees", call.name));
    }
    // Octave's `rmdir(x, "s")`, vim's `delete(x, "rf")`, Ant's `delete(dir: x)`.
    let mode = call.texts.get(1).map_or("", String::as_str);
    // vim's `call('delete', [x, "rf"])`.
    let is_by_name = call.name == "call"
        && matches!(call.texts.as_slice(), [name, _, mode] if name == "delete" && matches!(mode.as_str(), "rf" | "d"));
    let is_tree = is_by_name
        || call.name == "rmdir" && mode == "s"
        || call.name == "delete" && matches!(mode, "rf" | "d")
        || call.name == "delete" && code.holds("delete(dir:");
    if is_tree {
        return Some(format!("`{}` removes whole trees", call.name));
    }
    let mut texts = call.texts.iter();
    let mut words = call.words.iter();
    // Ruby's `File.send(:delete, x)`.
    let named = texts.any(|text| CallEffect::RemovesFile.is_of(text))
        || call.does(CallEffect::CallsByName)
            && words.any(|word| CallEffect::RemovesFile.is_of(word));
    let removes = call.does(CallEffect::RemovesFile);
    let first = call.texts.first().filter(|_| removes);
    if first.is_some_and(|path| path.contains('*') && path.contains(['.', '/'])) {
        return Some(format!("`{}` removes all that a pattern fits", call.name));
    }
    if (removes || named) && code.has(Fragment::ListsFiles) {
        return Some(format!("`{}` removes all that it finds", call.name));
    }
    let path = call.texts.first().filter(|_| removes)?;
    writes::removal(files, path)
}

fn of_write(files: Files<'_>, call: &Call, code: &CodeText<'_>) -> Option<String> {
    let opens = matches!(&*call.name, "open" | "fopen" | "openSync" | "new" | "Path");
    let mode = call.texts.get(1).map_or("", String::as_str);
    let writes_text = ["write_text", "write_bytes"]
        .iter()
        .any(|call| code.holds(call));
    // Perl's `open F, ">", x`.
    let is_anew = call.texts.first().is_some_and(|text| text.starts_with('>'));
    let opens_to_write =
        opens && (is_anew || mode.contains(['w', 'a', '+', 'x', '>']) || writes_text);
    // Ruby's. Of other languages it is a method of a file that is open.
    let is_whole = matches!(&*call.path, "File.write" | "File.binwrite" | "IO.write");
    if !call.does(CallEffect::WritesFile) && !opens_to_write && !is_whole {
        return None;
    }
    // `open(x, 'w')` alone.
    let path = call.texts.first().map_or("", String::as_str);
    if call.name == "open" && mode == "w" && is_kept(path) && !code.has(Fragment::Writes) {
        return Some("`open` empties a file".to_owned());
    }
    if !opens && call.texts.iter().take(2).any(|text| text == "/dev/null") {
        return Some(format!("`{}` empties a file", call.name));
    }
    let appends = mode.starts_with('a') || call.name.starts_with("append");
    call.texts.iter().take(2).find_map(|path| {
        let path = path.trim_start_matches(['>', ' ']);
        writes::danger(files, path, appends)
    })
}

fn of_statement(call: &Call) -> Option<String> {
    if !call.does(CallEffect::RunsSql) {
        return None;
    }
    let mut texts = call.texts.iter();
    texts.find_map(|text| sql::danger(SqlClient::Sql, text))
}

/// The part of a code that is judged.
fn judged_part(code: &str) -> &str {
    code.get(..code.floor_char_boundary(MAX_JUDGED_BYTES))
        .unwrap_or(code)
}
