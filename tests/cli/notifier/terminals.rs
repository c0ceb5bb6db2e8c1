//! What terminals want, as desktop notifications.

use serde_json::json;
use termd_test_support::wait_until;

use super::desktop::{Notice, Request};
use super::fixture::{DesktopFixture, USUAL};
use crate::termctl::ok;

impl DesktopFixture {
    /// The next notification, which must be this.
    #[track_caller]
    fn expect(&self, summary: &str, body_has: &str) -> Notice {
        let notice = self.server.notice();
        assert_eq!(notice.summary, summary, "{notice:?}");
        assert!(notice.body.contains(body_has), "{notice:?}");
        assert_eq!(notice.keys, Vec::<String>::new());
        notice
    }

    #[track_caller]
    fn expect_withdrawn(&self, notice: &Notice) {
        assert_eq!(self.server.next(), Request::Close(notice.id));
    }

    /// A terminal of the person's.
    fn create(&self, options: &[&str], script: &str) -> String {
        let words = [&["create"], options, &["--", "bash", "-c", script]].concat();
        ok(&self.daemon, &words)
    }

    fn attention(&self, id: &str) -> serde_json::Value {
        let info = self
            .daemon
            .client()
            .ok("session.show", &json!({ "id": id }));
        info["attention"].clone()
    }
}

#[test]
fn a_prompt_is_shown_until_it_is_answered() {
    let test = "a_prompt_is_shown_until_it_is_answered";
    let Some(desk) = DesktopFixture::start(test, "", &USUAL) else {
        return;
    };
    let script = "read -p 'Name: ' x; read -s -p 'Key: ' y; sleep 1000";
    let id = desk.create(&["--label", "ask"], script);
    let notice = desk.expect("ask waits for you", "Name:\nbash -c ");
    assert!(notice.body.ends_with(&format!("termctl attach {id}")));
    ok(&desk.daemon, &["send", "ask", "me", "-e"]);
    desk.expect_withdrawn(&notice);
    let notice = desk.expect("ask asks for a secret", "Key:");
    // Who has read it knows.
    ok(&desk.daemon, &["screen", "ask"]);
    desk.expect_withdrawn(&notice);
    assert_eq!(desk.attention(&id)["seen"], true);
    desk.server.assert_no_more_requests();
}

#[test]
fn what_a_person_put_away_stays_away_and_the_next_comes() {
    let test = "what_a_person_put_away_stays_away_and_the_next_comes";
    let Some(desk) = DesktopFixture::start(test, "", &USUAL) else {
        return;
    };
    let first = desk.create(&["--label", "first"], "read -p 'One: ' x; sleep 1000");
    let notice = desk.expect("first waits for you", "One:");
    desk.server.dismiss(notice.id);
    desk.create(&["--label", "second"], "read -p 'Two: ' x");
    let notice = desk.expect("second waits for you", "Two:");
    ok(&desk.daemon, &["close", "second"]);
    desk.expect_withdrawn(&notice);
    assert_eq!(desk.attention(&first)["state"], "input");
    desk.server.assert_no_more_requests();
}

#[test]
fn who_is_attached_needs_no_notification() {
    let test = "who_is_attached_needs_no_notification";
    let Some(desk) = DesktopFixture::start(test, "", &USUAL) else {
        return;
    };
    let mut person = desk.daemon.client();
    let id = desk.create(&["--label", "seen"], "read -p 'Go? ' x; sleep 1000");
    person.ok("session.attach", &json!({ "id": id }));
    wait_until("it waits and is seen", || {
        desk.attention(&id)["why"] == "Go?" && desk.attention(&id)["seen"] == true
    });
    // After they have left, it is still the same that waits.
    person.ok("session.detach", &json!({ "id": id }));
    desk.create(&["--label", "other"], "read -p 'Here: ' x");
    desk.expect("other waits for you", "Here:");
    assert_eq!(desk.attention(&id)["seen"], true);
    desk.server.assert_no_more_requests();
}

#[test]
fn ends_are_shown_where_they_are_wanted_or_said() {
    let test = "ends_are_shown_where_they_are_wanted_or_said";
    let words = ["notifier", "--tag", "nightly"];
    let Some(mut desk) = DesktopFixture::start_with(test, "", &USUAL, &words) else {
        return;
    };
    desk.create(&["--label", "quiet"], "exit 3");
    desk.agent.create_terminal(&json!({ "command": "false" }));
    let options = ["--label", "backup", "--tag", "nightly"];
    desk.create(&options, "exit 3");
    let notice = desk.expect("backup has failed", "termctl read ");
    ok(&desk.daemon, &["read", "backup"]);
    desk.expect_withdrawn(&notice);

    desk.create(&["--label", "work"], "sleep 1000");
    ok(
        &desk.daemon,
        &["notify", "-t", "work", "-s", "done", "tests are green"],
    );
    let notice = desk.expect("work is done", "tests are green\n");
    ok(&desk.daemon, &["read", "work"]);
    desk.expect_withdrawn(&notice);
    desk.server.assert_no_more_requests();
}

#[test]
fn an_agent_outside_all_terminals_has_one_notification() {
    let test = "an_agent_outside_all_terminals_has_one_notification";
    let Some(mut desk) = DesktopFixture::start(test, "", &USUAL) else {
        return;
    };
    // What was said before it watches is old news.
    let watches = json!({ "action": "approval.watch" });
    let mut person = desk.daemon.client();
    wait_until("it watches", || !person.audit_records(&watches).is_empty());
    let mut say = |state: &str, text: &str| {
        let said = json!({ "state": state, "text": text });
        desk.agent.ok("attention.report", &said);
    };
    say("input", "which branch?");
    let notice = desk.server.notice();
    assert_eq!(notice.summary, "an agent waits for you: which branch?");
    say("done", "");
    assert_eq!(desk.server.next(), Request::Close(notice.id));
    assert_eq!(desk.server.notice().summary, "an agent is done");
    desk.server.assert_no_more_requests();
}
