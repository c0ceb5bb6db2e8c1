//! Code of an interpreter: calls that remove, start, send and write, and the shell lines that calls give
//! to the system.
//!
//! Code is read as words, texts and signs, which Python, JavaScript, Perl, Ruby, PHP, Lua and awk share.
//! Names that are imported or assigned are followed; code that hides what it does is not seen through.

pub(crate) mod calls;
pub(crate) mod constants;
pub(crate) mod fetching;
mod harmless;
mod hidden;
mod lines;
pub(crate) mod lisp;
mod processes;
mod remote;
mod sending;
pub(crate) mod session;
pub(crate) mod tokens;

use termd_proto::policy::MAX_JUDGED_BYTES;

use super::files::is_kept;
use super::writes::Files;
use super::{sql, writes};
use crate::program::kind::{SqlClient, base_name, is_shell};
use crate::program::table::ProgramTable;
use crate::shell::place::Place;
use crate::word_list::is_listed;
use calls::{Call, calls};
pub(crate) use harmless::is_harmless;
use hidden::BY_NAME;
pub(crate) use lines::shell_lines;
use tokens::{Token, tokens};

/// Calls that give a text or a list of texts to the system to run, by the last part of their name.
const RUNNERS: &str = "
    system popen popen2 popen3 Popen exec execSync execFile execFileSync execa spawn spawnSync fork_exec
    run call check_call check_output getoutput getstatusoutput shell_exec passthru proc_open qx capture2 capture3
    capture2e execl execle execlp execv execve execvp execvpe spawnl spawnv posix_spawn os_system sh backtick
    create_subprocess_shell create_subprocess_exec io_popen Open3 command Command shell zx execaCommand
    execCommand system2 exec_command pcntl_exec posix_spawnp startProcess callCommand callProcess readProcess rawSystem cmd shell_command syscmd esyscmd
    run_program run_shell_command launch_program call_process call_process_shell_command start_process make_process
    start_process_shell_command shell_command_to_string async_shell_command process_lines open_input_pipe
    open_output_pipe open_pipe sys_system process_execute run_process process unix dos execCmd execCmdEx execProcess
    startDetached process_open process_call process_run Process waitForProcess runCommand execShellCmd execvpe";
/// Calls that remove whole trees.
const TREE_REMOVERS: &str = "
    rmtree rm_rf rm_r remove_dir remove_entry_secure remove_tree rimraf rimrafSync removeSync emptyDirSync deltree
    rmdir_r remove_dir_all remove_entry deleteDir deleteRecursively removeDirectoryRecursive removePathForcibly
    delete_tree removeItem removeDir deleteDirectory delete_directory delete_directory_tree delete_directory_files
    delete_file_recursively delete_directory_recursively remove_directory rmdir_all RemoveAll del_dir_r dir_delete
    rmDir remove_all confirm_recursive_rmdir recursive_delete rmtree_p delete_dir deleteTree removeAll cleanDirectory
    rmdir_recursive delete_directory_and_contents";
/// Calls that remove a tree where an option says so.
const RECURSIVE: &str = "rm rmSync rmdir rmdirSync remove unlink delete deleteSync";
/// Calls that remove a file.
const REMOVERS: &str = "unlink unlinkSync remove rm rmSync removedirs unlink_p rm_f delete
    delete_file deleteFile file_delete removeFile dir_remove deleteSync deleteIfExists Unlink Remove";
/// Calls that write a file whose name is their first text.
const WRITERS: &str = "
    writeFile writeFileSync appendFile appendFileSync write_text write_bytes file_put_contents createWriteStream
    call_with_output_file with_output_to_file open_output_file write_region
    chmod chown chmodSync chownSync lchown
    copyFile copyFileSync copyfile rename renameSync symlink symlinkSync move copy cp cpSync";
/// What opens a connection.
const CONNECTIONS: [&str; 20] = [
    "sockaddr_in(",
    "net.createConnection",
    "gen_tcp.connect",
    ":gen_tcp.connect",
    "socketConnection(",
    "Net.Sockets.TCPClient",
    "Bun.connect(",
    "newSocket(",
    "net.Dial(",
    "socket.socket(",
    "create_connection(",
    "TCPSocket",
    "fsockopen",
    "net.Socket",
    "net.connect(",
    "IO::Socket",
    "socket.tcp(",
    "Deno.connect(",
    "stream_socket_client",
    "/inet/tcp/",
];

