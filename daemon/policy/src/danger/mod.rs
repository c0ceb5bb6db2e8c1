//! What is dangerous: commands that destroy, stop or give away, by the table of programs, and by code
//! where a row cannot say it. How a command was found in a text is not known here.

pub(crate) mod code;
pub(crate) mod daemon;
pub(crate) mod exfiltration;
pub(crate) mod files;
pub(crate) mod fork_bomb;
pub(crate) mod own_files;
mod processes;
pub(crate) mod sql;
pub(crate) mod writes;

use termd_proto::policy::Verdict;

use crate::program::kind::base_name;
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::program::table::form::{Form, Slot};
use crate::program::table::row::{Harmless, Weight};
use crate::shell::state::place::Place;
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;
use writes::Files;

/// Names and options of dangerous commands.
const DANGEROUS_WORDS: &str = "
    rm dd mkfs shred wipefs shutdown reboot halt poweroff kill pkill killall chmod chown
    systemctl push reset clean find DROP drop TRUNCATE truncate DELETE delete destroy prune -rf
    -fr -r -f -R -9 --force --hard --recursive -delete";

/// Why a command is not safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Danger {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// Whether only a person can agree.
    pub(crate) needs_person: bool,
    /// Whether the command runs what is not read. To a rule, that may be any command.
    pub(crate) runs_unread: bool,
}

impl Danger {
    /// A command that runs what is not read.
    pub(crate) fn unread(verdict: Verdict, reason: String) -> Self {
        Self {
            verdict,
            reason,
            needs_person: false,
            runs_unread: true,
        }
    }
}

impl From<String> for Danger {
    fn from(reason: String) -> Self {
        Self {
            verdict: Verdict::Dangerous,
            reason,
            needs_person: false,
            runs_unread: false,
        }
    }
}

/// Why a command is not safe. `None` if nothing is known against it.
pub(crate) fn of_command(
    table: &ProgramTable,
    place: &Place,
    program: &str,
    args: &[Word],
) -> Option<Danger> {
    let row = table.row_or_common(program)?;
    let args = &*processes::without_signals(program, args);
    let mut call = Call::new(row, args);
    if call.asks_for_help() || call.first(&row.safe).is_some() {
        return None;
    }
    let by_code = files::danger(table.files(), program, args)
        .or_else(|| processes::danger(program, args))
        .or_else(|| exfiltration::in_name(program, args));
    if let Some(reason) = by_code {
        return Some(reason.into());
    }
    let fetched = of_files(&mut call, &row.runs, |path| {
        (is_address(path) || is_shorthand(program, path))
            .then(|| format!("it runs or installs what {path} holds, unseen"))
    });
    let common = table.common_row().filter(|common| {
        row.verbs == Some(true)
            && call.first(&common.safe).is_none()
            && !is_harmless(table, program, args)
    });
    let of_verbs = common.map_or(&[][..], |common| &common.reasons);
    let mut unread = row.reasons.iter();
    let runs_unread = fetched.is_some()
        || unread.any(|reason| {
            reason.weight == Weight::Unknown && reason.form.fits(&mut call).is_some()
        });
    for reason in row.reasons.iter().chain(of_verbs) {
        let Some(found) = reason.form.fits(&mut call) else {
            continue;
        };
        let mut said = vec![program.to_owned()];
        said.extend(found.words);
        return Some(Danger {
            verdict: match reason.weight {
                Weight::Dangerous | Weight::Person => Verdict::Dangerous,
                Weight::Unknown => Verdict::Unknown,
            },
            reason: format!("`{}` {}", said.join(" "), reason.why),
            needs_person: reason.weight == Weight::Person,
            runs_unread,
        });
    }
    if let Some(reason) = fetched {
        return Some(Danger::unread(Verdict::Dangerous, reason));
    }
    let files = Files::new(table.files(), place);
    let written = of_files(&mut call, &row.writes, |path| {
        writes::danger(files, path, false)
    });
    let written = written
        .or_else(|| {
            of_files(&mut call, &row.appends, |path| {
                writes::danger(files, path, true)
            })
        })
        .or_else(|| of_files(&mut call, &row.deletes, |path| writes::removal(files, path)))
        .or_else(|| of_files(&mut call, &row.uploads, |path| writes::upload(files, path)));
    written.map(Danger::from)
}

fn of_files(
    call: &mut Call<'_, '_>,
    forms: &[Form],
    danger: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let found = call.all(forms);
    let mut filled = found.iter().flat_map(|found| &found.filled);
    filled.find_map(|filled| danger(filled.text).filter(|_| filled.slot == Slot::File))
}

/// A file that a command writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WrittenFile {
    New(String),
    /// It was there, and a part of it changes: `sed -i`.
    Changed(String),
    Copy {
        source: String,
        path: String,
    },
}

