//! What `termctl show` and `termctl read` print about output that was dropped.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{TestDaemon, assert_members, merged, sh, wait_until, wait_until_within};

use crate::termctl::{TermctlOutput, ok, termctl};

/// The size of the output, in bytes: lines of eight.
const BYTES: u64 = 2 << 20;
/// The quota, in bytes.
const QUOTA: u64 = 256 << 10;

/// A terminal whose output exceeded its quota, and the range that was dropped.
struct FloodedTerminal {
    daemon: TestDaemon,
    id: String,
    start: u64,
    end: u64,
}

impl FloodedTerminal {
    fn start() -> Self {
        Self::with(QUOTA, "seq -w 0 9999999")
    }

    /// Floods a terminal with the first [`BYTES`] of what this script prints.
    fn with(quota: u64, prints: &str) -> Self {
        let daemon = TestDaemon::configured(&format!(
            "kill_grace_ms = 300\n[store]\nterminal_quota = {quota}\n\
             [spool]\ndefault_window_bytes = 65536\n",
        ));
        let mut client = daemon.client();
        let script = format!("stty raw -echo; ({prints}) | head -c {BYTES}");
        let params = merged(&sh(&script), &json!({ "output_byte_limit": 65_536 }));
        let id = client.create_terminal(&params);
        client.ok("session.wait", &json!({ "id": id }));
        // The middle of a burst is dropped only after the burst is stored.
        let (mut start, mut end) = (0, 0);
        wait_until("no more than the quota is kept", || {
            // The stats come first, so the gap that is shown afterwards is final.
            let stats = client.ok("daemon.stats", &json!({}));
            let is_stored = stats["unstored_bytes"] == 0;
            let shown = client.ok("session.show", &json!({ "id": id }));
            let gap = &shown["gaps"][0];
            (start, end) = (
                gap["start"].as_u64().unwrap_or(0),
                gap["end"].as_u64().unwrap_or(0),
            );
            is_stored && start + (BYTES - end) <= quota
        });
        assert!(0 < start && start < end && end < BYTES, "{start} {end}");
        Self {
            daemon,
            id,
            start,
            end,
        }
    }

    fn gap(&self) -> Value {
        json!({ "start": self.start, "end": self.end, "cause": "terminal_quota" })
    }

    /// The line about the gap for a person.
    fn note(&self) -> String {
        format!(
            "termctl: output from offset {} to {} is no longer kept (store.terminal_quota)\n",
            self.start, self.end
        )
    }

    /// `termctl read` of the terminal with these options.
    fn read(&self, options: &[&str]) -> TermctlOutput {
        let arguments = [&["read"], options, &[self.id.as_str()]].concat();
        let output = termctl(&self.daemon, &arguments);
        assert_eq!(output.code, Some(0), "{output:?}");
        output
    }

    /// The kept lines from this offset on.
    fn kept_from(&self, from: u64) -> String {
        self.kept_of(from, |number| format!("{number:07}\n"))
    }

    /// The same for lines of another shape.
    fn kept_of(&self, from: u64, line: impl Fn(u64) -> String) -> String {
        let lines: String = (0..BYTES / 8).map(line).collect();
        let part = |from: u64, to: u64| {
            let (from, to) = (usize::try_from(from).unwrap(), usize::try_from(to).unwrap());
            lines.get(from..to).unwrap_or_default().to_owned()
        };
        let head = part(from, self.start.max(from));
        head + &part(self.end.max(from), BYTES)
    }
}

#[test]
fn show_names_what_is_not_kept() {
    let flooded = FloodedTerminal::start();
    let shown = ok(&flooded.daemon, &["show", &flooded.id]);
    let (start, end) = (flooded.start, flooded.end);
    let what = format!("bytes {start} to {end} (terminal_quota)");
    let line = shown.lines().find(|line| line.starts_with("not kept"));
    assert!(line.is_some_and(|line| line.ends_with(&what)), "{shown}");
    let all = format!("bytes 0 to {BYTES}");
    assert!(shown.lines().any(|line| line.ends_with(&all)), "{shown}");
    let shown = termctl(&flooded.daemon, &["show", "--json", &flooded.id]).json();
    assert_eq!(shown["gaps"], json!([flooded.gap()]), "{shown}");
}

#[test]
fn read_says_once_what_is_not_kept() {
    let flooded = FloodedTerminal::start();
    // Exact bytes, plain text, and following.
    for options in [&["--raw"][..], &[], &["--follow"]] {
        let output = flooded.read(options);
        assert_eq!(output.err, flooded.note(), "{options:?}");
        assert!(
            output.out == flooded.kept_from(0),
            "{options:?}: {}",
            output.out.len()
        );
    }
    let object = flooded.read(&["--json"]).json();
    assert_eq!(object["gaps"], json!([flooded.gap()]), "{}", object["gaps"]);
    assert_members(&object, &json!({ "start": 0, "end": BYTES }));
    assert!(object["text"] == flooded.kept_from(0).as_str());
}

