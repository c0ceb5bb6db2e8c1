//! A daemon, a desktop, and `termctl notifier` between them.

use std::io::BufReader;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::json;
use termd_test_support::{RawClient, TestDaemon, skip};

use super::desktop::{Bus, Request, Server};
use crate::termctl::command;

/// The capabilities of most desktops.
pub(crate) const USUAL: [&str; 3] = ["actions", "body", "body-markup"];

/// A daemon, a desktop, and `termctl notifier` between them.
pub(crate) struct DesktopFixture {
    pub(crate) notifier: Notifier,
    pub(crate) server: Server,
    _bus: Bus,
    pub(crate) agent: RawClient,
    pub(crate) daemon: TestDaemon,
}

/// The running `termctl`.
pub(crate) struct Notifier {
    pub(crate) child: Child,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Drop for Notifier {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl DesktopFixture {
    /// Starts all of them. Where there is no bus it prints why the test is skipped.
    pub(crate) fn start(test: &str, config: &str, capabilities: &[&str]) -> Option<Self> {
        Self::start_with(test, config, capabilities, &["notifier"])
    }

    /// The same with these arguments of termctl.
    pub(crate) fn start_with(
        test: &str,
        config: &str,
        capabilities: &[&str],
        arguments: &[&str],
    ) -> Option<Self> {
        let daemon = TestDaemon::configured(&format!("kill_grace_ms = 300\n{config}"));
        let Some(bus) = Bus::start(&daemon) else {
            skip(test, "dbus-daemon is not installed");
            return None;
        };
        let server = Server::start(&bus, capabilities);
        let mut agent = daemon.client();
        agent.ok(
            "daemon.hello",
            &json!({ "client": "an agent", "front": "mcp" }),
        );
        let mut notifier = command(&daemon, arguments);
        notifier.env("DBUS_SESSION_BUS_ADDRESS", &bus.address);
        let mut child = notifier
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        assert_eq!(server.next(), Request::Capabilities);
        Some(Self {
            notifier: Notifier { child, output },
            server,
            _bus: bus,
            agent,
            daemon,
        })
    }
}
