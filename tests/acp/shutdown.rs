//! The end of either side: the other side learns of it, and no process of the agent is left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use termd_test_support::{Home, Process, wait_until};

use crate::harness::proxy_process::{ProxyProcess, acp};

/// Starts processes that are hard to end, and prints a line of JSON when they are ready: in
/// sessions of their own, ignoring signals, one without its parent, and one stopped.
const STUBBORN: &str = r#"
    ignoring='trap "" TERM HUP INT QUIT; echo ready >>"$HOME/ready"; while :; do sleep 1; done'
    setsid sh -c "$ignoring" &
    (setsid sh -c "$ignoring" &)
    sh -c "$ignoring" &
    sh -c 'kill -STOP $$; echo woken >>"$HOME/ready"; exec sleep 1000' &
    stopped=$!
    until grep -q "State:.T" /proc/$stopped/status; do sleep 0.01; done
    until [ "$(grep -c ready "$HOME/ready" 2>/dev/null)" = 3 ]; do sleep 0.01; done
    echo '{"ready":true}'
"#;

fn stubborn(home: &Home, and_then: &str) -> ProxyProcess {
    let mut proxy = ProxyProcess::script(home, &format!("{STUBBORN}{and_then}"));
    assert_eq!(proxy.lines(1), b"{\"ready\":true}\n");
    assert!(home.processes().len() >= 6, "{:?}", home.processes());
    proxy
}

#[track_caller]
fn wait_until_nothing_is_left(home: &Home) {
    wait_until("everything has ended", || home.processes().is_empty());
}

fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

#[test]
fn the_exit_code_is_the_agents() {
    let home = Home::create();
    let script = |script: &str| vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()];
    let table = [
        (script("exit 0"), 0, ""),
        (script("exit 7"), 7, ""),
        (script("exit 255"), 255, ""),
        (script("kill -9 $$"), 137, ""),
        (script("kill -15 $$"), 143, ""),
        (script("echo said >&2; kill -ABRT $$"), 134, "said\n"),
        (
            vec!["no-such-agent".to_owned()],
            127,
            "termctl acp: cannot start no-such-agent: No such file or directory",
        ),
        (
            vec!["/etc/passwd".to_owned()],
            126,
            "termctl acp: cannot start /etc/passwd: Permission denied",
        ),
    ];
    for (agent, code, stderr) in table {
        let agent: Vec<&str> = agent.iter().map(String::as_str).collect();
        let mut proxy = ProxyProcess::agent(&home, &agent);
        assert_eq!(proxy.rest(), b"", "{agent:?}");
        let ended = proxy.ended();
        assert_eq!(ended.code, Some(code), "{agent:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with(stderr), "{}", ended.stderr);
        assert!(ended.stderr.lines().count() <= 1, "{}", ended.stderr);
    }
}

#[test]
fn after_the_clients_last_word_the_agent_has_its_own() {
    let home = Home::create();
    let mut proxy = ProxyProcess::script(&home, r#"cat; echo '{"last":true}'; exit 3"#);
    proxy.send(b"{\"first\":true}\n");
    proxy.stdin = None;
    assert_eq!(proxy.rest(), b"{\"first\":true}\n{\"last\":true}\n");
    assert_eq!(proxy.ended().code, Some(3));
    wait_until_nothing_is_left(&home);
}

#[test]
fn an_agent_that_stays_is_ended_after_a_while() {
    let home = Home::create();
    let mut proxy = stubborn(&home, "trap '' TERM; while :; do sleep 1; done");
    let begun = Instant::now();
    proxy.stdin = None;
    assert_eq!(proxy.ended().code, Some(143));
    assert!(begun.elapsed() >= Duration::from_secs(2));
    wait_until_nothing_is_left(&home);
    let ready = fs::read_to_string(home.user_home().join("ready")).unwrap();
    // SIGTERM ends the stopped process before it continues.
    assert_eq!(ready.matches("woken").count(), 0);
}

#[test]
fn a_signal_ends_all_of_it() {
    for number in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::create();
        let proxy = stubborn(&home, "while :; do sleep 1; done");
        signal(proxy.pid(), number);
        assert_eq!(proxy.ended().code, Some(143), "{number:?}");
        wait_until_nothing_is_left(&home);
    }
}

#[test]
fn an_agent_that_ends_by_itself_on_a_signal_says_how() {
    let home = Home::create();
    let script = r#"trap 'echo "{\"bye\":true}"; exit 5' TERM; echo '{"ready":true}'
        while :; do sleep 0.05; done"#;
    let mut proxy = ProxyProcess::script(&home, script);
    proxy.lines(1);
    signal(proxy.pid(), Signal::TERM);
    assert_eq!(proxy.rest(), b"{\"bye\":true}\n");
    assert_eq!(proxy.ended().code, Some(5));
}

#[test]
fn a_killed_proxy_leaves_nothing() {
    let home = Home::create();
    let proxy = stubborn(&home, "while :; do sleep 1; done");
    signal(proxy.pid(), Signal::KILL);
    wait_until_nothing_is_left(&home);
    // Clients kill the whole process group.
    let home = Home::create();
    let proxy = stubborn(&home, "while :; do sleep 1; done");
    kill_process_group(Pid::from_raw(proxy.pid()).unwrap(), Signal::KILL).unwrap();
    wait_until_nothing_is_left(&home);
}

