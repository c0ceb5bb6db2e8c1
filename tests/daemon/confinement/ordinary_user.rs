//! Sandboxes of an ordinary user, from `config.toml` to the command: each test tries to leave one.
//!
//! Where root runs the tests, this program runs itself again as `nobody`, with a daemon of its own.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{
    DEADLINE, Deadline, Home, Process, RawClient, TestDaemon, is_root, merged, sh, skip,
    termd_binary, wait_until,
};

/// The path of the daemon's binary, for the tests that run again as another user.
const PROGRAM_VARIABLE: &str = "TERMD_TEST_ORDINARY_USERS_TERMD";

/// Runs one of the `inside_` tests below as an ordinary user. They do nothing by themselves.
fn as_an_ordinary_user(test: &str) {
    if !is_root() {
        run(test, &termd_binary());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let [tests, termd] = ["tests", "termd"].map(|name| folder.path().join(name));
    fs::copy(env::current_exe().unwrap(), &tests).unwrap();
    fs::copy(termd_binary(), &termd).unwrap();
    let name = format!("confinement::ordinary_user::inside_{test}");
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&tests)
        .args(["--exact", &name, "--nocapture"])
        .env(PROGRAM_VARIABLE, &termd)
        .current_dir("/")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return skip(test, format!("setpriv does not run: {error}")),
    };
    let printed = [output.stdout, output.stderr]
        .map(|printed| String::from_utf8_lossy(&printed).into_owned());
    assert!(output.status.success(), "{}{}", printed[0], printed[1]);
    assert!(
        printed[0].contains("1 passed"),
        "{}{}",
        printed[0],
        printed[1]
    );
    for line in printed[1].lines().filter(|line| line.starts_with("SKIP")) {
        eprintln!("{line}");
    }
}

/// The lines of a profile that choose the builder of its sandbox.
const OWN_BUILDER: &str = "";
const BUBBLEWRAP: &str = "builder = 'bubblewrap'\n";

fn run(test: &str, program: &Path) {
    match test {
        "boundaries" => boundaries(program, OWN_BUILDER),
        "links" => links(program),
        "created_directories" => created_directories(program, OWN_BUILDER),
        "remade_directories" => remade_directories(program, OWN_BUILDER),
        "killed_daemon" => killed_daemon(program, OWN_BUILDER),
        "private_tmp" => private_tmp(program, OWN_BUILDER),
        "bubblewrap" if !fs::exists("/usr/bin/bwrap").unwrap() => {
            skip(test, "bubblewrap is not installed");
        }
        "bubblewrap" => {
            for test in [
                boundaries,
                created_directories,
                remade_directories,
                killed_daemon,
                private_tmp,
            ] {
                test(program, BUBBLEWRAP);
            }
        }
        _ => unreachable!("{test}"),
    }
}

fn inside(test: &str) {
    if let Some(program) = env::var_os(PROGRAM_VARIABLE) {
        run(test, Path::new(&program));
    }
}

#[test]
fn inside_boundaries() {
    inside("boundaries");
}

#[test]
fn inside_links() {
    inside("links");
}

#[test]
fn inside_created_directories() {
    inside("created_directories");
}

#[test]
fn inside_remade_directories() {
    inside("remade_directories");
}

#[test]
fn inside_killed_daemon() {
    inside("killed_daemon");
}

#[test]
fn inside_private_tmp() {
    inside("private_tmp");
}

#[test]
fn inside_bubblewrap() {
    inside("bubblewrap");
}

#[test]
fn what_bubblewrap_builds_holds_as_well() {
    as_an_ordinary_user("bubblewrap");
}

#[test]
fn an_ordinary_user_crosses_no_wall() {
    as_an_ordinary_user("boundaries");
}

#[test]
fn links_among_what_is_protected_are_held() {
    as_an_ordinary_user("links");
}

#[test]
fn what_was_made_goes_with_the_last_that_needs_it() {
    as_an_ordinary_user("created_directories");
}

#[test]
fn what_a_person_makes_again_stays() {
    as_an_ordinary_user("remade_directories");
}

