//! The one function that decides: rules on options, people and places; profiles; and what is not known.

use std::path::PathBuf;

use termd_proto::policy::{Effect, GateSettings, MAX_JUDGED_COMMANDS};
use termd_proto::terminal::Front;

use super::properties::Noise;
use super::rules::rules;
use crate::SecretVariables::Drop;
use crate::{
    ByteSize, CompiledGate, Completeness, Decision, GitAccess, HostPaths, Invocation, MissingPath,
    MovedSettings, Policy, Request, SandboxAccess, SandboxBuilder, SandboxKind, TimeSpan,
};

fn decide(policy: &Policy, line: &str, gate: &CompiledGate) -> Decision {
    decide_at(policy, line, gate, None)
}

fn decide_at(policy: &Policy, line: &str, gate: &CompiledGate, cwd: Option<&str>) -> Decision {
    let request = Request {
        invocation: Invocation::Line(line),
        program: None,
        front: Front::Mcp,
        client: Some("Claude-Code"),
        uid: Some(1_000),
        cwd,
        env: &[],
    };
    policy.decide(&request, Completeness::Whole, gate)
}

fn gate_off() -> CompiledGate {
    let off = GateSettings {
        enabled: false,
        patterns: vec![],
    };
    CompiledGate::compile(&off).unwrap()
}

/// Every line's effect by one rule, with the gate off.
#[track_caller]
fn effects(rule: &str, table: &[(&str, Effect)]) {
    let policy = rules(&format!("[[rules]]\n{rule}")).unwrap();
    let wrong: Vec<String> = table
        .iter()
        .map(|(line, effect)| (line, effect, decide(&policy, line, &gate_off())))
        .filter(|(_, effect, decision)| decision.judgement.effect != **effect)
        .map(|(line, _, decision)| format!("{line}: {:?}", decision.judgement.effect))
        .collect();
    assert!(wrong.is_empty(), "{rule}\n{}", wrong.join("\n"));
}

use Effect::{Allow, Confirm, Deny};

#[test]
fn options_are_found_in_every_spelling() {
    effects(
        "effect = 'deny'\nprogram = 'rm'\nhas = ['-r|-R|--recursive', '-f|--force']",
        &[
            ("rm -rf x", Deny),
            ("rm -f -r x", Deny),
            ("rm x -fvR", Deny),
            ("rm --recursive --force x", Deny),
            ("rm --recurs x --for", Deny),
            ("rm -r x", Allow),
            ("rm -- -rf", Allow),
            ("rm -r -- -f", Allow),
            ("sudo rm -rf x", Deny),
            ("bash -c 'rm -rf x'", Deny),
            ("find . -exec rm -rf {} +", Deny),
            ("rm $flags x", Confirm),
            ("rm -r $flags x", Confirm),
            ("$tool -rf x", Confirm),
            ("echo rm -rf", Allow),
        ],
    );
    effects(
        "effect = 'deny'\nprogram = 'find'\nhas = ['-delete']",
        &[
            ("find . -delete", Deny),
            ("find . -name delete", Allow),
            ("find . -- -delete", Allow),
        ],
    );
    effects(
        "effect = 'deny'\nprogram = 'terraform'\noperands = ['destroy']\nlacks = ['-target']",
        &[
            ("terraform destroy", Deny),
            ("terraform destroy -target=x", Allow),
            ("terraform plan", Allow),
            ("terraform $what", Confirm),
            ("terraform destroy $flags", Confirm),
        ],
    );
    effects(
        "effect = 'deny'\nprogram = 'git'\nvalued = ['-C', '-c', '--git-dir']\n\
         operands = ['push', 'origin', 'main*']",
        &[
            ("git push origin main", Deny),
            ("git -C /x push origin main", Deny),
            ("git -C/x push --force origin main2", Deny),
            ("git -c a=b --git-dir x push origin main", Deny),
            ("git push", Allow),
            ("git push origin dev", Allow),
            ("git push origin \"$branch\"", Confirm),
            ("git commit -m 'push origin main'", Allow),
        ],
    );
}

#[test]
fn what_allows_is_not_guessed() {
    let policy = rules(
        "[[rules]]\neffect = 'allow'\nprogram = 'rm'\nhas = ['-i']\nlacks = ['-f']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'rm'",
    )
    .unwrap();
    for (line, effect) in [
        ("rm -i x", Allow),
        ("rm -i $x", Deny),
        ("rm $x", Deny),
        ("rm -if x", Deny),
        ("$tool -i x", Confirm),
    ] {
        let decision = decide(&policy, line, &gate_off());
        assert_eq!(decision.judgement.effect, effect, "{line}");
    }
}

