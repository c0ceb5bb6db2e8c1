//! What commands of vim(1) run by its options, by events, and of other files.

use super::inner_command::{InnerCommand, ObeyedHome};
use crate::shell::word::UNKNOWN;
use crate::word_list::is_listed;

/// Programs that take these commands.
const EDITORS: &str = "vi vim nvim ex view gvim rvim vimdiff vim.basic vim.tiny vim.nox";
/// Options whose values are lines for a shell: <https://vimhelp.org/options.txt.html>.
const PROGRAMS: &str = "
    makeprg mp grepprg gp formatprg fp equalprg ep shell sh keywordprg kp cscopeprg csprg shellcmdflag shcf
    shellpipe sp shellredir srr";
/// Options that name directories of scripts: <https://vimhelp.org/options.txt.html#'runtimepath'>.
const RUNTIMES: &str = "rtp runtimepath pp packpath";
const SETS: &str = "se set setl setlocal setg setglobal";
const READS: &str = "so source ru runtime luaf luafile pyf pyfile py3f py3file";
/// Commands that write a file: <https://vimhelp.org/editing.txt.html#writing>.
const WRITES: &str =
    "w wr wri writ write W wq x xi xit exi exit sav save saveas up upd update wn wN wp";
const TERMINALS: &str = "ter term termi termin termina terminal";
/// Commands that map keys: <https://vimhelp.org/map.txt.html>.
const MAPS: &str = "
    map nm nmap vm vmap xm xmap smap om omap im imap lm lmap cm cmap tma tmap no nor nore norem noremap nn nno nnoremap vn
    vno vnoremap xn xno xnoremap snor snoremap ono onoremap ino inoremap ln lno lnoremap cno cnoremap tno tnoremap";
const ON_EVENTS: &str = "au autocmd";
/// What gives a command a name: <https://vimhelp.org/map.txt.html#user-commands>.
const DEFINES: &str = "com comm comma comman command";
/// Commands that run the one behind them.
const STARTERS: &str = "
    sil silent sil! silent! noa noautocmd verb verbose argdo bufdo windo tabdo cdo ldo cfdo lfdo keepj keepjumps
    keepalt keepa keeppatterns keepp hid hide tab vert vertical lockm lockmarks";
/// What stands between `autocmd` and its command at the most: a group, events, a pattern, `++once`, `++nested`.
const MAX_EVENT_WORDS: usize = 5;

/// Whether a program takes commands of vim(1).
pub(crate) fn is_editor(program: &str) -> bool {
    is_listed(program, EDITORS)
}

/// What commands run by the options that they set, by events, and of other files. `at` is the number of the
/// argument that they stand in.
pub(crate) fn started(at: usize, text: &str) -> Vec<InnerCommand> {
    let commands = text.split(['|', '\n']);
    commands
        .flat_map(|command| by_command(at, command))
        .collect()
}

fn by_command(at: usize, command: &str) -> Vec<InnerCommand> {
    let mut command = command.trim_start_matches([' ', '\t', ':', '%']);
    loop {
        let (name, rest) = split_name(command);
        if !is_listed(name, STARTERS) {
            break;
        }
        command = rest.trim_start_matches([' ', ':']);
    }
    let (name, rest) = split_name(command);
    if let Some(line) = command.strip_prefix('!') {
        return vec![InnerCommand::line((at, line))];
    }
    match name.trim_end_matches('!') {
        name if is_listed(name, SETS) => {
            let settings = words(rest);
            settings
                .iter()
                .flat_map(|word| by_option(at, word))
                .collect()
        }
        "let" => by_variable(at, rest),
        name if is_listed(name, READS) => {
            vec![InnerCommand::ObeyedFile(rest.trim().to_owned())]
        }
        name if is_listed(name, ON_EVENTS) => {
            let mut started = Vec::new();
            let mut behind = rest;
            for _ in 0..MAX_EVENT_WORDS {
                behind = split_name(behind).1;
                started.extend(by_command(at, behind));
            }
            started
        }
        name if is_listed(name, DEFINES) => {
            let mut rest = rest.trim_start();
            while let (attribute, behind) = split_name(rest)
                && attribute.starts_with('-')
            {
                rest = behind.trim_start();
            }
            by_command(at, split_name(rest).1)
        }
        name if is_listed(name, WRITES) => {
            let mut words = rest.split_whitespace();
            let file = words.rfind(|word| !word.starts_with("++") && *word != ">>");
            let file = file.filter(|_| !rest.contains('!'));
            file.map(|file| InnerCommand::Writes(file.to_owned()))
                .into_iter()
                .collect()
        }
        name if is_listed(name, TERMINALS) => {
            let line = rest.trim_start();
            let is_option = |word: &&str| word.starts_with("++");
            let options = line.split_whitespace().take_while(is_option);
            let line = options.fold(line, |line, _| split_name(line).1.trim_start());
            vec![InnerCommand::line((at, line))]
        }
        name if is_listed(name, MAPS) => {
            let line = rest.split_once('!').map(|(_, line)| line);
            let line = line.and_then(|line| line.split('<').next());
            line.map(|line| InnerCommand::line((at, line)))
                .into_iter()
                .collect()
        }
        name if name.starts_with("norm") && rest.contains(['!', '@', ':']) => {
            vec![InnerCommand::Any]
        }
        _ => Vec::new(),
    }
}

/// The first word of a command, and the rest.
fn split_name(command: &str) -> (&str, &str) {
    let command = command.trim_start();
    command.split_once([' ', '\t']).unwrap_or((command, ""))
}

/// The words of `:set`, in which `\` stands before a blank.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, words.last_mut()) {
            (' ' | '\t', _) => words.push(String::new()),
            ('\\', Some(word)) => word.extend(characters.next()),
            (character, Some(word)) => word.push(character),
            (_, None) => {}
        }
    }
    words
}

fn by_option(at: usize, word: &str) -> Vec<InnerCommand> {
    let end = word.find(['=', ':', '+', '^']).unwrap_or(word.len());
    let (name, value) = word.split_at(end);
    if name.contains(UNKNOWN) {
        return vec![InnerCommand::Any];
    }
    let value = value.trim_start_matches(['=', ':', '+', '^']);
    if !value.is_empty() && is_listed(name, RUNTIMES) {
        return vec![InnerCommand::ObeyedHome(ObeyedHome::VimRuntime)];
    }
    if value.is_empty() || !is_listed(name, PROGRAMS) {
        return Vec::new();
    }
    let line = InnerCommand::line((at, value));
    // It stands between the shell and each line. What is no option makes something else of `shell`.
    if is_listed(name, "shellcmdflag shcf") && !value.starts_with('-') {
        return vec![line, InnerCommand::Any];
    }
    vec![line]
}

/// `let &mp = 'make'`, `let &g:mp .= x`.
fn by_variable(at: usize, rest: &str) -> Vec<InnerCommand> {
    let Some((name, value)) = rest
        .trim_start()
        .strip_prefix('&')
        .and_then(|rest| rest.split_once('='))
    else {
        return Vec::new();
    };
    let name = name.trim_end_matches([' ', '.', '+']);
    let name = name
        .strip_prefix("g:")
        .or(name.strip_prefix("l:"))
        .unwrap_or(name);
    if !is_listed(name, PROGRAMS) {
        return Vec::new();
    }
    let value = value.trim();
    let text = ['"', '\''].iter().find_map(|quote| {
        let inner = value.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains([*quote, '\\'])).then_some(inner)
    });
    match text {
        Some(text) => vec![InnerCommand::line((at, text))],
        None => vec![InnerCommand::Any],
    }
}