#[test]
fn what_was_made_goes_when_the_whole_daemon_was_killed() {
    as_an_ordinary_user("killed_daemon");
}

#[test]
fn temporary_files_can_be_a_terminals_own() {
    as_an_ordinary_user("private_tmp");
}

/// A daemon whose terminals are in a workspace sandbox, with a repository and the files around it.
struct SandboxedProject {
    daemon: TestDaemon,
    project: PathBuf,
}

impl SandboxedProject {
    fn new(program: &Path, profile: &str) -> Option<Self> {
        let home = Home::create();
        home.configure(&format!(
            "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = 'boxed'\n\
             [policy.profiles.boxed]\nsandbox = 'workspace'\n{profile}"
        ));
        let user = fs::canonicalize(home.user_home()).unwrap();
        let project = user.join("project");
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::create_dir_all(user.join(".ssh")).unwrap();
        fs::write(user.join(".ssh/key"), "the key").unwrap();
        // Programs that are in use. Directories are made for them.
        for trace in [
            ".claude",
            ".codex",
            ".config/Code",
            ".config/JetBrains",
            ".config/zed",
            ".cursor",
            ".gemini",
        ] {
            fs::create_dir_all(user.join(trace)).unwrap();
        }
        let daemon = TestDaemon::start_program(home, program, &[("TMPDIR", "/var/tmp")]);
        let sandbox = Self { daemon, project };
        let params = json!({ "command": "/bin/true", "cwd": sandbox.project });
        match sandbox.daemon.client().request("session.create", &params) {
            Ok(started) => {
                let held = started["confinement"]["held"].as_array().unwrap();
                let is_told = held.contains(&json!("bubblewrap"));
                assert_eq!(is_told, profile.contains(BUBBLEWRAP), "{started}");
                // `.zed` is the last of the directories that were created for the command.
                let last = sandbox.project.join(".zed");
                wait_until("the first command leaves nothing", || !last.exists());
                Some(sandbox)
            }
            Err(error) => {
                assert!(!profile.contains(BUBBLEWRAP), "{error:?}");
                skip(
                    "a user's sandbox",
                    format!("this kernel holds none: {error:?}"),
                );
                None
            }
        }
    }

    fn start(&self, client: &mut RawClient, script: &str) -> String {
        let params = merged(
            &sh(script),
            &json!({ "cwd": self.project, "confirmed": true }),
        );
        client.create_terminal(&params)
    }

    /// The output of a script without its errors, and how it ended.
    fn run(&self, script: &str) -> (String, Value) {
        let mut client = self.daemon.client();
        let id = self.start(&mut client, &format!("exec 2>/dev/null; {script}"));
        let waited = client.ok("session.wait", &json!({ "id": id }));
        let printed = String::from_utf8_lossy(&client.transcript(&id)).replace('\r', "");
        (printed.trim_end().to_owned(), waited)
    }

    fn expect(&self, table: &[(&str, &str)]) {
        for (script, expected) in table {
            assert_eq!(self.run(script).0, *expected, "{script}");
        }
    }
}

