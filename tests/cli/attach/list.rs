//! The list of terminals, from `termctl attach` and in it. The person's tty is a terminal of termd.

use termd_test_support::{TestDaemon, wait_until};

use super::screen::{person, rows, wait_until_same};
use super::scrollback::send;
use crate::termctl::{ok, ready_terminal};

/// A terminal with a label that repeats each line behind it.
fn repeater(daemon: &TestDaemon, label: &str) -> String {
    let script =
        format!("stty -echo; echo ready; while read -r line; do echo \"{label}: $line\"; done");
    let id = ready_terminal(daemon, &script);
    ok(daemon, &["rename", &id, label]);
    id
}

fn wait_for(daemon: &TestDaemon, person: &str, texts: &[&str]) {
    wait_until(texts[0], || {
        let shown = rows(daemon, person).join("\n");
        texts.iter().all(|text| shown.contains(text))
    });
}

#[test]
fn a_person_goes_to_another_terminal_and_stays_where_they_were() {
    let daemon = TestDaemon::start();
    let (first, second) = (repeater(&daemon, "first"), repeater(&daemon, "zulu"));
    let one = person(&daemon, 100, 24, &[&first]);
    wait_until_same(&daemon, &one, &first, "attached");
    send(&daemon, &one, "\x1ds");
    wait_for(&daemon, &one, &["q goes back to first", "zulu"]);
    send(&daemon, &one, "q");
    wait_for(&daemon, &one, &["then d detaches", "first"]);
    send(&daemon, &one, "here\r");
    daemon.client().wait_for_text(&first, "first: here");
    wait_until_same(&daemon, &one, &first, "the list is left");
    send(&daemon, &one, "\x1ds");
    wait_for(&daemon, &one, &["first", "zulu", "attach"]);
    send(&daemon, &one, "/zul");
    wait_until("it is filtered", || {
        !rows(&daemon, &one).join("\n").contains("first")
    });
    send(&daemon, &one, "\r");
    send(&daemon, &one, "\r");
    wait_until_same(&daemon, &one, &second, "it is another one");
    send(&daemon, &one, "there\r");
    daemon.client().wait_for_text(&second, "zulu: there");
    send(&daemon, &one, "\x1dd");
    daemon.client().wait_for_text(&one, "done 0");
}

#[test]
fn without_an_argument_the_only_one_is_taken_and_several_are_offered() {
    let daemon = TestDaemon::start();
    let first = repeater(&daemon, "first");
    let one = person(&daemon, 100, 24, &[]);
    wait_until_same(&daemon, &one, &first, "the only one");
    send(&daemon, &one, "\x1dd");
    daemon.client().wait_for_text(&one, "done 0");
    repeater(&daemon, "zulu");
    let other = person(&daemon, 100, 24, &[]);
    wait_for(&daemon, &other, &["first", "zulu", "attach"]);
    send(&daemon, &other, "q");
    daemon.client().wait_for_text(&other, "done 0");
}
