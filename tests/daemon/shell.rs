//! Shell integration: the real shells on a real PTY, and exactly which marks they print.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::support::{DEADLINE, Deadline, Home, RawClient, TestDaemon, skip, wait_until};

/// A shell with termd's integration in a terminal.
struct Shell<'a> {
    client: RawClient,
    daemon: &'a TestDaemon,
    id: String,
}

impl<'a> Shell<'a> {
    /// Starts it with these arguments.
    fn start(daemon: &'a TestDaemon, argv: &[&str]) -> Self {
        Self::start_with(daemon, &json!({ "command": argv[0], "args": argv[1..] }))
    }

    fn start_with(daemon: &'a TestDaemon, create: &Value) -> Self {
        let mut client = daemon.client();
        let info = client.ok("session.create", create);
        let id = info["id"].as_str().unwrap().to_owned();
        Self { client, daemon, id }
    }

    fn bytes(&mut self) -> Vec<u8> {
        let page = self.client.ok(
            "session.read",
            &json!({ "id": self.id, "encoding": "base64", "max_bytes": 1 << 20 }),
        );
        BASE64.decode(page["data"].as_str().unwrap()).unwrap()
    }

    fn text(&mut self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// How many prompts there were so far, each with the directory that is told after A.
    fn prompts(&mut self) -> usize {
        self.text().matches("\u{1b}]7;").count()
    }

    /// Waits until the newest marks are these; B is printed with the prompt, after all others.
    #[track_caller]
    fn expect_newest(&mut self, expected: &[String]) {
        let deadline = Deadline::after(DEADLINE);
        loop {
            let marks = self.marks();
            if marks.ends_with(expected) {
                return;
            }
            assert!(
                !deadline.passed(),
                "{marks:#?} do not end with {expected:#?}"
            );
            std::thread::yield_now();
        }
    }

    /// Waits until all marks are these.
    #[track_caller]
    fn expect(&mut self, expected: &[String]) {
        self.expect_newest(expected);
        assert_eq!(self.marks(), expected);
    }

    /// Types, and waits for the next prompt.
    fn run(&mut self, line: &str) -> &mut Self {
        let before = self.wait_for_prompts(1);
        self.type_in(&format!("{line}\r"));
        self.wait_for_prompts(before + 1);
        self
    }

    fn type_in(&mut self, text: &str) {
        self.client
            .ok("session.send", &json!({ "id": self.id, "text": text }));
    }

    fn wait_for_prompts(&mut self, count: usize) -> usize {
        let mut prompts = 0;
        wait_until(&format!("{count} prompts"), || {
            prompts = self.prompts();
            prompts >= count
        });
        prompts
    }

    /// What the terminal showed after the mark C of the newest command, up to its D.
    fn newest_output(&mut self) -> String {
        let text = self.text();
        let mark = "\u{1b}]133;C\u{1b}\\";
        let from = text.rfind(mark).unwrap() + mark.len();
        let to = from + text[from..].find("\u{1b}]133;D").unwrap();
        text[from..to].replace('\r', "")
    }

    /// All marks so far without OSC 7, with the nonce as `NONCE`.
    fn marks(&mut self) -> Vec<String> {
        let marks = osc(&self.text());
        let marks = marks.into_iter().filter(|mark| !mark.starts_with("7;"));
        marks.map(|mark| without_nonce(&mark)).collect()
    }

    /// The newest directory told by OSC 7.
    fn directory(&mut self) -> String {
        let marks = osc(&self.text());
        let told = marks.iter().rev().find_map(|mark| mark.strip_prefix("7;"));
        let url = told.unwrap().strip_prefix("file://").unwrap();
        url[url.find('/').unwrap()..].to_owned()
    }

    fn home(&self) -> &Home {
        self.daemon
    }
}

/// The bodies of the operating system commands that are marks.
fn osc(text: &str) -> Vec<String> {
    text.split("\u{1b}]")
        .skip(1)
        .filter_map(|rest| rest.split(['\u{7}', '\u{1b}']).next())
        .filter(|body| {
            ["133;", "633;", "7;"]
                .iter()
                .any(|kind| body.starts_with(kind))
        })
        .map(str::to_owned)
        .collect()
}

/// `633;E;text;0123…` with the 32 digits of the nonce replaced.
fn without_nonce(mark: &str) -> String {
    match mark.rsplit_once(';') {
        Some((rest, nonce))
            if mark.starts_with("633;")
                && nonce.len() == 32
                && nonce.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            format!("{rest};NONCE")
        }
        _ => mark.to_owned(),
    }
}

