//! Code that fetches something and runs it, or writes it to a file.

use super::call_effect::CallEffect;
use super::calls::calls;
use super::code_text::CodeText;
use super::fragment::Fragment;
use crate::program::kind::base_name;

const FETCHED: &str = "it runs what it fetches, unseen";

/// Why code is dangerous that runs what it fetches.
pub(super) fn danger(code: &CodeText<'_>) -> Option<String> {
    let files = files_of(code);
    let runs_file = || {
        calls(code.source).iter().any(|call| {
            let names = |text: &String| files.iter().any(|file| text.ends_with(file.as_str()));
            call.does(CallEffect::LoadsFile) && call.texts.iter().any(names)
        })
    };
    let is_elsewhere = |rest: &str| {
        let rest = rest.trim_start_matches(['(', '\'']);
        ["/tmp/", "/var/tmp/", "/dev/shm/"]
            .iter()
            .any(|place| rest.starts_with(place))
    };
    if code.any_behind(Fragment::RunsFile, is_elsewhere) {
        return Some("it runs a file that everybody may have put there".to_owned());
    }
    let runs = (code.has(Fragment::Fetches) && code.has(Fragment::RunsText))
        || code.has(Fragment::RunsAddress)
        || invokes_fetched(code.source)
        || (!files.is_empty() && runs_file());
    runs.then(|| FETCHED.to_owned())
}

/// Whether a line of `PowerShell` runs what it fetches: `irm URL | iex`, `iwr URL -OutFile x; ./x`.
fn invokes_fetched(code: &str) -> bool {
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    let has = |effect: CallEffect| words.iter().any(|word| effect.is_of(word));
    let starts_file = ["; ./", ";./", "; . ./", "; .\\\\", "; & ", ";& "];
    let is_file =
        code.contains("-OutFile") || code.contains("DownloadFile") || code.contains("BitsTransfer");
    has(CallEffect::CmdletFetches)
        && (has(CallEffect::CmdletInvokes)
            || is_file && starts_file.iter().any(|start| code.contains(start)))
}

/// The names of the files to which code writes what it fetches.
pub(crate) fn fetched_files(code: &str) -> Vec<String> {
    files_of(&CodeText::new(code))
}

fn files_of(code: &CodeText<'_>) -> Vec<String> {
    if !code.source.contains("://") || !code.has(Fragment::WritesFetched) {
        return Vec::new();
    }
    let code = code.source;
    let texts = calls(code).into_iter().flat_map(|call| call.texts);
    // `wget.download(URL)` and PowerShell's `-OutFile x` have no text of their own.
    let words = code.split(|c: char| c.is_whitespace() || "'\"();,".contains(c));
    let names = texts.chain(words.map(str::to_owned));
    let names = names.filter(|text| text.contains('.') && !text.contains([' ', '(']));
    let mut files: Vec<String> = names.map(|text| base_name(&text).to_owned()).collect();
    files.retain(|name| name.len() > 2);
    files.sort();
    files.dedup();
    files
}
