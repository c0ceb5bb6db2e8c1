//! Code that an interpreter is given: any text is judged, always alike, and beyond a cap none is safe.

use termd_policy::{CompiledGate, Invocation, Policy, judge};
use termd_proto::policy::{MAX_JUDGED_BYTES, Verdict};

use super::chosen;
use super::policy::request;

/// Each interpreter whose code is read, and the option behind which it stands.
const PROGRAMS: [(&str, &str); 9] = [
    ("python3", "-c"),
    ("node", "-e"),
    ("ruby", "-e"),
    ("lua", "-e"),
    ("perl", "-e"),
    ("perl", "-pe"),
    ("awk", "--"),
    ("php", "-r"),
    ("julia", "-e"),
];

/// The first byte chooses an interpreter, the rest is its code.
pub fn holds(data: &[u8]) {
    let Some(((program, option), code)) = chosen(data, &PROGRAMS) else {
        return;
    };
    let judged = |code: &str| {
        let argv = [program, option, code].map(str::to_owned);
        let request = request(Invocation::Argv(&argv), None);
        judge(&request, &CompiledGate::default(), &Policy::default()).verdict
    };
    let verdict = judged(&code);
    assert_eq!(judged(&code), verdict, "the same code is judged otherwise");
    let cut = format!("{code}{}", " ".repeat(MAX_JUDGED_BYTES));
    assert_ne!(judged(&cut), Verdict::Safe, "code beyond the cap is safe");
}