#[test]
fn a_proxy_that_is_killed_at_once_leaves_nothing() {
    let home = Home::create();
    // Kills at different moments of the start, also while the supervisor starts.
    for wait_us in (0..20).map(|step| step * 400) {
        let proxy = ProxyProcess::agent(&home, &["sleep", "1000"]);
        let until = Instant::now() + Duration::from_micros(wait_us);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        signal(proxy.pid(), Signal::KILL);
    }
    wait_until_nothing_is_left(&home);
}

#[test]
fn when_the_agent_ends_the_rest_of_it_does_and_all_it_said_arrives() {
    let home = Home::create();
    // A process that ignores SIGTERM holds the agent's standard output.
    let mut proxy = stubborn(&home, r#"echo '{"last":true}'; exit 4"#);
    proxy.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n");
    assert_eq!(proxy.rest(), b"{\"last\":true}\n");
    assert_eq!(proxy.ended().code, Some(4));
    wait_until_nothing_is_left(&home);
}

#[test]
fn a_long_last_word_arrives_whole() {
    let home = Home::create();
    let script = r#"printf '{"long":"'; head -c 3000000 /dev/zero | tr '\0' x; printf '"}'"#;
    let mut proxy = ProxyProcess::script(&home, script);
    let rest = proxy.rest();
    assert_eq!(rest.len(), 3_000_011);
    assert!(rest.ends_with(b"x\"}"));
    assert_eq!(proxy.ended().code, Some(0));
}

#[test]
fn a_client_that_hears_no_more_ends_the_agent() {
    let home = Home::create();
    let mut proxy = stubborn(
        &home,
        r#"while echo '{"more":true}'; do sleep 0.01; done; exec sleep 1000"#,
    );
    proxy.stdout = None;
    // SIGTERM from the proxy, or SIGPIPE if the agent wrote once more before it.
    let code = proxy.ended().code;
    assert!(matches!(code, Some(141 | 143)), "{code:?}");
    wait_until_nothing_is_left(&home);
}

#[test]
fn an_agent_that_says_no_more_is_ended() {
    let home = Home::create();
    let mut proxy = ProxyProcess::script(&home, "exec >&-; exec sleep 1000");
    assert_eq!(proxy.rest(), b"");
    assert_eq!(proxy.ended().code, Some(143));
    wait_until_nothing_is_left(&home);
}

#[test]
fn the_agent_starts_with_nothing_ignored_and_no_descriptor_of_ours() {
    let home = Home::create();
    let script = "ls /proc/$$/fd >&2; grep SigIgn /proc/$$/status >&2";
    let printed_by = |wrapper: &str, before: &[&str]| {
        let output = home
            .command("/bin/sh")
            .args(["-c", wrapper, "sh"])
            .args(before)
            .args(["/bin/sh", "-c", script])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let ignored = |printed: &str| {
        let (descriptors, mask) = printed.split_once("SigIgn:").unwrap();
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        (descriptors.to_owned(), mask)
    };
    // Both runs inherit the descriptors of the test itself.
    let (descriptors, _) = ignored(&printed_by(r#"exec "$@""#, &[]));
    let ignoring = r#"trap "" HUP INT QUIT TERM USR1 CHLD; exec "$@""#;
    let below = printed_by(ignoring, &[env!("CARGO_BIN_EXE_termctl"), "acp", "--"]);
    let (below, mask) = ignored(&below);
    assert_eq!(below, descriptors);
    // signal(7): 1, 2, 3, 10, 15, 17.
    let named = [1, 2, 3, 10, 15, 17].map(|number: u32| 1u64 << (number - 1));
    assert_eq!(mask & named.iter().sum::<u64>(), 0, "{mask:x}");
}

#[test]
fn a_termd_that_the_agent_has_started_lives_on() {
    // termctl looks for termd beside itself.
    termd_test_support::termd_binary();
    let home = Home::create();
    let script = format!(
        r#"{termctl} create --label kept -- sleep 1000 >&2 </dev/null
        setsid sleep 1000 & echo '{{"ready":true}}'; cat"#,
        termctl = env!("CARGO_BIN_EXE_termctl")
    );
    let mut proxy = ProxyProcess::script(&home, &script);
    assert_eq!(proxy.lines(1), b"{\"ready\":true}\n");
    signal(proxy.pid(), Signal::KILL);
    let termctl_json = |arguments: &[&str]| -> Value {
        let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
        let output = command
            .args(["--json", "--no-start"])
            .args(arguments)
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
    };
    let has_ended = |name: &str| {
        !home.processes().iter().any(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(name)
        })
    };
    wait_until("the agent has ended", || has_ended("acp-agent"));
    let shown = termctl_json(&["show", "kept"]);
    assert!(shown.to_string().contains("running"), "{shown}");
    let sleeping = home.processes().into_iter().filter(|pid| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "sleep\n")
    });
    assert_eq!(sleeping.count(), 1, "the terminal's, and not the agent's");
    let status = termctl_json(&["status"]).to_string();
    let (_, keeper) = status.split_once("\"keeper_pid\":").expect(&status);
    let (keeper, _) = keeper.split_once([',', '}']).unwrap();
    let keeper = Process::expect(keeper.parse().unwrap());
    keeper.signal(Signal::TERM);
    keeper.wait_for_end();
    wait_until_nothing_is_left(&home);
}

#[test]
fn an_ending_is_told_as_a_shell_would() {
    let home = Home::create();
    let status = acp(&home)
        .args(["/bin/sh", "-c", "kill -USR1 $$"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!((status.code(), status.signal()), (Some(138), None));
}
