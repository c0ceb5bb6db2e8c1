//! A program's question to its terminal is answered once, immediately, and by termd alone.

use serde_json::json;
use termd_test_support::{TestDaemon, sh};

/// A script that asks, reads the answer until nothing has come for 300 ms, and prints it byte by
/// byte.
fn asking(query: &str) -> String {
    format!(
        "stty raw -echo min 0 time 3; printf '{query}'; \
         answer=$(dd bs=1 count=200 2>/dev/null | od -An -c -w200); printf 'got[%s]end' \"$answer\""
    )
}

/// The answer to a question as od(1) prints it, without blanks.
fn answer(query: &str) -> String {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = &client.create_terminal(&sh(&asking(query)));
    let output = client.wait_for_text(id, "]end");
    client.ok("session.wait", &json!({ "id": id }));
    let output = output
        .rsplit_once("got[")
        .unwrap()
        .1
        .trim_end_matches("]end")
        .to_owned();
    output.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn a_program_that_asks_gets_one_answer() {
    for (query, expected) in [
        // DSR (no malfunction), CPR, DECXCPR.
        ("\\033[5n", "033[0n"),
        ("ab\\033[6n", "033[1;3R"),
        ("\\033[3;4H\\033[?6n", "033[?3;4;1R"),
        // DECRQM: autowrap is set, bracketed paste and ANSI's insert mode are not.
        ("\\033[?7$p", "033[?7;1$y"),
        ("\\033[?2004$p", "033[?2004;2$y"),
        ("\\033[4$p", "033[4;2$y"),
        // XTWINOPS: the size in characters.
        ("\\033[18t", "033[8;24;80t"),
        // The flags of kitty's keyboard protocol.
        ("\\033[?u", "033[?0u"),
        // DECRQSS: the current SGR.
        ("\\033[1m\\033P$qm\\033\\\\", "033P1$r0;1m033\\"),
        // Two questions at once are answered in order.
        ("\\033[5n\\033[6n", "033[0n033[1;1R"),
    ] {
        assert_eq!(answer(query), expected, "{query}");
    }
    // One answer of the right form, whatever its values.
    for (query, begin, end) in [
        ("\\033[c", "033[?", "c"),
        ("\\033[>c", "033[>", "c"),
        ("\\033[>q", "033P>|", "033\\"),
        ("\\033]11;?\\033\\\\", "033]11;rgb:", "033\\"),
        ("\\033]10;?\\007", "033]10;rgb:", "\\a"),
    ] {
        let answer = answer(query);
        assert!(
            answer.starts_with(begin) && answer.ends_with(end),
            "{query}: {answer}"
        );
        assert_eq!(answer.matches(begin).count(), 1, "{query}: {answer}");
    }
}

/// Answers with titles, the clipboard or the answerback would type a program's words into a shell.
#[test]
fn what_would_type_a_programs_own_words_is_not_answered() {
    for query in ["\\033]2;rm -rf\\007\\033[21t", "\\033]52;c;?\\007", "\\005"] {
        let answer = answer(query);
        assert!(
            answer.is_empty() || (answer.starts_with("033]l") && !answer.contains("rm")),
            "{query}: {answer}"
        );
    }
}
