//! What programs and shells report, by the events and the state that result.

use termd_proto::screen::{CommandState, Progress};

use crate::event::Event;
use crate::model::dump::extras::Extras;
use crate::{MarkKind, Model, Scrollback, Size};

fn model() -> Model {
    Model::new(Size { cols: 80, rows: 24 }, Scrollback::new(100, 1 << 20))
}

/// The events of some bytes, and the terminal after them. They must not depend on how the bytes are
/// cut.
#[track_caller]
fn events(input: &str) -> (Vec<Event>, Model) {
    let bytes = input.as_bytes();
    let mut whole = model();
    let all = whole.feed(bytes).events;
    for cut in 0..=bytes.len() {
        let mut model = model();
        let mut pieces = model.feed(&bytes[..cut]).events;
        pieces.extend(model.feed(&bytes[cut..]).events);
        assert_eq!(pieces, all, "{input:?} cut at {cut}");
        assert_eq!(
            Extras::of(&model.terminal),
            Extras::of(&whole.terminal),
            "{input:?} cut at {cut}"
        );
    }
    (all.into_iter().map(|(_, event)| event).collect(), whole)
}

fn line(text: &str, nonce: Option<&str>) -> Event {
    Event::CommandLine {
        text: text.to_owned(),
        nonce: nonce.map(ToOwned::to_owned),
    }
}

type Marks<'a> = &'a [(&'a str, Vec<Event>, CommandState)];

#[track_caller]
fn check_marks(table: Marks<'_>) {
    for (input, want, state) in table {
        let (got, model) = events(input);
        assert_eq!(got, *want, "{input:?}");
        assert_eq!(model.terminal.shell.command_state, *state, "{input:?}");
    }
}

#[test]
fn prompts_and_commands() {
    use Event::{CommandFinished, Continuation, OutputStart, PromptEnd, PromptStart};
    let finished = |exit| CommandFinished { exit };
    let table: Marks<'_> = &[
        ("\x1b]133;A\x07", vec![PromptStart], CommandState::Prompt),
        (
            "\x1b]133;A;cl=m;aid=7\x1b\\",
            vec![PromptStart],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;P;k=i\x07",
            vec![PromptStart],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;A\x07$ \x1b]133;B\x07",
            vec![PromptStart, PromptEnd],
            CommandState::Input,
        ),
        ("\x1b]133;C\x07", vec![OutputStart], CommandState::Running),
        (
            "\x1b]133;C\x07x\x1b]133;D\x07",
            vec![OutputStart, finished(None)],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;D;0\x07",
            vec![finished(Some(0))],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;D;5;aid=1\x07",
            vec![finished(Some(5))],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;D;130;err=x\x1b\\",
            vec![finished(Some(130))],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;D;aid=1\x07",
            vec![finished(None)],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;D;\x07",
            vec![finished(None)],
            CommandState::Prompt,
        ),
        (
            "\x1b]133;C\x07\x1b]133;N\x07",
            vec![OutputStart, finished(None), PromptStart],
            CommandState::Prompt,
        ),
        // The prompt of a further line is no new one.
        (
            "\x1b]133;A\x07\x1b]133;B\x07\x1b]133;P;k=s\x07\x1b]133;B\x07",
            vec![PromptStart, PromptEnd, Continuation],
            CommandState::Input,
        ),
        // A shell that leaves editing to the tty: the line's end begins the output.
        (
            "\x1b]133;I\x07ls\r\nout\r\nmore\r\n",
            vec![PromptEnd, OutputStart],
            CommandState::Running,
        ),
        ("\x1b]133;I\x07ls\r", vec![PromptEnd], CommandState::Input),
        (
            "\x1b]133;I\x07if\n\x1b]133;P;k=s\x07> \x1b]133;I\x07x\n",
            vec![PromptEnd, OutputStart, Continuation, OutputStart],
            CommandState::Running,
        ),
        // Nothing is run of blanks, and of a line that was interrupted.
        ("\x1b]133;I\x07  \r\n", vec![PromptEnd], CommandState::Input),
        (
            "$ \x1b]133;I\x07ls^C\r\nx\r\n",
            vec![PromptEnd],
            CommandState::Input,
        ),
        (
            "\x1b]133;C;cmdline_url=ls%20-l%3B%20%c3%a9\x07",
            vec![line("ls -l; é", None), OutputStart],
            CommandState::Running,
        ),
        (
            "\x1b]133;Z\x07\x1b]133\x07\x1b]133;\x07",
            vec![],
            CommandState::Unknown,
        ),
    ];
    check_marks(table);
}