/// A daemon, and in its home this file.
fn daemon_with(file: &str, text: &str) -> TestDaemon {
    let home = Home::new();
    let path = home.user_home().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    TestDaemon::start_in(home)
}

fn is_installed(shell: &str, test: &str) -> bool {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .any(|directory| directory.join(shell).is_file());
    if !found {
        skip(test, &format!("{shell} is not installed"));
    }
    found
}

/// `A B`, and for a command `E C D;code A B` after it.
fn expected(commands: &[(&str, i32)]) -> Vec<String> {
    let mut marks = vec!["133;A".to_owned(), "133;B".to_owned()];
    for (text, code) in commands {
        if !text.is_empty() {
            marks.push(format!("633;E;{text};NONCE"));
        }
        marks.push("133;C".to_owned());
        marks.push(format!("133;D;{code}"));
        marks.extend(["133;A".to_owned(), "133;B".to_owned()]);
    }
    marks
}

/// What a shell does when a line that is being typed is cancelled.
#[derive(Clone, Copy, PartialEq)]
enum Cancelled {
    NewPrompt,
    /// fish empties the line and goes on.
    SamePrompt,
}

/// What each shell must do alike: uses it, and gives the marks that are to be there.
fn ordinary_use(
    shell: &mut Shell<'_>,
    multi_line: (&str, &str),
    cancelled: Cancelled,
) -> Vec<String> {
    shell
        .run("echo hi")
        .run("false")
        .run("false")
        .run(" echo hidden");
    shell.run("");
    if cancelled == Cancelled::NewPrompt {
        let before = shell.prompts();
        shell.type_in("never run\u{3}");
        shell.wait_for_prompts(before + 1);
    }
    shell.run(multi_line.0);
    shell.run(r"echo 'a;b\ü'");
    let spaced = shell.home().user_home().join("ä b;c");
    fs::create_dir(&spaced).unwrap();
    shell.run("cd 'ä b;c'");
    let directory = shell.directory();
    assert!(directory.ends_with("/home/%C3%A4%20b%3Bc"), "{directory}");
    shell.run("env | grep TERMD_SHELL");
    let mut marks = expected(&[("echo hi", 0), ("false", 1), ("false", 1), ("", 0)]);
    // An empty line and a cancelled one: prompts and nothing else.
    marks.extend(["133;A", "133;B"].map(str::to_owned));
    if cancelled == Cancelled::NewPrompt {
        marks.extend(["133;A", "133;B"].map(str::to_owned));
    }
    let more = expected(&[
        (multi_line.1, 0),
        (r"echo 'a\x3bb\\ü'", 0),
        (r"cd 'ä b\x3bc'", 0),
        ("env | grep TERMD_SHELL", 1),
    ]);
    marks.extend(more.into_iter().skip(2));
    marks
}

#[test]
fn bash_marks_each_command() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\nrc_was_read=yes\n");
    let mut shell = Shell::start(&daemon, &["bash"]);
    let multi_line = "for i in 1 2\rdo echo $i\rdone";
    let joined = r"for i in 1 2\x3b do echo $i\x3b done";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::NewPrompt);
    shell.expect(&marks);
    shell.run("echo $rc_was_read $?");
    assert_eq!(shell.newest_output(), "yes 1\n");
    shell.run("(exit 3)").run("true | (exit 4)");
    shell.expect_newest(&expected(&[("(exit 3)", 3), ("true | (exit 4)", 4)])[2..]);
}

#[test]
fn zsh_marks_each_command() {
    if !is_installed("zsh", "zsh_marks_each_command") {
        return;
    }
    let daemon = daemon_with(".zshrc", "PS1='%% '\nrc_was_read=yes\n");
    let mut shell = Shell::start(&daemon, &["zsh"]);
    let multi_line = "for i in 1 2\rdo echo $i\rdone";
    let joined = r"for i in 1 2\x0ado echo $i\x0adone";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::NewPrompt);
    shell.expect(&marks);
    shell.run("echo $rc_was_read $? ${ZDOTDIR-unset} \"[$PS1]\"");
    assert_eq!(
        shell.newest_output().lines().next(),
        Some("yes 1 unset [%% ]")
    );
}

