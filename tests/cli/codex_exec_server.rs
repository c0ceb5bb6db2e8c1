//! `termctl codex-exec-server`: what passes, what changes, and how it ends, with a scripted server in
//! the place of codex, and with the real one.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use termd_test_support::packages::NodeModules;
use termd_test_support::{Home, skip, wait_until};

static CODEX: NodeModules = NodeModules::new("codex", &["@openai/codex@0.171.0"]);

/// A request as codex sends it: without `jsonrpc`, and with the id last.
const INITIALIZE: &str =
    "{\"method\":\"initialize\", \"params\":{\"clientName\":\"t\"},\"id\":1}\n";
const ANSWER: &str = r#"{"id":1,"result":{"sessionId":"s","environmentInfo":{"shell":{"name":"bash","path":"/bin/bash"},"n":1.50}}}"#;

/// A home with links, as `termctl setup --shell` makes them.
struct Shells {
    home: Home,
}

impl Shells {
    fn new() -> Self {
        let home = Home::create();
        let shells = home.user_home().join(".local/share/termd/shells");
        fs::create_dir_all(&shells).unwrap();
        for name in ["bash", "zsh", "sh"] {
            symlink("/bin/sh", shells.join(name)).unwrap();
        }
        Self { home }
    }

    fn bash(&self) -> PathBuf {
        self.home.user_home().join(".local/share/termd/shells/bash")
    }

    fn answer(&self) -> String {
        ANSWER.replace("/bin/bash", self.bash().to_str().unwrap())
    }