fn boundaries(program: &Path, builder: &str) {
    let profile = "network = false\nlimits = { cpu_time = '1s', file_bytes = '64KiB', \
                   open_files = 50, processes = 60 }\n";
    let Some(sandbox) = SandboxedProject::new(program, &format!("{builder}{profile}")) else {
        return;
    };
    let keeper = sandbox.daemon.keeper_pid();
    let state = sandbox.daemon.state_dir();
    let (state, socket) = (state.display(), sandbox.daemon.socket());
    sandbox.expect(&[
        ("id -u", &rustix::process::geteuid().as_raw().to_string()),
        ("echo x > inside && cat inside", "x"),
        ("(echo x > ../outside) || echo kept", "kept"),
        ("chmod 777 .. || echo kept", "kept"),
        ("cat ~/.ssh/key || echo hidden", "hidden"),
        ("mv ~/.ssh /tmp/stolen || echo kept", "kept"),
        ("(echo x > .git/hooks/post-commit) || echo kept", "kept"),
        ("mv .git git || echo kept", "kept"),
        ("mkdir .codex/x || echo kept", "kept"),
        (&format!("ls -A {state} | wc -l"), "0"),
        (
            &format!("test -e {} || echo none", socket.display()),
            "none",
        ),
        (&format!("kill -0 {keeper} || echo apart"), "apart"),
        (
            &format!("cat /proc/{keeper}/environ || echo apart"),
            "apart",
        ),
        (&format!("ls /proc/{keeper}/root || echo apart"), "apart"),
        ("unshare -r true || echo kept", "kept"),
        ("test -e /dev/pts/0 || echo none", "none"),
        (
            "sed -n 's/^NoNewPrivs:.//p; s/^CapEff:.//p; s/^Seccomp:.//p' /proc/self/status",
            "0000000000000000\n1\n2",
        ),
        (
            "bash -c 'exec 3<>/dev/tcp/127.0.0.1/1' 2>&1 | grep -o 'Permission denied' | head -1",
            "Permission denied",
        ),
        (
            "python3 -c 'import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM)' || echo none",
            "none",
        ),
        ("ulimit -n; ulimit -Hc; ulimit -f", "50\n0\n128"),
        ("(ulimit -n 51) || echo kept", "kept"),
    ]);
    let (_, waited) = sandbox.run("exec head -c 100000 /dev/zero > grown");
    assert_eq!(waited["end_cause"], "file_bytes", "{waited}");
    assert_eq!(
        fs::metadata(sandbox.project.join("grown")).unwrap().len(),
        64 << 10
    );
    let (_, waited) = sandbox.run("while :; do :; done");
    assert_eq!(waited["end_cause"], "cpu_time", "{waited}");
    assert_eq!(waited["exit_status"]["signal"], "SIGXCPU", "{waited}");
    assert!(!fs::exists(sandbox.daemon.user_home().join("outside")).unwrap());
}

fn links(program: &Path) {
    let Some(sandbox) = SandboxedProject::new(program, "") else {
        return;
    };
    let [outside, within] = [
        sandbox.daemon.user_home().join("agent"),
        sandbox.project.join("cursor"),
    ];
    fs::create_dir(&outside).unwrap();
    fs::create_dir(&within).unwrap();
    symlink(&outside, sandbox.project.join(".claude")).unwrap();
    symlink("cursor", sandbox.project.join(".cursor")).unwrap();
    symlink("nowhere/at/all", sandbox.project.join(".zed")).unwrap();
    sandbox.expect(&[
        ("rm .claude || echo held", "held"),
        ("mv .claude c || echo held", "held"),
        ("ln -sfn /tmp .claude || echo held", "held"),
        ("touch .claude/settings || echo kept", "kept"),
        ("rm .cursor || echo held", "held"),
        ("touch .cursor/rules || echo kept", "kept"),
        ("touch cursor/rules || echo kept", "kept"),
        ("mv cursor moved || echo held", "held"),
        ("rm .zed || echo held", "held"),
        ("readlink .claude > to && cat to", outside.to_str().unwrap()),
    ]);
    assert_eq!(
        fs::read_link(sandbox.project.join(".claude")).unwrap(),
        outside
    );
}

fn created_directories(program: &Path, builder: &str) {
    let Some(sandbox) = SandboxedProject::new(program, builder) else {
        return;
    };
    let codex = sandbox.project.join(".codex");
    // This directory existed before. It stays, although it is empty.
    let before = sandbox.project.join(".vscode");
    fs::create_dir(&before).unwrap();
    let mut client = sandbox.daemon.client();
    let long = sandbox.start(&mut client, "echo runs; exec sleep 1000");
    client.wait_for_text(&long, "runs");
    assert!(codex.exists());
    // Other commands come and go, one leaves a process behind, and a new server takes over.
    sandbox.expect(&[("mkdir .codex/x || echo kept", "kept")]);
    let left = sandbox.start(&mut client, "trap '' HUP; sleep 1000 & echo left");
    client.wait_for_text(&left, "left");
    client.ok("session.wait", &json!({ "id": left }));
    let server = sandbox.daemon.server();
    sandbox.daemon.signal(Signal::HUP);
    let replaced = Deadline::after(DEADLINE);
    assert!(server.ends_by(replaced), "the server stays");
    let mut client = sandbox.daemon.client();
    client.ok("session.close", &json!({ "id": long }));
    sandbox.expect(&[("mkdir .codex/x || echo kept", "kept")]);
    assert!(codex.exists(), "what was left running still needs it");
    client.ok("session.close", &json!({ "id": left }));
    // `.zed` is the last of the directories.
    let last = sandbox.project.join(".zed");
    wait_until("nobody needs it any more", || !last.exists());
    assert!(!codex.exists());
    for gone in [".idea", ".zed", ".claude", ".codex", ".cursor", ".gemini"] {
        assert!(!sandbox.project.join(gone).exists(), "{gone}");
    }
    assert!(before.exists() && sandbox.project.join(".git/hooks").exists());
}