#[test]
fn prompts_and_commands_of_vs_code() {
    use Event::{CommandFinished, OutputStart, PromptEnd, PromptStart};
    let finished = |exit| CommandFinished { exit };
    check_marks(&[
        (
            "\x1b]633;A\x07\x1b]633;B\x07\x1b]633;E;ls\x07\x1b]633;C\x07\x1b]633;D;1\x07",
            vec![
                PromptStart,
                PromptEnd,
                line("ls", None),
                OutputStart,
                finished(Some(1)),
            ],
            CommandState::Prompt,
        ),
        (
            "\x1b]633;E;echo a\\x3b b\\\\n\\x0asecond\\q\\x0g;the-nonce\x1b\\",
            vec![line("echo a; b\\n\nsecond\\q\\x0g", Some("the-nonce"))],
            CommandState::Unknown,
        ),
        ("\x1b]633;E\x07", vec![], CommandState::Unknown),
        (
            "\x1b]633;E;\x07",
            vec![line("", None)],
            CommandState::Unknown,
        ),
        (
            "\x1b]633;P;IsWindows=False\x07",
            vec![],
            CommandState::Unknown,
        ),
    ]);
}

#[test]
fn an_event_has_the_offset_after_its_bytes() {
    let offsets = |input: &str| -> Vec<u64> {
        let fed = model().feed(input.as_bytes());
        fed.events.iter().map(|(offset, _)| *offset).collect()
    };
    assert_eq!(
        offsets("ab\x1b]133;A\x07c\x1b]133;D;0\x1b\\d\x07"),
        [10, 22, 24]
    );
}

#[test]
fn directories() {
    let table: &[(&str, Option<&str>)] = &[
        ("\x1b]7;file://host/home/me\x07", Some("/home/me")),
        ("\x1b]7;file:///a%20b/%C3%A9%\x07", Some("/a b/é%")),
        ("\x1b]7;kitty-shell-cwd://host/a%20b\x07", Some("/a%20b")),
        ("\x1b]7;file://host\x07", None),
        ("\x1b]7;/home\x07", None),
        ("\x1b]7;http://host/x\x07", None),
        ("\x1b]7;file:///a%ff\x07", None),
        ("\x1b]7;file:///a%1b[2J\x07", None),
        ("\x1b]9;9;/home/me\x07", Some("/home/me")),
        ("\x1b]9;9;\"C:\\x y\"\x07", Some("C:\\x y")),
        ("\x1b]633;P;Cwd=/a\\x3bb\x07", Some("/a;b")),
        ("\x1b]1337;CurrentDir=/tmp/x\x07", Some("/tmp/x")),
        ("\x1b]1337;RemoteHost=me@host\x07", None),
        ("\x1b]1337;CurrentDir=\x07", None),
    ];
    for (input, want) in table {
        let (got, model) = events(input);
        let want = want.map(ToOwned::to_owned);
        let said: Vec<Event> = want.iter().cloned().map(Event::Cwd).collect();
        assert_eq!(got, said, "{input:?}");
        assert_eq!(model.terminal.shell.cwd, want, "{input:?}");
    }
}

#[test]
fn progress() {
    let table: &[(&str, Option<Progress>)] = &[
        ("\x1b]9;4;1;50\x07", Some(Progress::Normal(50))),
        ("\x1b]9;4;1;5000\x07", Some(Progress::Normal(100))),
        ("\x1b]9;4;1\x07", Some(Progress::Normal(0))),
        ("\x1b]9;4;1;40\x07\x1b]9;4;2\x07", Some(Progress::Error(40))),
        ("\x1b]9;4;3\x07", Some(Progress::Indeterminate)),
        ("\x1b]9;4;4;7\x07", Some(Progress::Paused(7))),
        ("\x1b]9;4;1;50\x07\x1b]9;4;0\x07", None),
        ("\x1b]9;4;1;50\x07\x1b]9;4;0;\x1b\\", None),
        ("\x1b]9;4;9;50\x07", None),
        ("\x1b]9;4\x07", None),
        ("\x1b]9;Hello\x07", None),
    ];
    for (input, want) in table {
        let (_, model) = events(input);
        assert_eq!(model.terminal.shell.progress, *want, "{input:?}");
    }
    let (got, _) = events("\x1b]9;4;3\x07\x1b]9;4;3\x07\x1b]9;4;0\x07");
    assert_eq!(
        got,
        [
            Event::Progress(Some(Progress::Indeterminate)),
            Event::Progress(None)
        ]
    );
}