/// What starts a program.
const STARTS: [&str; 14] = [
    "exec\"",
    "exec'",
    "execv(",
    "pty.spawn",
    "getRuntime()",
    "subprocess",
    "popen",
    "Popen",
    "exec(",
    "system(",
    "spawn(",
    "proc_open",
    "shell_exec",
    "getline<",
];

/// What empties a file whatever it is called.
const EMPTIED_FILES: [&str; 17] = [
    "'w').close()",
    "'w'):close()",
    "'wb').close()",
    "'w').write('')",
    "'w').truncate(",
    "'w'){}",
    "'w').pass",
    "writeFileSync(process.argv[1],'')",
    "printf''>",
    "print''>",
    "copyfile('/dev/null'",
    "copy('/dev/null'",
    ".truncate(0)",
    "file.truncate(",
    "truncateSync(",
    "filedelete-force",
    "rm_rf!(",
];
/// Calls that write the last of their texts to a file.
const TEXT_WRITERS: [&str; 9] = [
    "write_text(",
    "write_bytes(",
    "writeFile(",
    "writeFileSync(",
    "File.write(",
    "IO.write(",
    "file_put_contents(",
    "Bun.write(",
    "writeTextFile(",
];
/// Beginnings of the names of `PowerShell`'s commands that remove, stop or run what is not seen.
const CMDLETS: [&str; 20] = [
    "remove-item",
    "remove-computer",
    "remove-localuser",
    "remove-vm",
    "remove-ad",
    "remove-az",
    "clear-content",
    "clear-disk",
    "clear-recyclebin",
    "clear-eventlog",
    "format-volume",
    "stop-computer",
    "restart-computer",
    "stop-service",
    "stop-process",
    "invoke-expression",
    "set-executionpolicy",
    "disable-netfirewall",
    "set-mppreference",
    "uninstall-",
];

/// What decodes a text.
const DECODES: [&str; 22] = [
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
    "codecs.decode(",
    ".decompress(",
    "marshal.loads(",
    "bytes([",
    "chr(",
    "[::-1]",
    "str_rot13(",
    "hex2bin(",
    "strrev(",
    ".reverse().join",
    "pack(",
];

/// Calls that decode a text, or make one of numbers, where what they are given is no constant.
const DECODERS: &str = "
    b64decode atob base64_decode decode64 decode_base64 fromCharCode fromCodePoint unhexlify fromhex gzinflate
    gzuncompress gzdecode decompress rot13 str_rot13 hex2bin unpack pack chr unescape codecs intToUtf8 rawToChar
    bytearray Buffer strrev reversed urldecode";

/// Why code is dangerous by itself.
pub(crate) fn danger(table: &ProgramTable, place: &Place, code: &str) -> Option<String> {
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
    let loops = [
        "whileTrue:",
        "while1:",
        "while(true)",
        "while(1)",
        "for(;;)",
        "loopdo",
    ];
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
    if CONNECTIONS.iter().any(|call| tight.contains(call))
        && STARTS.iter().any(|call| tight.contains(call))
    {
        return Some("it ties a program to a connection".to_owned());
    }
    if let Some(reason) = hidden::danger(code) {
        return Some(reason);
    }
    if let Some(reason) = fetching::danger(code, &tight) {
        return Some(reason);
    }
    let quoted = tight.replace('"', "'");
    if EMPTIED_FILES.iter().any(|call| quoted.contains(call))
        || empties_by_text(&tight)
        || opens_to_empty(&quoted)
    {
        return Some("it empties files".to_owned());
    }
    if CMDLETS.iter().any(|verb| {
        let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '-'));
        words.any(|word| word.to_ascii_lowercase().starts_with(verb))
    }) {
        return Some("it removes or stops something".to_owned());
    }
    if DECODES.iter().any(|call| tight.contains(call))
        && ["exec(", "eval(", "system(", "Function("]
            .iter()
            .any(|call| tight.contains(call))
    {
        return Some("it runs what it decodes, unseen".to_owned());
    }
    let files = Files::new(table.files(), place);
    let written = tokens(code);
    let redirected = written.windows(2).find_map(|pair| match pair {
        [Token::Sign('>'), Token::Text(path)] if path.starts_with(['/', '~']) => {
            writes::danger(files, path, false)
        }
        _ => None,
    });
    if written.windows(2).any(feeds_shell) {
        return Some("it gives a shell what it prints".to_owned());
    }
    let removed = redirected.or_else(|| of_listed(&written, &tight));
    removed.or_else(|| of_calls(files, &calls(code), &tight))
}