#[test]
fn fish_marks_each_command_but_not_where_the_prompt_ends() {
    if !is_installed(
        "fish",
        "fish_marks_each_command_but_not_where_the_prompt_ends",
    ) {
        return;
    }
    let daemon = daemon_with(
        ".config/fish/config.fish",
        "set -g rc_was_read yes\nfunction fish_prompt\n  echo '> '\nend\n",
    );
    let config = daemon.user_home().join(".config");
    let mut shell = Shell::start_with(
        &daemon,
        &json!({ "command": "fish", "env": { "XDG_CONFIG_HOME": config } }),
    );
    let multi_line = "for i in 1 2\recho $i\rend";
    let joined = r"for i in 1 2\x0aecho $i\x0aend";
    let marks = ordinary_use(&mut shell, (multi_line, joined), Cancelled::SamePrompt);
    let marks: Vec<String> = marks.into_iter().filter(|mark| mark != "133;B").collect();
    shell.expect(&marks);
    shell.run("echo $rc_was_read $status; set -q XDG_DATA_DIRS; or echo unset");
    let said = shell.newest_output();
    assert!(said.contains("yes 1\nunset\n"), "{said:?}");
    shell.run("functions fish_prompt | string match -e termd; or echo untouched");
    assert!(shell.newest_output().contains("untouched\n"));
}

/// Options, traps, aliases and history as a bash without us has them.
const STATE: &str = "shopt -p; set +o; trap -p; alias; declare -p HISTFILE HISTCONTROL \
                     BASH_VERSINFO; set -- a; echo $0 $- $# ${ENV-unset} ${POSIXLY_CORRECT-unset}";

#[test]
fn bash_is_otherwise_what_it_would_have_been() {
    let rc = "HISTCONTROL=ignoreboth\nalias printf=false local=false\nset -u\n";
    let daemon = daemon_with(".bashrc", rc);
    fs::write(
        daemon.user_home().join(".bash_profile"),
        "login_was_read=yes\n. ~/.bashrc\n",
    )
    .unwrap();
    for argv in [&["bash"][..], &["bash", "-l"]] {
        let mut marked = Shell::start(&daemon, argv);
        marked.run("clear").run(STATE);
        let with = marked.newest_output();
        let off = json!({ "termd": { "shell_integration": false } });
        let mut plain = Shell::start_with(
            &daemon,
            &json!({ "command": argv[0], "args": argv[1..], "_meta": off }),
        );
        plain.type_in(&format!("{STATE}; echo THE''END\r"));
        let id = plain.id.clone();
        plain.client.wait_for_text(&id, "THEEND");
        assert_eq!(plain.marks(), Vec::<String>::new());
        let text = plain.text().replace('\r', "");
        assert!(with.lines().count() > 80, "{with}");
        for line in with.lines() {
            assert!(
                text.lines()
                    .any(|plain| plain.trim_start_matches("\u{1b}[?2004l") == line),
                "{argv:?}: {line:?} is not in\n{text}"
            );
        }
        let login = argv.len() > 1;
        marked.run("echo ${login_was_read-no}; shopt -q login_shell && echo login");
        let said = if login { "yes\nlogin\n" } else { "no\n" };
        assert_eq!(marked.newest_output(), said);
    }
}

#[test]
fn hooks_traps_and_options_of_the_user_work_beside_ours_in_bash() {
    for hooks in [
        r#"PROMPT_COMMAND='seen="$seen $?"'"#,
        r#"PROMPT_COMMAND=('seen="$seen $?"' 'seen="$seen/$?"')"#,
    ] {
        let rc = format!(
            "PS1='$ '\nPS0='<zero>'\nHISTTIMEFORMAT='%F %T '\nseen=\n{hooks}\ntrap 'traced=$BASH_COMMAND' DEBUG\nset -u\n"
        );
        let daemon = daemon_with(".bashrc", &rc);
        let mut shell = Shell::start(&daemon, &["bash"]);
        shell.run("false").run("(exit 7)").run("echo $seen");
        let twice = hooks.contains('/');
        let seen = if twice { "0/0 1/1 7/7\n" } else { "0 1 7\n" };
        assert_eq!(shell.newest_output(), seen);
        assert!(shell.text().contains("<zero>\u{1b}]633;E;false;"));
        shell.run("trap -p DEBUG; true; echo \"$traced\"");
        assert_eq!(
            shell.newest_output(),
            "trap -- 'traced=$BASH_COMMAND' DEBUG\necho \"$traced\"\n"
        );
        // A failing command would end the shell; what stands in our hooks must not.
        shell
            .run("set -e")
            .run("true")
            .run("set +e")
            .run("(exit 9)");
        shell.expect_newest(&expected(&[("(exit 9)", 9)])[2..]);
    }
}

