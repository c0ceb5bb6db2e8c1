//! Commands that name a file of termd's own, and may do more than read it: its configuration, its state,
//! its runtime directory, its units, its program, and what the kernel shows of its processes.
//!
//! What writes such a file decides what termd asks about. One rule holds for all programs, since the
//! table cannot know each of their options that writes.

use super::Danger;
use super::writes::{from_home, normal};
use crate::daemon::Daemon;
use crate::glob::{self, Case};
use crate::program::kind::base_name;
use crate::program::table::call::Call;
use crate::program::table::{ProgramTable, Programs};
use crate::program::wrapper;
use crate::program::wrapper::batch_command::BatchCommand;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::state::place::Place;
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;

/// Where termd's files are without XDG variables. A pattern stands for one name.
const PATHS: [&str; 6] = [
    "~/.config/termd",
    "~/.local/state/termd",
    "~/.local/share/termd",
    "~/.config/systemd/user/termd.*",
    "~/.local/share/systemd/user/termd.*",
    "/run/user/*/termd",
];
/// Where the program may be by which a person answers.
const CLIENTS: [&str; 3] = [
    "~/bin/termctl",
    "~/.local/bin/termctl",
    "~/.cargo/bin/termctl",
];
/// Base directories by their variables: <https://specifications.freedesktop.org/basedir-spec>.
const BASES: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", "~/.config"),
    ("XDG_STATE_HOME", "~/.local/state"),
    ("XDG_DATA_HOME", "~/.local/share"),
    ("XDG_RUNTIME_DIR", "/run/user/*"),
];
/// Programs that only read the files which they name, unless their row says otherwise of a call, and
/// builtins that use no file.
const READERS: &str = "
    cat tac nl head tail less more most bat batcat zcat grep egrep fgrep zgrep rg ag ack find fd fdfind ls exa eza
    lsd stat file wc diff cmp colordiff md5sum sha1sum sha256sum sha512sum b2sum cksum readlink realpath basename
    dirname hexdump od strings jq du df sort cut tr rev paste join comm fold fmt sed namei getfacl lsattr lsof
    fuser ps pgrep mountpoint journalctl systemctl termctl sleep true false : test [ [[ echo printf cd pushd popd
    dirs pwd export declare local typeset readonly unset set read let return exit wait type command hash which";
/// Programs that put a directory elsewhere, or under another name.
const MOVERS: &str = "mv ln mount bindfs";
/// Programs whose words are often prose. A path inside such a word is no file.
const PROSE: &str = "git gh glab hg svn jj";

/// Why a command is one to which only a person can agree.
pub(crate) fn of_command(
    programs: &Programs,
    place: &Place,
    program: &str,
    args: &[Word],
) -> Option<Danger> {
    let own = Own::new(programs.daemon(), place);
    let named = args.iter().find(|word| own.is_named_by(program, word));
    let works_there = own.is_place();
    let filled = filled(program, args);
    let mut whole = moved_away(program, args).chain(&filled);
    let is_above = whole.any(|word| own.is_below(word));
    if named.is_none() && !is_above && !works_there {
        return None;
    }
    let starts = wrapper::inner_commands(programs, program, args);
    let removes = args.iter().any(|word| word.text == "-delete");
    let only_reads =
        program == "find" && !removes && starts.iter().all(|inner| own.is_read_by(programs, inner));
    let is_above = is_above && !only_reads;
    if !is_above && !own.is_used_by(programs, program, args, &starts) {
        return None;
    }
    Some(danger(program))
}

/// Why a redirection to a file is one to which only a person can agree.
pub(crate) fn of_target(programs: &Programs, place: &Place, target: &Word) -> Option<String> {
    let own = Own::new(programs.daemon(), place);
    (own.is_named_by("", target) || own.has(&target.text))
        .then(|| "it writes a file of termd, which asks about what you do".to_owned())
}

/// Whether code names a file of termd's, or works in a directory of termd's and may write.
pub(crate) fn are_in_code(programs: &Programs, place: &Place, program: &str, code: &str) -> bool {
    let own = Own::new(programs.daemon(), place);
    if own.is_place() && (!program.ends_with("awk") || code.contains('>')) {
        return true;
    }
    let from_home = PATHS.iter().filter_map(|path| path.strip_prefix('~'));
    let is_of_home = |path: &str| code.contains(path.trim_end_matches('*'));
    from_home
        .map(|path| path.trim_start_matches('/'))
        .any(is_of_home)
        || pieces(code).any(|piece| own.has(piece))
        || joins_path(code)
        || (code.contains("XDG_RUNTIME_DIR") && code.contains("termd"))
}

/// Whether code names the parts of such a path one by one: `home / ".config" / "termd" / "approved.toml"`.
fn joins_path(code: &str) -> bool {
    let texts = code.split(['\'', '"', '`']).skip(1).step_by(2);
    let mut texts = texts.flat_map(|text| text.split('/'));
    let mut is_own = false;
    let mut is_below = false;
    texts.any(|name| {
        is_own |= name == "termd";
        is_below |= is_listed(name, ".config .local config.toml approved.toml");
        is_own && is_below
    })
}

fn danger(program: &str) -> Danger {
    let why = "names a file of termd, which asks about what you do, and may do more than read it";
    Danger {
        needs_person: true,
        ..format!("`{program}` {why}").into()
    }
}

/// The files that a command puts elsewhere, or under another name, with all that is below them.
fn moved_away<'a>(program: &str, args: &'a [Word]) -> impl Iterator<Item = &'a Word> {
    let count = if is_listed(program, MOVERS) {
        args.len()
    } else {
        0
    };
    let has_target = args.iter().any(|word| word.text.starts_with("-t"));
    let count = if has_target {
        count
    } else {
        count.saturating_sub(1)
    };
    args.iter().take(count)
}

fn is_option(word: &Word) -> bool {
    word.text.starts_with('-')
}

/// Whether a word is an option of `rm` by which it removes directories.
fn is_recursive(word: &Word) -> bool {
    let letters = word.text.strip_prefix('-');
    let is_long = |letters: &str| letters.starts_with('-');
    word.text == "--recursive"
        || letters.is_some_and(|letters| !is_long(letters) && letters.contains(['r', 'R']))
}

/// A word that begins with the variable of a base directory, with that directory in its place.
fn from_base(word: &Word) -> Option<String> {
    let (_, base) = BASES.iter().find(|(name, _)| word.raw.contains(name))?;
    let (_, rest) = word.text.split_once(UNKNOWN)?;
    Some(format!("{base}{rest}"))
}

/// The directories below which a command may write or remove any file: what it copies, unpacks or finds says
/// which.
fn filled(program: &str, args: &[Word]) -> Vec<Word> {
    let has = |options: &[&str]| {
        args.iter()
            .any(|word| options.contains(&word.text.as_str()))
    };
    let behind = |options: &[&str]| {
        let pairs = args.iter().zip(args.iter().skip(1));
        let found = pairs.filter(|(option, _)| options.contains(&option.text.as_str()));
        found.map(|(_, directory)| directory.clone()).collect()
    };
    let unpacks = || {
        let first = args.first().map_or("", |word| word.text.as_str());
        has(&["-x", "--extract", "--get"])
            || (!first.starts_with("--") && first.contains('x') && !first.contains('c'))
    };
    match program {
        "tar" | "bsdtar" if unpacks() => behind(&["-C", "--directory", "--cd"]),
        "unzip" => behind(&["-d"]),
        "patch" => behind(&["-d", "--directory"]),
        "rsync" => args.last().cloned().into_iter().collect(),
        "rm" if args.iter().any(is_recursive) => {
            let directories = args.iter().filter(|word| !is_option(word));
            directories.cloned().collect()
        }
        "cp" if has(&["-T", "-rT", "-aT", "--no-target-directory"])
            || args.iter().any(|word| word.text.ends_with("/.")) =>
        {
            args.last().cloned().into_iter().collect()
        }
        "cp" => copied_trees(args),
        "find" if has(&["-exec", "-execdir", "-ok", "-okdir", "-delete"]) => {
            let roots = args
                .iter()
                .take_while(|word| !word.text.starts_with(['-', '(', '!']));
            roots.cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// Where a copy of whole directories puts each of them (cp(1)).
fn copied_trees(args: &[Word]) -> Vec<Word> {
    let is_archive = |word: &Word| match word.text.strip_prefix("--") {
        Some(long) => long == "archive",
        None => is_option(word) && word.text.contains('a'),
    };
    if !args
        .iter()
        .any(|word| is_recursive(word) || is_archive(word))
    {
        return Vec::new();
    }
    let named = args.iter().find_map(|word| {
        let directory = word.text.strip_prefix("--target-directory=")?;
        Some(Word {
            text: directory.to_owned(),
            ..word.clone()
        })
    });
    // `-t DIRECTORY`, `-rt DIRECTORY`
    let is_t =
        |word: &Word| is_option(word) && !word.text.starts_with("--") && word.text.ends_with('t');
    let behind = args.iter().position(is_t).and_then(|at| args.get(at + 1));
    let names = args.iter().filter(|word| !is_option(word));
    let mut names: Vec<&Word> = names
        .filter(|word| behind.is_none_or(|target| target.span != word.span))
        .collect();
    let target = named.or_else(|| behind.cloned());
    let Some(target) = target.or_else(|| names.pop().cloned()) else {
        return Vec::new();
    };
    let copies = names.into_iter().map(|source| {
        let name = base_name(source.text.trim_end_matches('/'));
        let mut copy = target.clone();
        // What a pattern fits may have any name.
        if !name.contains(['*', '?', '[', UNKNOWN]) {
            copy.text = format!("{}/{name}", target.text.trim_end_matches('/'));
        }
        copy
    });
    copies.collect()
}

/// termd's files, seen from where a command works.
struct Own<'a> {
    daemon: &'a Daemon,
    place: &'a Place,
}

impl<'a> Own<'a> {
    fn new(daemon: &'a Daemon, place: &'a Place) -> Self {
        Self { daemon, place }
    }

    /// Whether one of the command's own words counts as a use of such a file.
    fn is_used_by(
        &self,
        table: &ProgramTable,
        program: &str,
        args: &[Word],
        starts: &[InnerCommand],
    ) -> bool {
        if is_listed(program, READERS) && starts.is_empty() {
            return self.is_written(table, program, args);
        }
        // The words of a command that it starts are judged with that command.
        let mut own = args.iter().enumerate();
        own.any(|(at, word)| self.is_named_by(program, word) && !is_inner(starts, at, word))
            || (starts.is_empty() && self.is_place())
    }

    /// Whether a command that another one starts only reads what it is given.
    fn is_read_by(&self, programs: &Programs, inner: &InnerCommand) -> bool {
        let (InnerCommand::Argv(words) | InnerCommand::Batch(BatchCommand { words, .. })) = inner
        else {
            return false;
        };
        let Some((name, args)) = words.split_first() else {
            return false;
        };
        let program = base_name(&name.text);
        // sed(1) writes what it finds.
        is_listed(program, READERS)
            && program != "sed"
            && wrapper::inner_commands(programs, program, args).is_empty()
            && !self.is_written(programs, program, args)
    }

    /// Whether a program that mostly reads may write such a file, by its row.
    fn is_written(&self, table: &ProgramTable, program: &str, args: &[Word]) -> bool {
        let Some(row) = table.row(program) else {
            return false;
        };
        if program != "systemctl"
            && program != "termctl"
            && !super::is_harmless(table, program, args)
        {
            return true;
        }
        // `sed 'w PATH'`, `less -o PATH`
        let is_part = |word: &Word| self.is_named_by(program, word) && !self.has(&word.text);
        let logs = |word: &Word| {
            ["-o", "-O", "--log", "--LOG"]
                .iter()
                .any(|log| word.text.starts_with(log))
        };
        let more = match program {
            "sed" => args.iter().any(is_part),
            "less" => args.iter().any(logs),
            _ => false,
        };
        if more {
            return true;
        }
        let mut call = Call::new(row, args);
        let forms = [&row.writes, &row.appends, &row.deletes];
        let found = forms.into_iter().flat_map(|forms| call.all(forms));
        let mut filled = found.flat_map(|found| found.filled);
        filled.any(|filled| self.has(filled.text))
    }

    /// Whether a word names such a file, as a whole or as a part.
    fn is_named_by(&self, program: &str, word: &Word) -> bool {
        let text = word.text.as_str();
        if from_base(word).is_some_and(|path| self.has(&path)) {
            return true;
        }
        if !may_be_own(text) {
            return false;
        }
        let value = text.split_once('=').map(|(_, value)| value);
        // `-CDIRECTORY`
        let attached = text.strip_prefix('-').and_then(|rest| rest.get(1..));
        let is_prose = is_listed(program, PROSE) && text.contains(char::is_whitespace);
        let whole = Some(text).filter(|text| !text.starts_with('-'));
        let mut candidates = [whole, value, attached].into_iter().flatten();
        candidates.any(|path| self.has(path))
            || (!is_prose && pieces(text).any(|piece| self.has(piece)))
    }

    /// Whether the command works in a directory of termd's.
    fn is_place(&self) -> bool {
        // Any name will do.
        self.has("x")
    }

    fn has(&self, path: &str) -> bool {
        let mut resolved = self.resolved(path).into_iter();
        resolved.any(|path| may_be_own(&path) && self.lies_in(&path))
    }

    /// Whether such files lie below a directory.
    fn is_below(&self, directory: &Word) -> bool {
        let based = from_base(directory);
        let text = based.as_deref().unwrap_or(&directory.text);
        let text = text.trim_end_matches('/');
        if text.starts_with(UNKNOWN) && !directory.raw.contains("HOME") {
            return false;
        }
        // A home is known by what lies in it.
        let resolved = self.resolved(&format!("{text}/x")).into_iter();
        let mut known = resolved.filter(|directory| directory.starts_with(['/', '~']));
        known.any(|directory| {
            let mut directory = names(&directory);
            directory.pop();
            let fits = |own: &[&str]| directory.len() <= own.len() && agree(&directory, own);
            self.paths().any(|own| fits(&names(&own)))
        })
    }

    fn lies_in(&self, path: &str) -> bool {
        let path = names(path);
        let pid = match path.as_slice() {
            ["proc", pid, ..] => pid.parse::<i32>().ok(),
            _ => None,
        };
        let fits = |own: &[&str]| path.len() >= own.len() && agree(&path, own);
        pid.is_some_and(|pid| self.daemon.pids.contains(pid))
            || CLIENTS.into_iter().any(|own| fits(&names(own)))
            || self.paths().any(|own| fits(&names(&own)))
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        let told = self
            .daemon
            .paths
            .iter()
            .flat_map(|path| self.resolved(path));
        PATHS.into_iter().map(str::to_owned).chain(told)
    }

    fn resolved(&self, path: &str) -> Vec<String> {
        // proc(5): the root directory of a process.
        let mut names = path.splitn(5, '/').skip(1);
        let is_root = names.next() == Some("proc") && names.nth(1) == Some("root");
        let below = names
            .next()
            .filter(|_| is_root)
            .map(|rest| format!("/{rest}"));
        let files = self
            .place
            .files(below.as_deref().unwrap_or(path))
            .into_iter();
        files.map(|(path, _)| from_home(&normal(&path))).collect()
    }
}

/// Whether a text may name a file of termd's from elsewhere: each of them has the name in its path.
fn may_be_own(text: &str) -> bool {
    text.contains("termd")
        || text.contains("termctl")
        || text.contains("/proc/")
        || (text.contains('/') && text.contains(['*', '?', '[', UNKNOWN]))
}

/// The parts of a text that may be paths: `of=PATH`, `HOST:PATH`, `w PATH`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_separator = |c: char| c.is_whitespace() || "=:,@\"'`;()<>|&{}".contains(c);
    let pieces = text.split(is_separator);
    pieces.filter(|piece| piece.starts_with(['/', '~', '$', UNKNOWN]))
}

/// The names of a path.
fn names(path: &str) -> Vec<&str> {
    let names = path.split('/');
    names
        .filter(|name| !name.is_empty() && *name != ".")
        .collect()
}

/// Whether two paths are the same as far as the shorter one goes, or may be by their patterns.
fn agree(path: &[&str], own: &[&str]) -> bool {
    (path.iter().zip(own)).all(|(name, own)| may_be(name, own))
}

/// Whether a name of a path is that of another one. Either may be a pattern. Of a name that is not known
/// at all nothing is assumed.
fn may_be(name: &str, own: &str) -> bool {
    if name == own || glob::fits(own, name, Case::Counts) {
        return true;
    }
    let is_unknown = name.chars().all(|c| c == UNKNOWN);
    let is_hidden = own.starts_with('.') && !name.starts_with(['.', UNKNOWN, '[']);
    if is_unknown || is_hidden || !name.contains(['*', '?', '[', UNKNOWN]) {
        return false;
    }
    let mut pattern = String::new();
    let mut rest = name;
    // A set stands for any character.
    while let Some((before, set)) = rest.split_once('[') {
        pattern.push_str(before);
        pattern.push('?');
        rest = set.split_once(']').map_or("*", |(_, rest)| rest);
    }
    pattern.push_str(rest);
    glob::fits(&pattern.replace(UNKNOWN, "*"), own, Case::Counts)
}

/// Whether a word belongs to a command that another command starts.
fn is_inner(starts: &[InnerCommand], at: usize, word: &Word) -> bool {
    starts.iter().any(|inner| match inner {
        InnerCommand::Argv(words) | InnerCommand::Batch(BatchCommand { words, .. }) => words
            .iter()
            .any(|inner| inner.text == word.text && inner.span == word.span),
        InnerCommand::Line { at: number, .. }
        | InnerCommand::Code { at: number, .. }
        | InnerCommand::Script { at: number, .. } => *number == at,
        _ => false,
    })
}