/// The files that a command writes, by its row.
pub(crate) fn written_files(
    table: &ProgramTable,
    program: &str,
    args: &[Word],
) -> Vec<WrittenFile> {
    let Some(row) = table.row(program) else {
        return Vec::new();
    };
    let mut call = Call::new(row, args);
    let operands = call.options(None).operands.clone();
    let is_operand = |at: usize| operands.iter().any(|(operand, _)| *operand == at);
    let mut written = Vec::new();
    for form in row.writes.iter().chain(&row.appends) {
        let Some(found) = form.fits(&mut call) else {
            continue;
        };
        for filled in found.filled {
            let word = args.get(filled.at).filter(|word| word.text == filled.text);
            let path = word.map_or_else(|| filled.text.to_owned(), Word::path);
            written.push(match operands.as_slice() {
                [(at, source), _] if form.ends_with_last() => WrittenFile::Copy {
                    // Of names that a pattern fits nothing more is known.
                    source: args
                        .get(*at)
                        .map_or_else(|| (*source).to_owned(), Word::path),
                    path,
                },
                _ if form.ends_with_last() => continue,
                _ if is_operand(filled.at) && !matches!(program, "tee" | "sponge") => {
                    WrittenFile::Changed(path)
                }
                _ => WrittenFile::New(path),
            });
        }
    }
    written
}

/// The names of the files that a command writes what it fetches to.
pub(crate) fn fetched_files(table: &ProgramTable, program: &str, args: &[Word]) -> Vec<String> {
    let Some(row) = table.row(program).filter(|row| !row.fetches.is_empty()) else {
        return Vec::new();
    };
    let found = Call::new(row, args).all(&row.fetches);
    let files = found.iter().flat_map(|found| &found.filled);
    let name = |text: &str| base_name(text.split(['?', '#']).next().unwrap_or(text)).to_owned();
    files
        .map(|filled| name(filled.text))
        .filter(|name| !name.is_empty() && name != "-")
        .collect()
}

/// Whether a word is an address of a network, or of a repository at a host of git.
fn is_address(word: &str) -> bool {
    let hosts = [
        "git+",
        "git@",
        "github:",
        "gitlab:",
        "bitbucket:",
        "gist:",
        "sourcehut:",
        "tarball+",
    ];
    hosts.iter().any(|host| word.starts_with(host))
        || word.split_once("://").is_some_and(|(scheme, _)| {
            !scheme.ends_with("file") && !scheme.contains(' ') || scheme.contains('@')
        })
}

/// Whether a word is a repository at GitHub to a package manager of JavaScript: `npm install owner/name`.
fn is_shorthand(program: &str, word: &str) -> bool {
    let reads = matches!(program, "npm" | "yarn" | "pnpm" | "bun");
    let owner = word.split_once('/').map_or(
        "",
        |(owner, name)| {
            if name.contains('/') { "" } else { owner }
        },
    );
    reads && !owner.is_empty() && owner.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The files that a command runs or installs.
pub(crate) fn run_files(table: &ProgramTable, program: &str, args: &[Word]) -> Vec<String> {
    let Some(row) = table.row(program).filter(|row| !row.runs.is_empty()) else {
        return Vec::new();
    };
    let found = Call::new(row, args).all(&row.runs);
    let files = found.iter().flat_map(|found| &found.filled);
    files.map(|filled| filled.text.to_owned()).collect()
}

/// Whether a command is known to do no harm.
pub(crate) fn is_harmless(table: &ProgramTable, program: &str, args: &[Word]) -> bool {
    let Some(row) = table.row(program) else {
        return false;
    };
    let mut call = Call::new(row, args);
    let listed = match &row.harmless {
        Harmless::All(harmless) => *harmless,
        Harmless::Forms(forms) => call.first(forms).is_some(),
    };
    listed || call.first(&row.safe).is_some() || call.asks_for_help()
}

/// A command with the words that tell what it does: its options and its first operand.
pub(crate) fn beginning(program: &str, args: &[Word]) -> String {
    let mut said = program.to_owned();
    for word in args.iter().take(3) {
        if word.text.contains([UNKNOWN, '\n']) || word.text.len() > 40 {
            break;
        }
        said.push(' ');
        said.push_str(&word.text);
        if !word.text.starts_with('-') {
            break;
        }
    }
    said
}

/// Why a script of System V's init is dangerous, by its path.
pub(crate) fn of_init_script(path: &str, args: &[Word]) -> Option<String> {
    let stops = path.starts_with("/etc/init.d/")
        && args
            .iter()
            .any(|word| matches!(&*word.text, "stop" | "force-stop"));
    stops.then(|| format!("`{path} stop` stops a service"))
}

/// Whether a word is the name or an option of a dangerous command. That is enough to doubt a line of
/// which only parts are known.
pub(crate) fn is_dangerous_word(word: &str) -> bool {
    is_listed(word, DANGEROUS_WORDS)
}