/// Whether a call writes an empty text: `write_text('')`.
fn empties_by_text(tight: &str) -> bool {
    TEXT_WRITERS.iter().any(|call| {
        let mut behind = tight.split(call).skip(1);
        behind.any(|rest| {
            let arguments = rest.split(')').next().unwrap_or_default();
            arguments.ends_with("''") || arguments.ends_with("\"\"")
        })
    })
}

/// Whether Perl opens a file anew and prints nothing: `open(F, ">", "x")`.
fn opens_to_empty(quoted: &str) -> bool {
    let opens = quoted.contains("open(") && (quoted.contains(",'>','") || quoted.contains(",'>"));
    opens
        && !["print", "say", "write", "dup"]
            .iter()
            .any(|call| quoted.contains(call))
}

/// Whether two tokens give a shell what code prints: `print | "sh"`, `open(F, "|sh")`.
fn feeds_shell(pair: &[Token]) -> bool {
    let starts_shell =
        |line: &str| is_shell(base_name(line.split_whitespace().next().unwrap_or("")));
    match pair {
        [Token::Sign('|'), Token::Text(line)] => starts_shell(line),
        [Token::Text(line), _] | [_, Token::Text(line)] => {
            let command = line.trim_start().strip_prefix('|');
            command.is_some_and(starts_shell)
        }
        _ => false,
    }
}

/// Calls that list the files of a directory.
const LISTERS: [&str; 36] = [
    "DirectoryIterator(",
    "FilesystemIterator(",
    "directory_list(",
    "directory_files(",
    ",directory(",
    "remove(dir(",
    "dir_ls(",
    "walkDir",
    "listFiles(",
    "File.ls",
    "unlinkdir",
    "readDirSync(",
    "find(sub",
    "list.files(",
    "list_files(",
    "lfs.dir(",
    "File::Find",
    "Find.find",
    "opendir",
    "readdir()",
    "io.popen(",
    "IO.popen(",
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
    "Dir.each",
];
const SQL_CALLS: &str = "execute executescript query raw $executeRawUnsafe execute_sql";

fn of_calls(files: Files<'_>, calls: &[Call], tight: &str) -> Option<String> {
    let of_any = calls.iter().find_map(|call| {
        of_removal(files, call, tight)
            .or_else(|| remote::of_library(call, tight))
            .or_else(|| remote::of_store(call, tight))
            .or_else(|| of_write(files, call, tight))
            .or_else(|| processes::danger(call, tight))
            .or_else(|| decoded(call))
            .or_else(|| of_statement(call))
    });
    of_any.or_else(|| sending::danger(files, calls, tight))
}

/// Why a call is dangerous that runs what the code decodes.
fn decoded(call: &Call) -> Option<String> {
    let runs = [RUNNERS, BY_NAME, "eval exec Function loadstring load"]
        .iter()
        .any(|calls| is_listed(&call.name, calls));
    let decodes = call.words.iter().any(|word| is_listed(word, DECODERS));
    (runs && decodes).then(|| "it runs what it decodes, unseen".to_owned())
}

/// Why code is dangerous that gives what lists files a call that removes one: `foreach(rm, readdir())`.
fn of_listed(written: &[Token], tight: &str) -> Option<String> {
    let is_remover = |token: &Token| matches!(token, Token::Word(word) if matches!(&**word, "unlink" | "rm" | "unlinkSync" | "delete_file" | "removeFile"));
    // Ruby's `File.delete f`.
    let is_method = |window: &[Token]| {
        matches!(window, [Token::Word(class), Token::Sign('.'), Token::Word(name)]
            if is_listed(class, "File FileUtils Pathname Dir") && is_listed(name, "delete rm rm_f unlink"))
    };
    let removes = written.iter().any(is_remover) || written.windows(3).any(is_method);
    let lists = LISTERS.iter().any(|lister| tight.contains(lister));
    (removes && lists).then(|| "it removes all that it finds".to_owned())
}