#[test]
fn titles() {
    let table: &[(&str, &str, &str)] = &[
        ("\x1b]0;both\x07", "both", "both"),
        ("\x1b]2;window\x1b\\", "window", ""),
        ("\x1b]1;icon\x07", "", "icon"),
        ("\x1b]lwindow\x1b\\", "window", ""),
        ("\x1b]Licon\x1b\\", "", "icon"),
        ("\x1b]2;a;b\x07", "a;b", ""),
        ("\x1b]2;ünï\x07", "ünï", ""),
        ("\x1b]2;a\tb\u{9}c\x07", "abc", ""),
        ("\x1b]2;x\x07\x1b]2;\x07", "", ""),
        ("\x1b]0;a\x07\x1b[22t\x1b]0;b\x07\x1b[23t", "a", "a"),
        ("\x1b]0;a\x07\x1b[22;2t\x1b]0;b\x07\x1b[23;0t", "a", "b"),
        ("\x1b]0;a\x07\x1b[22t\x1b]0;b\x07\x1b[23;1t", "b", "a"),
        ("\x1b]0;a\x07\x1b[23t", "a", "a"),
        ("\x1b[>0t\x1b]2;6162\x07", "ab", ""),
        ("\x1b[>0t\x1b]2;xyz\x07", "", ""),
        ("\x1b[>0t\x1b[>0T\x1b]2;6162\x07", "6162", ""),
        ("\x1b]2x;a\x07\x1b]99999999992;a\x07\x1b];a\x07", "", ""),
    ];
    for (input, title, icon) in table {
        let (_, model) = events(input);
        assert_eq!(model.terminal.titles.window, *title, "{input:?}");
        assert_eq!(model.terminal.titles.icon, *icon, "{input:?}");
    }
    let (got, _) = events("\x1b]2;a\x07\x1b]2;a\x07\x1b]1;c\x07");
    assert_eq!(got, [Event::Title("a".to_owned())]);
}

#[test]
fn windows_are_asked_for_and_not_moved() {
    let resize = |rows, cols| Event::ResizeRequest { rows, cols };
    let table: &[(&str, Vec<Event>)] = &[
        ("\x1b[8;30;100t", vec![resize(30, 100)]),
        ("\x1b[8;30t", vec![resize(30, 0)]),
        ("\x1b[8t", vec![]),
        ("\x1b[4;160;80t", vec![resize(10, 10)]),
        ("\x1b[36t", vec![resize(36, 0)]),
        ("\x1b[24t", vec![resize(24, 0)]),
        ("\x1b[36*|", vec![resize(36, 0)]),
        ("\x1b[300*|\x1b[*|\x1b[81$|", vec![]),
        ("\x1b[1t\x1b[3;5;5t\x1b[7t", vec![]),
    ];
    for (input, want) in table {
        let (got, model) = events(input);
        assert_eq!(got, *want, "{input:?}");
        assert_eq!(model.size(), Size { cols: 80, rows: 24 });
    }
}

#[test]
fn pictures_are_counted_and_marked() {
    let table: &[(&str, u64)] = &[
        ("\x1bPq#0;2;0;0;0~-\x1b\\", 1),
        ("\x1bP0;1;0q~\x1b\\\x1bPp\x1b\\", 2),
        ("\x1b_Ga=T,f=100;AAAA\x1b\\", 1),
        ("\x1b_Ga=T,m=1;AA\x1b\\\x1b_Gm=0;AA\x1b\\", 1),
        ("\x1b_Ga=q,i=1;AA\x1b\\\x1b_Ga=d\x1b\\\x1b_other\x1b\\", 0),
        ("\x1b]1337;File=inline=1:AAAA\x07", 1),
        ("\x1bP$qm\x1b\\\x1bPtmux;q\x1b\\", 0),
    ];
    for (input, want) in table {
        let (_, model) = events(input);
        assert_eq!(model.terminal.pictures, *want, "{input:?}");
        let marked = model.marks().filter(|mark| mark.kind == MarkKind::Picture);
        assert_eq!(marked.count() as u64, *want, "{input:?}");
        assert_eq!(model.row_text(0), "", "{input:?}");
    }
    // A picture longer than what is kept of a string is one too.
    let mut model = model();
    model.feed(format!("\x1bPq{}\x1b\\", "~".repeat(1 << 20)).as_bytes());
    assert_eq!(model.terminal.pictures, 1);
}

