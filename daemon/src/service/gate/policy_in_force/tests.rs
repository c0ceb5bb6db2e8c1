//! What holds for a client that comes by several names.

use termd_policy::{AlwaysRule, ApprovedSpec, Invocation};
use termd_proto::terminal::Agent;

use termd_proto::policy::Effect;

use super::*;
use crate::config::ConfigFile;

/// A front that says "inner" below an agent that is known as "outer".
fn owner() -> Owner {
    Owner {
        front: Front::Mcp,
        uid: 1000,
        pid: 2,
        exe: None,
        session: None,
        client: Some("inner".to_owned()),
        agent: Some(Box::new(Agent {
            front: Front::Acp,
            client: Some("outer".to_owned()),
            pid: 1,
            started: 1,
            aliases: Vec::new(),
        })),
        terminal: None,
    }
}

/// A policy with an approval for always of `rm -r x` for the client `approved`.
fn policy(toml: &str, approved: Option<(Front, &str)>) -> Policy {
    let file = ConfigFile::parse(toml.to_owned(), Path::new("config.toml")).unwrap();
    let Some((front, client)) = approved else {
        return file.policy;
    };
    let argv = ["rm", "-r", "x"].map(str::to_owned);
    let request = request(&argv, front, Some(client));
    let known = Completeness::Whole;
    let decision = file
        .policy
        .decide(&request, known, &CompiledGate::default());
    let rule = AlwaysRule::of(&decision, &request, Some("/")).unwrap();
    let spec: ApprovedSpec = toml::from_str(&rule.to_toml()).unwrap();
    let compiled = Approved::compile(&spec, &|_| 1);
    file.policy
        .with_approved(compiled.map_err(|error| error.problem).unwrap())
}

fn request<'a>(argv: &'a [String], front: Front, client: Option<&'a str>) -> Request<'a> {
    Request {
        invocation: Invocation::Argv(argv),
        program: None,
        front,
        client,
        uid: Some(1000),
        cwd: Some("/"),
        env: &[],
    }
}

#[test]
fn rules_for_each_name_hold_and_an_approval_is_for_the_first() {
    let (inner, outer) = ((Front::Mcp, "inner"), (Front::Acp, "outer"));
    let rule = |client: &str, effect: &str| {
        format!(
            "[[policy.rules]]\neffect = \"{effect}\"\nclient = \"{client}\"\nprogram = \"rm\"\n"
        )
    };
    let both = rule("inner", "allow") + &rule("outer", "allow");
    for (toml, approved, effect) in [
        (String::new(), None, Effect::Confirm),
        (rule("inner", "deny"), None, Effect::Deny),
        (rule("outer", "deny"), None, Effect::Deny),
        (rule("outer", "deny"), Some(inner), Effect::Deny),
        (rule("another", "deny"), None, Effect::Confirm),
        (rule("inner", "allow"), None, Effect::Confirm),
        (rule("outer", "allow"), None, Effect::Confirm),
        (both, None, Effect::Allow),
        (String::new(), Some(inner), Effect::Allow),
        (String::new(), Some(outer), Effect::Confirm),
        (rule("outer", "confirm"), Some(inner), Effect::Confirm),
    ] {
        let policy = policy(&toml, approved);
        let argv = ["rm", "-r", "x"].map(str::to_owned);
        let decision = decide_by_names(&owner(), |front, client| {
            let request = request(&argv, front, client);
            let gate = CompiledGate::default();
            decide(&policy, &request, Completeness::Whole, &gate)
        });
        assert_eq!(decision.judgement.effect, effect, "{toml} {approved:?}");
    }
}

#[test]
fn profiles_of_each_front_hold() {
    let toml = "[policy.profiles.one]\ntimeout = \"1h\"\n[policy.profiles.two]\ntimeout = \"2h\"\n\
                [policy.fronts.mcp]\nprofile = \"two\"\n[policy.fronts.acp]\nprofile = \"one\"\n";
    let policy = policy(toml, None);
    let argv = ["true".to_owned()];
    let decision = decide_by_names(&owner(), |front, client| {
        let request = request(&argv, front, client);
        decide(
            &policy,
            &request,
            Completeness::Whole,
            &CompiledGate::default(),
        )
    });
    assert_eq!(decision.profile.names, ["two", "one"]);
}
