//! Code of an interpreter: calls that remove, start, send and write, and the shell lines that calls give
//! to the system.
//!
//! Code is read as words, texts and signs, which Python, JavaScript, Perl, Ruby, PHP, Lua and awk share.
//! Names that are imported or assigned are followed; code that hides what it does is not seen through.

mod tokens;

use std::collections::HashMap;

use termd_proto::policy::MAX_JUDGED_BYTES;

use super::writes;
use crate::program::table::ProgramTable;
use tokens::{Token, tokens};

/// Calls that give a text or a list of texts to the system to run, by the last part of their name.
const RUNNERS: &str = "
    system popen popen2 popen3 Popen exec execSync execFile execFileSync execa spawn spawnSync fork_exec
    run call check_call check_output getoutput getstatusoutput shell_exec passthru proc_open qx capture2 capture3
    capture2e execl execle execlp execv execve execvp execvpe spawnl spawnv posix_spawn os_system sh backtick
    create_subprocess_shell create_subprocess_exec io_popen Open3 command Command shell zx execaCommand
    execCommand startProcess";
/// Calls that remove whole trees.
const TREE_REMOVERS: &str = "
    rmtree rm_rf rm_r remove_dir remove_entry_secure remove_tree rimraf rimrafSync removeSync emptyDirSync deltree
    rmdir_r remove_dir_all remove_entry";
/// Calls that remove a tree where an option says so.
const RECURSIVE: &str = "rm rmSync rmdir rmdirSync remove unlink";
/// Calls that remove a file.
const REMOVERS: &str = "unlink unlinkSync remove rm rmSync removedirs unlink_p delete";
/// Calls that write a file whose name is their first text.
const WRITERS: &str = "
    writeFile writeFileSync appendFile appendFileSync write_text write_bytes file_put_contents createWriteStream
    copyFile copyFileSync copyfile rename renameSync symlink symlinkSync move copy cp cpSync";
/// Calls that stop processes or the machine.
const KILLERS: &str = "kill killpg";

/// Why code is dangerous by itself.
pub(crate) fn danger(table: &ProgramTable, code: &str) -> Option<String> {
    let code = judged_part(code);
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let forks = [
        "forkwhile",
        "fork()while",
        "while1{fork",
        "while(1){fork",
        "fork||redo",
        "loop{fork",
        "fork&fork",
    ];
    let loops = ["whileTrue:", "while1:", "while(true)", "for(;;)", "loopdo"];
    if forks.iter().any(|fork| tight.contains(fork))
        || (loops.iter().any(|start| tight.contains(start))
            && ["os.fork()", "fork()", "forkpty()", ".fork("]
                .iter()
                .any(|fork| tight.contains(fork)))
    {
        return Some("it starts itself over and over: a fork bomb".to_owned());
    }
    if (tight.contains("dup2(") && (tight.contains("socket") || tight.contains("connect")))
        || (tight.contains("pty.spawn") && tight.contains("socket"))
        || tight.contains("TCPSocket") && (tight.contains("exec") || tight.contains("spawn"))
        || tight.contains("fsockopen") && (tight.contains("exec") || tight.contains("proc_open"))
        || tight.contains("net.Socket") && (tight.contains("spawn") || tight.contains("exec"))
        || tight.contains("createConnection") && tight.contains("spawn(")
        || tight.contains("usesocket")
        || tight.contains("useSocket") && tight.contains("exec")
    {
        return Some("it ties a program to a connection".to_owned());
    }
    let fetches = [
        "urlopen(",
        "requests.get(",
        "fetch(",
        "http.get(",
        "https.get(",
        "URI.open(",
        "urlretrieve(",
        "LWP::Simple",
        "file_get_contents('http",
        "file_get_contents(\"http",
        "Net::HTTP.get",
    ];
    let evaluates = [
        "exec(",
        "eval(",
        "(eval)",
        "os.system(",
        "subprocess",
        "Function(",
        "loads(",
        "instance_eval",
    ];
    if fetches.iter().any(|call| tight.contains(call))
        && evaluates.iter().any(|call| tight.contains(call))
    {
        return Some("it runs what it fetches, unseen".to_owned());
    }
    let decodes = [
        "b64decode(",
        "atob(",
        "base64_decode(",
        "decode64(",
        "decode_base64(",
        "fromCharCode(",
        "'base64'",
        "\"base64\"",
        "unhexlify(",
        "fromhex(",
        "gzinflate(",
    ];
    if decodes.iter().any(|call| tight.contains(call))
        && ["exec(", "eval(", "system(", "Function("]
            .iter()
            .any(|call| tight.contains(call))
    {
        return Some("it runs what it decodes, unseen".to_owned());
    }
    let written = tokens(code);
    let redirected = written.windows(2).find_map(|pair| match pair {
        [Token::Sign('>'), Token::Text(path)] if path.starts_with(['/', '~']) => {
            writes::danger(table.files(), path, false)
        }
        _ => None,
    });
    redirected.or_else(|| of_calls(table, &calls(code), &tight))
}

