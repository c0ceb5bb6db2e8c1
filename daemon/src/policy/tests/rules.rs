//! What a person and a client have decided beforehand.

use termd_proto::policy::{Effect, GateSettings, MAX_GATE_PATTERNS, Verdict};
use termd_proto::terminal::Front;

use super::super::{CompiledGate, PatternError, Request, RuleSpec, Rules, What, judge};

fn rules(toml: &str) -> Result<Rules, String> {
    #[derive(serde::Deserialize)]
    struct File {
        rules: Vec<RuleSpec>,
    }
    let file: File = toml::from_str(toml).map_err(|error| error.message().to_owned())?;
    Rules::compile(&file.rules).map_err(|error| error.to_string())
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
        ("ls", Front::Mcp, None, Effect::Allow, None),
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
            "rm -rf build; rm -rf /",
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
        ("make x", Front::Mcp, None, Effect::Allow, None),
        ("kill -9 1", Front::Cli, None, Effect::Allow, Some(5)),
        ("kill -9 1", Front::Acp, None, Effect::Confirm, None),
        ("echo terraform", Front::Acp, None, Effect::Allow, None),
    ];
    for (line, front, cwd, effect, rule) in table {
        let what = What::Line(line);
        let request = Request {
            what,
            program: None,
            front,
            cwd,
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
        ("rm -rf /", Effect::Allow),
        ("reboot", Effect::Deny),
        ("$x", Effect::Allow),
    ] {
        let request = Request {
            what: What::Line(line),
            program: None,
            front: Front::Mcp,
            cwd: None,
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
            what: What::Line(line),
            program,
            front: Front::Mcp,
            cwd: None,
        };
        let judgement = judge(&request, &gate, &Rules::default());
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
            "rule 1: arguments: ",
        ),
        (
            "[[rules]]\neffect = \"allow\"\n[[rules]]\neffect = \"deny\"\ncwd = \"x\"",
            "rule 2: cwd must be",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nprogram = \"/bin/rm\"",
            "rule 1: program must be",
        ),
        ("[[rules]]\neffect = \"maybe\"", "unknown variant"),
        ("[[rules]]\nprogram = \"x\"", "missing field"),
        (
            "[[rules]]\neffect = \"deny\"\nprogramm = \"x\"",
            "unknown field",
        ),
        (
            "[[rules]]\neffect = \"deny\"\nfront = \"web\"",
            "unknown variant",
        ),
    ];
    for (toml, expected) in table {
        let error = rules(toml).expect_err(toml);
        assert!(error.contains(expected), "{toml}: {error}");
    }
}
