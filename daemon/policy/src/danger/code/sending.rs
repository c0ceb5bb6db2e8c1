//! Code that sends files, secrets or the environment.

use super::calls::Call;
use super::code_text::CodeText;
use super::fragment::{Fragment, Quotes};
use crate::danger::writes::{self, Files};

/// Why code is dangerous that sends something.
pub(super) fn danger(files: Files<'_>, calls: &[Call], code: &CodeText<'_>) -> Option<String> {
    let quoted = code.with(Quotes::DoubleAndBacktick);
    let has = |parts: &[&str]| parts.iter().any(|part| quoted.contains(part));
    if code.has(Fragment::MaySend) {
        if let Some(reason) = calls.iter().find_map(|call| of_secret(files, call, code)) {
            return Some(reason);
        }
        if code.has(Fragment::IsEnvironment) {
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
    let is_secret = |text: &String| text.len() > 2 && writes::is_credential(files, text);
    if call.texts.iter().any(is_secret) {
        return Some("it reads secrets and sends something".to_owned());
    }
    let is_environment = code.holds("environ") && call.path.contains("environ");
    is_environment.then(|| "it sends the environment".to_owned())
}
