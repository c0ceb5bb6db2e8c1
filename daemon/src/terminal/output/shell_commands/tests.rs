//! Marks in every order, good and bad, as tables.

use termd_proto::TerminalId;
use termd_proto::command::CommandSource;

use super::*;

/// `A` and `C` with an offset, `D` with an exit code (`-` for none) and an offset, `E` with a
/// signed text, `e` with one that is not, `W` with a directory.
fn mark(text: &str) -> ShellMark {
    let (kind, rest) = text.split_at(1);
    let offset = |digits: &str| Offset(digits.parse().unwrap());
    match kind {
        "A" => ShellMark::PromptStart(offset(rest)),
        "C" => ShellMark::OutputStart(offset(rest)),
        "D" => {
            let (exit, at) = rest.split_once('@').unwrap();
            let (exit, offset) = (exit.parse().ok(), offset(at));
            ShellMark::CommandFinished { exit, offset }
        }
        "E" | "e" => ShellMark::CommandLine {
            text: rest.to_owned(),
            trusted: kind == "E",
        },
        "W" => ShellMark::Cwd(rest.to_owned()),
        other => panic!("no mark is called {other}"),
    }
}

/// `1+text@offset` for a beginning, `1-code@offset` for an end.
fn said(change: &CommandChange) -> String {
    match change {
        CommandChange::Started(started) => {
            format!(
                "{}+{}@{}",
                started.number, started.text, started.start_offset
            )
        }
        CommandChange::Ended(ended) => {
            let code = ended
                .exit_code
                .map_or("-".to_owned(), |code| code.to_string());
            format!("{}-{code}@{}", ended.number, ended.end_offset)
        }
    }
}

fn told(commands: &mut ShellCommands, marks: &str) -> Vec<String> {
    marks
        .split_whitespace()
        .flat_map(|text| commands.on(mark(text), 7))
        .map(|change| said(&change))
        .collect()
}

#[test]
fn marks_become_commands() {
    let table = [
        ("as it should be", "A0 Els C10 D0@20 A20", "1+ls@10 1-0@20"),
        (
            "read, and not run",
            "A0 Eif D2@20 A20 D1@30",
            "1+if@20 1-2@20",
        ),
        (
            "two in a row",
            "A0 Ea C1 D0@2 A2 Eb C3 D1@4 A4",
            "1+a@1 1-0@2 2+b@3 2-1@4",
        ),
        ("hidden text", "A0 C10 D3@20", "1+@10 1-3@20"),
        ("empty line", "A0 A5 A9", ""),
        ("cancelled line", "A0 D130@5 A5", ""),
        ("D without C", "D1@5 A6 D1@7", ""),
        (
            "C without D, then A",
            "A0 Ex C10 A30 Ey C40",
            "1+x@10 1--@30 2+y@40",
        ),
        ("two Cs", "A0 Ex C10 C11 D0@20", "1+x@10 1-0@20"),
        (
            "two Cs with a line between",
            "A0 Ex C10 Ey C20 D0@30",
            "1+x@10 1--@20 2+y@20 2-0@30",
        ),
        ("D without an exit code", "A0 Ex C10 D-@20", "1+x@10 1--@20"),
        ("two Ds", "A0 Ex C10 D0@20 D1@21", "1+x@10 1-0@20"),
        ("wrong nonce", "A0 Ex ey C10 D0@20", "1+x@10 1-0@20"),
        ("only a wrong nonce", "A0 ey C10 D0@20", "1+@10 1-0@20"),
        (
            "wrong nonce while it runs",
            "A0 Ex C10 ey C12 D0@20",
            "1+x@10 1-0@20",
        ),
        (
            "a line of a prompt before",
            "A0 Ex A5 C10 D0@20",
            "1+@10 1-0@20",
        ),
        ("the last of two lines", "A0 Ex Ey C10", "1+y@10"),
        (
            "no A at all",
            "Ex C10 D0@20 Ey C30 D0@40",
            "1+x@10 1-0@20 2+y@30 2-0@40",
        ),
    ];
    for (name, marks, expected) in table {
        let mut commands = ShellCommands::new(Trust::Signed);
        assert_eq!(told(&mut commands, marks).join(" "), expected, "{name}");
    }
}

#[test]
fn without_a_nonce_every_text_is_believed() {
    let mut commands = ShellCommands::new(Trust::Any);
    assert_eq!(told(&mut commands, "A0 ex C10 D0@20"), ["1+x@10", "1-0@20"]);
}