/// One call: the last part of its name, and the texts among its arguments.
#[derive(Debug)]
struct Call {
    /// The whole name, its parts joined by dots.
    path: String,
    name: String,
    texts: Vec<String>,
    /// The words among its arguments.
    words: Vec<String>,
}

fn is_listed(word: &str, list: &str) -> bool {
    crate::word_list::is_listed(word, list)
}

fn of_calls(table: &ProgramTable, calls: &[Call], tight: &str) -> Option<String> {
    let files = table.files();
    let sends = [
        "requests.post(",
        "requests.put(",
        "urlopen(",
        "fetch(",
        "http.request(",
        "https.request(",
        "axios.post(",
        "Net::HTTP.post",
        "sendall(",
        ".send(",
        "smtplib",
        "curl_exec(",
        "LWP",
        "sendto(",
    ];
    let sends = sends.iter().any(|call| tight.contains(call));
    for call in calls {
        let removes_tree = is_listed(&call.name, TREE_REMOVERS)
            || (is_listed(&call.name, RECURSIVE)
                && call
                    .words
                    .iter()
                    .any(|word| matches!(&**word, "recursive" | "force")));
        let loads = call.name == "require" && call.texts.iter().any(|text| text == "rimraf");
        if removes_tree || loads {
            return Some(format!("`{}` removes whole trees", call.name));
        }
        let lists = [
            "glob(",
            "walk(",
            "listdir(",
            "readdirSync(",
            "Dir[",
            "iterdir(",
            "unlinkglob",
            "unlink<",
            "scandir(",
            "<*",
            "Dir.glob",
            "rglob(",
            "readdir(",
        ];
        let removes = is_listed(&call.name, REMOVERS)
            || call.texts.iter().any(|text| is_listed(text, REMOVERS));
        if removes && lists.iter().any(|call| tight.contains(call)) {
            return Some(format!("`{}` removes all that it finds", call.name));
        }
        let removed = call
            .texts
            .first()
            .filter(|_| is_listed(&call.name, REMOVERS));
        if let Some(reason) = removed.and_then(|path| writes::removal(files, path)) {
            return Some(reason);
        }
        let opens = matches!(&*call.name, "open" | "fopen" | "openSync" | "new" | "Path");
        let mode = call.texts.get(1).map_or("", String::as_str);
        let writes_file = is_listed(&call.name, WRITERS)
            || (opens && mode.contains(['w', 'a', '+', 'x', '>']))
            || (opens
                && ["write_text", "write_bytes"]
                    .iter()
                    .any(|call| tight.contains(call)));
        if writes_file {
            let appends = mode.starts_with('a') || call.name.starts_with("append");
            let mut paths = call.texts.iter().take(2);
            let reason = paths.find_map(|path| {
                let path = path.trim_start_matches(['>', ' ']);
                writes::danger(files, path, appends)
                    .filter(|_| path.contains('/') || path.starts_with('~'))
            });
            if reason.is_some() {
                return reason;
            }
        }
        if sends
            && call
                .texts
                .iter()
                .any(|text| writes::is_credential(files, text) && text.len() > 2)
        {
            return Some("it reads secrets and sends something".to_owned());
        }
        if sends && tight.contains("environ") && call.path.contains("environ") {
            return Some("it sends the environment".to_owned());
        }
        let kills_all = is_listed(&call.name, KILLERS)
            && (call
                .words
                .iter()
                .any(|word| matches!(&**word, "SIGKILL" | "9"))
                || call
                    .texts
                    .iter()
                    .any(|text| matches!(&**text, "SIGKILL" | "KILL")));
        if kills_all {
            return Some("it kills processes that cannot clean up".to_owned());
        }
        if call.name == "chmod"
            && call
                .words
                .iter()
                .any(|word| matches!(&**word, "0o777" | "0777" | "511"))
        {
            return Some("it opens a file to everybody".to_owned());
        }
    }
    let calls_sql = calls.iter().filter(|call| {
        is_listed(
            &call.name,
            "execute executescript query raw $executeRawUnsafe execute_sql",
        )
    });
    calls_sql
        .flat_map(|call| &call.texts)
        .find_map(|text| super::sql::danger(crate::program::kind::SqlClient::Sql, text))
}