#[test]
fn a_prompt_that_is_made_anew_each_time_is_still_ended_in_bash() {
    let daemon = daemon_with(".bashrc", "PROMPT_COMMAND='PS1=\"[$?]\"'\n");
    let mut shell = Shell::start(&daemon, &["bash"]);
    for _ in 0..4 {
        shell.run("true");
    }
    shell.run("(exit 5)");
    shell.expect_newest(&expected(&[("(exit 5)", 5)])[2..]);
    assert!(shell.text().contains("[5]\u{1b}]133;B"));
}

#[test]
fn bash_tells_a_text_only_where_its_history_makes_it_certain() {
    let (echo, space) = ("633;E;echo a;NONCE", "633;E;echo b;NONCE");
    for (control, expected) in [
        ("ignoredups", vec![echo, echo, space]),
        // Of a line that is not in the history anew, it could be either.
        ("ignoreboth", vec![echo, space]),
        ("", vec![echo, echo, space]),
    ] {
        let daemon = daemon_with(".bashrc", &format!("HISTCONTROL={control}\n"));
        let mut shell = Shell::start(&daemon, &["bash"]);
        shell.run("echo a").run("echo a").run(" echo a");
        shell.run("set +o history; echo c").run("echo d");
        shell.run("set -o history").run("echo b");
        let texts = shell.marks().into_iter().filter(|it| it.contains("echo"));
        let texts: Vec<String> = texts.filter(|it| !it.contains("echo c")).collect();
        assert_eq!(texts, expected, "{control:?}");
    }
}

#[test]
fn hooks_and_traps_of_the_user_work_beside_ours_in_zsh() {
    if !is_installed("zsh", "hooks_and_traps_of_the_user_work_beside_ours_in_zsh") {
        return;
    }
    let rc = "seen=\nprecmd() { seen+=\" $?\" }\nafter() { seen+=/$?; PS1='<made> ' }\n\
              preexec() { ran=$1 }\nprecmd_functions+=(after)\nsetopt no_unset ksh_arrays err_return\n";
    let daemon = daemon_with(".zshrc", rc);
    let mut shell = Shell::start(&daemon, &["zsh"]);
    shell
        .run("false")
        .run("(exit 7)")
        .run("echo \"$seen $ran\"");
    shell.expect_newest(
        &expected(&[("false", 1), ("(exit 7)", 7), ("echo \"$seen $ran\"", 0)])[2..],
    );
    let said = shell.newest_output();
    assert!(
        said.starts_with(" 0/0 1/1 7/7 echo \"$seen $ran\"\n"),
        "{said:?}"
    );
    shell.run("trap 'traced+=x' DEBUG").run("true").run("trap");
    let said = shell.newest_output();
    assert!(said.starts_with("trap -- 'traced+=x ' DEBUG\n"), "{said:?}");
    assert!(shell.text().contains("<made> "));
}

