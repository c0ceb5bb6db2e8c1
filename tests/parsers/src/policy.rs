//! The gate: any text is judged; beyond a cap nothing is safe; what follows is never skipped.

use std::path::Path;
use std::sync::OnceLock;

use termd::config::ConfigFile;
use termd_policy::{
    CompiledGate, Completeness, Invocation, Policy, Request, agent_line, command_text, judge,
};
use termd_proto::policy::{Effect, Judgement, MAX_JUDGED_BYTES, Verdict};
use termd_proto::terminal::Front;

use super::chosen;

/// A program that is forbidden, whatever else there is.
const RULES: &str = "[[policy.rules]]\neffect = \"deny\"\nprogram = \"forbidden\"\n";

/// What a text is typed into: a shell, one of another grammar, databases, interpreters, anything.
pub(super) const PROGRAMS: [Option<&str>; 10] = [
    None,
    Some("bash"),
    Some("fish"),
    Some("psql"),
    Some("mysql"),
    Some("redis-cli"),
    Some("python3"),
    Some("node"),
    Some("cat"),
    Some("vim"),
];

fn rules() -> &'static Policy {
    static RULES_ONCE: OnceLock<Policy> = OnceLock::new();
    RULES_ONCE.get_or_init(|| {
        let file = ConfigFile::parse(RULES.to_owned(), Path::new("rules.toml"));
        file.map(|file| file.policy).unwrap_or_default()
    })
}

pub(super) fn request<'a>(invocation: Invocation<'a>, program: Option<&'a str>) -> Request<'a> {
    Request {
        invocation,
        program,
        front: Front::Mcp,
        client: Some("fuzz"),
        uid: Some(1000),
        cwd: Some("/home/user/project"),
        env: &[],
    }
}

fn judged(text: &str, program: Option<&str>) -> Judgement {
    let request = request(Invocation::Line(text), program);
    judge(&request, &CompiledGate::default(), &Policy::default())
}

/// Whether a shell's text is refused, or asked about, under a rule that denies `forbidden`.
pub fn is_forbidden(text: &str) -> bool {
    let decision = rules().decide(
        &request(Invocation::Line(text), None),
        Completeness::Whole,
        &CompiledGate::default(),
    );
    decision.judgement.effect != Effect::Allow
}

/// The first byte chooses a program, the rest is typed into it.
pub fn holds(data: &[u8]) {
    let Some((program, text)) = chosen(data, &PROGRAMS) else {
        return;
    };
    let judgement = judged(&text, program);
    assert_eq!(judgement, judged(&text, program), "{text:?}");
    is_sound(&judgement, &text);
    let argv: Vec<String> = text.split('\0').map(str::to_owned).collect();
    let request = request(Invocation::Argv(&argv), None);
    let of_argv = judge(&request, &CompiledGate::default(), &Policy::default());
    is_sound(&of_argv, &command_text(&argv));
    // A part of the line, or of a word in it. Without escapes it is a part of the text as it stands.
    let shown = agent_line(&["bash", "-c", &text].map(str::to_owned));
    let is_part = |line: String| text.contains(['\'', '\\']) || text.contains(&line);
    assert!(shown.is_none_or(is_part), "{text:?}");
    if program.is_none() {
        long_is_never_safe(&text);
        what_follows_is_never_skipped(&text, judgement.verdict);
    }
}

fn is_sound(judgement: &Judgement, text: &str) {
    assert_eq!(
        judgement.reason.is_none(),
        judgement.verdict == Verdict::Safe
    );
    let allowed = judgement.effect == Effect::Allow;
    assert_eq!(allowed, judgement.verdict == Verdict::Safe, "{text:?}");
    if let Some(span) = judgement.span {
        assert!(
            text.get(span.start..span.end).is_some(),
            "{span:?} of {text:?}"
        );
    }
    let reason = judgement.reason.as_deref().unwrap_or_default();
    assert!(!reason.contains(char::is_control), "{reason:?} of {text:?}");
}

fn long_is_never_safe(text: &str) {
    if text.is_empty() || text.len() > 64 {
        return;
    }
    let long = format!("{text}{}", "\necho".repeat(MAX_JUDGED_BYTES / 5 + 1));
    assert_ne!(
        judged(&long, None).verdict,
        Verdict::Safe,
        "{text:?} and much more"
    );
}

/// Behind a line end stands a command of its own, unless the text makes it data. Left out is what
/// the grammar is known to read over a line's end: subscripts, and redirections without a word.
fn what_follows_is_never_skipped(text: &str, verdict: Verdict) {
    let goes_on = text.ends_with('\\') || text.contains(['<', '>', '[']);
    if goes_on || text.len() + 32 > MAX_JUDGED_BYTES {
        return;
    }
    let after = format!("{text}\nforbidden it\n");
    assert!(is_forbidden(&after), "{after:?}");
    if verdict == Verdict::Safe {
        let after = format!("{text}\nrm -rf /it\n");
        assert_ne!(judged(&after, None).verdict, Verdict::Safe, "{after:?}");
    }
}