#[test]
fn export_says_once_what_is_not_kept() {
    let flooded = FloodedTerminal::start();
    for format in ["asciicast", "asciicast-v2", "raw", "text", "html"] {
        let args = ["export", &flooded.id, "--format", format];
        let output = termctl(&flooded.daemon, &args);
        assert_eq!(output.err, flooded.note(), "{format}");
        assert_eq!(output.code, Some(0), "{format}");
    }
}

#[test]
fn a_search_and_a_screen_say_what_is_not_kept() {
    let flooded = FloodedTerminal::start();
    let (daemon, id) = (&flooded.daemon, flooded.id.as_str());
    let found = termctl(daemon, &["search", "-t", id, "0000001"]);
    let note = flooded
        .note()
        .replace("termctl: ", &format!("termctl: {id}: "));
    assert_eq!((found.code, found.err.as_str()), (Some(0), note.as_str()));
    let picture = daemon.path("gap.png");
    let shoot = ["screenshot", id, "-o", picture.to_str().unwrap(), "--at"];
    for verb in [&["screen", id, "--at"][..], &shoot] {
        for (at, is_in_gap) in [
            (flooded.start, false),
            (flooded.start + 9, true),
            // It is drawn over that of before the gap.
            (flooded.end + 8, true),
        ] {
            let output = termctl(daemon, &[verb, &[at.to_string().as_str()]].concat());
            let want = if is_in_gap {
                flooded.note()
            } else {
                String::new()
            };
            assert_eq!((output.code, output.err), (Some(0), want), "{verb:?} {at}");
        }
    }
}

/// How long the oldest output may take to go.
const IS_DROPPED: Duration = Duration::from_mins(1);

#[test]
fn output_that_is_gone_from_the_beginning_is_named() {
    let daemon = TestDaemon::configured("[store]\ntotal_quota = \"4MiB\"\n");
    let mut client = daemon.client();
    let mut run = |bytes: u64| {
        // What is packed counts, and this does not shrink.
        let script = format!("head -c {bytes} /dev/urandom | base64");
        let id = client.create_terminal(&sh(&script));
        client.ok("session.wait", &json!({ "id": id }));
        client.ok("session.close", &json!({ "id": id }));
        id
    };
    let (old, _) = (run(2 << 20), run(12 << 20));
    let mut start = 0;
    wait_until_within(IS_DROPPED, "the oldest output is gone", || {
        let info = client.ok("session.show", &json!({ "id": old }));
        start = info["start"].as_u64().unwrap();
        start > 0
    });
    let note = format!("output from offset 0 to {start} is no longer kept (retention)\n");
    for format in ["asciicast", "raw", "text", "html"] {
        let output = termctl(&daemon, &["export", &old, "--format", format]);
        assert_eq!(
            (output.code, output.err),
            (Some(0), format!("termctl: {note}")),
            "{format}"
        );
    }
    let found = termctl(&daemon, &["search", "-t", &old, "0000001"]);
    assert_eq!(found.err, format!("termctl: {old}: {note}"));
    let shown = ok(&daemon, &["show", &old]);
    let not_kept = format!("bytes 0 to {start} (retention)");
    assert!(
        shown.lines().any(|line| line.ends_with(&not_kept)),
        "{shown}"
    );
}

#[test]
fn what_was_deleted_is_said_to_be() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "echo", "gone"]);
    ok(&daemon, &["wait", &id]);
    ok(&daemon, &["close", &id]);
    ok(&daemon, &["delete", "--yes", &id]);
    let picture = daemon.path("gone.png");
    for args in [
        &["export", &id][..],
        &["screen", &id],
        &["screenshot", &id, "-o", picture.to_str().unwrap()],
    ] {
        let output = termctl(&daemon, args);
        let want = "termctl: the output was deleted (termctl delete)\n";
        assert_eq!(
            (output.code, output.err.as_str()),
            (Some(0), want),
            "{args:?}"
        );
    }
}

/// The output behind the gap is longer than a page and holds no text.
#[test]
fn a_gap_without_text_behind_it_is_said_too() {
    // Sequences of four bytes, so that the gap cuts none.
    let flooded = FloodedTerminal::with(1 << 20, r"echo top; yes $(printf '\033[0m') | tr -d '\n'");
    for options in [&["--follow"][..], &[]] {
        let output = flooded.read(options);
        assert_eq!(output.err, flooded.note(), "{options:?}");
        assert_eq!(output.out, "top\n", "{options:?}");
    }
}

