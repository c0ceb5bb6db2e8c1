//! What somebody has agreed to for always: that very command, and nothing beside it.

use termd_proto::policy::Effect;
use termd_proto::terminal::Front;

use super::rules::rules;
use crate::{
    AlwaysRule, Approved, ApprovedSpec, CompiledGate, Completeness, Decision, Invocation,
    OnlyOnceReason, Policy, Request,
};

fn approved(toml: &str) -> Result<Approved, String> {
    let spec: ApprovedSpec = toml::from_str(toml).map_err(|error| error.to_string())?;
    let line = |at: usize| toml[..at].matches('\n').count() + 1;
    Approved::compile(&spec, &line).map_err(|error| error.problem)
}

fn request(invocation: Invocation<'_>) -> Request<'_> {
    Request {
        invocation,
        program: None,
        front: Front::Mcp,
        client: Some("an \"agent\"*\n"),
        uid: Some(1000),
        cwd: Some("/project"),
        env: &[],
    }
}

fn decided(policy: &Policy, request: &Request<'_>) -> Decision {
    let decision = policy.decide(request, Completeness::Whole, &CompiledGate::default());
    policy.approve(decision, request, request.cwd.unwrap())
}

fn always(policy: &Policy, request: &Request<'_>) -> Result<Policy, OnlyOnceReason> {
    let decision = decided(policy, request);
    let rule = AlwaysRule::of(&decision, request, request.cwd)?;
    Ok(policy.with_approved(approved(&rule.to_toml()).unwrap()))
}

#[test]
fn a_rule_is_for_that_very_command_and_nothing_beside_it() {
    let argv =
        |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let asked = argv(&["rm", "-r", "a \"b\"\n\u{202e}"]);
    let original = request(Invocation::Argv(&asked));
    let policy = always(&Policy::default(), &original).unwrap();
    let yes = decided(&policy, &original);
    assert_eq!(
        (yes.judgement.effect, yes.judgement.approved),
        (Effect::Allow, Some(1))
    );
    assert!(yes.why.contains("approved.toml (line 1)"), "{}", yes.why);
    let more = argv(&["rm", "-r", "a \"b\"\n\u{202e}", "c"]);
    let line = crate::command_text(&asked);
    for other in [
        Request {
            invocation: Invocation::Argv(&more),
            ..original
        },
        Request {
            invocation: Invocation::Line(&line),
            ..original
        },
        Request {
            front: Front::Acp,
            ..original
        },
        Request {
            client: Some("an \"agent\"x\n"),
            ..original
        },
        Request {
            client: None,
            ..original
        },
        Request {
            uid: Some(1001),
            ..original
        },
        Request {
            cwd: Some("/project/below"),
            ..original
        },
        Request {
            program: Some("bash"),
            ..original
        },
    ] {
        assert_eq!(
            decided(&policy, &other).judgement.effect,
            Effect::Confirm,
            "{other:?}"
        );
    }
    // Together with another one it is another text.
    let line = request(Invocation::Line("rm -r a"));
    let policy = always(&Policy::default(), &line).unwrap();
    assert_eq!(decided(&policy, &line).judgement.effect, Effect::Allow);
    let two = request(Invocation::Line("rm -r a; rm -r b"));
    assert_eq!(decided(&policy, &two).judgement.effect, Effect::Confirm);
}

#[test]
fn a_persons_own_rule_is_stronger() {
    let asked = request(Invocation::Line("rm -r build"));
    let rule = always(&Policy::default(), &asked)
        .unwrap()
        .approved()
        .clone();
    for (toml, effect) in [
        (
            "[[rules]]\neffect = \"deny\"\nprogram = \"rm\"",
            Effect::Deny,
        ),
        (
            "[[rules]]\neffect = \"confirm\"\nprogram = \"rm\"",
            Effect::Confirm,
        ),
    ] {
        let policy = rules(toml).unwrap().with_approved(rule.clone());
        let decision = decided(&policy, &asked);
        assert_eq!(decision.judgement.effect, effect, "{toml}");
        let again = AlwaysRule::of(&decision, &asked, Some("/project"));
        assert_eq!(
            again,
            Err(OnlyOnceReason::Rule { number: 1, line: 1 }),
            "{toml}"
        );
    }
}

#[test]
fn what_may_be_another_command_the_next_time_is_agreed_to_once() {
    let long = format!("rm -r {}", "x".repeat(5_000));
    for (line, why) in [
        ("rm -r $what", OnlyOnceReason::Computed),
        ("rm -r $(ls)", OnlyOnceReason::Computed),
        (&long, OnlyOnceReason::Long),
    ] {
        let asked = request(Invocation::Line(line));
        assert_eq!(
            always(&Policy::default(), &asked).err(),
            Some(why),
            "{line:.40}"
        );
    }
    let typed = Request {
        program: Some("bash"),
        ..request(Invocation::Line("rm -r x"))
    };
    assert_eq!(
        always(&Policy::default(), &typed).err(),
        Some(OnlyOnceReason::Typed)
    );
    let unnamed = Request {
        client: None,
        ..request(Invocation::Line("rm -r x"))
    };
    assert_eq!(
        always(&Policy::default(), &unnamed).err(),
        Some(OnlyOnceReason::Unnamed)
    );
}

#[test]
fn what_no_table_lists_is_agreed_to_for_always() {
    let policy = rules("unlisted = 'ask'").unwrap();
    for line in ["frob x", "frob x; ls", "ls > ../out"] {
        let asked = request(Invocation::Line(line));
        assert_eq!(decided(&policy, &asked).judgement.effect, Effect::Confirm);
        let agreed = always(&policy, &asked).unwrap();
        assert_eq!(
            decided(&agreed, &asked).judgement.effect,
            Effect::Allow,
            "{line}"
        );
    }
    // What is computed is not known, listed or not.
    for line in ["frob $x", "$x", "eval \"$(frob)\""] {
        let asked = request(Invocation::Line(line));
        assert_eq!(
            always(&policy, &asked).err(),
            Some(OnlyOnceReason::Computed),
            "{line}"
        );
    }
}

#[test]
fn a_question_names_the_rule_that_may_fit() {
    for (rule, line, said) in [
        ("effect = \"deny\"", "$x", "may forbid it"),
        (
            "profile = \"read-only\"",
            "$x",
            "may hold it to another profile",
        ),
        (
            "effect = \"confirm\"",
            "python3 -c 'import os; os.system(\"frob\")'",
            "may want it asked",
        ),
    ] {
        let policy = rules(&format!("[[rules]]\n{rule}\nprogram = \"frob\"")).unwrap();
        let asked = request(Invocation::Line(line));
        let reason = decided(&policy, &asked).judgement.reason.unwrap();
        let named = format!("rule 1 of config.toml (line 1) {said}");
        assert!(reason.contains(&named), "{reason}");
    }
}

#[test]
fn the_file_holds_nothing_but_whole_commands_that_are_allowed() {
    for (toml, problem) in [
        (
            "[[rules]]\neffect = \"deny\"\ncommand = \"x\"",
            "must be \"allow\"",
        ),
        (
            "[[rules]]\neffect = \"allow\"\nprogram = \"x\"",
            "needs a `command`",
        ),
        (
            "[[rules]]\neffect = \"allow\"\ncommand = \"x\"\nprogram = \"x\"",
            "`program` belongs",
        ),
        (
            "[[rules]]\neffect = \"allow\"\ncommand = []",
            "invalid length 0",
        ),
        ("[policy]", "unknown field"),
    ] {
        let said = approved(toml).expect_err(toml);
        assert!(said.contains(problem), "{toml}: {said}");
    }
}
