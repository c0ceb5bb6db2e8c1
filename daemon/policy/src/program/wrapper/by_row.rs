//! What a command starts by its program's row, and what settings and variables make programs run.

use termd_proto::policy::Span;

use super::inner_command::{InnerCommand, ObeyedHome};
use super::less::less_options;
use super::option_words::quoted_words;
use super::shells::shell_line;
use super::typed_keys::TypedKeys;
use crate::glob::Case;
use crate::program::kind::{SqlClient, base_name};
use crate::program::options::{Order, Valued, options};
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::program::table::form::{Filled, Slot};
use crate::program::table::row::Takes;
use crate::program::table::setting::{Setting, setting};
use crate::shell::expansion::choices::Choices;
use crate::shell::expansion::{Scope, expand};
use crate::shell::state::ShellState;
use crate::shell::word::{UNKNOWN, Word, is_assignment, is_name};

const UNLISTED_VALUE: &str = "it sets a program that others then run";
const KEYS: &str = "it gives keys a meaning that is not known";
const OPEN_DIRECTORY: &str =
    "it looks for programs or code in a directory that everybody may write";

/// What a command starts, by its program's row.
pub(super) fn started(table: &ProgramTable, program: &str, args: &[Word]) -> Vec<InnerCommand> {
    let Some(row) = table.row(program) else {
        return Vec::new();
    };
    let mut started = Vec::new();
    let mut call = Call::new(row, args);
    for found in call.all(&row.starts) {
        for filled in found.filled {
            match filled.slot {
                Slot::Setting => {
                    let key = filled.text.split(['=', ' ']).next().unwrap_or_default();
                    if key.contains(UNKNOWN) {
                        started.push(InnerCommand::Any);
                    } else if let Some((key, value)) = filled.text.split_once(['=', ' ']) {
                        started.extend(of_setting(table, program, key, value, filled.at));
                    }
                }
                Slot::Key => {
                    let value = args.get(filled.at + 1..).unwrap_or_default();
                    let value = value.iter().find(|word| !word.text.starts_with('-'));
                    let value = value.map_or("", |word| &word.text);
                    started.extend(of_setting(table, program, filled.text, value, filled.at));
                }
                Slot::Program => {
                    let may_be_shell = matches!(program, "make" | "gmake");
                    started.extend(line(table, filled.text, filled.at, may_be_shell));
                }
                Slot::Variable => {
                    if let Some((name, value)) = filled.text.split_once('=') {
                        started.extend(of_variable(table, name, value, filled.at));
                    }
                }
                _ => started.extend(of_slot(table, filled, args)),
            }
        }
    }
    started
}

fn of_slot(table: &ProgramTable, filled: Filled<'_>, args: &[Word]) -> Vec<InnerCommand> {
    let Filled {
        slot,
        at,
        text,
        is_rest,
    } = filled;
    let rest = args.get(at..).unwrap_or_default();
    let sql = |client| {
        let text = text.to_owned();
        vec![InnerCommand::Sql { client, text, at }]
    };
    match slot {
        Slot::Command if is_rest || rest.first().is_some_and(|word| word.text == text) => {
            command(table, rest, at)
        }
        Slot::Shell => shell_line("sh", rest),
        Slot::Line if is_rest => InnerCommand::joined_line(args, at),
        Slot::Line | Slot::Command => vec![InnerCommand::line((at, text))],
        Slot::Input => {
            let words: Vec<&str> = rest.iter().skip(1).map(|word| word.text.as_str()).collect();
            let keys = TypedKeys::of_text(&[&[text], words.as_slice()].concat().join(" "));
            vec![InnerCommand::Keys { keys, at }]
        }
        Slot::Byte => {
            let keys = TypedKeys::of_byte(text);
            vec![InnerCommand::Keys { keys, at }]
        }
        Slot::Code => vec![InnerCommand::code((at, text))],
        Slot::Any => vec![InnerCommand::Any],
        Slot::Sql => sql(SqlClient::Sql),
        Slot::Redis => {
            let words: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
            let (client, text) = (SqlClient::Redis, words.join(" "));
            vec![InnerCommand::Sql { client, text, at }]
        }
        Slot::Mongo => sql(SqlClient::Mongo),
        Slot::File | Slot::Inside | Slot::Setting | Slot::Key | Slot::Program | Slot::Variable => {
            Vec::new()
        }
    }
}

