//! The gate's questions as desktop notifications, on a real bus.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{Process, TestDaemon, skip, wait_until};

use super::desktop::{Bus, Request};
use super::fixture::{DesktopFixture, USUAL};
use crate::termctl::{TermctlOutput, command, ok};

impl DesktopFixture {
    /// A directory, and the call that removes it.
    fn removal(&self, name: &str) -> (PathBuf, Value) {
        let victim = self.daemon.path("state").join(name);
        std::fs::create_dir_all(&victim).unwrap();
        let params = json!({ "command": "rm", "args": ["-r", victim] });
        (victim, params)
    }

    /// Makes the agent's call, which the gate refuses: the question's id.
    fn ask(&mut self, params: &Value) -> String {
        let error = self.agent.err("session.create", params);
        error.data["approval"].as_str().unwrap().to_owned()
    }

    /// The next line of the watcher. It reports an answer that the daemon has taken.
    fn watcher_line(&mut self) -> String {
        let mut line = String::new();
        self.notifier.output.read_line(&mut line).unwrap();
        line
    }

    /// Checks that the agent's call is allowed and removes the directory.
    fn assert_runs(&mut self, victim: &Path, params: &Value) {
        self.agent.ok("session.create", params);
        wait_until("it is removed", || !victim.exists());
    }
}

#[test]
fn a_button_lets_it_run_once() {
    let Some(mut desk) = DesktopFixture::start("a_button_lets_it_run_once", "", &USUAL) else {
        return;
    };
    let (victim, params) = desk.removal("<b>victim</b>");
    let id = desk.ask(&params);
    let notice = desk.server.notice();
    assert_eq!(notice.summary, "May this run for an agent?");
    let shown = "&lt;b&gt;victim&lt;/b&gt;";
    assert!(notice.body.starts_with("rm -r "), "{notice:?}");
    assert!(notice.body.contains(shown), "no markup: {notice:?}");
    assert_eq!(notice.keys, ["once", "always", "deny"]);
    desk.server.press(notice.id, "once");
    assert!(
        desk.watcher_line()
            .starts_with(&format!("{id} approved: rm -r"))
    );
    desk.assert_runs(&victim, &params);
    // The approval was for one call: the next is asked about.
    std::fs::create_dir_all(&victim).unwrap();
    assert_ne!(desk.ask(&params), id);
    assert_ne!(desk.server.notice().id, notice.id);
    desk.server.assert_no_more_requests();
}

#[test]
fn a_button_denies() {
    let Some(mut desk) = DesktopFixture::start("a_button_denies", "", &USUAL) else {
        return;
    };
    let (victim, params) = desk.removal("victim");
    let id = desk.ask(&params);
    let notice = desk.server.notice();
    // An unknown action and an unknown notification answer nothing.
    desk.server.press(notice.id + 1, "once");
    desk.server.press(notice.id, "deny");
    assert!(
        desk.watcher_line()
            .starts_with(&format!("{id} denied: rm -r"))
    );
    let refused = desk.agent.err("session.create", &params);
    assert_eq!(refused.kind(), "rejected", "{refused:?}");
    assert!(victim.exists());
    desk.server.assert_no_more_requests();
}

#[test]
fn a_button_lets_it_run_for_always() {
    let Some(mut desk) = DesktopFixture::start("a_button_lets_it_run_for_always", "", &USUAL)
    else {
        return;
    };
    let (victim, params) = desk.removal("victim");
    let id = desk.ask(&params);
    let notice = desk.server.notice();
    desk.server.press(notice.id, "always");
    let watcher_line = desk.watcher_line();
    assert!(
        watcher_line.starts_with(&format!("{id} approved: ")),
        "{watcher_line}"
    );
    assert!(watcher_line.contains("; always, by "), "{watcher_line}");
    for _ in 0..3 {
        desk.assert_runs(&victim, &params);
        std::fs::create_dir_all(&victim).unwrap();
    }
    let file = desk.daemon.path("config/termd/approved.toml");
    assert!(std::fs::read_to_string(file).unwrap().contains("victim"));
    desk.server.assert_no_more_requests();
}

#[test]
fn what_is_answered_elsewhere_is_taken_away() {
    let Some(mut desk) =
        DesktopFixture::start("what_is_answered_elsewhere_is_taken_away", "", &USUAL)
    else {
        return;
    };
    for (verb, state) in [("approve", "approved"), ("deny", "denied")] {
        let (_, params) = desk.removal(verb);
        let id = desk.ask(&params);
        let notice = desk.server.notice();
        let output = ok(&desk.daemon, &[verb, &id]);
        assert!(output.contains(state), "{output}");
        assert_eq!(desk.server.next(), Request::Close(notice.id));
        // A button pressed at the same moment comes too late and does no harm.
        desk.server.press(notice.id, "once");
    }
    desk.server.assert_no_more_requests();
}

