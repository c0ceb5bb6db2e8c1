//! What is run for what is asked: tables, and real files where the file system decides.

use super::*;

fn request(command: &str, args: &[&str]) -> LaunchRequest {
    LaunchRequest {
        command: Some(command.to_owned()),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        base_env: BTreeMap::from([
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("NOTIFY_SOCKET".into(), "/run/x".into()),
            ("TERMD_TERMINAL".into(), "term_outer".into()),
            ("COLUMNS".into(), "200".into()),
            ("TMUX".into(), "/tmp/tmux-0/default,1,0".into()),
            ("TMUX_PANE".into(), "%1".into()),
            ("PAGER".into(), "less".into()),
        ]),
        env: BTreeMap::new(),
        creator: Creator::Agent,
        cwd: "/".into(),
        login_shell: || "/bin/sh".into(),
    }
}

fn argv(command: &str, args: &[&str]) -> Result<Vec<String>, LaunchError> {
    request(command, args).resolve().map(|launch| launch.argv)
}

#[test]
fn a_shell_line_goes_to_the_shell_and_argv_stays_argv() {
    let line = |text: &str| Ok(vec!["/bin/sh".into(), "-c".into(), text.to_owned()]);
    assert_eq!(argv("sh", &[]), Ok(vec!["sh".into()]));
    assert_eq!(argv("echo a && echo b", &[]), line("echo a && echo b"));
    assert_eq!(argv("A=1", &[]), line("A=1"));
    assert_eq!(argv("ls|wc", &[]), line("ls|wc"));
    assert_eq!(
        argv("echo", &["a", "&&"]),
        Ok(vec!["echo".into(), "a".into(), "&&".into()])
    );
    let noent = Errno::NOENT.raw_os_error();
    for (command, args) in [
        ("no-such-program", &[][..]),
        ("no such program", &["x"][..]),
    ] {
        let command_text = command.to_owned();
        let expected = LaunchError::Program {
            command: command_text,
            errno: noent,
        };
        assert_eq!(argv(command, args), Err(expected));
    }
    assert_eq!(
        argv("/etc/passwd", &[]),
        Err(LaunchError::Program {
            command: "/etc/passwd".into(),
            errno: Errno::ACCESS.raw_os_error()
        })
    );
}

#[test]
fn a_program_whose_name_holds_spaces_is_a_program() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("my prog && co");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut by_name = request("my prog && co", &[]);
    by_name
        .env
        .insert("PATH".into(), directory.path().to_str().unwrap().into());
    assert_eq!(by_name.resolve().unwrap().program, program);
    let by_path = request(program.to_str().unwrap(), &[]).resolve().unwrap();
    assert_eq!((by_path.program, by_path.argv.len()), (program, 1));
    let mut relative = request("./my prog && co", &[]);
    relative.cwd = directory.path().to_owned();
    assert!(relative.resolve().is_ok());
}

#[test]
fn the_environment_is_scrubbed_preset_and_then_the_requests() {
    let mut asked = request("sh", &[]);
    asked.env.insert("GIT_PAGER".into(), "more".into());
    let env = asked.resolve().unwrap().env;
    let get = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
    assert_eq!(get("PAGER"), Some("cat"));
    assert_eq!(get("GIT_PAGER"), Some("more"));
    assert_eq!(get("TERM"), Some("xterm-256color"));
    for gone in [
        "NOTIFY_SOCKET",
        "TERMD_TERMINAL",
        "COLUMNS",
        "TMUX",
        "TMUX_PANE",
    ] {
        assert_eq!(get(gone), None, "{gone}");
    }
    let presets = PRESET_VARIABLES.len() + AGENT_VARIABLES.len();
    assert_eq!(env.len(), 1 + presets);
}

#[test]
fn a_persons_pager_stays() {
    let mut asked = request("sh", &[]);
    asked.creator = Creator::Person;
    let env = asked.resolve().unwrap().env;
    let set: Vec<_> = env
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let want = [
        ("PAGER", "less"),
        ("PATH", "/usr/bin:/bin"),
        ("TERM", "xterm-256color"),
    ];
    assert_eq!(
        set,
        want.map(|(name, value)| (OsStr::new(name), OsStr::new(value)))
    );
}

#[test]
fn what_can_never_run_names_the_param() {
    let field = |request: LaunchRequest| match request.resolve() {
        Err(LaunchError::Invalid { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    let changed = |change: fn(&mut LaunchRequest)| {
        let mut request = request("true", &[]);
        change(&mut request);
        field(request)
    };
    assert_eq!(changed(|r| r.command = Some(String::new())), "command");
    assert_eq!(changed(|r| r.command = Some("a\0b".into())), "command");
    assert_eq!(changed(|r| r.args = vec!["x".repeat(1 << 20)]), "args");
    assert_eq!(changed(|r| r.args = vec!["x".repeat(100_000); 30]), "args");
    assert_eq!(changed(|r| r.args = vec!["a\0".into()]), "args");
    assert_eq!(
        changed(|r| drop(r.env.insert("A=B".into(), String::new()))),
        "env"
    );
    assert_eq!(
        changed(|r| drop(r.env.insert(String::new(), String::new()))),
        "env"
    );
    assert_eq!(changed(|r| r.cwd = "relative".into()), "cwd");
    assert_eq!(
        changed(|r| drop(r.base_env.insert("".into(), "".into()))),
        "base_env"
    );
}

#[test]
fn a_directory_that_is_none_is_said_before_anything_starts() {
    for (cwd, errno) in [
        ("/nonexistent", Errno::NOENT),
        ("/etc/passwd", Errno::NOTDIR),
    ] {
        let mut asked = request("true", &[]);
        asked.cwd = cwd.into();
        let errno = errno.raw_os_error();
        assert_eq!(
            asked.resolve(),
            Err(LaunchError::Directory {
                command: "true".into(),
                cwd: cwd.into(),
                errno
            })
        );
    }
}
