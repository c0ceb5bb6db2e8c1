//! Databases that code opens to write them anew.

use super::calls::Call;
use super::code_text::CodeText;
use super::fragment::Quotes;
use crate::danger::writes;

/// Why a call is dangerous that opens a database to write it anew: `open("prod.db", "wb")`.
pub(super) fn danger(call: &Call, code: &CodeText<'_>) -> Option<String> {
    let path = call.texts.first()?;
    let mode = call.texts.get(1).map_or("", String::as_str);
    let opens_anew = match &*call.name {
        "open" | "fopen" | "openSync" => {
            // Perl's `open F, ">", "x"`; `dbm.open("x", "n")`.
            let is_anew = mode.starts_with('w') || path == ">" || mode == "n";
            is_anew || call.words.iter().any(|word| word == "O_TRUNC")
        }
        "Path" => code.with(Quotes::Double).contains(").open('w"),
        "createWriteStream" => true,
        _ => false,
    };
    let path = if path == ">" { mode } else { path };
    (opens_anew && writes::is_database(path)).then(|| format!("it empties the database {path}"))
}
