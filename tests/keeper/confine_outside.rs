//! Processes, sockets, terminals and rights outside of a sandbox, by trying to reach them.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use serde_json::json;

use crate::Test;
use crate::ground::Ground;
use crate::support::User;

pub(crate) const TESTS: &[Test] = &[
    (
        "confine_nobody_outside_is_reached",
        nobody_outside_is_reached,
    ),
    ("confine_no_rights_are_gained", no_rights_are_gained),
    ("confine_sandboxes_are_apart", sandboxes_are_apart),
];

pub(crate) fn nobody_outside_is_reached() {
    for user in User::all() {
        let ground = Ground::new(user);
        let (other, pid) = ground.keeper.spawn("tty; read line");
        let tty = ground.keeper.output(&other, "\n");
        let tty = tty.trim();
        let keeper = ground.keeper.pid();
        let name = format!("termd-test-{keeper}");
        let address = SocketAddr::from_abstract_name(&name);
        let _abstract = UnixListener::bind_addr(&address.unwrap()).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (tcp, udp) = (tcp.local_addr().unwrap(), udp.local_addr().unwrap());
        let lines = [
            format!("kill {keeper} = EPERM"),
            format!("kill {pid} = EPERM"),
            format!("kill -{pid} = EPERM"),
            format!("tgkill {keeper} = EPERM"),
            format!("ptrace {keeper} = EPERM"),
            format!("ptrace {pid} = EPERM"),
            format!("prlimit {keeper} = EPERM"),
            format!("connect_abstract {name} = EPERM"),
            // By its path, and from its own directory.
            "connect ~/run/termd.sock = ENOENT".to_owned(),
            "connect ../run/termd.sock = ENOENT".to_owned(),
            format!("connect /proc/{keeper}/root~/run/termd.sock = EACCES"),
            format!("open_tty {tty} = ENOENT"),
            format!("tcp {tcp} = EACCES"),
            "listen 127.0.0.1:0 = EACCES".to_owned(),
            format!("udp {udp} = EACCES"),
        ];
        let table: Vec<&str> = lines.iter().map(String::as_str).collect();
        ground.expect(user, &ground.workspace(), &table);
        // With the network and the socket allowed.
        let mut allowed = ground.workspace();
        allowed["sandbox"]["network"] = json!("allowed");
        allowed["sandbox"]["daemon_socket"] = json!("allowed");
        let lines = [
            format!("tcp {tcp} = crossed"),
            "listen 127.0.0.1:0 = crossed".to_owned(),
            format!("udp {udp} = crossed"),
            "connect ~/run/termd.sock = crossed".to_owned(),
            "create ~/run/new = EROFS".to_owned(),
            "nonempty ~/state = empty".to_owned(),
            format!("connect_abstract {name} = EPERM"),
        ];
        let table: Vec<&str> = lines.iter().map(String::as_str).collect();
        ground.expect(user, &allowed, &table);
    }
}

pub(crate) fn no_rights_are_gained() {
    for user in User::all() {
        let ground = Ground::new(user);
        ground.expect(
            user,
            &ground.workspace(),
            &[
                "tiocsti = EPERM",
                "tiocsti 0 upper = EPERM",
                "tioclinux \u{2} = EPERM",
                "unshare = EPERM",
                "unshare_mounts = EPERM",
                "clone = EPERM",
                "clone3 = ENOSYS",
                "setns /proc/self/ns/user = EPERM",
                "keyctl = EPERM",
                "bpf = EPERM",
                "userfaultfd = EPERM",
                "perf = EPERM",
                "io_uring = EPERM",
                "x32 = ENOSYS",
                "capabilities = none",
                "setuid 1 = EPERM|EINVAL",
                "chown_away ~/project/file = EPERM|EINVAL",
                "mknod ~/project/node = EPERM|EACCES",
            ],
        );
        // The same after an exec, and in what that starts; and a setuid program gives nothing.
        let spec = ground.workspace();
        let script = "sh -c 'grep -h ^Cap /proc/self/status; grep NoNewPrivs /proc/self/status'; \
                      su -c id root </dev/null; unshare -r true; id -u";
        let output = ground.keeper.confined(script, &ground.work, &spec);
        for line in output.lines().filter(|line| line.starts_with("Cap")) {
            assert!(line.ends_with("\t0000000000000000"), "{output}");
        }
        assert!(output.contains("NoNewPrivs:\t1"), "{output}");
        assert!(output.contains("unshare: unshare failed"), "{output}");
        if user == User::Nobody {
            assert!(
                output.ends_with("65534\n") && !output.contains("uid=0"),
                "{output}"
            );
        }
    }
}

/// A sandbox in a sandbox's workspace: neither reaches the other, but through the files.
pub(crate) fn sandboxes_are_apart() {
    for user in User::all() {
        let ground = Ground::new(user);
        let argv = ["/bin/sh", "-c", "echo ready; read line"];
        let (id, answer) = ground
            .keeper
            .try_confined(&argv, &ground.work, &ground.workspace());
        ground.keeper.output(&id, "ready");
        let pid = answer.as_i64().unwrap();
        let lines = [
            format!("kill {pid} = EPERM"),
            format!("ptrace {pid} = EPERM"),
            format!("list /proc/{pid}/root = EACCES"),
            format!("read /proc/{pid}/environ = EACCES"),
        ];
        let table: Vec<&str> = lines.iter().map(String::as_str).collect();
        ground.expect(user, &ground.workspace(), &table);
    }
}