/// A command that may begin with variables of its own: `env A=b CMD`, `sudo A=b CMD`.
pub(super) fn command(table: &ProgramTable, words: &[Word], at: usize) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    // A `=` within a pattern names no variable: `fro[[=b=]]`.
    let assigned = words
        .iter()
        .take_while(|word| sets_variable(word.possible()));
    let mut count = 0;
    for word in assigned {
        if let Some((name, value)) = word.text.split_once('=') {
            started.extend(of_variable(table, name, value, at + count));
        }
        count += 1;
    }
    let words = words.get(count..).unwrap_or_default();
    // `termctl run 'LINE'` and `heroku run 'LINE' -a x` give one word with blanks to a shell.
    if let [word, rest @ ..] = words
        && (word.text.contains([';', '|', '&']) && rest.is_empty() || word.text.contains(' '))
    {
        started.push(InnerCommand::line((at + count, &word.text)));
    }
    started.extend(InnerCommand::argv(words));
    started
}

/// Whether a word is `NAME=VALUE` to env(1) and sudo(8), which take names that a shell does not.
fn sets_variable(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && !name.starts_with('-') && !name.contains(['/', ' '])
}

/// What a variable with this value makes programs run. Empty if nothing is known of it.
pub(crate) fn of_variable(
    table: &ProgramTable,
    name: &str,
    value: &str,
    at: usize,
) -> Vec<InnerCommand> {
    let mut started = match table.variable(name) {
        Some(setting) => of_value(table, name, name, setting, value, at),
        None => Vec::new(),
    };
    if name == "PATH" && value.split(':').any(is_own_directory) {
        started.push(InnerCommand::OwnPath);
    }
    started
}

/// What a setting of a program makes it run.
fn of_setting(
    table: &ProgramTable,
    program: &str,
    key: &str,
    value: &str,
    at: usize,
) -> Vec<InnerCommand> {
    let row = table.row(program);
    let found = row.and_then(|row| setting(&row.settings, key, Case::Ignored));
    match found {
        Some(setting) => of_value(table, program, key, setting, value, at),
        None => Vec::new(),
    }
}

fn of_value(
    table: &ProgramTable,
    program: &str,
    key: &str,
    setting: &Setting,
    value: &str,
    at: usize,
) -> Vec<InnerCommand> {
    let value = value.trim();
    let off = matches!(
        value,
        "" | "false" | "no" | "0" | "off" | "none" | "/dev/null"
    );
    if let (true, Setting::Off(why)) = (off, setting) {
        return vec![InnerCommand::Dangerous(format!("{key} {why}"))];
    }
    if off {
        return Vec::new();
    }
    let obeyed = match setting {
        // zsh(1): the directory of its startup files.
        Setting::File if key == "ZDOTDIR" => {
            vec![InnerCommand::ObeyedHome(ObeyedHome::Home)]
        }
        Setting::File | Setting::Script | Setting::Keys => {
            vec![InnerCommand::ObeyedFile(value.to_owned())]
        }
        Setting::Home if key == "XDG_CONFIG_HOME" => {
            vec![InnerCommand::ObeyedHome(ObeyedHome::Config)]
        }
        Setting::Home => vec![InnerCommand::ObeyedHome(ObeyedHome::Home)],
        _ => Vec::new(),
    };
    let mut started = of_setting_value(table, program, key, setting, value, at);
    started.extend(obeyed);
    started
}

