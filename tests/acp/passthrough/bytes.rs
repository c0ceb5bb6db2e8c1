//! Bytes that pass the proxy unchanged, in both directions.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::fs::OFlags;
use serde_json::Value;
use termd_test_support::{Home, process_state, resident_kib, wait_until};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy_process::{ProxyProcess, acp};

#[test]
fn lines_pass_as_they_are_both_ways() {
    let home = Home::create();
    let mut proxy = AcpProxy::spawn(&home, &[]);
    let lines = [
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x/y\",\"params\":{\"b\" : 1.50,\"a\":\"\\u00e9\"}}\r\n",
        " { \"method\":\"_ext/thing\" , \"_meta\":{} }\n",
        "{\"id\":\"one\",\"result\":18446744073709551617}\n",
        "[{\"id\":1}]\n",
    ];
    for line in lines {
        proxy.client.write(line.as_bytes());
        assert_eq!(proxy.agent.raw().unwrap(), line.as_bytes());
        proxy.agent.write(line.as_bytes());
        assert_eq!(proxy.client.raw().unwrap(), line.as_bytes());
    }
}

#[test]
fn what_is_no_message_and_what_has_no_end_passes_to_the_agent() {
    let home = Home::create();
    let mut proxy = AcpProxy::spawn(&home, &[]);
    for line in [
        &b"\xff\xfe not UTF-8\n"[..],
        b"no JSON\r\n",
        b"\n",
        b"{\"a\":\0}\n",
    ] {
        proxy.client.write(line);
        assert_eq!(proxy.agent.raw().unwrap(), line);
    }
    proxy.client.write(b"{\"without\":\"an end\"}");
    proxy.client.close();
    assert_eq!(proxy.agent.raw().unwrap(), b"{\"without\":\"an end\"}");
    assert_eq!(proxy.agent.raw(), None);
    proxy.agent.write(b"{\"nor\":\"this\"}");
    proxy.agent.close();
    assert_eq!(proxy.client.raw().unwrap(), b"{\"nor\":\"this\"}");
    assert_eq!(proxy.client.raw(), None);
    assert_eq!(proxy.wait_exit().code(), Some(7));
}

#[test]
fn what_an_agent_prints_beside_its_messages_is_logged_escaped() {
    let home = Home::create();
    let script = r#"printf 'hello \033[31m\n\n{"a":1}\n\377\n{"b":2}\n'; echo of its own >&2"#;
    let mut proxy = ProxyProcess::script(&home, script);
    assert_eq!(proxy.rest(), b"{\"a\":1}\n{\"b\":2}\n");
    let stderr = proxy.ended().stderr;
    let stray = "termctl acp: not a message on the agent's standard output: ";
    for line in [
        format!("{stray}hello \\x1b[31m\n"),
        format!("{stray}\u{fffd}\n"),
        "of its own\n".to_owned(),
    ] {
        assert!(stderr.contains(&line), "{stderr:?}");
    }
    assert_eq!(stderr.lines().count(), 3, "{stderr:?}");
}

#[test]
fn the_order_is_kept_under_load_both_ways_at_once() {
    const LINES: usize = 5_000;
    let home = Home::create();
    let mut proxy = AcpProxy::spawn(&home, &[]);
    let line = |number: usize| {
        let text = "x".repeat(number % 700);
        format!("{{\"method\":\"_n\",\"params\":[{number},\"{text}\"]}}\n")
    };
    let (client, agent) = (&mut proxy.client, &mut proxy.agent);
    std::thread::scope(|scope| {
        for side in [&mut *client, &mut *agent] {
            scope.spawn(move || (0..LINES).for_each(|number| side.write(line(number).as_bytes())));
        }
    });
    for side in [client, agent] {
        for number in 0..LINES {
            assert_eq!(side.raw().unwrap(), line(number).as_bytes());
        }
    }
}