#[test]
fn variables_that_were_borrowed_come_back() {
    let daemon = TestDaemon::start();
    let own = daemon.path("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join(".zshrc"), "zdotdir_was_read=yes\n").unwrap();
    let own = own.to_str().unwrap();
    for (argv, name, value, line, said) in [
        (
            &["bash", "-l"][..],
            "ENV",
            "/own/env",
            "echo $ENV; env | grep -c ^ENV=",
            "/own/env\n1\n",
        ),
        (&["bash"], "ENV", "/own/env", "echo $ENV", "/own/env\n"),
        (
            &["zsh"],
            "ZDOTDIR",
            own,
            "echo $ZDOTDIR $zdotdir_was_read",
            &format!("{own} yes\n"),
        ),
        (
            &["fish"],
            "XDG_DATA_DIRS",
            "/a:/b",
            "echo \"$XDG_DATA_DIRS\"",
            "/a:/b\n",
        ),
    ] {
        if !is_installed(argv[0], "variables_that_were_borrowed_come_back") {
            continue;
        }
        let create = json!({ "command": argv[0], "args": argv[1..], "env": { name: value } });
        let mut shell = Shell::start_with(&daemon, &create);
        shell.run(line);
        let output = shell.newest_output();
        assert!(output.contains(said), "{argv:?}: {output:?}");
        shell.run("env | grep -c TERMD_SHELL");
        assert!(shell.newest_output().contains("0\n"), "{argv:?}");
    }
}

#[test]
fn shells_inside_and_shells_that_are_not_interactive_are_left_alone() {
    let daemon = daemon_with(".bashrc", "export PS1='$ '\n");
    let mut shell = Shell::start(&daemon, &["bash"]);
    shell.run("true");
    shell.type_in("bash --norc\r");
    shell.type_in("echo in''side; exit 6\r");
    let prompts = shell.prompts();
    shell.wait_for_prompts(prompts.max(3));
    let nested = expected(&[("true", 0), ("bash --norc", 6)]);
    shell.expect(&nested);
    for argv in [
        &["bash", "-c", "echo done"][..],
        &["bash", "--norc", "-c", "echo done"],
        &["sh", "-c", "echo done"],
        &["env", "echo", "done"],
    ] {
        let mut other = Shell::start(&daemon, argv);
        let id = other.id.clone();
        other.client.wait_for_text(&id, "done");
        assert_eq!(other.marks(), Vec::<String>::new(), "{argv:?}");
    }
}

#[test]
fn the_configuration_switches_it_off_and_the_record_is_what_was_asked() {
    let daemon = TestDaemon::configured("[shell]\nintegration = false\n");
    assert!(!daemon.path("run/termd/shell").exists());
    let mut plain = Shell::start(&daemon, &["bash"]);
    plain.type_in("echo do''ne\r");
    let id = plain.id.clone();
    plain.client.wait_for_text(&id, "done");
    assert_eq!(plain.marks(), Vec::<String>::new());
    drop(plain);
    drop(daemon);

    let daemon = TestDaemon::start();
    let mut shell = Shell::start(&daemon, &["bash", "-l"]);
    shell.wait_for_prompts(1);
    let info = shell.client.ok("session.show", &json!({ "id": shell.id }));
    assert_eq!(info["argv"], json!(["bash", "-l"]));
    let audit = shell.client.ok("audit.list", &Value::Null).to_string();
    assert!(!audit.contains("--posix") && !audit.contains("NONCE"));
}

#[test]
#[ignore = "the terminal's actor does not feed marks to `ShellCommands` yet"]
fn what_is_run_in_a_shell_is_a_command() {
    let daemon = daemon_with(".bashrc", "PS1='$ '\nHISTCONTROL=ignorespace\n");
    let mut shell = Shell::start(&daemon, &["bash"]);
    shell.run("echo one").run("(exit 3)").run(" echo hidden");
    let commands = |shell: &mut Shell<'_>, filter: Value| {
        let page = shell
            .client
            .ok("command.list", &json!({ "filter": filter }));
        let all = page["commands"].as_array().unwrap().clone();
        let told = |it: &Value| {
            (
                it["number"].clone(),
                it["text"].clone(),
                it["exit_code"].clone(),
            )
        };
        all.iter().map(told).collect::<Vec<_>>()
    };
    let id = shell.id.clone();
    wait_until("three commands have ended", || {
        let all = commands(&mut shell, json!({ "terminal": id, "failed": false }));
        all.iter().any(|command| command.0 == 3)
    });
    let all = commands(&mut shell, json!({ "terminal": id }));
    let row = |number: i64, text: &str, code: Value| (json!(number), json!(text), code);
    assert_eq!(
        all,
        [
            row(3, "", json!(0)),
            row(2, "(exit 3)", json!(3)),
            row(1, "echo one", json!(0)),
            row(0, "bash", Value::Null),
        ]
    );
    let found = commands(&mut shell, json!({ "query": "ECHO" }));
    assert_eq!(found, [row(1, "echo one", json!(0))]);
    let shown = shell
        .client
        .ok("command.show", &json!({ "id": id, "number": 1 }));
    let page = shell
        .client
        .ok("command.read", &json!({ "id": id, "number": 1 }));
    assert_eq!(page["text"], "one\r\n");
    assert!(shown["cwd"].as_str().unwrap().ends_with("/home"));
}
