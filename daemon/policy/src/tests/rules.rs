//! What a person and a client have decided beforehand.

use termd_proto::policy::{Effect, GateSettings, MAX_GATE_PATTERNS, Verdict};
use termd_proto::terminal::Front;

use crate::{
    CompiledGate, Invocation, PatternError, Policy, PolicySpec, Request, RuleSource, judge,
};

/// A policy, or what is wrong with it; of errors the line too.
pub(super) fn rules(toml: &str) -> Result<Policy, String> {
    let line = |at: usize| {
        toml.get(..at)
            .map_or(0, |before| before.matches('\n').count() + 1)
    };
    let place = |at: usize, problem: &str| format!("{}: {problem}", line(at));
    let spec: PolicySpec = toml::from_str(toml).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        place(at, error.message())
    })?;
    let origin = RuleSource {
        home: Some("/data/user"),
        line: &line,
        resolve: &|_| None,
    };
    Policy::compile(&spec, &origin).map_err(|error| place(error.at, &error.problem))
}

#[test]
fn the_first_rule_that_fits_decides_for_each_command() {
    let rules = rules(
        r#"
        [[rules]]
        effect = "deny"
        program = "terraform"
        [[rules]]
        effect = "allow"
        program = "rm"
        arguments = "^-rf (build|target)$"
        [[rules]]
        effect = "confirm"
        program = "cargo"
        arguments = "publish"
        [[rules]]
        effect = "deny"
        program = "make"
        cwd = "/srv/live"
        [[rules]]
        effect = "allow"
        program = "kill"
        front = "cli"
        "#,
    )
    .unwrap();
    let table = [
        ("terraform plan", Front::Mcp, None, Effect::Deny, Some(1)),
        (
            "sudo terraform plan",
            Front::Cli,
            None,
            Effect::Deny,
            Some(1),
        ),
        (
            "ls; bash -c 'terraform plan'",
            Front::Cli,
            None,
            Effect::Deny,
            Some(1),
        ),
        ("rm -rf build", Front::Mcp, None, Effect::Allow, Some(2)),
        ("rm -rf /", Front::Mcp, None, Effect::Confirm, None),
        (
            "rm -rf build; rm -r /",
            Front::Mcp,
            None,
            Effect::Confirm,
            None,
        ),
        (
            "rm -rf build > /dev/sda",
            Front::Mcp,
            None,
            Effect::Confirm,
            None,
        ),
        ("cargo publish", Front::Mcp, None, Effect::Confirm, Some(3)),
        ("cargo build", Front::Mcp, None, Effect::Allow, None),
        (
            "make x",
            Front::Mcp,
            Some("/srv/live"),
            Effect::Deny,
            Some(4),
        ),
        (
            "make x",
            Front::Mcp,
            Some("/srv/live/deep"),
            Effect::Deny,
            Some(4),
        ),
        (
            "make x",
            Front::Mcp,
            Some("/srv/lively"),
            Effect::Allow,
            None,
        ),
        ("kill -9 1", Front::Cli, None, Effect::Allow, Some(5)),
        ("kill -9 1", Front::Acp, None, Effect::Confirm, None),
        ("echo terraform", Front::Acp, None, Effect::Allow, None),
    ];
    for (line, front, cwd, effect, rule) in table {
        let request = Request {
            invocation: Invocation::Line(line),
            program: None,
            front,
            client: None,
            uid: None,
            cwd,
            env: &[],
        };
        let judgement = judge(&request, &CompiledGate::default(), &rules);
        assert_eq!(
            (judgement.effect, judgement.rule),
            (effect, rule),
            "{line} by {front:?} in {cwd:?}"
        );
    }
}

#[test]
fn a_gate_that_is_off_judges_and_asks_nothing() {
    let off = CompiledGate::compile(&GateSettings {
        enabled: false,
        patterns: vec![],
    })
    .unwrap();
    let denying = rules("[[rules]]\neffect = \"deny\"\nprogram = \"reboot\"").unwrap();
    for (line, effect) in [
        ("rm -rf /srv", Effect::Allow),
        // termd's own files are below it.
        ("rm -rf /", Effect::Confirm),
        ("reboot", Effect::Deny),
        // What it runs may be what the rule forbids.
        ("$x", Effect::Confirm),
    ] {
        let request = Request {
            invocation: Invocation::Line(line),
            program: None,
            front: Front::Mcp,
            client: None,
            uid: None,
            cwd: None,
            env: &[],
        };
        let judgement = judge(&request, &off, &denying);
        assert_eq!(judgement.effect, effect, "{line}");
        assert_ne!(judgement.verdict, Verdict::Safe, "{line}");
    }
}