#[test]
fn rules_are_for_people_and_fronts() {
    for (who, fits) in [
        ("client = 'claude*'", true),
        ("client = 'codex*'", false),
        ("uid = 1000", true),
        ("uid = 0", false),
        ("front = 'mcp'", true),
        ("front = ['acp', 'mcp']", true),
        ("front = ['acp', 'cli']", false),
    ] {
        let policy = rules(&format!("[[rules]]\neffect = 'deny'\n{who}")).unwrap();
        let effect = decide(&policy, "ls", &gate_off()).judgement.effect;
        assert_eq!(effect == Deny, fits, "{who}");
    }
}

#[test]
fn a_directory_is_where_the_text_leads() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'make'\ncwd = '/srv/live'").unwrap();
    for (line, cwd, effect) in [
        ("make", "/srv/live", Deny),
        ("make", "/srv/./live/../live/x", Deny),
        ("make", "/srv/live/..", Allow),
        ("make", "/home", Allow),
        ("cd /srv/live && make", "/home", Confirm),
        ("cd ../srv/live; make", "/home", Confirm),
        ("cd live\nmake", "/srv", Confirm),
        ("cd \"$x\"; make", "/home", Confirm),
        ("cd; make", "/home", Confirm),
        ("cd src && make", "/home", Allow),
        ("(cd /srv/live); ls", "/home", Allow),
        ("make -C /srv/live", "/home", Confirm),
        ("make -kC /srv/live", "/home", Confirm),
        ("make -C../srv/live all", "/home", Confirm),
        ("make --directory=/srv/live", "/home", Confirm),
        ("make --dir /srv -C live", "/home", Confirm),
        ("make -C \"$x\"", "/home", Confirm),
        ("make -C src", "/home", Allow),
        ("make -C x", "/srv/live", Deny),
        ("make -C /home", "/srv/live", Confirm),
        ("make -C /srv/live -n; make", "/home", Confirm),
        ("git -C /srv/live log; make", "/home", Allow),
        ("env -C /srv/live make", "/home", Confirm),
        ("sudo -D /srv/live make", "/home", Confirm),
        ("sudo --chdir=/srv/live make", "/home", Confirm),
    ] {
        let decision = decide_at(&policy, line, &gate_off(), Some(cwd));
        assert_eq!(decision.judgement.effect, effect, "{line} in {cwd}");
    }
}

const FORBIDS: &str = "[[rules]]\neffect = 'deny'\nprogram = 'forbidden'";

#[test]
fn no_cap_and_no_bad_text_skips_a_rule() {
    let policy = rules(FORBIDS).unwrap();
    let many = |count: usize| format!("{}forbidden x", "true; ".repeat(count));
    let nested = |depth: usize, open: &str, close: &str| {
        format!("{}forbidden{}", open.repeat(depth), close.repeat(depth))
    };
    let wrapped = |depth: usize| format!("{}forbidden", "sudo ".repeat(depth));
    let texts = [
        (many(50), Some(Deny)),
        (many(MAX_JUDGED_COMMANDS - 1), Some(Deny)),
        (many(MAX_JUDGED_COMMANDS), None),
        (many(MAX_JUDGED_COMMANDS + 1), None),
        (nested(20, "( ", " )"), None),
        (nested(400, "( ", " )"), None),
        (nested(400, "$(", ")"), None),
        (nested(400, "{ ", "; }"), None),
        (wrapped(100), None),
        (wrapped(500), None),
        (format!("forbidden {}", "x".repeat(1 << 20)), None),
        (format!("{} ; forbidden", "x".repeat(1 << 20)), None),
        (format!("ls{}forbidden", " ".repeat(1 << 17)), None),
        ("forbidden\0x".to_owned(), None),
        ("ls\0; forbidden".to_owned(), None),
        ("ls\rforbidden".to_owned(), None),
        ("forbidden 'x".to_owned(), None),
        ("ls; (forbidden".to_owned(), None),
        ("forbid\\\nden".to_owned(), None),
        ("for''bidden x".to_owned(), Some(Deny)),
        ("$'\\146orbidden' x".to_owned(), Some(Deny)),
        ("{forbidden,x}".to_owned(), Some(Deny)),
        ("f*n x".to_owned(), None),
        ("$(echo forbidden) x".to_owned(), None),
        ("eval \"$x\"".to_owned(), None),
        ("/opt/é/forbidden \u{202e}".to_owned(), Some(Deny)),
        ("a=forbidden; $a x".to_owned(), None),
    ];
    for gate in [CompiledGate::default(), gate_off()] {
        for (text, effect) in &texts {
            let found = decide(&policy, text, &gate).judgement.effect;
            let shown: String = text.chars().take(60).collect();
            assert_ne!(found, Allow, "{shown:?}");
            if let Some(effect) = effect {
                assert_eq!(found, *effect, "{shown:?}");
            }
        }
    }
}

