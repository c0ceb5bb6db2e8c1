//! git(1): verbs that discard work here, or overwrite the work of others.

use super::arguments::verb;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

/// Why a git command is dangerous.
pub(super) fn danger(args: &[Word]) -> Option<String> {
    const GLOBAL: &str = "-C -c --git-dir --work-tree --namespace --exec-path --config-env";
    let (verb, rest) = verb(args, GLOBAL)?;
    let given = options(
        rest,
        Valued::These("o push-option repo e exclude"),
        Order::Permuted,
    );
    let said = |what: &str| Some(format!("`git {what}"));
    match verb {
        "reset" if given.has(&["hard"]) => said("reset --hard` throws changes away"),
        "push" => {
            // Not by abbreviation: `--force` begins three options, and all of them overwrite.
            let forced = given.has(&["f", "force", "force-with-lease", "mirror", "delete", "d"]);
            let refspecs = given.operands.iter().skip(1);
            let by_refspec = refspecs
                .into_iter()
                .any(|(_, text)| text.starts_with(['+', ':']));
            (forced || by_refspec)
                .then(|| "`git push --force` overwrites what others may have".to_owned())
        }
        "clean" => {
            let forced = given.has(&["f", "force"]);
            let only_shows = given.has(&["n", "dry-run"]);
            (forced && !only_shows)
                .then(|| "`git clean -f` removes files that git does not know".to_owned())
        }
        "rm" if given.has(&["f", "force"]) && !given.has(&["cached"]) => {
            said("rm -f` removes changed files")
        }
        "filter-branch" | "filter-repo" => said("filter-branch` rewrites history"),
        "reflog" if given.operand(0) == Some("expire") => {
            said("reflog expire` removes the way back")
        }
        "gc" if rest.iter().any(|word| word.text.starts_with("--prune=")) => {
            said("gc --prune` removes the way back")
        }
        "update-ref" if given.has(&["d"]) => said("update-ref -d` removes a reference"),
        "stash" if matches!(given.operand(0), Some("clear" | "drop")) => {
            said("stash` throws stashed changes away")
        }
        _ => None,
    }
}