fn of_setting_value(
    table: &ProgramTable,
    program: &str,
    key: &str,
    setting: &Setting,
    value: &str,
    at: usize,
) -> Vec<InnerCommand> {
    match setting {
        Setting::Line => line(table, value, at, names_shell(key)),
        Setting::Alias => match value.strip_prefix('!') {
            Some(script) => line(table, script, at, false),
            None => vec![InnerCommand::line((at, &format!("{program} {value}")))],
        },
        Setting::Text => expanded_text(value, at),
        // It stands in the place of a program, and of what it starts nobody looks at more.
        Setting::Function => vec![
            InnerCommand::line((at, &format!("f {value}"))),
            InnerCommand::Any,
            InnerCommand::Doubtful(UNLISTED_VALUE),
        ],
        Setting::Home if !value.contains(UNKNOWN) => vec![InnerCommand::Any],
        Setting::File | Setting::Script | Setting::Keys if is_own_file(value) => loads(key, value),
        Setting::Script if !value.is_empty() && !value.starts_with('/') => loads(key, value),
        // The name of the file is expanded first.
        Setting::File | Setting::Script if value.contains(['$', '`']) => expanded_text(value, at),
        Setting::Directories if value.split(':').any(is_open_directory) => {
            vec![InnerCommand::Unknown(OPEN_DIRECTORY)]
        }
        Setting::File
        | Setting::Script
        | Setting::Home
        | Setting::Directories
        | Setting::Off(_) => Vec::new(),
        Setting::Behind(program) => vec![InnerCommand::line((at, &format!("{program} {value}")))],
        Setting::Options(program) if program == "less" => less_options(at, value),
        Setting::Options(program) => {
            let span = Span { start: 0, end: 0 };
            let program = program.split_whitespace();
            let program: Vec<Word> = program.map(|word| Word::literal(word, span)).collect();
            let mut words = program.clone();
            for raw in value.split_whitespace() {
                if raw.contains(';') {
                    // No shell reads it: the quotes belong to code.
                    words.push(Word::literal(raw, span));
                    continue;
                }
                let nothing = ShellState::default();
                let scope = Scope::of(&nothing);
                words.extend(expand(raw, span, scope, &mut Choices::default()));
            }
            // Some programs split at every blank, and others not within quotes.
            let quoted = quoted_words(value).map(|quoted| {
                let quoted = quoted.iter().map(|word| Word::literal(word, span));
                InnerCommand::Options(program.into_iter().chain(quoted).collect())
            });
            quoted
                .into_iter()
                .chain([InnerCommand::Options(words)])
                .collect()
        }
        Setting::Danger(why) => vec![
            InnerCommand::Dangerous(format!("{key} {why}")),
            InnerCommand::Any,
        ],
        Setting::Address(why) => vec![InnerCommand::Dangerous(format!("{key} {why}"))],
        Setting::Keys => vec![InnerCommand::Unknown(KEYS), InnerCommand::Any],
        Setting::Code => {
            let danger = format!("{key} is code that programs run");
            vec![InnerCommand::Dangerous(danger), InnerCommand::Any]
        }
    }
}

/// Whether a setting names the shell of a program: `npm_config_script_shell`, `BAZEL_SH`.
fn names_shell(key: &str) -> bool {
    let key = key.to_lowercase();
    key.contains("shell") || key.ends_with("_sh")
}

/// A file whose code programs load.
fn loads(key: &str, value: &str) -> Vec<InnerCommand> {
    let danger = format!("{key} makes programs load code from {value}");
    vec![InnerCommand::Dangerous(danger), InnerCommand::Any]
}

/// A text that is expanded as in double quotes.
fn expanded_text(value: &str, at: usize) -> Vec<InnerCommand> {
    let text = value.replace('"', "\\\"");
    vec![InnerCommand::line((at, &format!(": \"{text}\"")))]
}

