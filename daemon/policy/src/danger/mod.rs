//! What is dangerous, by families: commands that destroy, stop or give away.
//!
//! Each family is asked with the name of a program and its arguments, and answers with a reason of one
//! line. How a command was found in a text is not known here.

mod arguments;
pub(crate) mod code;
mod files;
pub(crate) mod fork_bomb;
mod git;
mod packages;
mod services;
pub(crate) mod sql;
mod storage;
pub(crate) mod writes;

use crate::shell::word::Word;
use crate::word_list::is_listed;
use arguments::any;

/// Names and options of dangerous commands.
const DANGEROUS_WORDS: &str = "
    rm dd mkfs shred wipefs shutdown reboot halt poweroff kill pkill killall chmod chown
    systemctl push reset clean find DROP drop TRUNCATE truncate DELETE delete destroy prune -rf
    -fr -r -f -R -9 --force --hard --recursive -delete";

/// Why a command is dangerous. `None` if nothing dangerous is known of it.
pub(crate) fn of_command(program: &str, args: &[Word]) -> Option<String> {
    if asks_for_help(args) {
        return None;
    }
    files::danger(program, args)
        .or_else(|| storage::danger(program, args))
        .or_else(|| services::danger(program, args))
        .or_else(|| packages::danger(program, args))
}

/// Why a script of System V's init is dangerous, by its path.
pub(crate) fn of_init_script(path: &str, args: &[Word]) -> Option<String> {
    let stops = path.starts_with("/etc/init.d/") && any(args, "stop force-stop");
    stops.then(|| format!("`{path} stop` stops a service"))
}

/// `--help` and `--version` end a program before it does anything.
fn asks_for_help(args: &[Word]) -> bool {
    let before = args.iter().take_while(|word| word.text != "--");
    let mut options = before.map(|word| word.text.as_str());
    options.any(|text| matches!(text, "--help" | "--version"))
}

/// Whether a word is the name or an option of a dangerous command. That is enough to doubt a line of
/// which only parts are known.
pub(crate) fn is_dangerous_word(word: &str) -> bool {
    is_listed(word, DANGEROUS_WORDS)
}
