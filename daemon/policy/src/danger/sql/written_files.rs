//! Files that commands of a client and statements write: `.output FILE`, `\o FILE`, `INTO OUTFILE 'FILE'`.
//! <https://sqlite.org/cli.html>, psql(1), <https://dev.mysql.com/doc/refman/en/select-into.html>.

use crate::word_list::is_listed;

/// Commands of sqlite3(1), which takes the beginning of a name, psql(1) and mysql(1) whose last word is a file.
const SQLITE: [&str; 6] = [".output", ".once", ".log", ".save", ".backup", ".trace"];
const OTHERS: &str = r"\o \out \w \write \g \T tee";
/// What stands before a file in statements.
const STATEMENTS: [&str; 4] = ["into outfile ", "into dumpfile ", "vacuum into ", " to "];
/// The shortest beginning of a command of sqlite3(1) that is taken for it, with its dot.
const MIN_BEGINNING: usize = 3;

/// The files that a text writes.
pub(crate) fn written_files(text: &str) -> Vec<String> {
    let of_commands = text.lines().filter_map(by_command);
    let of_statements = STATEMENTS
        .into_iter()
        .flat_map(|before| by_statement(text, before));
    of_commands.chain(of_statements).collect()
}

fn by_command(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let verb = words.next()?;
    let begins = |name: &&str| verb.len() >= MIN_BEGINNING && name.starts_with(verb);
    if !is_listed(verb, OTHERS) && !SQLITE.iter().any(begins) {
        return None;
    }
    let file = words.rfind(|word| !word.starts_with('-'))?;
    let file = file.trim_matches(['"', '\'', ';']);
    let is_file = !file.starts_with('|') && !matches!(file, "off" | "stdout" | "stderr" | "on");
    is_file.then(|| file.to_owned())
}

fn by_statement(text: &str, before: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let is_copy = lower.contains("copy ");
    if before == " to " && !is_copy {
        return Vec::new();
    }
    let places = lower.match_indices(before).map(|(at, _)| at + before.len());
    let files = places.filter_map(|at| {
        let rest = text.get(at..)?.trim_start().strip_prefix('\'')?;
        rest.split('\'').next()
    });
    files.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::written_files;

    #[test]
    fn files_stand_behind_commands_and_within_statements() {
        let cases = [
            (".output a.txt", "a.txt"),
            (".onc -x 'a.txt'", "a.txt"),
            (".backup main a.db", "a.db"),
            (r"\o a.txt", "a.txt"),
            ("select 1\n\\g a.txt", "a.txt"),
            ("tee a.txt", "a.txt"),
            ("select 1 INTO OUTFILE 'a.txt'", "a.txt"),
            (r"\copy t to 'a.txt' csv", "a.txt"),
            ("vacuum into 'a.db'", "a.db"),
        ];
        for (text, file) in cases {
            assert_eq!(written_files(text), [file], "{text}");
        }
        for text in [
            ".output",
            ".output stdout",
            ".once |sh",
            ".tables",
            "select 'x' to 'y'",
        ] {
            assert_eq!(written_files(text), [""; 0], "{text}");
        }
    }
}
