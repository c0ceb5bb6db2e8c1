//! `history` and `read --command`: commands and their output.

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, assert_members, wait_until};

use crate::termctl::{ok, termctl};

#[test]
fn history_lists_and_searches_and_read_prints_one() {
    let daemon = TestDaemon::start();
    let good = ok(&daemon, &["create", "--", "printf", "one\\ntwo\\n"]);
    ok(&daemon, &["wait", &good]);
    let bad = ok(
        &daemon,
        &["create", "--label", "bad", "--", "sh", "-c", "exit 3"],
    );
    termctl(&daemon, &["wait", &bad]);
    let runs = ok(&daemon, &["create", "--", "sleep", "1000"]);

    let numbers = |args: &[&str]| -> Vec<(String, Value, Value)> {
        let output = termctl(&daemon, &[&["history", "--json"], args].concat()).json();
        let commands = output.as_array().unwrap();
        let row_of = |it: &Value| {
            let terminal = it["terminal"].as_str().unwrap().to_owned();
            (terminal, it["number"].clone(), it["exit_code"].clone())
        };
        commands.iter().map(row_of).collect()
    };
    let row = |id: &str, code: Value| (id.to_owned(), json!(0), code);
    let (first, second, third) = (
        row(&runs, Value::Null),
        row(&bad, json!(3)),
        row(&good, json!(0)),
    );
    let (newest, older) = (vec![first.clone()], vec![second.clone()]);
    wait_until("their ends are in the database", || {
        let ended = numbers(&[]);
        ended.iter().filter(|command| command.2.is_i64()).count() == 2
    });
    for (args, expected) in [
        (&[][..], vec![first.clone(), second.clone(), third.clone()]),
        (&["--limit", "1"], newest.clone()),
        (&["-n", "0"], vec![]),
        (&["--failed"], older.clone()),
        (&["bad"], older.clone()),
        (&["--search", "SLEEP 10"], newest),
        (&["--search", "nothing"], vec![]),
        (&["--failed", "--search", "sh", "bad"], older),
    ] {
        assert_eq!(numbers(args), expected, "{args:?}");
    }
    let table = ok(&daemon, &["history"]);
    assert!(
        table.starts_with("TERMINAL") && table.contains("sleep 1000"),
        "{table}"
    );

    for number in ["0", "-1"] {
        let output = termctl(&daemon, &["read", &good, "--command", number]);
        assert_eq!((output.code, output.out.as_str()), (Some(0), "one\ntwo\n"));
    }
    let bytes = termctl(&daemon, &["read", &good, "--command", "0", "--bytes", "4"]);
    assert_eq!(bytes.out, "one\n");
    let empty = termctl(&daemon, &["read", &bad, "--command", "0", "--json"]).json();
    assert_members(&empty, &json!({ "start": 0, "text": "" }));

    let none = termctl(&daemon, &["read", &good, "--command", "7"]);
    assert_eq!(none.code, Some(3), "{none:?}");
    none.assert_one_line();
    let nobody = termctl(&daemon, &["history", "nobody"]);
    assert_eq!(nobody.code, Some(3), "{nobody:?}");
    let both = termctl(&daemon, &["read", &good, "--command", "0", "--tail", "1"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn times_are_written_as_people_write_them() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "true"]);
    ok(&daemon, &["wait", &id]);
    for verb in ["history", "audit"] {
        for since in ["yesterday", "1h30m", "@0", "2020-01-01 14:03"] {
            let found = termctl(&daemon, &[verb, "--json", "--since", since]).json();
            assert_ne!(found, json!([]), "{verb} --since {since}");
            let found = termctl(&daemon, &[verb, "--json", "--until", since]).json();
            assert_eq!(found, json!([]), "{verb} --until {since}");
        }
        let output = termctl(&daemon, &[verb, "--since", "lately"]);
        assert_eq!(output.code, Some(2), "{output:?}");
        for said in ["'lately'", "--since", "yesterday", "1h30m", "@SECONDS"] {
            assert!(output.err.contains(said), "{output:?}");
        }
    }
}
