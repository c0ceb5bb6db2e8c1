//! Commands of programs that read them line by line: editors, and clients of file servers.

use crate::danger::writes::{self, Files};
use crate::word_list::is_listed;

const EDITORS: &str = "ed red ex vi vim nvim view gvim rvim vim.basic vim.tiny vim.nox";
const FILE_CLIENTS: &str = "sftp ftp ncftp lftp cadaver smbclient tftp psftp";
/// Commands that send a file.
const SENDS: &str = "put mput reput send append iput";
/// Commands that remove files at the other end.
const REMOVES: &str = "rm del delete mdelete mrm rmdir deltree rd";

/// Why a text that such a program reads is dangerous.
pub(crate) fn danger(files: Files<'_>, program: &str, text: &str) -> Option<String> {
    let mut commands = text.split(['\n', ';', '|']).map(str::trim);
    if is_listed(program, EDITORS) {
        let empties = commands.any(empties);
        return empties.then(|| "it empties a file".to_owned());
    }
    if !is_listed(program, FILE_CLIENTS) {
        return None;
    }
    commands.find_map(|command| {
        let mut words = command.split_whitespace();
        let verb = words.next().unwrap_or_default().trim_start_matches('-');
        let mut operands = words.filter(|word| !word.starts_with('-'));
        let mirrors =
            verb == "mirror" && (command.contains(" -R") || command.contains("--reverse"));
        let has_operand = operands.clone().next().is_some();
        if mirrors || is_listed(verb, SENDS) {
            return operands.find_map(|path| writes::upload(files, path));
        }
        (is_listed(verb, REMOVES) && has_operand)
            .then(|| "it removes what is at the other end".to_owned())
    })
}

/// Whether a command of ed(1) or ex(1) deletes every line: `%d`, `1,$d`, `,d`, `g/./d`.
fn empties(command: &str) -> bool {
    let command = command.trim_start_matches(':').replace(' ', "");
    let command = command.strip_prefix("silent").unwrap_or(&command);
    let rest = ["%", "1,$", "0,$", ",", "g/./", "g/^/", "g/.*/", "g/$/"]
        .iter()
        .find_map(|lines| command.strip_prefix(lines));
    let deletes = |rest: &str| {
        matches!(
            rest,
            "d" | "delete" | "de" | "del" | "d_" | "delete_" | "d!"
        )
    };
    rest.is_some_and(deletes)
        || matches!(
            command,
            "normalggdG" | "normal!ggdG" | "norm!ggdG" | "normggdG"
        )
}

#[cfg(test)]
mod tests {
    use super::danger;
    use crate::danger::writes::Files;
    use crate::program::table::ProgramTable;
    use crate::shell::state::place::Place;

    #[test]
    fn commands_that_empty_send_and_remove_are_found() {
        let place = Place::default();
        let files = Files::new(ProgramTable::built_in().files(), &place);
        let dangerous = [
            ("ed", "1,$d\nw\nq"),
            ("ed", ",d\nw"),
            ("ex", "%d|x"),
            ("vim", ":%delete _"),
            ("nvim", "g/./d"),
            ("sftp", "cd x\nput a.db"),
            ("lftp", "mirror -R ~/docs; bye"),
            ("ftp", "mdelete *"),
        ];
        for (program, text) in dangerous {
            assert!(danger(files, program, text).is_some(), "{program} {text}");
        }
        let harmless = [
            ("ed", "1d\nw"),
            ("ex", "g/^#/d"),
            ("vim", "set nu"),
            ("sftp", "get a.tgz\nput b.tgz"),
            ("lftp", "mirror docs"),
            ("psql", "delete x"),
        ];
        for (program, text) in harmless {
            assert_eq!(danger(files, program, text), None, "{program} {text}");
        }
    }
}