#[test]
fn nothing_behind_a_forbidden_command_lets_it_run() {
    let policy = rules(FORBIDS).unwrap();
    let mut noise = Noise::new(0x2545_f491_4f6c_dd1d);
    for _ in 0..1_500 {
        let text = format!("forbidden x\n{}", noise.text(12));
        let decision = decide(&policy, &text, &gate_off());
        assert_ne!(decision.judgement.effect, Allow, "{text:?}");
    }
}

const PROFILES: &str = "
[fronts.mcp]
profile = 'agent'
[profiles.agent]
timeout = '10m'
output_bytes = '1MiB'
limits = { open_files = 100, cpu_time = '1m' }
sandbox = 'workspace'
writable = ['/opt/shared/a', '/var/cache/x']
hidden = ['/etc/secret']
[profiles.build]
timeout = '1h'
limits = { open_files = 50 }
sandbox = 'read-only'
writable = ['/opt/shared']
best_effort = true
builder = 'bubblewrap'
env = { pass = ['CARGO_TOKEN'] }
[profiles.offline]
sandbox = 'workspace'
network = false
[[rules]]
profile = 'build'
program = 'cargo'
[[rules]]
profile = 'none'
program = 'git'
[[rules]]
profile = 'offline'
program = 'npm'
effect = 'allow'
";

#[test]
fn a_profile_is_the_rules_else_the_fronts() {
    let policy = rules(PROFILES).unwrap();
    for (line, names) in [
        ("ls", &["agent"][..]),
        ("cargo build", &["build"]),
        ("git push", &["none"]),
        // The programs that it starts are commands of the text.
        ("git -c core.pager='touch x' -p log", &["none", "agent"]),
        ("git -c core.fsmonitor='touch x' status", &["none", "agent"]),
        ("git -c core.sshCommand='touch x' fetch", &["none", "agent"]),
        ("git -c alias.x='!touch x' x", &["none", "agent"]),
        ("GIT_PAGER='touch x' git -p log", &["agent", "none"]),
        ("git rebase -x 'touch x' main", &["none", "agent"]),
        ("git bisect run touch x", &["none", "agent"]),
        ("git diff --output=/home/u/.bashrc", &["none"]),
        ("cargo build && ls", &["build", "agent"]),
        ("cargo build; npm test; cargo x", &["build", "offline"]),
        ("bash -c 'cargo build'", &["agent", "build"]),
        // What it runs may be any of them, or none.
        ("$x", &["agent", "build", "none", "offline"]),
        ("", &["agent"]),
    ] {
        let decision = decide(&policy, line, &CompiledGate::default());
        assert_eq!(decision.profile.names, names, "{line}");
    }
    let build = decide(&policy, "cargo build", &CompiledGate::default());
    // It only gives a profile: the verdict decides.
    assert_eq!(
        (build.judgement.effect, build.judgement.rule),
        (Allow, Some(1))
    );
    assert!(
        build.why.contains("leaves it to the verdict"),
        "{}",
        build.why
    );
    assert_eq!(build.rule_line, Some(22));
    let none = decide(&policy, "git push", &CompiledGate::default());
    assert_eq!(none.profile.sandbox_access(&places()), None);
    let kinds = decide(&policy, "npm test", &CompiledGate::default())
        .profile
        .kinds();
    assert_eq!(kinds, [SandboxKind::Workspace]);
}

fn places() -> HostPaths {
    HostPaths {
        home: "/home/u".into(),
        workspace: "/home/u/src/x".into(),
        is_repository: true,
        temporary: vec!["/tmp".into()],
        runtime_dir: Some("/run/user/1000".into()),
        ssh_agent: Some("/run/user/1000/ssh".into()),
        daemon_config: "/home/u/.config/termd".into(),
        moved: MovedSettings::default(),
    }
}

fn paths(texts: &[&str]) -> Vec<PathBuf> {
    texts.iter().map(PathBuf::from).collect()
}

