//! `read --grep` and `--errors`: the lines of an output that match.

use termd_test_support::TestDaemon;

use crate::termctl::{ok, termctl};

#[test]
fn only_lines_that_match_are_printed() {
    let daemon = TestDaemon::start();
    let script = "echo one; printf '10%%\\r100%% done\\n'; echo 'error: no disk'; echo ' --> a.rs:3'; \
                  echo; echo ONE; seq 5; echo the end";
    let id = ok(&daemon, &["create", "--pipes", "--", "sh", "-c", script]);
    ok(&daemon, &["wait", &id]);
    for (options, lines) in [
        (&["--grep", "one"][..], "1:one\n2:100% done\n"),
        (&["--grep", "^one$", "-i"], "1:one\n6:ONE\n"),
        (&["--grep", "^3$", "-C", "1"], "8-2\n9:3\n10-4\n"),
        (
            &["--grep", "^(one|5)$", "-C", "1"],
            "1:one\n2-100% done\n--\n10-4\n11:5\n12-the end\n",
        ),
        (
            &["--errors", "-C", "1"],
            "2-100% done\n3:error: no disk\n4- --> a.rs:3\n",
        ),
        (&["--tail", "2", "--grep", "5"], "1:5\n"),
        (&["--follow", "--grep", "ONE"], "6:ONE\n"),
        (&["--command", "0", "--grep", "ONE"], "6:ONE\n"),
    ] {
        let printed = termctl(&daemon, &[&["read", &id], options].concat());
        assert_eq!(
            (printed.code, printed.out.as_str()),
            (Some(0), lines),
            "{options:?}"
        );
    }
    let none = termctl(&daemon, &["read", &id, "--grep", "nothing"]);
    assert_eq!(
        (none.code, none.out.as_str(), none.err.as_str()),
        (Some(1), "", "")
    );
    let json = termctl(&daemon, &["read", &id, "--json", "--grep", "^ONE"]);
    assert_eq!(
        json.out,
        "{\"number\":6,\"text\":\"ONE\",\"matches\":true}\n"
    );
    let wrong = termctl(&daemon, &["read", &id, "--grep", "a(b"]);
    assert_eq!(wrong.code, Some(2));
    assert_eq!(
        wrong.err,
        "termctl: --grep \"a(b\" is no regular expression: unclosed group\n"
    );
}
