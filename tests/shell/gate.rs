//! The gate's answers, as a model reads them.

use std::process::Stdio;

use serde_json::json;
use termd_test_support::TestDaemon;

use crate::{Ended, TestShells};

#[test]
fn what_is_dangerous_is_not_run_and_the_line_says_why() {
    let shells = TestShells::open();
    std::fs::create_dir(shells.daemon.user_home().join("build")).unwrap();
    let ended = shells.run("rm -rf build");
    assert_eq!((ended.code, ended.out.as_str()), (Some(126), ""));
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert!(ended.err.starts_with("termd: not run: "), "{ended:?}");
    for hint in ["termctl", "confirmed", "approve"] {
        assert!(!ended.err.contains(hint), "{ended:?}");
    }
    assert!(shells.daemon.user_home().join("build").exists());
}

#[test]
fn what_is_dangerous_is_not_run_wherever_its_options_stand() {
    let shells = TestShells::open();
    for options in [["-c", "-l"].as_slice(), &["-l", "-c"], &["-c", "--"]] {
        let args = [options, &["kill -9 $$; rm -rf build"]].concat();
        let ended = Ended::run(&mut shells.command(&args));
        assert_eq!(ended.code, Some(126), "{options:?}: {ended:?}");
        assert!(ended.err.starts_with("termd: not run: "), "{ended:?}");
    }
}

#[test]
fn of_what_no_shell_can_read_the_shells_own_error_is_shown() {
    let shells = TestShells::open();
    for line in ["if", "echo ran; (", "echo ran\nfor i in 1"] {
        let ended = shells.run(line);
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{line}");
        assert!(ended.err.contains(": -c: line "), "{line}: {ended:?}");
        assert!(ended.err.contains("yntax error"), "{line}: {ended:?}");
    }
}

#[test]
fn a_script_in_a_file_on_standard_input_is_judged() {
    let shells = TestShells::open();
    let home = shells.daemon.user_home();
    let path = home.join("script");
    let run = |args: &[&str], script: &str| {
        std::fs::write(&path, script).unwrap();
        let mut command = shells.command(args);
        let file = std::fs::File::open(&path).unwrap();
        Ended::run(command.current_dir(&home).stdin(file))
    };
    std::fs::create_dir(home.join("build")).unwrap();
    for args in [[].as_slice(), &["-s"], &["-s", "one"]] {
        let ended = run(args, "echo ran\nrm -rf build\n");
        assert_eq!(
            (ended.code, ended.out.as_str()),
            (Some(126), ""),
            "{args:?}"
        );
        assert!(ended.err.starts_with("termd: not run: "), "{ended:?}");
        let ended = run(args, "echo ran $1\nexit 3");
        assert_eq!(ended.code, Some(3), "{args:?}: {ended:?}");
        assert!(ended.out.starts_with("ran"), "{args:?}: {ended:?}");
    }
    for text in ["sh -s", ". /dev/stdin", "bash", "exec sh", "true; sh <&0"] {
        let ended = run(&["-c", text], "echo ran\nrm -rf build\n");
        assert_eq!((ended.code, ended.out.as_str()), (Some(126), ""), "{text}");
    }
    // To another program a file is data.
    let ended = run(&["-c", "cat"], "rm -rf build");
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "rm -rf build"));
}

#[test]
fn rules_for_shells_hold() {
    let shells = TestShells::of(TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nfront = \"shell\"\nprogram = \"frob\"\n",
    ));
    let ended = shells.run("frob x");
    assert_eq!(ended.code, Some(126), "{ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert_eq!(shells.run("echo frob").code, Some(0));
}

#[test]
fn the_environment_is_judged_as_far_as_it_is_not_the_agents() {
    let shells = TestShells::of(TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nprogram = \"frob\"\n",
    ));
    let daemon = &shells.daemon;
    let script = daemon.path("script");
    std::fs::write(&script, "frob 1\n").unwrap();
    let script = script.to_str().unwrap();
    let run = |line: &str, variables: &[(&str, &str)]| {
        let mut command = shells.command(&["-c", line]);
        Ended::run(command.envs(variables.iter().copied()))
    };
    for variables in [
        [("BASH_ENV", script)].as_slice(),
        &[("BASH_FUNC_ls%%", "() { frob 1; }")],
        &[("SHELLOPTS", "xtrace"), ("PS4", "$(frob 1)")],
        &[("GIT_SSH_COMMAND", "frob 1;")],
        &[("LD_PRELOAD", "/nowhere/lib.so")],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "alias.st"),
            ("GIT_CONFIG_VALUE_0", "!frob 1"),
        ],
        &[("GIT_CONFIG_GLOBAL", script)],
        &[("GIT_CONFIG_SYSTEM", script)],
        &[("GIT_CONFIG", script)],
    ] {
        let ended = run("ls", variables);
        assert_eq!(ended.code, Some(126), "{variables:?}: {ended:?}");
        assert!(ended.err.contains("termd: not run: "), "{ended:?}");
    }
    let own = shells.bash();
    let own = own.to_str().unwrap();
    for variables in [
        [("GIT_EDITOR", "true")],
        [("PAGER", "cat")],
        [("SHELL", own)],
    ] {
        let ended = run("echo ran", &variables);
        assert_eq!(ended.out, "ran\n", "{variables:?}: {ended:?}");
    }
}

/// A person is asked about what the model wants, and not about what its agent writes around it.
#[test]
fn a_question_shows_the_agents_line() {
    let shells = TestShells::open();
    std::fs::create_dir(shells.daemon.user_home().join("build")).unwrap();
    let mut watcher = shells.daemon.client();
    let before = watcher.ok("approval.list", &json!({ "after": 0, "wait_ms": 1 }))["seq"].clone();
    let line = "printf 'a\\n'\nrm -rf build";
    let wrapped = format!(
        "shopt -u promptvars nullglob extglob nocaseglob dotglob; \
         _bgpids_file=/tmp/gemini-shell-DJy1jL/bgpids.tmp\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n\
         {line}\n)\n__code=$?\nexit $__code"
    );
    let mut command = shells.command(&["-c", &wrapped]);
    let mut waiting = command.stdout(Stdio::null()).spawn().unwrap();
    let wait = json!({ "after": before, "wait_ms": 20_000 });
    let seen = watcher.ok("approval.list", &wait);
    let question = &seen["approvals"][0];
    assert_eq!(question["agent_line"], line, "{question}");
    assert!(
        question["command"]
            .as_str()
            .unwrap()
            .contains("_bgpids_file")
    );
    let id = question["id"].as_str().unwrap();
    watcher.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    assert_eq!(waiting.wait().unwrap().code(), Some(126));
}
