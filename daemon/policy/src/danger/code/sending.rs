//! Code that sends files, secrets or the environment.

use super::call_effect::CallEffect;
use super::calls::Call;
use super::code_text::CodeText;
use super::fragment::{Fragment, Quotes};
use crate::danger::writes::{self, Files};
use crate::word_list::is_listed;

/// What stands behind the environment where code takes all of it. Behind `[`, `.get(` and the like it takes one
/// variable.
const BEHIND_ALL: [&str; 13] = [
    ")", ",", "}", "]", "+", "|", ".items(", ".values(", ".to_", ".inspect", ".map", ".each",
    ".collect",
];
/// Calls that keep what a file with secrets holds: as variables, of which code then takes one, or for a connection.
const LOADERS: &str = "
    load_dotenv config from_private_key_file load_cert_chain load_verify_locations create_default_context";
/// Options of a connection that name a file: its key or its certificates.
const OF_CONNECTION: [&str; 4] = ["verify=", "cert=", "cafile=", "key_filename="];
/// What stands before an environment that a program is started with.
const OF_PROGRAM: [&str; 6] = [
    "env=",
    "env:",
    "env={**",
    "env:{...",
    "env=dict(",
    "env:Object.assign({},",
];

/// Why code is dangerous that sends something.
pub(super) fn danger(files: Files<'_>, calls: &[Call], code: &CodeText<'_>) -> Option<String> {
    let quoted = code.with(Quotes::DoubleAndBacktick);
    let has = |parts: &[&str]| parts.iter().any(|part| quoted.contains(part));
    if code.has(Fragment::MaySend) {
        if let Some(reason) = calls.iter().find_map(|call| of_secret(files, call, code)) {
            return Some(reason);
        }
        if takes_environment(code) {
            return Some("it sends the environment".to_owned());
        }
    }
    if has(&["localhost", "127.0.0.1", "[::1]", "0.0.0.0"]) {
        return None;
    }
    let sends =
        code.has(Fragment::SendsText) || (quoted.contains("urlopen(") && quoted.contains(",data="));
    // awk's `getline < "x"`, Perl's `open F, "<", "x"`.
    let reads = code.has(Fragment::ReadsFile)
        || (has(&["getline", "openF", "open("]) && quoted.contains("<'"));
    // What is read as data and written anew is a request like any other.
    if sends && reads && !code.has(Fragment::ParsesData) {
        return Some("it sends a file".to_owned());
    }
    let mails = quoted.contains("smtplib.SMTP") || quoted.contains("Net::SMTP.start");
    mails.then(|| "it sends a mail".to_owned())
}

/// Why a call is dangerous in code that sends something.
fn of_secret(files: Files<'_>, call: &Call, code: &CodeText<'_>) -> Option<String> {
    if is_listed(&call.name, LOADERS) {
        return None;
    }
    let quoted = code.with(Quotes::DoubleAndBacktick);
    let is_of_connection = |text: &str| {
        let mut options = OF_CONNECTION.iter();
        options.any(|option| quoted.contains(&format!("{option}'{text}'")))
    };
    let is_secret = |text: &str| {
        text.len() > 2 && writes::is_credential(files, text) && !is_of_connection(text)
    };
    let runs_line = call.does(CallEffect::RunsLine);
    let holds_secret =
        |text: &String| is_secret(text) || (runs_line && text.split_whitespace().any(is_secret));
    let mut texts = call.texts.iter();
    texts
        .any(holds_secret)
        .then(|| "it reads secrets and sends something".to_owned())
}

/// Whether code takes the environment as a whole, and for something else than a program that it starts. What it does
/// with a variable that holds the environment is not followed.
fn takes_environment(code: &CodeText<'_>) -> bool {
    Fragment::IsEnvironment.all().any(|name| {
        let mut found = code.source.match_indices(name);
        found.any(|(at, _)| {
            let (before, rest) = code.source.split_at(at);
            takes_all(before, rest.strip_prefix(name).unwrap_or(rest))
        })
    })
}

/// Whether all of the environment is taken whose name stands between these.
fn takes_all(before: &str, behind: &str) -> bool {
    let before = before.strip_suffix("os.").unwrap_or(before);
    let is_part_of_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let behind = behind
        .strip_prefix(".copy()")
        .unwrap_or(behind)
        .trim_start();
    let ends = behind.is_empty() || behind.starts_with(';');
    let is_all = ends || BEHIND_ALL.iter().any(|sign| behind.starts_with(sign));
    if !is_all || is_part_of_name {
        return false;
    }
    let word = before.trim_end();
    // `"X" in os.environ` asks for one.
    let is_asked = word.ends_with(" in") && !behind.starts_with('.');
    let is_imported = word.ends_with("import");
    let is_kept = ends && word.ends_with('=');
    let is_of_program = OF_PROGRAM.iter().any(|sign| ends_with(before, sign));
    !(is_asked || is_imported || is_kept || is_of_program)
}

/// Whether a text ends with another one, but for white space.
fn ends_with(text: &str, end: &str) -> bool {
    let mut near = text.chars().rev().filter(|c| !c.is_whitespace());
    end.chars().rev().all(|c| near.next() == Some(c))
}
