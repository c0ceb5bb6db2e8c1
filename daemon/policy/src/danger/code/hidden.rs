//! Code that names by a text what it calls.

use super::calls::calls;
use crate::word_list::is_listed;

/// Calls that find what they call by a name.
pub(super) const BY_NAME: &str = "
    getattr __import__ import_module send __send__ public_send const_get call_user_func call_user_func_array
    method constantize globals locals __getattribute__ attrgetter methodcaller";
/// Names that nobody gives as a text but to hide them.
const HIDDEN: &str = "
    system popen exec execv execve execvp execSync execFileSync eval spawn spawnSync rmtree rmSync unlink shell_exec
    passthru proc_open check_output Popen removedirs child_process subprocess kill
    rmdirSync unlinkSync rm_rf rm_r remove_tree pcntl_exec fork reboot execute";

/// Why code is dangerous that names by a text what it calls: `getattr(os, 'sys' + 'tem')`.
pub(super) fn danger(code: &str) -> Option<String> {
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let joins = tight.contains("'+'")
        || tight.contains("\"+\"")
        || tight.contains("'.'")
        || tight.contains("\".\"");
    let mut joined = code.to_owned();
    if joins {
        let signs = ["'+'", "\"+\"", "'.'", "\".\""];
        joined = signs
            .iter()
            .fold(tight.clone(), |text, sign| text.replace(sign, ""));
    }
    let hides = calls(&joined).iter().any(|call| {
        is_listed(&call.name, BY_NAME) && call.texts.iter().any(|text| is_listed(text, HIDDEN))
    });
    let computed_import = joins
        && (tight.contains("__import__('") || tight.contains("__import__(\""))
        && joined != tight
        && tight.split("__import__(").skip(1).any(|rest| {
            rest.split(')')
                .next()
                .is_some_and(|argument| argument.contains('+'))
        });
    let by_key = HIDDEN.split_whitespace().any(|name| {
        joined.contains(&format!("['{name}'](")) || joined.contains(&format!("[\"{name}\"]("))
    });
    let binds = tight.contains("process.binding(");
    (hides || computed_import || by_key || binds)
        .then(|| "it hides the name of what it calls".to_owned())
}
