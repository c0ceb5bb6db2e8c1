//! Code that names by a text what it calls.

use super::call_effect::CallEffect;
use super::calls::calls;
use super::code_text::CodeText;

/// Why code is dangerous that names by a text what it calls: `getattr(os, 'sys' + 'tem')`.
pub(super) fn danger(code: &CodeText<'_>) -> Option<String> {
    let tight = &code.tight;
    let joins = tight.contains("'+'")
        || tight.contains("\"+\"")
        || tight.contains("'.'")
        || tight.contains("\".\"");
    let mut joined = code.source.to_owned();
    if joins {
        let signs = ["'+'", "\"+\"", "'.'", "\".\""];
        joined = signs
            .iter()
            .fold(tight.clone(), |text, sign| text.replace(sign, ""));
    }
    let hides = calls(&joined).iter().any(|call| {
        call.does(CallEffect::CallsByName)
            && call
                .texts
                .iter()
                .any(|text| CallEffect::IsHidden.is_of(text))
    });
    let computed_import = joins
        && (tight.contains("__import__('") || tight.contains("__import__(\""))
        && joined != *tight
        && tight.split("__import__(").skip(1).any(|rest| {
            rest.split(')')
                .next()
                .is_some_and(|argument| argument.contains('+'))
        });
    let by_key = CallEffect::IsHidden.names().any(|name| {
        joined.contains(&format!("['{name}'](")) || joined.contains(&format!("[\"{name}\"]("))
    });
    let binds = tight.contains("process.binding(");
    (hides || computed_import || by_key || binds)
        .then(|| "it hides the name of what it calls".to_owned())
}