#[test]
fn a_command_knows_its_directory_and_time() {
    let mut commands = ShellCommands::new(Trust::Signed);
    told(&mut commands, "W/a A0 Ecd C1 D0@2 W/b A2 Els");
    let changes = commands.on(mark("C3"), 99);
    let [CommandChange::Started(started)] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!((started.cwd.as_deref(), started.at_ms), (Some("/b"), 99));
    told(
        &mut commands,
        &format!("D0@4 W{} Els", "/".repeat(MAX_CWD_BYTES + 1)),
    );
    let changes = commands.on(mark("C5"), 99);
    assert!(matches!(&changes[..], [CommandChange::Started(started)] if started.cwd.is_none()));
}

#[test]
fn what_runs_when_the_terminal_ends_is_ended() {
    let mut commands = ShellCommands::new(Trust::Signed);
    assert_eq!(commands.terminal_ended(Offset(0), 1), None);
    told(&mut commands, "A0 Eexit C10");
    let ended = commands.terminal_ended(Offset(15), 1).unwrap();
    assert_eq!(said(&ended), "1--@15");
    assert_eq!(commands.terminal_ended(Offset(15), 1), None);
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    let mut commands = ShellCommands::new(Trust::Signed);
    let text = format!("{}ü", "x".repeat(MAX_TEXT_BYTES - 1));
    commands.on(
        ShellMark::CommandLine {
            text,
            trusted: true,
        },
        1,
    );
    let changes = commands.on(mark("C5"), 1);
    let [CommandChange::Started(started)] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(started.text, "x".repeat(MAX_TEXT_BYTES - 1));
}

fn stored(number: u64, start: u64, end: Option<u64>) -> CommandInfo {
    CommandInfo {
        terminal: TerminalId::from_random(1),
        number,
        source: CommandSource::Shell,
        text: String::new(),
        agent_line: None,
        cwd: Some("/a".to_owned()),
        started_at_ms: 1,
        ended_at_ms: end.map(|_| 2),
        exit_code: None,
        signal: None,
        start: Offset(start),
        end: end.map(Offset),
        output_sha256: None,
        imported: false,
    }
}

/// However much of the output a new server reads a second time, it tells what the old one did not.
#[test]
fn a_new_server_tells_nothing_twice() {
    let marks = "A0 Ea C10 D0@20 A20 Eb C30 D1@40 A40 Ec C50 D2@60";
    let table = [
        (
            stored(0, 0, None),
            "1+a@10 1-0@20 2+b@30 2-1@40 3+c@50 3-2@60",
        ),
        (stored(1, 10, None), "1-0@20 2+b@30 2-1@40 3+c@50 3-2@60"),
        (stored(1, 10, Some(20)), "2+b@30 2-1@40 3+c@50 3-2@60"),
        (stored(2, 30, None), "2-1@40 3+c@50 3-2@60"),
        (stored(3, 50, Some(60)), ""),
    ];
    let words: Vec<&str> = marks.split_whitespace().collect();
    for (newest, expected) in table {
        for from in 0..=words.len() {
            // The new server begins to read no later than what was stored last.
            let known = newest.end.unwrap_or(newest.start);
            let skipped = words[..from].iter().all(|word| match mark(word) {
                ShellMark::PromptStart(at)
                | ShellMark::OutputStart(at)
                | ShellMark::CommandFinished { offset: at, .. } => at <= known,
                _ => true,
            });
            let cuts_a_line = from > 0 && words[from - 1].starts_with('E');
            if !skipped || cuts_a_line {
                continue;
            }
            let mut commands = ShellCommands::resume(Trust::Signed, &newest);
            let told = told(&mut commands, &words[from..].join(" "));
            assert_eq!(told.join(" "), expected, "{newest:?} from {from}");
        }
    }
}

/// Random marks: every command is begun once, ended at the most once, and in order.
#[test]
fn any_marks_make_a_story() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut commands = ShellCommands::new(Trust::Signed);
    let (mut newest, mut runs) = (0, false);
    for offset in 0..20_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let text = match random % 6 {
            0 => format!("A{offset}"),
            1 => format!("C{offset}"),
            2 => format!("D{}@{offset}", random >> 60),
            3 => "Ex".to_owned(),
            4 => "ey".to_owned(),
            _ => "W/d".to_owned(),
        };
        for change in commands.on(mark(&text), 1) {
            match change {
                CommandChange::Started(started) => {
                    assert!(!runs);
                    newest += 1;
                    assert_eq!(started.number, newest);
                    runs = true;
                }
                CommandChange::Ended(ended) => {
                    assert!(runs);
                    assert_eq!(ended.number, newest);
                    runs = false;
                }
            }
        }
    }
    assert!(newest > 1_000);
}
