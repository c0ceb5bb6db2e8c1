//! The table of programs: rows of a configuration, what nothing is known of, variables, and termctl.

use termd_proto::policy::{Effect, Verdict};
use termd_proto::terminal::Front;

use super::rules::rules;
use crate::{CompiledGate, Completeness, Decision, Invocation, Policy, Request};

fn decide(policy: &Policy, line: &str, front: Front, env: &[(&str, &str)]) -> Decision {
    let env: Vec<(String, String)> = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let request = Request {
        invocation: Invocation::Line(line),
        program: None,
        front,
        client: None,
        uid: None,
        cwd: None,
        env: &env,
    };
    policy.decide(&request, Completeness::Whole, &CompiledGate::default())
}

#[track_caller]
fn effects(policy: &Policy, table: &[(&str, Effect)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(line, effect)| (line, effect, decide(policy, line, Front::Mcp, &[])))
        .filter(|(_, effect, decision)| decision.judgement.effect != **effect)
        .map(|(line, _, decision)| format!("{line}: {:?}", decision.judgement))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

use Effect::{Allow, Confirm};

#[test]
fn rows_of_a_configuration_are_merged_over_the_built_in_ones() {
    let policy = rules(
        r#"
        [programs.deploy]
        values = "--to"
        starts = ["hook -- COMMAND"]
        writes = ["-o|--output=FILE"]
        dangerous = { "--to=live" = "changes what everybody sees", "drop _" = "drops it" }
        [programs.git]
        safe = ["push --force-with-lease"]
        dangerous = { "tag -d" = "removes a tag" }
        "#,
    )
    .unwrap();
    effects(
        &policy,
        &[
            ("deploy --to test", Allow),
            ("deploy --to live", Confirm),
            ("sudo deploy drop x", Confirm),
            ("deploy hook -- rm -rf x", Confirm),
            ("deploy -o /etc/passwd", Confirm),
            ("deploy drop x --help", Allow),
            ("git push --force-with-lease", Allow),
            ("git push --force", Confirm),
            ("git tag -d v1", Confirm),
        ],
    );
    let reason = decide(&policy, "deploy --to live", Front::Mcp, &[])
        .judgement
        .reason;
    let expected = "`deploy --to live` changes what everybody sees";
    assert_eq!(reason.as_deref(), Some(expected));
}

#[test]
fn a_wrong_row_is_refused_with_its_line() {
    let table = [
        (
            "[programs.x]\nstart = ['COMMAND']",
            "2: unknown field `start`",
        ),
        ("[programs.x]\nstarts = 'COMMAND'", "2: invalid type"),
        (
            "[programs.x]\n\ntakes = 'lines'",
            "3: unknown variant `lines`",
        ),
        (
            "[programs.x.settings]\npager = 'program'",
            "2: line, alias,",
        ),
        (
            "[programs.x]\ntakes = 'shell'",
            "1: `takes` of x: only a row that termd comes with has it",
        ),
        (
            "[programs.x]\n\nwrites = ['-o']",
            "3: the form does not say which word is the file",
        ),
        (
            "[programs.x]\nstarts = ['hook -- COMAND']",
            "2: the form does not say what is started",
        ),
        ("unlisted = 'deny'", "1: unknown variant `deny`"),
    ];
    for (toml, problem) in table {
        let error = rules(toml).unwrap_err();
        assert!(error.starts_with(problem), "{toml}: {error}");
    }
}

#[test]
fn what_is_unlisted_is_asked_about_where_a_policy_says_so() {
    let policy = rules("unlisted = 'ask'").unwrap();
    effects(
        &policy,
        &[
            ("ls -la", Allow),
            ("cargo test -p x 2>&1 | tail -50", Allow),
            ("git status && git diff", Allow),
            ("timeout 5 npm test", Allow),
            ("bash -c 'ls; pwd'", Allow),
            ("grep -rn x src | head", Allow),
            ("docker ps", Allow),
            ("kubectl get pods", Allow),
            ("terraform plan", Allow),
            ("cd x && make -j4", Allow),
            ("frob", Confirm),
            ("./run.sh", Confirm),
            ("bash -c frob", Confirm),
            ("timeout 5 frob", Confirm),
            ("docker run x", Confirm),
            ("kubectl apply -f x", Confirm),
            ("curl -d x https://x", Confirm),
            ("terraform apply", Confirm),
            ("rm x", Confirm),
            ("echo x > ../y", Confirm),
            ("echo x > y", Allow),
            ("echo x > /dev/null", Allow),
        ],
    );
    effects(
        &policy,
        &[
            ("bun install", Allow),
            ("NODE_OPTIONS=--max-old-space-size=4096 npm test", Allow),
            ("say() { echo \"$1\"; }; say x", Allow),
            ("git switch main && git checkout -b x", Allow),
            ("git -c core.pager=cat log", Allow),
            ("git clean -n && git restore --staged x", Allow),
            ("openssl rand -hex 8", Allow),
            ("redis-cli get x", Allow),
            ("redis-cli set x y", Confirm),
            ("cargo update && zig build test", Allow),
            ("mv src/a.ts src/b.ts", Allow),
            ("mv src/a.ts ../b.ts", Confirm),
            ("mv \"$x\" y", Confirm),
            ("cp -r src /tmp/x", Allow),
            ("cp -r src /tmp/../home", Confirm),
            ("python -c 'print(1)'", Allow),
            ("python -c 'frob(1)'", Confirm),
            ("docker compose up -d && docker compose down", Allow),
        ],
    );
    let safe = rules("unlisted = 'ask'\n[programs.frob]\nsafe = ['fetch']").unwrap();
    effects(&safe, &[("frob fetch", Allow), ("frob send", Confirm)]);
    let reason = |line| {
        decide(&policy, line, Front::Mcp, &[])
            .judgement
            .reason
            .unwrap()
    };
    assert_eq!(reason("frob x"), "nothing is known of `frob`");
    assert_eq!(
        reason("kubectl apply -f x"),
        "`kubectl apply` is not known to do no harm"
    );
    let of_front = rules("[fronts.mcp]\nunlisted = 'ask'").unwrap();
    let effect = |front| decide(&of_front, "frob", front, &[]).judgement.effect;
    assert_eq!((effect(Front::Mcp), effect(Front::Cli)), (Confirm, Allow));
    let ruled = rules("unlisted = 'ask'\n[[rules]]\neffect = 'allow'\nprogram = 'frob'").unwrap();
    effects(&ruled, &[("frob", Allow), ("frob2", Confirm)]);
}

#[test]
fn the_variables_of_a_request_are_judged() {
    let table: [(&[(&str, &str)], Verdict); 21] = [
        (&[("BASH_ENV", "$(rm -rf x)")], Verdict::Dangerous),
        (&[("BASH_ENV", "/tmp/x")], Verdict::Dangerous),
        (
            &[("BASH_FUNC_echo%%", "() { rm -rf x; }")],
            Verdict::Dangerous,
        ),
        (&[("GIT_PAGER", "rm -rf x")], Verdict::Dangerous),
        (&[("GIT_PAGER", "/tmp/x")], Verdict::Unknown),
        (
            &[
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "alias.x"),
                ("GIT_CONFIG_VALUE_0", "!rm -rf y"),
            ],
            Verdict::Dangerous,
        ),
        (
            &[
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "safe.directory"),
                ("GIT_CONFIG_VALUE_0", "*"),
            ],
            Verdict::Safe,
        ),
        (&[("GIT_CONFIG_VALUE_0", "!rm -rf y")], Verdict::Unknown),
        (&[("GIT_CONFIG_GLOBAL", "./x")], Verdict::Dangerous),
        (&[("GIT_DIR", "/tmp")], Verdict::Unknown),
        (&[("LD_PRELOAD", "./x.so")], Verdict::Dangerous),
        (&[("PATH", "/tmp:/usr/bin")], Verdict::Unknown),
        (&[("PATH", "/tmp/venv/bin:/usr/bin")], Verdict::Safe),
        (&[("NODE_OPTIONS", "--import /tmp/x.mjs")], Verdict::Unknown),
        (&[("CARGO_TARGET_X_RUNNER", "rm -rf x")], Verdict::Dangerous),
        (&[("PS4", "$(rm -rf x)")], Verdict::Dangerous),
        (&[("PAGER", "less -R"), ("EDITOR", "vim")], Verdict::Safe),
        (
            &[("GIT_EDITOR", "true"), ("GIT_PAGER", "cat")],
            Verdict::Safe,
        ),
        (
            &[("NODE_OPTIONS", "--max-old-space-size=4096")],
            Verdict::Safe,
        ),
        (&[("PATH", "/home/u/.local/bin:/usr/bin")], Verdict::Safe),
        (&[("ENV", "production"), ("TERM", "dumb")], Verdict::Safe),
    ];
    for (env, verdict) in table {
        let decision = decide(&Policy::default(), "true", Front::Mcp, env);
        assert_eq!(decision.judgement.verdict, verdict, "{env:?}");
    }
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let denied = decide(
        &policy,
        "git diff",
        Front::Mcp,
        &[("GIT_EXTERNAL_DIFF", "/x/frob")],
    );
    assert_eq!(denied.judgement.effect, Effect::Deny);
}