/// What a person makes or fills in the seconds in which created directories stay is theirs.
fn remade_directories(program: &Path, builder: &str) {
    let Some(sandbox) = SandboxedProject::new(program, builder) else {
        return;
    };
    sandbox.expect(&[("echo ran", "ran")]);
    let [remade, filled, last] =
        [".idea", ".gemini", ".zed"].map(|name| sandbox.project.join(name));
    fs::remove_dir(&remade).unwrap();
    fs::create_dir(&remade).unwrap();
    fs::write(filled.join("settings"), "a person's").unwrap();
    wait_until("the others are removed", || !last.exists());
    assert!(remade.exists() && filled.join("settings").exists());
    let mode = fs::metadata(&filled).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755, "nothing marks it as termd's any more");
}

fn killed_daemon(program: &Path, builder: &str) {
    let Some(mut sandbox) = SandboxedProject::new(program, builder) else {
        return;
    };
    let [codex, zed] = [".codex", ".zed"].map(|name| sandbox.project.join(name));
    let mut client = sandbox.daemon.client();
    let id = sandbox.start(&mut client, "echo runs; exec sleep 1000");
    client.wait_for_text(&id, "runs");
    assert!(codex.exists() && zed.exists());
    fs::write(zed.join("settings"), "a person's").unwrap();
    let shown = client.ok("session.show", &json!({ "id": id }));
    let root = Process::expect(shown["pid"].as_i64().unwrap());
    let server = sandbox.daemon.server();
    let soon = Deadline::after(DEADLINE);
    sandbox.daemon.signal(Signal::KILL);
    sandbox.daemon.wait_exit();
    assert!(server.ends_by(soon) && root.ends_by(soon));
    assert!(codex.exists(), "nobody was left to remove it");
    let SandboxedProject { daemon, .. } = sandbox;
    let project = sandbox.project;
    let next = TestDaemon::start_program(daemon.stop(), program, &[]);
    wait_until("the next one removes it", || !codex.exists());
    assert!(zed.join("settings").exists() && project.join(".git/hooks").exists());
    drop(next);
}

fn private_tmp(program: &Path, builder: &str) {
    let Some(sandbox) = SandboxedProject::new(program, &format!("{builder}private_tmp = true\n"))
    else {
        return;
    };
    let mark = format!("termd-private-{}", std::process::id());
    let outside = Path::new("/tmp").join(&mark);
    fs::write(&outside, "outside").unwrap();
    let script = format!(
        "echo $TMPDIR; cat /tmp/{mark} || echo none; echo own > /tmp/{mark}; cat $TMPDIR/{mark}; \
         mktemp | cut -c 1-9; echo two > /var/tmp/{mark} && cat /var/tmp/{mark}; \
         echo x > made && cat made; echo x > ../outside"
    );
    for _ in 0..2 {
        let (printed, _) = sandbox.run(&script);
        assert_eq!(printed, "/tmp\nnone\nown\n/tmp/tmp.\ntwo\nx");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    assert!(!Path::new("/var/tmp").join(&mark).exists());
    // The home is below /tmp, which is private here: the file was written nowhere.
    assert!(!sandbox.daemon.user_home().join("outside").exists());
    fs::remove_file(&outside).unwrap();
    assert_eq!(
        fs::read_to_string(sandbox.project.join("made")).unwrap(),
        "x\n"
    );
}