#[test]
fn of_several_profiles_the_strictest_of_each_thing_holds() {
    let policy = rules(PROFILES).unwrap();
    let gate = CompiledGate::default();
    for line in ["cargo build; ls", "ls; cargo build"] {
        let profile = decide(&policy, line, &gate).profile;
        assert_eq!(profile.timeout.map(TimeSpan::ms), Some(600_000));
        assert_eq!(profile.output_bytes.map(ByteSize::get), Some(1 << 20));
        assert_eq!(profile.limits.open_files, Some(50));
        assert_eq!(profile.limits.cpu_time.map(TimeSpan::ms), Some(60_000));
        let walls = profile.sandbox_access(&places()).unwrap();
        let writable = paths(&["/home/u/src/x", "/opt/shared/a", "/tmp"]);
        assert_eq!(walls.writable, writable, "{line}");
        assert!(!walls.best_effort, "one of them requires");
        assert_eq!(walls.builder, SandboxBuilder::Bubblewrap, "one asks for it");
        assert!(walls.network);
        for hidden in ["/etc/secret", "/home/u/.ssh", "/run/user/1000"] {
            assert!(walls.hidden.contains(&hidden.into()), "{hidden}");
        }
        // The other profile's filter still drops it.
        assert!(
            !profile
                .env
                .passes("CARGO_TOKEN".as_ref(), "x".as_ref(), Drop)
        );
    }
    let agent = decide(&policy, "ls", &gate).profile;
    let walls = agent.sandbox_access(&places()).unwrap();
    assert_eq!(walls.builder, SandboxBuilder::Termd, "nobody asks for it");
    let alone = decide(&policy, "cargo build", &gate).profile;
    assert!(alone.env.passes("CARGO_TOKEN".as_ref(), "x".as_ref(), Drop));
    assert!(!alone.env.passes("NPM_TOKEN".as_ref(), "x".as_ref(), Drop));
}

#[test]
fn settings_that_variables_move_are_held_there_too() {
    let toml = "[fronts.mcp]\nprofile = 'p'\n[profiles.p]\nsandbox = 'workspace'";
    let walls = |workspace: &str| {
        let policy = rules(toml).unwrap();
        let profile = decide(&policy, "ls", &CompiledGate::default()).profile;
        let value = |name: &str| {
            let value = match name {
                "XDG_CONFIG_HOME" => "/home/u/cfg",
                "XDG_DATA_HOME" => "/home/u/dat",
                "ZDOTDIR" => "/home/u/zsh",
                "ENV" => "/home/u/sh/rc",
                "PATH" => "/home/u/go/bin:/home/u/src/v/.venv/bin:/home/u/src/x/bin:/usr/bin",
                "VIRTUAL_ENV" => "/home/u/src/v/.venv",
                "EDITOR" => "/home/u/src/x/ed -f",
                "GIT_SSH_COMMAND" => "/home/u/src/y/ssh -F /home/u/src/y/config",
                "GNUPGHOME" => "/home/u/gpg",
                "DOCKER_CONFIG" => "/home/u/dock",
                "KUBECONFIG" => "/home/u/k1:/home/u/k2:relative",
                "HISTFILE" => "/dev/null",
                "CARGO_HOME" | "PASSWORD_STORE_DIR" => "/home/u",
                _ => return None,
            };
            Some(value.into())
        };
        let moved = MovedSettings::of("/home/u".as_ref(), value, |_| None);
        let places = HostPaths {
            workspace: workspace.into(),
            moved,
            ..places()
        };
        profile.sandbox_access(&places).unwrap()
    };
    let found = walls("/home/u/src/x");
    let searched = ("/home/u/src/x/bin".into(), MissingPath::CreateDirectory);
    assert!(found.protected.contains(&searched));
    for path in paths(&[
        "/home/u/cfg/fish",
        "/home/u/cfg/systemd",
        "/home/u/zsh/.zshrc",
        "/home/u/sh/rc",
        "/home/u/src/x/ed",
        "/home/u/src/y/ssh",
        "/home/u/src/y/config",
        "/home/u/.config/fish",
        "/home/u/.zshrc",
    ]) {
        assert!(
            found.protected.iter().any(|(held, _)| *held == path),
            "{path:?}"
        );
    }
    for path in paths(&[
        "/home/u/gpg",
        "/home/u/.gnupg",
        "/home/u/cfg/gh",
        "/home/u/dock/config.json",
        "/home/u/k1",
        "/home/u/k2",
        "/home/u/dat/keyrings",
        "/home/u/dat/containers/podman",
    ]) {
        assert!(found.hidden.contains(&path), "{path:?}");
    }
    assert!(!found.hidden.contains(&"/dev/null".into()));
    assert!(!found.hidden.contains(&"/home/u".into()));
    for (workspace, is_taken) in [
        ("/home/u/src/x", true),
        ("/home/u/cfg", false),
        ("/home/u/cfg/systemd/user", false),
        ("/home/u/dat/x", false),
        ("/home/u/zsh", false),
        ("/home/u/go/bin", false),
        ("/home/u/go", true),
        ("/home/u/src/v/.venv/bin", true),
    ] {
        let writable = walls(workspace).writable;
        assert_eq!(
            writable.contains(&workspace.into()),
            is_taken,
            "{workspace}"
        );
    }
}