#[test]
fn a_line_that_starts_termctl_is_what_termctl_would_do() {
    let person = [
        "termctl approve 3",
        "termctl approve --always 3",
        "termctl --json deny 3",
        "/usr/local/bin/termctl attach t",
        "termctl run --confirmed -- true",
        "termctl create --confirmed bash",
        "termctl send t 'ls' -e",
        "termctl exec t -- ls",
        "termctl exec --confirmed t ls",
        "termctl run -- termctl approve 3",
        "termctl create -- bash -c 'termctl approve 3'",
        "termctl run 'termctl approve 3; ls'",
        "env -i termctl approve 3",
        "sudo -u me termctl approve 3",
        "termctl setup --client codex",
        "termctl daemon stop --yes",
        "termctl daemon reload",
        "termctl mcp",
        "termd --config x.toml",
    ];
    let gate_off = CompiledGate::compile(&termd_proto::policy::GateSettings {
        enabled: false,
        patterns: Vec::new(),
    })
    .unwrap();
    for line in person {
        for gate in [&CompiledGate::default(), &gate_off] {
            let request = Request {
                front: Front::Mcp,
                ..Request::line(line)
            };
            let policy = Policy::default();
            let judgement = policy.decide(&request, Completeness::Whole, gate).judgement;
            assert!(judgement.needs_person, "{line}: {judgement:?}");
            assert_eq!(judgement.effect, Confirm, "{line}");
            // A person speaks for herself.
            let own = policy.decide(&Request::line(line), Completeness::Whole, gate);
            assert!(!own.judgement.needs_person, "{line}: {own:?}");
        }
    }
    let policy = Policy::default();
    effects(
        &policy,
        &[
            ("termctl run -- rm -rf x", Confirm),
            ("termctl run 'rm -rf x; ls'", Confirm),
            ("termctl create -- bash -c 'rm -rf x'", Confirm),
            ("termctl run --env BASH_ENV=/tmp/x bash", Confirm),
            ("termctl run -- cargo test", Allow),
            ("termctl delete t", Confirm),
            ("termctl --json delete --yes t", Confirm),
            ("termctl list", Allow),
            ("termctl rename t x", Allow),
            ("termctl wait t --for x", Allow),
            ("termctl close t", Allow),
            ("termctl prune", Allow),
            ("termctl policy check -- rm -rf x", Allow),
            ("termctl approvals", Allow),
            ("termctl history --json", Allow),
            ("termctl approve --help", Allow),
            ("termd --version", Allow),
        ],
    );
    let removal = decide(&policy, "termctl run -- rm -rf x", Front::Mcp, &[]);
    assert!(!removal.judgement.needs_person);
}

#[test]
fn help_counts_only_where_a_program_reads_it() {
    effects(
        &Policy::default(),
        &[
            ("find . ! -name --help -delete", Confirm),
            ("kill -9 -1 --help", Confirm),
            ("service nginx stop --help", Confirm),
            ("supervisorctl stop x --help", Confirm),
            ("git reset --hard -- --help", Confirm),
            ("docker rm -f x --filter --help", Confirm),
            ("cargo yank --version 1.0.0", Confirm),
            ("rm -rf --help", Allow),
            ("docker kill --help", Allow),
            ("cargo publish --help", Allow),
        ],
    );
}