/// Where the gap cuts an escape sequence, plain text is read again from the start of the sequence.
#[test]
fn a_gap_that_cuts_an_escape_sequence_keeps_its_bounds_and_cause() {
    // Sequences of three bytes. With the first line no end of a block falls between two.
    let flooded = FloodedTerminal::with(1 << 20, r"echo head; yes $(printf '\033[m') | tr -d '\n'");
    for options in [&["--follow"][..], &[]] {
        assert_eq!(flooded.read(options).err, flooded.note(), "{options:?}");
    }
}

/// Lines of nine bytes, which do not end with a block: a part of one is before the gap, and a part of
/// another behind it. As text they are two lines: no program has printed them as one.
#[test]
fn a_line_ends_at_a_gap() {
    let flooded = FloodedTerminal::with(QUOTA, "seq -w 0 99999999");
    let line = |number| format!("{number:08}\n");
    let kept = flooded.kept_of(0, line);
    let behind = flooded.kept_of(flooded.end, line);
    let (before, _) = kept.split_at(kept.len() - behind.len());
    assert!(!before.ends_with('\n'), "{}", flooded.start);
    let text = format!("{before}\n{behind}");
    let is = |output: &TermctlOutput, want: &str, of: &[&str]| {
        assert_eq!(output.err, flooded.note(), "{of:?}");
        let lengths = (output.out.len(), want.len());
        assert!(output.out == want, "{of:?}: {lengths:?}");
    };
    for (options, want) in [
        (&["--raw"][..], &kept),
        (&[], &text),
        (&["--follow"], &text),
    ] {
        is(&flooded.read(options), want, options);
    }
    let cut = before.rsplit('\n').next().unwrap();
    let found = flooded.read(&["--grep", &format!("^{cut}$")]);
    let number = before.lines().count();
    is(&found, &format!("{number}:{cut}\n"), &["--grep"]);
    for (format, want) in [("raw", &kept), ("text", &text)] {
        let args = ["export", &flooded.id, "--format", format];
        is(&termctl(&flooded.daemon, &args), want, &args);
    }
    let args = ["export", &flooded.id, "--format", "asciicast"];
    let recording = termctl(&flooded.daemon, &args).out;
    let events = recording.lines().skip(1).map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        (event[1] == "o").then(|| event[2].as_str().unwrap().to_owned())
    });
    let printed: String = events.flatten().collect();
    assert!(printed == format!("{before}\u{18}\r\n{behind}"));
    let at = (flooded.end + 20).to_string();
    let screen = ok(&flooded.daemon, &["screen", &flooded.id, "--at", &at]);
    let rows: Vec<&str> = screen.lines().map(str::trim).collect();
    assert!(rows.contains(&cut), "{cut}: {screen}");
}

#[test]
fn a_read_from_within_what_is_not_kept_begins_behind_it() {
    let flooded = FloodedTerminal::start();
    for since in [flooded.start, flooded.start + 8, flooded.end - 1] {
        let since = since.to_string();
        let output = flooded.read(&["--raw", "--since", &since]);
        assert_eq!(output.err, flooded.note(), "{since}");
        assert!(output.out == flooded.kept_from(flooded.end), "{since}");
        let object = flooded.read(&["--json", "--raw", "--since", &since]).json();
        assert_eq!(object["start"], flooded.end, "{since}");
        assert_eq!(object["gaps"], json!([flooded.gap()]), "{since}");
        let bytes = STANDARD.decode(object["data"].as_str().unwrap()).unwrap();
        assert!(
            bytes == flooded.kept_from(flooded.end).as_bytes(),
            "{since}"
        );
    }
    // A read before or behind the gap does not mention it.
    let behind = flooded.read(&["--raw", "--since", &flooded.end.to_string()]);
    assert_eq!(behind.err, "");
    let before = flooded.read(&["--raw", "--since", "0", "--bytes", "16"]);
    assert_eq!(
        (before.out.as_str(), before.err.as_str()),
        ("0000000\n0000001\n", "")
    );
    let last = flooded.read(&["--tail", "1"]);
    assert_eq!(last.err, "");
    assert_eq!(last.out, format!("{:07}\n", BYTES / 8 - 1));
}

#[test]
fn each_page_of_a_read_that_follows_names_the_gap_before_it() {
    let flooded = FloodedTerminal::start();
    let pages = flooded.read(&["--json", "--follow"]);
    let pages: Vec<Value> = pages
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let with_gap: Vec<&Value> = pages
        .iter()
        .filter(|page| !page["gaps"].is_null())
        .collect();
    assert_eq!(with_gap.len(), 1, "{}", pages.len());
    assert_eq!(with_gap[0]["gaps"], json!([flooded.gap()]));
    assert_eq!(with_gap[0]["start"], flooded.end);
}