    /// A `codex` on PATH that checks its arguments and then runs this script.
    fn codex(&self, script: &str) {
        let arguments = "[ \"$*\" = 'exec-server --listen stdio' ] || exit 99\n";
        let script = format!("#!/bin/bash\n{arguments}{script}");
        self.home.install("codex", &script);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_termctl"));
        command.arg("codex-exec-server").args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    fn start(&self) -> Running {
        Running::of(self.command(&[]).spawn().unwrap())
    }
}

/// A server that runs.
struct Running {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn of(mut child: Child) -> Self {
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn write(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Closes standard input: the rest of the output, and the exit code.
    fn finish(mut self) -> (String, Option<i32>) {
        drop(self.child.stdin.take());
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code();
        (String::from_utf8_lossy(&rest).into_owned(), code)
    }
}

#[test]
fn one_field_changes_and_every_other_byte_passes_both_ways() {
    let shells = Shells::new();
    let received = shells.home.path("received");
    // What is no JSON, a half line and 3 MiB on one line come before the answer, and after it an answer
    // that looks like it.
    shells.codex(&format!(
        "echo noise; printf '\\0\\001\\n'; printf '{{\"a\":\"'; head -c 3145728 /dev/zero | tr '\\0' x; echo '\"}}'\n\
         read -r line; echo \"$line\" > {received}\n\
         echo '{ANSWER}'; echo '{ANSWER}'; printf half\n\
         cat >> {received}; exit 7\n",
        received = received.display()
    ));
    let sandboxed = "{\"id\":17,\"method\":\"process/start\",\"params\":{\"argv\":[\"/bin/bash\",\"-lc\",\"x\"],\"sandbox\":{\"permissions\":{\"type\":\"managed\"}}}}\n";
    let long = format!("{{\"b\":\"{}\"}}\n", "y".repeat(2 << 20));
    let sent = format!("{INITIALIZE}{sandboxed}\u{1}\n{long}no newline");
    let mut server = shells.start();
    let mut stdin = server.child.stdin.take().unwrap();
    let text = sent.clone();
    let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let (output, code) = server.finish();
    writing.join().unwrap().unwrap();
    let want = format!(
        "noise\n\0\u{1}\n{{\"a\":\"{}\"}}\n{}\n{ANSWER}\nhalf",
        "x".repeat(3 << 20),
        shells.answer()
    );
    assert!(output == want, "{} of {} bytes", output.len(), want.len());
    assert!(fs::read_to_string(&received).unwrap() == sent);
    assert_eq!(code, Some(7));
}

#[test]
fn each_line_passes_at_once() {
    let shells = Shells::new();
    shells.codex(&format!("read -r line; echo '{ANSWER}'; cat"));
    let mut server = shells.start();
    server.write(INITIALIZE);
    assert_eq!(server.line(), format!("{}\n", shells.answer()));
    for _ in 0..3 {
        server.write("{\"method\":\"initialized\"}\n");
        assert_eq!(server.line(), "{\"method\":\"initialized\"}\n");
    }
    assert_eq!(server.finish(), (String::new(), Some(0)));
}

#[test]
fn an_error_is_no_answer_and_a_shell_that_we_do_not_have_stays() {
    let shells = Shells::new();
    let error = "{\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}";
    shells.codex(&format!(
        "echo '{error}'; read -r a; echo '{error}'; read -r b; echo '{ANSWER}'"
    ));
    let mut server = shells.start();
    assert_eq!(server.line(), format!("{error}\n"));
    server.write(INITIALIZE);
    assert_eq!(server.line(), format!("{error}\n"));
    server.write(INITIALIZE);
    assert_eq!(server.line(), format!("{}\n", shells.answer()));
    server.finish();

    fs::remove_file(shells.bash()).unwrap();
    shells.codex(&format!("read -r line; echo '{ANSWER}'"));
    let mut server = shells.start();
    server.write(INITIALIZE);
    assert_eq!(server.line(), format!("{ANSWER}\n"));
    server.finish();
}

#[test]
fn ends_and_signals_are_passed_on() {
    let shells = Shells::new();
    // The end of standard input reaches the server.
    shells.codex("cat > /dev/null; echo end; exit 3");
    assert_eq!(shells.start().finish(), ("end\n".to_owned(), Some(3)));
    // The end of the server's output reaches the client while the server runs.
    shells.codex("exec >&-; cat > /dev/null; exit 4");
    let mut server = shells.start();
    assert_eq!(server.line(), "");
    assert_eq!(server.finish().1, Some(4));
    // Signals reach the server.
    shells.codex("trap 'echo got; exit 5' TERM; echo ready; while :; do read -r x || :; done");
    let mut server = shells.start();
    assert_eq!(server.line(), "ready\n");
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    // A shell that waits for a line ends behind it. Another one may have ended.
    let _ = server.child.stdin.as_mut().unwrap().write_all(b"\n");
    assert_eq!(server.line(), "got\n");
    assert_eq!(server.finish().1, Some(5));
    // A server that a signal ends.
    shells.codex("kill -9 $$");
    assert_eq!(shells.start().finish().1, Some(137));
    // A client that reads no more.
    shells.codex("while echo x; do :; done 2>/dev/null; exit 6");
    let mut server = shells.start();
    drop(server.output);
    assert!(server.child.wait().unwrap().signal().is_none());
    // A process that is left behind does not hold it up.
    shells.codex("sleep 1000 & echo $!; exit 0");
    let mut server = shells.start();
    let pid: i32 = server.line().trim().parse().unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    wait_until("what was left behind has ended", || has_ended(pid));
}

#[test]
fn the_program_may_be_named_and_must_be_there() {
    let shells = Shells::new();
    let other = shells
        .home
        .install("other-codex", "#!/bin/sh\necho \"$*\"\n");
    let output = shells
        .command(&["--codex", other.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"exec-server --listen stdio\n");
    let mut missing = shells.command(&["--codex", "/nowhere/codex"]);
    let output = missing.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("cannot start /nowhere/codex"), "{error}");
}

/// The real server: its answer has our shell, and a command that is started with that shell runs in it.
#[test]
fn the_real_codex_runs_commands_by_our_shell() {
    let folder = match CODEX.folder() {
        Ok(folder) => folder,
        Err(reason) => return skip("the_real_codex_runs_commands_by_our_shell", reason),
    };
    let shells = Shells::new();
    let used = shells.home.path("used");
    fs::remove_file(shells.bash()).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$0 $*\" >> {}\nexec /bin/bash \"$@\"\n",
        used.display()
    );
    symlink(shells.home.install("our-shell", &script), shells.bash()).unwrap();
    let codex = folder.join("node_modules/.bin/codex");
    let mut command = shells.command(&["--codex", codex.to_str().unwrap()]);
    let mut server = Running::of(command.stderr(Stdio::null()).spawn().unwrap());
    let initialize = json!({ "id": 1, "method": "initialize", "params": { "clientName": "termd", "resumeSessionId": null } });
    server.write(&format!("{initialize}\n"));
    let answer: Value = serde_json::from_str(&server.line()).unwrap();
    let shell = &answer["result"]["environmentInfo"]["shell"];
    assert_eq!(shell["path"], shells.bash().to_str().unwrap(), "{answer}");
    server.write("{\"method\":\"initialized\",\"params\":{}}\n");
    let start = json!({ "id": 2, "method": "process/start", "params": {
        "processId": "p", "argv": [shell["path"], "-c", "echo out; exit 3"],
        "cwd": format!("file://{}", shells.home.user_home().display()),
        "envPolicy": { "inherit": "all", "ignoreDefaultExcludes": true, "exclude": [], "set": {}, "includeOnly": [] },
        "env": { "PATH": "/usr/bin:/bin" }, "tty": false, "pipeStdin": false, "arg0": null, "sandbox": null,
        "enforceManagedNetwork": false, "managedNetwork": null,
    } });
    server.write(&format!("{start}\n"));
    let mut output = Vec::new();
    let mut code = Value::Null;
    loop {
        let line = server.line();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert!(message.get("error").is_none(), "{message}");
        match message["method"].as_str() {
            Some("process/output") => {
                let chunk = message["params"]["chunk"].as_str().unwrap();
                let engine = base64::engine::general_purpose::STANDARD;
                output.extend(engine.decode(chunk).unwrap());
            }
            // Output may still come after the exit.
            Some("process/exited") => code = message["params"]["exitCode"].clone(),
            Some("process/closed") => break,
            _ => {}
        }
    }
    assert_eq!((output.as_slice(), code), (&b"out\n"[..], json!(3)));
    let used = fs::read_to_string(used).unwrap();
    assert_eq!(
        used,
        format!("{} -c echo out; exit 3\n", shells.bash().display())
    );
    server.finish();
}

fn has_ended(pid: i32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

/// No process of a server is left where termctl was killed.
#[test]
fn the_server_ends_with_a_termctl_that_is_killed() {
    let shells = Shells::new();
    shells.codex("echo $$; cat > /dev/null");
    let mut server = shells.start();
    let pid: i32 = server.line().trim().parse().unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    wait_until("the server has ended", || has_ended(pid));
}