#[test]
fn what_is_a_workspace_and_what_is_not() {
    let spec = |more: &str| {
        let toml =
            format!("[fronts.mcp]\nprofile = 'p'\n[profiles.p]\nsandbox = 'workspace'\n{more}");
        let policy = rules(&toml).unwrap();
        decide(&policy, "ls", &CompiledGate::default()).profile
    };
    let walls = |more: &str, workspace: &str| -> SandboxAccess {
        let places = HostPaths {
            workspace: workspace.into(),
            ..places()
        };
        spec(more).sandbox_access(&places).unwrap()
    };
    let is_writable = |more: &str, workspace: &str| {
        let walls = walls(more, workspace);
        walls.writable.contains(&workspace.into())
    };
    for (workspace, taken) in [
        ("/home/u/src", true),
        ("/srv/x", true),
        ("/home/u", false),
        ("/home", false),
        ("/", false),
        ("/etc/x", false),
        ("/usr", false),
        ("/home/u/.config/systemd/user", false),
        ("/home/u/.ssh", false),
    ] {
        assert_eq!(is_writable("", workspace), taken, "{workspace}");
    }
    let named = "workspaces = ['~/src', '/etc/x']";
    assert!(is_writable(named, "/home/u/src/deep"));
    assert!(is_writable(named, "/etc/x/y"));
    assert!(!is_writable(named, "/srv/x"));
    // Below them, and not at them: what holds workspaces is none.
    assert!(!is_writable(named, "/home/u/src"));
    assert!(!is_writable(named, "/etc/x"));
    assert!(!is_writable(named, "/home/u/srcs"));
    let protected = walls("protected = ['Makefile', '~/bin']", "/home/u/src/x").protected;
    for path in [
        "/home/u/src/x/.git",
        "/home/u/src/x/Makefile",
        "/home/u/bin",
    ] {
        assert!(
            protected
                .iter()
                .any(|(guarded, _)| guarded.as_path() == std::path::Path::new(path)),
            "{path}"
        );
    }
}

#[test]
fn what_may_be_written_of_repositories() {
    let access = |profile: &str| {
        let toml = format!("[fronts.mcp]\nprofile = 'p'\n[profiles.p]\n{profile}");
        let policy = rules(&toml).ok()?;
        let profile = decide(&policy, "ls", &CompiledGate::default()).profile;
        profile.sandbox_access(&places())
    };
    for (profile, expected) in [
        ("sandbox = 'workspace'", Some(GitAccess::Read)),
        ("sandbox = 'workspace'\ngit = 'read'", Some(GitAccess::Read)),
        ("sandbox = 'workspace'\ngit = 'commit'", None),
        ("sandbox = 'read-only'", Some(GitAccess::Write)),
        ("sandbox = 'read-only'\ngit = 'read'", Some(GitAccess::Read)),
        ("sandbox = 'no-network'", Some(GitAccess::Write)),
        ("sandbox = 'no-network'\ngit = 'read'", None),
        ("sandbox = 'workspace'\ngit = 'write'", None),
        ("git = 'read'", None),
    ] {
        let access = access(profile);
        assert_eq!(
            access.as_ref().map(|access| access.git),
            expected,
            "{profile}"
        );
        let git = (
            PathBuf::from("/home/u/src/x/.git"),
            MissingPath::CreateDirectory,
        );
        let holds = access.is_some_and(|access| access.protected.contains(&git));
        let is_held = expected.is_some_and(|git| git != GitAccess::Write);
        assert_eq!(holds, is_held, "{profile}");
    }
    let [read, write] =
        ["git = 'read'", ""].map(|git| access(&format!("sandbox = 'read-only'\n{git}")).unwrap());
    assert_eq!(write.clone().merge(read).git, GitAccess::Read);
    assert_eq!(write.clone().merge(write).git, GitAccess::Write);
}