/// The lines that code may give to a shell: the texts of its calls that start programs. The last one of
/// a call is all of them joined: `subprocess.run(["rm", "-rf", "x"])` is a line in pieces.
pub(crate) fn shell_lines(code: &str) -> Vec<String> {
    let code = judged_part(code);
    let mut lines = Vec::new();
    for call in calls(code) {
        if is_listed(&call.name, RUNNERS)
            || call.path.starts_with("os.")
            || call.path.starts_with("subprocess.")
        {
            lines.extend(call.texts.iter().cloned());
            if call.texts.len() > 1 {
                lines.push(call.texts.join(" "));
            }
        }
    }
    lines
}

/// The part of a code that is judged.
fn judged_part(code: &str) -> &str {
    code.get(..code.floor_char_boundary(MAX_JUDGED_BYTES))
        .unwrap_or(code)
}

/// The calls in a code. `system "x"`, `qx(x)`, `` `x` `` and `open(F, "| x")` are calls, too.
fn calls(code: &str) -> Vec<Call> {
    let tokens = tokens(code);
    let names = aliases(&tokens);
    let mut calls = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens.get(at) {
            Some(Token::Shell(text)) => calls.push(Call {
                path: "`".to_owned(),
                name: "sh".to_owned(),
                texts: vec![text.clone()],
                words: Vec::new(),
            }),
            Some(Token::Word(first)) => {
                let mut parts = vec![names.get(first).cloned().unwrap_or_else(|| first.clone())];
                let mut end = at + 1;
                loop {
                    let next = (tokens.get(end), tokens.get(end + 1));
                    match next {
                        (
                            Some(Token::Sign('.' | ':' | '>' | '-' | '?')),
                            Some(Token::Word(part)),
                        ) => {
                            parts.push(part.clone());
                            end += 2;
                        }
                        (
                            Some(Token::Sign('.' | ':' | '-')),
                            Some(Token::Sign('.' | ':' | '>')),
                        ) => end += 1,
                        _ => break,
                    }
                }
                let path = parts.join(".");
                let name = path.rsplit('.').next().unwrap_or_default().to_owned();
                let (texts, words) = arguments(&tokens, end, &names);
                let is_call = matches!(
                    tokens.get(end),
                    Some(Token::Sign('(') | Token::Text(_) | Token::Sign('['))
                ) || (matches!(tokens.get(end), Some(Token::Word(_)))
                    && !texts.is_empty());
                if is_call || path.contains("environ") || path == "process.env" {
                    calls.push(Call {
                        path,
                        name,
                        texts,
                        words,
                    });
                }
                // The arguments are read for calls of their own.
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    calls
}

/// The texts and words among the arguments that begin at a token, to the bracket that closes them or
/// the end of the statement.
fn arguments(
    tokens: &[Token],
    from: usize,
    names: &HashMap<String, String>,
) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut words) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for token in tokens.iter().skip(from) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            Token::Sign(';' | '\n') if depth == 0 => break,
            Token::Text(text) | Token::Shell(text) => texts.push(text.clone()),
            Token::Word(word) => {
                if let Some(value) = names.get(&format!("={word}")) {
                    texts.push(value.clone());
                }
                words.push(word.clone());
            }
            Token::Sign(_) => {}
        }
    }
    (texts, words)
}

/// What names stand for: `from shutil import rmtree as x`, `x = shutil.rmtree`, `const {rmSync: x} = …`.
/// A name that holds a text stands behind `=`.
fn aliases(tokens: &[Token]) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for window in tokens.windows(3) {
        match window {
            [Token::Word(name), Token::Word(word), Token::Word(alias)] if word == "as" => {
                names.insert(alias.clone(), name.clone());
            }
            [Token::Word(alias), Token::Sign('='), Token::Text(text)] => {
                names.insert(format!("={alias}"), text.clone());
            }
            [Token::Word(name), Token::Sign(':'), Token::Word(alias)] => {
                if is_listed(name, RUNNERS)
                    || is_listed(name, TREE_REMOVERS)
                    || is_listed(name, RECURSIVE)
                {
                    names.insert(alias.clone(), name.clone());
                }
            }
            _ => {}
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let (Token::Word(alias), Some(Token::Sign('='))) = (token, tokens.get(at + 1)) else {
            continue;
        };
        let value: Vec<&Token> = tokens
            .iter()
            .skip(at + 2)
            .take_while(|token| matches!(token, Token::Word(_) | Token::Sign('.')))
            .collect();
        let ends = matches!(
            tokens.get(at + 2 + value.len()),
            None | Some(Token::Sign(';' | '\n' | ','))
        );
        if let (Some(Token::Word(last)), true) = (value.last(), ends) {
            names.insert(alias.clone(), last.clone());
        }
    }
    names
}