#[test]
fn links() {
    let uri = |input: &str| {
        let mut model = model();
        model.feed(input.as_bytes());
        let style = model
            .terminal
            .screen
            .styles
            .get(model.terminal.screen.grid.row(0).cell(0).style());
        let link = model.terminal.screen.styles.link(style.link).cloned();
        link.map(|link| (link.id.map(String::from), String::from(link.uri)))
    };
    let some = |id: Option<&str>, uri: &str| Some((id.map(ToOwned::to_owned), uri.to_owned()));
    let long = "x".repeat(3_000);
    let table = [
        (
            "\x1b]8;;http://a/;b\x1b\\x".into(),
            some(None, "http://a/;b"),
        ),
        (
            "\x1b]8;id=1;http://a\x07x".into(),
            some(Some("1"), "http://a"),
        ),
        (
            "\x1b]8;a=b:id=1:c=d;http://a\x07x".into(),
            some(Some("1"), "http://a"),
        ),
        ("\x1b]8;id=;http://a\x07x".into(), some(None, "http://a")),
        ("\x1b]8;;http://a\x07\x1b]8;;\x07x".into(), None),
        (
            "\x1b]8;;http://a\x07\x1b[0mx".into(),
            some(None, "http://a"),
        ),
        ("\x1b]8;http://a\x07x".into(), None),
        (format!("\x1b]8;;{long}\x07x"), None),
        (
            format!("\x1b]8;id={long};http://a\x07x"),
            some(None, "http://a"),
        ),
    ];
    for (input, want) in table {
        assert_eq!(uri(&input), want, "{input:?}");
    }
}

#[test]
fn floods_of_sequences_are_bounded() {
    let mut model = model();
    // A title of a megabyte is longer than what is kept of a string.
    model.feed(b"\x1b]2;before\x07");
    model.feed(format!("\x1b]2;{}\x07", "x".repeat(1 << 20)).as_bytes());
    assert_eq!(model.terminal.titles.window, "before");
    model.feed(format!("\x1b]2;{}\x07", "x".repeat(10_000)).as_bytes());
    assert_eq!(model.terminal.titles.window.len(), 1_000);
    // Pushes without end.
    for _ in 0..100_000 {
        model.feed(b"\x1b[22t\x1b[>1u\x1b[#P\x1b[?1049h");
    }
    let saved = serde_json::to_string(&Extras::of(&model.terminal)).map(|json| json.len());
    assert!(saved.is_ok_and(|length| length < 64 << 10));
    // Answers nobody reads, and events.
    let fed = model.feed("\x1b[c\x1b]2;a\x07\x1b]2;b\x07".repeat(100_000).as_bytes());
    assert!(fed.replies.len() <= crate::event::MAX_REPLY_BYTES);
    assert!(fed.events.len() <= crate::event::MAX_EVENTS);
}

#[test]
fn a_flood_of_links_leaves_only_those_that_are_seen() {
    let mut model = model();
    for n in 0..100_000 / 500 {
        for m in 0..500 {
            model.feed(format!("\x1b]8;;http://x/{n}/{m}\x07y").as_bytes());
        }
    }
    // At most twice what the screen shows, and a sweep's worth.
    assert!(model.terminal.screen.styles.links().len() <= 2 * (80 * 24 + 1_024));
}

#[test]
fn notifications_are_events() {
    let told = |text: &str| vec![Event::Notification(text.to_owned())];
    let long = "ä".repeat(300);
    for (input, want) in [
        (
            "\x1b]9;Waiting for your input\x07".to_owned(),
            told("Waiting for your input"),
        ),
        (
            "\x1b]9;4 tests failed\x1b\\".to_owned(),
            told("4 tests failed"),
        ),
        (
            "\x1b]777;notify;Claude Code;waits\x07".to_owned(),
            told("Claude Code: waits"),
        ),
        ("\x1b]777;notify;done\x07".to_owned(), told("done")),
        ("\x1b]99;;Hello world\x1b\\".to_owned(), told("Hello world")),
        (
            "\x1b]99;i=1:p=body:e=1;SGVsbG8=\x1b\\".to_owned(),
            told("Hello"),
        ),
        // The text is cut, and has no control characters.
        ("\x1b]99;e=1;YRtdMDtiBw\x1b\\".to_owned(), told("a]0;b")),
        (format!("\x1b]9;{long}\x07"), told(&"ä".repeat(256))),
        // ConEmu's functions, icons, other extensions, and nothing.
        (
            "\x1b]9;1;500\x07\x1b]9;12\x07\x1b]9;\x07".to_owned(),
            vec![],
        ),
        (
            "\x1b]99;p=icon;x\x1b\\\x1b]99;p=?;\x1b\\\x1b]99;x\x07".to_owned(),
            vec![],
        ),
        (
            "\x1b]777;preexec\x07\x1b]777;notify;\x07\x1b]99;e=1;!\x07".to_owned(),
            vec![],
        ),
    ] {
        assert_eq!(events(&input).0, want, "{input:?}");
    }
}