#[test]
fn a_clients_patterns_are_dangerous_in_any_case() {
    let settings = GateSettings {
        patterns: vec![r"\bdeploy\s+prod".to_owned()],
        ..GateSettings::default()
    };
    let gate = CompiledGate::compile(&settings).unwrap();
    for (line, program, verdict) in [
        ("./deploy PROD", None, Verdict::Dangerous),
        ("./deploy test", None, Verdict::Safe),
        ("deploy  prod", Some("vim"), Verdict::Dangerous),
    ] {
        let request = Request {
            invocation: Invocation::Line(line),
            program,
            front: Front::Mcp,
            client: None,
            uid: None,
            cwd: None,
            env: &[],
        };
        let judgement = judge(&request, &gate, &Policy::default());
        assert_eq!(judgement.verdict, verdict, "{line}");
    }
}

#[test]
fn bad_patterns_are_named() {
    let compile = |patterns: Vec<String>| {
        CompiledGate::compile(&GateSettings {
            patterns,
            ..GateSettings::default()
        })
        .unwrap_err()
    };
    let bad = compile(vec!["ok".to_owned(), "(".to_owned()]);
    assert!(
        matches!(&bad, PatternError::Bad { number: 2, pattern, .. } if pattern == "("),
        "{bad}"
    );
    assert!(bad.to_string().contains("pattern 2 (()"), "{bad}");
    assert_eq!(
        compile(vec!["x".to_owned(); MAX_GATE_PATTERNS + 1]),
        PatternError::TooMany
    );
    assert_eq!(
        compile(vec!["x".repeat(1_025)]),
        PatternError::TooLong { number: 1 }
    );
    assert!(matches!(
        compile(vec!["(a{1000}){1000}".to_owned()]),
        PatternError::Bad { .. }
    ));
}

#[test]
fn bad_rules_are_named() {
    let table = [
        (
            "[[rules]]\neffect = \"allow\"\narguments = \"(\"",
            "3: it is no regular expression: ",
        ),
        (
            "[[rules]]\neffect = \"allow\"\n[[rules]]\neffect = \"deny\"\ncwd = \"x\"",
            "5: cwd must be",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nprogram = \"/bin/rm\"",
            "3: program must be",
        ),
        ("[[rules]]\neffect = \"maybe\"", "2: unknown variant"),
        (
            "\n[[rules]]\nprogram = \"x\"",
            "2: rule 1: it needs an `effect` or a `profile`",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nprogramm = \"x\"",
            "3: unknown field `programm`",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nfront = \"web\"",
            "3: unknown variant `web`",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nfront = [\"mcp\",\n \"web\"]",
            "4: unknown variant `web`",
        ),
        (
            "[[rules]]\neffect = \"deny\"\n[[rules]]\nprogram = \"x\"\nprofile = \"agnet\"",
            "5: there is no profile agnet",
        ),
        (
            "[fronts.mcp]\nprofile = \"agnet\"",
            "2: there is no profile agnet",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nhas = [\"f\"]",
            "3: an option is written with its dashes",
        ),
        (
            "\n[profiles.x]\ntimeout = 10",
            "3: invalid type: integer `10`, expected a time",
        ),
        (
            "[profiles.x]\noutput_bytes = \"many\"",
            "2: invalid value: string \"many\"",
        ),
        (
            "[profiles.x]\nsandbox = \"jail\"",
            "2: unknown variant `jail`",
        ),
        (
            "[profiles.x]\nsandbox = \"workspace\"\nwritable = [\"../x\"]",
            "3: a path is absolute",
        ),
        (
            "\n[profiles.x]\nhidden = [\"~/x\"]",
            "2: `hidden` needs a `sandbox`",
        ),
        (
            "\n[profiles.x]\nbuilder = \"bubblewrap\"",
            "2: `builder` needs a `sandbox`",
        ),
        (
            "[profiles.x]\nsandbox = \"workspace\"\nbuilder = \"docker\"",
            "3: unknown variant `docker`",
        ),
        (
            "\n[profiles.workspace]\ntimeout = \"1s\"",
            "2: the profile workspace is built in",
        ),
        (
            "[profiles.x]\ntimeuot = \"1s\"",
            "2: unknown field `timeuot`",
        ),
        (
            "[profiles.x.limits]\nprocessor = \"1s\"",
            "2: unknown field `processor`",
        ),
        ("[profiles.x.env]\nset = { A = 1 }", "2: invalid type"),
        (
            "[profiles.'a b']\ntimeout = \"1s\"",
            "1: a profile's name is made of",
        ),
        ("[fronts.web]\nprofile = \"x\"", "1: unknown field `web`"),
    ];
    for (toml, expected) in table {
        let error = rules(toml).expect_err(toml);
        assert!(error.starts_with(expected), "{toml}: {error}");
    }
}