#[test]
fn what_nobody_answers_in_time_is_taken_away() {
    let test = "what_nobody_answers_in_time_is_taken_away";
    let Some(mut desk) = DesktopFixture::start(test, "approval_timeout_ms = 3000\n", &USUAL) else {
        return;
    };
    let (victim, params) = desk.removal("victim");
    let id = desk.ask(&params);
    let notice = desk.server.notice();
    assert_eq!(desk.server.next(), Request::Close(notice.id));
    let all = ok(&desk.daemon, &["approvals", "--all", "--json"]);
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(
        (&all[0]["id"], &all[0]["state"]),
        (&json!(id), &json!("expired"))
    );
    assert!(victim.exists());
}

#[test]
fn more_than_fit_come_as_the_others_go() {
    const FIT: usize = 8;
    let test = "more_than_fit_come_as_the_others_go";
    let Some(mut desk) = DesktopFixture::start(test, "", &USUAL) else {
        return;
    };
    let (mut notices, mut ids) = (Vec::new(), Vec::new());
    for number in 0..FIT + 3 {
        let (_, params) = desk.removal(&format!("victim-{number}-"));
        ids.push(desk.ask(&params));
        if number < FIT {
            notices.push(desk.server.notice());
        }
    }
    let next_is = |desk: &DesktopFixture, name: &str| {
        let next = desk.server.notice();
        assert!(next.body.contains(name), "{next:?}");
    };
    ok(&desk.daemon, &["deny", &ids[5]]);
    assert_eq!(desk.server.next(), Request::Close(notices[5].id));
    next_is(&desk, "victim-8-");
    // The watcher has seen all questions by now. A dismissed notification makes space for another,
    // although nothing has changed in the daemon.
    desk.server.dismiss(notices[3].id);
    next_is(&desk, "victim-9-");
    // So does an answered one. A dismissed notification does not come back.
    desk.server.press(notices[0].id, "deny");
    next_is(&desk, "victim-10-");
    desk.server.assert_no_more_requests();
}

#[test]
fn a_desktop_without_buttons_is_told_the_command() {
    let test = "a_desktop_without_buttons_is_told_the_command";
    let Some(mut desk) = DesktopFixture::start(test, "", &["body"]) else {
        return;
    };
    let (_, params) = desk.removal("<victim>");
    let id = desk.ask(&params);
    let notice = desk.server.notice();
    assert_eq!(notice.keys, Vec::<String>::new());
    assert!(
        notice.body.contains("<victim>"),
        "no markup is read: {notice:?}"
    );
    let commands = format!("termctl approve {id}, or termctl deny {id}");
    assert!(notice.body.ends_with(&commands), "{notice:?}");
}

#[test]
fn a_watcher_that_ends_takes_its_notifications_away() {
    let test = "a_watcher_that_ends_takes_its_notifications_away";
    // By its former name.
    let words = ["approvals", "--notify"];
    let Some(mut desk) = DesktopFixture::start_with(test, "", &USUAL, &words) else {
        return;
    };
    let (_, params) = desk.removal("victim");
    desk.ask(&params);
    let notice = desk.server.notice();
    Process::expect(desk.notifier.child.id().into()).signal(Signal::TERM);
    assert_eq!(desk.server.next(), Request::Close(notice.id));
    assert_eq!(desk.notifier.child.wait().unwrap().code(), Some(0));
}

#[test]
fn without_a_desktop_one_line_says_what_is_missing() {
    let daemon = TestDaemon::start();
    let run = |address: &str| {
        let mut notifier = command(&daemon, &["notifier"]);
        if !address.is_empty() {
            notifier.env("DBUS_SESSION_BUS_ADDRESS", address);
        }
        TermctlOutput::of(&notifier.output().unwrap())
    };
    let nowhere = format!("unix:path={}", daemon.path("run/no-bus").display());
    for address in ["", &nowhere, "nonsense"] {
        let output = run(address);
        assert_eq!(output.code, Some(1), "{output:?}");
        output.assert_one_line();
        assert!(output.err.contains("no session bus"), "{output:?}");
        assert!(
            output.err.contains("run it in a desktop session"),
            "{output:?}"
        );
    }
    let Some(bus) = Bus::start(&daemon) else {
        skip(
            "without_a_desktop_one_line_says_what_is_missing",
            "dbus-daemon is not installed: only the part without a bus was run",
        );
        return;
    };
    let output = run(&bus.address);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(output.err.contains("no notification server"), "{output:?}");
    assert!(output.err.contains("start dunst or mako"), "{output:?}");
}
