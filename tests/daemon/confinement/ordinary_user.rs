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
        Err(error) => return skip(test, &format!("setpriv does not run: {error}")),
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
const OUR_OWN: &str = "";
const BUBBLEWRAP: &str = "builder = 'bubblewrap'\n";

fn run(test: &str, program: &Path) {
    match test {
        "walls" => walls(program, OUR_OWN),
        "links" => links(program),
        "made" => made(program, OUR_OWN),
        "killed" => killed(program, OUR_OWN),
        "temporary" => temporary(program, OUR_OWN),
        "bubblewrap" if !fs::exists("/usr/bin/bwrap").unwrap() => {
            skip(test, "bubblewrap is not installed");
        }
        "bubblewrap" => {
            for test in [walls, made, killed, temporary] {
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
fn inside_walls() {
    inside("walls");
}

#[test]
fn inside_links() {
    inside("links");
}

#[test]
fn inside_made() {
    inside("made");
}

#[test]
fn inside_killed() {
    inside("killed");
}

#[test]
fn inside_temporary() {
    inside("temporary");
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
    as_an_ordinary_user("walls");
}

#[test]
fn links_among_what_is_protected_are_held() {
    as_an_ordinary_user("links");
}

#[test]
fn what_was_made_goes_with_the_last_that_needs_it() {
    as_an_ordinary_user("made");
}

#[test]
fn what_was_made_goes_when_the_whole_daemon_was_killed() {
    as_an_ordinary_user("killed");
}

#[test]
fn temporary_files_can_be_a_terminals_own() {
    as_an_ordinary_user("temporary");
}

/// A daemon whose terminals are in a workspace sandbox, with a repository and the files around it.
struct Ground {
    daemon: TestDaemon,
    project: PathBuf,
}

impl Ground {
    fn new(program: &Path, profile: &str) -> Option<Self> {
        let home = Home::new();
        home.configure(&format!(
            "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = 'boxed'\n\
             [policy.profiles.boxed]\nsandbox = 'workspace'\n{profile}"
        ));
        let user = fs::canonicalize(home.user_home()).unwrap();
        let project = user.join("project");
        fs::create_dir_all(project.join(".git/hooks")).unwrap();
        fs::create_dir_all(user.join(".ssh")).unwrap();
        fs::write(user.join(".ssh/key"), "the key").unwrap();
        let daemon = TestDaemon::start_program(home, program, &[("TMPDIR", "/var/tmp")]);
        let ground = Self { daemon, project };
        let params = json!({ "command": "/bin/true", "cwd": ground.project });
        match ground.daemon.client().request("session.create", &params) {
            Ok(started) => {
                let held = started["confinement"]["held"].as_array().unwrap();
                let is_told = held.contains(&json!("bubblewrap"));
                assert_eq!(is_told, profile.contains(BUBBLEWRAP), "{started}");
                // `.zed` is the last of the directories that were created for the command.
                let last = ground.project.join(".zed");
                wait_until("the first command leaves nothing", || !last.exists());
                Some(ground)
            }
            Err(error) => {
                assert!(!profile.contains(BUBBLEWRAP), "{error:?}");
                skip(
                    "a user's sandbox",
                    &format!("this kernel holds none: {error:?}"),
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

fn walls(program: &Path, builder: &str) {
    let profile = "network = false\nlimits = { cpu_time = '1s', file_bytes = '64KiB', \
                   open_files = 50, processes = 60 }\n";
    let Some(ground) = Ground::new(program, &format!("{builder}{profile}")) else {
        return;
    };
    let keeper = ground.daemon.keeper_pid();
    let state = ground.daemon.state_dir();
    let (state, socket) = (state.display(), ground.daemon.socket());
    ground.expect(&[
        ("id -u", &rustix::process::geteuid().as_raw().to_string()),
        ("echo x > inside && cat inside", "x"),
        ("(echo x > ../outside) || echo kept", "kept"),
        ("chmod 777 .. || echo kept", "kept"),
        ("cat ~/.ssh/key || echo hidden", "hidden"),
        ("mv ~/.ssh /tmp/stolen || echo kept", "kept"),
        ("(echo x > .git/hooks/post-commit) || echo kept", "kept"),
        ("mv .git git || echo kept", "kept"),
        ("mkdir .husky/x || echo kept", "kept"),
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
    let (_, waited) = ground.run("exec head -c 100000 /dev/zero > grown");
    assert_eq!(waited["end_cause"], "file_bytes", "{waited}");
    assert_eq!(
        fs::metadata(ground.project.join("grown")).unwrap().len(),
        64 << 10
    );
    let (_, waited) = ground.run("while :; do :; done");
    assert_eq!(waited["end_cause"], "cpu_time", "{waited}");
    assert_eq!(waited["exit_status"]["signal"], "SIGXCPU", "{waited}");
    assert!(!fs::exists(ground.daemon.user_home().join("outside")).unwrap());
}

fn links(program: &Path) {
    let Some(ground) = Ground::new(program, "") else {
        return;
    };
    let [outside, within] = [
        ground.daemon.user_home().join("agent"),
        ground.project.join("cursor"),
    ];
    fs::create_dir(&outside).unwrap();
    fs::create_dir(&within).unwrap();
    symlink(&outside, ground.project.join(".claude")).unwrap();
    symlink("cursor", ground.project.join(".cursor")).unwrap();
    symlink("nowhere/at/all", ground.project.join(".zed")).unwrap();
    ground.expect(&[
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
        fs::read_link(ground.project.join(".claude")).unwrap(),
        outside
    );
}

fn made(program: &Path, builder: &str) {
    let Some(ground) = Ground::new(program, builder) else {
        return;
    };
    let husky = ground.project.join(".husky");
    // This directory existed before. It stays, although it is empty.
    let before = ground.project.join(".vscode");
    fs::create_dir(&before).unwrap();
    let mut client = ground.daemon.client();
    let long = ground.start(&mut client, "echo runs; exec sleep 1000");
    client.wait_for_text(&long, "runs");
    assert!(husky.exists());
    // Other commands come and go, one leaves a process behind, and a new server takes over.
    ground.expect(&[("mkdir .husky/x || echo kept", "kept")]);
    let left = ground.start(&mut client, "trap '' HUP; sleep 1000 & echo left");
    client.wait_for_text(&left, "left");
    client.ok("session.wait", &json!({ "id": left }));
    let server = ground.daemon.server();
    ground.daemon.signal(Signal::HUP);
    let replaced = Deadline::after(DEADLINE);
    assert!(server.ends_by(replaced), "the server stays");
    let mut client = ground.daemon.client();
    client.ok("session.close", &json!({ "id": long }));
    ground.expect(&[("mkdir .husky/x || echo kept", "kept")]);
    assert!(husky.exists(), "what was left running still needs it");
    client.ok("session.close", &json!({ "id": left }));
    // `.zed` is the last of the directories.
    let last = ground.project.join(".zed");
    wait_until("nobody needs it any more", || !last.exists());
    assert!(!husky.exists());
    for gone in [".idea", ".zed", ".claude", ".codex", ".cursor", ".gemini"] {
        assert!(!ground.project.join(gone).exists(), "{gone}");
    }
    assert!(before.exists() && ground.project.join(".git/hooks").exists());
}

fn killed(program: &Path, builder: &str) {
    let Some(mut ground) = Ground::new(program, builder) else {
        return;
    };
    let [husky, zed] = [".husky", ".zed"].map(|name| ground.project.join(name));
    let mut client = ground.daemon.client();
    let id = ground.start(&mut client, "echo runs; exec sleep 1000");
    client.wait_for_text(&id, "runs");
    assert!(husky.exists() && zed.exists());
    fs::write(zed.join("settings"), "a person's").unwrap();
    let shown = client.ok("session.show", &json!({ "id": id }));
    let root = Process::expect(shown["pid"].as_i64().unwrap());
    let server = ground.daemon.server();
    let soon = Deadline::after(DEADLINE);
    ground.daemon.signal(Signal::KILL);
    ground.daemon.wait_exit();
    assert!(server.ends_by(soon) && root.ends_by(soon));
    assert!(husky.exists(), "nobody was left to remove it");
    let Ground { daemon, .. } = ground;
    let project = ground.project;
    let next = TestDaemon::start_program(daemon.stop(), program, &[]);
    wait_until("the next one removes it", || !husky.exists());
    assert!(zed.join("settings").exists() && project.join(".git/hooks").exists());
    drop(next);
}

fn temporary(program: &Path, builder: &str) {
    let Some(ground) = Ground::new(program, &format!("{builder}private_tmp = true\n")) else {
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
        let (printed, _) = ground.run(&script);
        assert_eq!(printed, "/tmp\nnone\nown\n/tmp/tmp.\ntwo\nx");
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside");
    assert!(!Path::new("/var/tmp").join(&mark).exists());
    // The home is below /tmp, which is private here: the file was written nowhere.
    assert!(!ground.daemon.user_home().join("outside").exists());
    fs::remove_file(&outside).unwrap();
    assert_eq!(
        fs::read_to_string(ground.project.join("made")).unwrap(),
        "x\n"
    );
}