/// A command line in a setting. It runs later, so what nobody knows is not safe there.
/// What is fed to a shell runs.
fn line(table: &ProgramTable, value: &str, at: usize, may_be_shell: bool) -> Vec<InnerCommand> {
    let value = value.trim_start_matches(['!', '|']).trim();
    let mut started = vec![InnerCommand::line((at, value))];
    let mut words = value
        .split_whitespace()
        .skip_while(|word| is_assignment(word));
    let program = words.next().unwrap_or_default().trim_matches(['"', '\'']);
    let name = base_name(program);
    let is_word = !value.contains(char::is_whitespace);
    // split(1): the filter writes the part that it reads.
    let value = match value.split_once('>') {
        Some((filter, file)) if file.trim_start_matches([' ', '"']).starts_with("$FILE") => filter,
        _ => value,
    };
    let is_shell = table
        .row(name)
        .is_some_and(|row| row.takes == Some(Takes::Shell));
    let is_plain = (!is_shell || (is_word && may_be_shell))
        && !value.contains([';', '&', '|', '`', '\n', '>'])
        && !["$(", "<("].iter().any(|begin| value.contains(begin));
    let is_known = is_installed(program) && table.is_harmless_value(name);
    if !(is_plain && (is_variable(name) || is_known)) {
        started.push(InnerCommand::Doubtful(UNLISTED_VALUE));
    }
    started
}

/// Whether a word is a variable and nothing else: `$EDITOR`, and not `${EDITOR:-vi}`.
fn is_variable(word: &str) -> bool {
    let name = word.strip_prefix('$').unwrap_or_default();
    let inner = name
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'));
    is_name(inner.unwrap_or(name))
}

/// Whether a file is neither the system's nor found by its name alone.
fn is_own_file(value: &str) -> bool {
    let of_system = ["/usr/", "/lib/", "/lib64/", "/opt/", "/nix/"];
    (value.contains('/') || value.starts_with('.'))
        && !of_system.iter().any(|tree| value.starts_with(tree))
}

/// Whether a program is found by its name alone, or where only an administrator installs. A directory
/// that the environment names counts too.
pub(crate) fn is_installed(program: &str) -> bool {
    let of_system = [
        "/usr/",
        "/bin/",
        "/sbin/",
        "/opt/",
        "/nix/",
        "/snap/",
        "/run/current-system/",
    ];
    !program.contains('/')
        || program.starts_with(['$', UNKNOWN])
        || of_system.iter().any(|tree| program.starts_with(tree))
}

/// Whether a directory of `PATH` may hold what an agent has made: it is neither the system's, nor below
/// the home by name, nor hidden, nor what `PATH` was before.
fn is_own_directory(directory: &str) -> bool {
    let is_earlier = directory == "$PATH" || directory == UNKNOWN.to_string();
    let is_of_home = ["~", "$HOME", "${HOME}"]
        .iter()
        .any(|home| directory.starts_with(home));
    let is_hidden = directory.contains("/.") && !directory.contains("/..");
    let is_of_system = directory.starts_with('/') && is_installed(&format!("{directory}/"));
    !(is_earlier || is_of_home || is_hidden || is_of_system)
}

/// Whether a directory is one that everybody may write to, or a hidden one below.
fn is_open_directory(directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    let mut open = ["/tmp", "/var/tmp", "/dev/shm"].iter();
    open.any(|open| {
        let below = directory.strip_prefix(open);
        below.is_some_and(|below| below.is_empty() || below.starts_with("/."))
    })
}

/// A command that is a verb of another program: `/usr/lib/git-core/git-push` is `git push`, and
/// `git for-each-repo --config=x push` runs it in each.
pub(super) fn verb_program(program: &str, args: &[Word]) -> Vec<InnerCommand> {
    if program == "git"
        && let Some(at) = args.iter().position(|word| word.text == "for-each-repo")
        && let Some(behind) = args.get(at + 1..)
    {
        let given = options(behind, Valued::These("config"), Order::OptionsFirst);
        let verb = given.operands.first().and_then(|(at, _)| behind.get(*at..));
        let words = verb.into_iter().flat_map(|verb| {
            let git = verb.first().map(|word| Word::literal("git", word.span));
            git.into_iter().chain(verb.iter().cloned())
        });
        return InnerCommand::argv(&words.collect::<Vec<_>>());
    }
    let Some(verb) = program.strip_prefix("git-").filter(|verb| !verb.is_empty()) else {
        return Vec::new();
    };
    let span = args
        .first()
        .map_or(Span { start: 0, end: 0 }, |word| word.span);
    let mut words = vec![Word::literal("git", span), Word::literal(verb, span)];
    words.extend_from_slice(args);
    vec![InnerCommand::Argv(words)]
}