#[test]
fn a_line_of_sixty_mebibytes_passes_both_ways_and_its_memory_comes_back() {
    let home = Home::create();
    let mut proxy = ProxyProcess::agent(&home, &["cat"]);
    proxy.send(b"{\"first\":1}\n");
    assert_eq!(proxy.lines(1), b"{\"first\":1}\n");
    let before = resident_kib(proxy.pid()).unwrap();
    let mut long = b"{\"text\":\"".to_vec();
    long.resize(60 << 20, b'x');
    long.extend_from_slice(b"\"}\r\n{\"after\":1}\n");
    let mut to = proxy.stdin.take().unwrap();
    let message = long.clone();
    let writing = std::thread::spawn(move || {
        to.write_all(&message).unwrap();
        to
    });
    let mut received = vec![0; long.len()];
    proxy
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut received)
        .unwrap();
    assert!(received == long, "the 60 MiB arrived changed");
    wait_until("the memory of the line is given back", || {
        resident_kib(proxy.pid()).unwrap() < before + 4 * 1_024
    });
    drop(writing.join());
    assert_eq!(proxy.rest(), b"");
    assert_eq!(proxy.ended().code, Some(0));
}

#[test]
fn a_line_over_the_limit_is_an_error_for_whoever_waits_for_its_answer() {
    let home = Home::create();
    let long = "x".repeat(65 << 20);
    let message = |beginning: &str| format!("{{\"jsonrpc\":\"2.0\",{beginning}:\"{long}\"}}\n");
    // From the client: a request is refused, and the agent gets an error in place of an answer,
    // which `cat` sends back.
    for (beginning, id, code) in [
        (r#""id":"r","method":"x","params""#, "\"r\"", -32_600),
        (r#""id":9,"result""#, "9", -32_603),
    ] {
        let mut proxy = ProxyProcess::agent(&home, &["cat"]);
        proxy.send(message(beginning).as_bytes());
        assert_error(&proxy.lines(1), id, code);
        proxy.send(b"{\"next\":1}\n");
        assert_eq!(proxy.lines(1), b"{\"next\":1}\n");
    }
    // From the agent, which repeats what it gets.
    for (beginning, id, code) in [
        (r#""id":null,"method":"x","params""#, "null", -32_600),
        (r#""id":1,"error""#, "1", -32_603),
    ] {
        let script = format!(
            r#"printf '{{"jsonrpc":"2.0",{beginning}:"'; head -c {} /dev/zero | tr '\0' x
            printf '"}}\n'; exec cat"#,
            65 << 20
        );
        let mut proxy = ProxyProcess::script(&home, &script);
        assert_error(&proxy.lines(1), id, code);
        proxy.send(b"{\"next\":1}\n");
        assert_eq!(proxy.lines(1), b"{\"next\":1}\n");
        proxy.stdin = None;
        assert!(proxy.ended().stderr.contains("more than 64 MiB"));
    }
}

#[track_caller]
fn assert_error(line: &[u8], id: &str, code: i64) {
    let line: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(line["id"].to_string(), id, "{line}");
    assert_eq!(line["error"]["code"], code, "{line}");
}

#[test]
fn a_client_that_does_not_read_holds_up_the_agent() {
    const LINES: usize = 100_000;
    let home = Home::create();
    let format = format!(
        "{{\"method\":\"_n\",\"params\":[%.0f,\"{}\"]}}",
        "x".repeat(200)
    );
    let mut proxy = ProxyProcess::agent(&home, &["seq", "-f", &format, "1", &LINES.to_string()]);
    let agent = proxy.agent_pid("seq");
    // Both processes sleep at several looks in a row: the agent waits in a write.
    let mut looks = 0;
    wait_until("the agent is held up", || {
        let sleeps = |pid| process_state(pid).as_deref() == Some("S");
        looks = if sleeps(agent) && sleeps(proxy.pid()) {
            looks + 1
        } else {
            0
        };
        looks > 50
    });
    let resident = resident_kib(proxy.pid()).unwrap();
    let written = fs::read_to_string(format!("/proc/{agent}/io")).unwrap();
    let written = written
        .lines()
        .find_map(|line| line.strip_prefix("wchar: "));
    let written: usize = written.unwrap().parse().unwrap();
    assert!(
        (1..4 << 20).contains(&written),
        "{written} bytes were taken"
    );
    let lines = String::from_utf8(proxy.rest()).unwrap();
    for (number, line) in (1..).zip(lines.lines()) {
        let want = format!("{{\"method\":\"_n\",\"params\":[{number},");
        assert!(line.starts_with(&want), "{line} is not number {number}");
    }
    assert_eq!(lines.lines().count(), LINES);
    // 22 MB have passed, and none of it was kept.
    assert!(resident < 40 * 1_024, "{resident} KiB");
    assert_eq!(proxy.ended().code, Some(0));
}

#[test]
fn an_agent_that_does_not_read_holds_up_the_client() {
    let home = Home::create();
    let mut proxy = ProxyProcess::script(&home, "echo '[]'; exec sleep 1000");
    assert_eq!(proxy.lines(1), b"[]\n");
    let to = proxy.stdin.take().unwrap();
    rustix::io::ioctl_fionbio(&to, true).unwrap();
    let line = vec![b'\n'; 64 << 10];
    // Until no more is taken: two pipes and the proxy are in between.
    let mut taken = 0;
    let held_up = || (&to).write(&line).map_err(|error| error.kind());
    let mut full = 0;
    wait_until("the client is held up", || {
        full = match held_up() {
            Ok(length) => {
                taken += length;
                0
            }
            Err(ErrorKind::WouldBlock) => full + 1,
            Err(error) => panic!("{error}"),
        };
        full > 50
    });
    assert!(taken < 4 << 20, "{taken} bytes were taken");
}

#[test]
fn sockets_pipes_and_files_are_ends_and_stay_as_they_are() {
    const LINE: &[u8] = b"{\"a\":1}\n";
    let home = Home::create();
    // Two sockets, as node gives its children. The other descriptors of the sockets stay blocking.
    let (mut to, input) = UnixStream::pair().unwrap();
    let (mut from, output) = UnixStream::pair().unwrap();
    let shared = [input.try_clone().unwrap(), output.try_clone().unwrap()];
    let mut command = acp(&home);
    command.arg("cat");
    command
        .stdin(OwnedFd::from(input))
        .stdout(OwnedFd::from(output));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut received = vec![0; LINE.len()];
    to.write_all(LINE).unwrap();
    from.read_exact(&mut received).unwrap();
    assert_eq!(received, LINE);
    for end in &shared {
        assert!(
            !rustix::fs::fcntl_getfl(end)
                .unwrap()
                .contains(OFlags::NONBLOCK)
        );
    }
    to.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));

    // One pipe as standard output and standard error.
    let (mut from, output) = std::io::pipe().unwrap();
    let (input, mut to) = std::io::pipe().unwrap();
    let shared = [
        OwnedFd::from(input.try_clone().unwrap()),
        output.try_clone().unwrap().into(),
    ];
    let mut command = acp(&home);
    command
        .arg("cat")
        .stdin(input)
        .stderr(output.try_clone().unwrap());
    let mut child = command.stdout(output).spawn().unwrap();
    drop(command);
    to.write_all(LINE).unwrap();
    from.read_exact(&mut received).unwrap();
    assert_eq!(received, LINE);
    for end in &shared {
        assert!(
            !rustix::fs::fcntl_getfl(end)
                .unwrap()
                .contains(OFlags::NONBLOCK)
        );
    }
    drop((to, shared));
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let (input, output) = (home.path("input"), home.path("output"));
    fs::write(&input, LINE.repeat(3)).unwrap();
    let status = acp(&home)
        .arg("cat")
        .stdin(File::open(&input).unwrap())
        .stdout(File::create(&output).unwrap())
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert_eq!(fs::read(&output).unwrap(), LINE.repeat(3));
}