fn of_removal(files: Files<'_>, call: &Call, tight: &str) -> Option<String> {
    let recursive = |word: &String| matches!(word.as_str(), "recursive" | "force");
    // shelljs' and sh's `rm('-rf', x)`.
    let is_option = |text: &String| matches!(text.as_str(), "-rf" | "-fr" | "-r" | "-R" | "-Rf");
    let loads = call.name == "require"
        && call
            .texts
            .iter()
            .any(|text| matches!(text.as_str(), "rimraf" | "del"));
    if loads
        || call.path == "delete.directory"
        || call.path.ends_with("delete.tree")
        || call.path.ends_with("delete_directory.files")
        || call.path.ends_with("remove.all")
        || is_listed(&call.name, TREE_REMOVERS)
        || (is_listed(&call.name, RECURSIVE)
            && (call.words.iter().any(recursive) || call.texts.iter().any(is_option)))
    {
        return Some(format!("`{}` removes whole trees", call.name));
    }
    // Octave's `rmdir(x, "s")`, vim's `delete(x, "rf")`, Ant's `delete(dir: x)`.
    let mode = call.texts.get(1).map_or("", String::as_str);
    let is_tree = call.name == "rmdir" && mode == "s"
        || call.name == "delete" && matches!(mode, "rf" | "d")
        || call.name == "delete" && tight.contains("delete(dir:");
    if is_tree {
        return Some(format!("`{}` removes whole trees", call.name));
    }
    let named = call.texts.iter().any(|text| is_listed(text, REMOVERS));
    let removes = is_listed(&call.name, REMOVERS);
    let first = call.texts.first().filter(|_| removes);
    if first.is_some_and(|path| path.contains('*') && path.contains(['.', '/'])) {
        return Some(format!("`{}` removes all that a pattern fits", call.name));
    }
    if (removes || named) && LISTERS.iter().any(|lister| tight.contains(lister)) {
        return Some(format!("`{}` removes all that it finds", call.name));
    }
    let path = call.texts.first().filter(|_| removes)?;
    writes::removal(files, path)
}

fn of_write(files: Files<'_>, call: &Call, tight: &str) -> Option<String> {
    let opens = matches!(&*call.name, "open" | "fopen" | "openSync" | "new" | "Path");
    let mode = call.texts.get(1).map_or("", String::as_str);
    let writes_text = ["write_text", "write_bytes"]
        .iter()
        .any(|call| tight.contains(call));
    // Perl's `open F, ">", x`.
    let is_anew = call.texts.first().is_some_and(|text| text.starts_with('>'));
    let opens_to_write =
        opens && (is_anew || mode.contains(['w', 'a', '+', 'x', '>']) || writes_text);
    if !is_listed(&call.name, WRITERS) && !opens_to_write {
        return None;
    }
    // `open(x, 'w')` alone.
    let writes = [
        "write",
        "dump",
        "print",
        "save",
        "copyfileobj",
        "to_csv",
        "savefig",
        "puts",
        "<<",
        "to_json",
    ];
    let path = call.texts.first().map_or("", String::as_str);
    if call.name == "open"
        && mode == "w"
        && is_kept(path)
        && !writes.iter().any(|part| tight.contains(part))
    {
        return Some("`open` empties a file".to_owned());
    }
    if !opens && call.texts.iter().take(2).any(|text| text == "/dev/null") {
        return Some(format!("`{}` empties a file", call.name));
    }
    let appends = mode.starts_with('a') || call.name.starts_with("append");
    call.texts.iter().take(2).find_map(|path| {
        let path = path.trim_start_matches(['>', ' ']);
        let is_path = path.contains('/') || path.starts_with('~');
        writes::danger(files, path, appends).filter(|_| is_path)
    })
}

fn of_statement(call: &Call) -> Option<String> {
    let texts = call
        .texts
        .iter()
        .filter(|_| is_listed(&call.name, SQL_CALLS));
    let mut dangers = texts.map(|text| sql::danger(SqlClient::Sql, text));
    dangers.find_map(|danger| danger)
}

/// The part of a code that is judged.
fn judged_part(code: &str) -> &str {
    code.get(..code.floor_char_boundary(MAX_JUDGED_BYTES))
        .unwrap_or(code)
}
