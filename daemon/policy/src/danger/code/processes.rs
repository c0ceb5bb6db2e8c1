//! Calls that stop processes, and that change the rights of files.

use super::call_effect::CallEffect;
use super::calls::Call;
use super::code_text::CodeText;

/// Why a call is dangerous that signals processes, or changes the rights of a file.
pub(super) fn danger(call: &Call, code: &CodeText<'_>) -> Option<String> {
    let words = || call.words.iter().chain(&call.texts).map(String::as_str);
    if call.does(CallEffect::Signals)
        && words().any(|word| matches!(word, "SIGKILL" | "KILL" | "9"))
    {
        return Some("it kills processes that cannot clean up".to_owned());
    }
    if call.does(CallEffect::Signals) && matches!(target(call), Some("0" | "1")) {
        return Some("it stops all processes, or the first of the machine".to_owned());
    }
    let kills_each = matches!(&*call.name, "kill" | "terminate") && code.holds("process_iter");
    if kills_each {
        return Some("it stops the processes that it finds".to_owned());
    }
    let setuid = |word: &str| {
        let digits = word.trim_start_matches("0o").trim_start_matches('0');
        digits.len() == 4
            && digits.starts_with(['4', '5', '6', '7'])
            && digits.chars().all(|c| c.is_digit(8))
    };
    if matches!(&*call.name, "chmod" | "chmodSync" | "fchmod") && words().any(setuid) {
        return Some("it lets everybody run a file with its owner's rights".to_owned());
    }
    let opens =
        call.name == "chmod" && words().any(|word| matches!(word, "0o777" | "0777" | "511"));
    opens.then(|| "it opens a file to everybody".to_owned())
}

/// The number of the process that a signal is for. Perl and Ruby name the signal first.
fn target(call: &Call) -> Option<&str> {
    let is_last = call.path == "kill" || call.path.starts_with("Process");
    let words = &call.words;
    let target = if is_last { words.last() } else { words.first() };
    target.map(String::as_str)
}
