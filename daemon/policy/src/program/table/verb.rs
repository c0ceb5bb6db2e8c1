//! Verbs in the words of a command line: `vm.destroy`, `delete-job`, `destroyEnvironment`.

/// Words beside a verb that only ask about it: `list-deleted`, `get-delete-marker`, `delete.test`.
const QUESTIONS: [&str; 18] = [
    "list", "get", "describe", "show", "check", "can", "is", "has", "no", "dry", "test", "help",
    "count", "view", "status", "info", "before", "after",
];

/// Whether a word that is no path has a verb as its first or last part. Parts end at `-`, `_`, and where a
/// capital begins. Of a name with dots the last one counts, and of one with colons each.
pub(super) fn has_verb(word: &str, verb: &str) -> bool {
    if word.contains(['=', ' ', '@']) || word.starts_with(['-', '.', '/', '~']) {
        return false;
    }
    // `vmsvc/destroy`; a path's name says what a file holds.
    if let Some((_, name)) = word.rsplit_once('/') {
        return name == verb;
    }
    word.split(':').any(|name| {
        let name = name.rsplit('.').next().unwrap_or(name);
        let parts = parts(name);
        let is_question = parts.iter().any(|part| QUESTIONS.contains(&part.as_str()));
        let at_ends = [parts.first(), parts.last()];
        !is_question && at_ends.into_iter().flatten().any(|part| part == verb)
    })
}

/// The parts of a name, in small letters.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_behind_small = false;
    for c in name.chars() {
        let begins = matches!(c, '-' | '_') || (c.is_uppercase() && is_behind_small);
        if begins {
            parts.push(String::new());
        }
        if let (Some(part), false) = (parts.last_mut(), matches!(c, '-' | '_')) {
            part.extend(c.to_lowercase());
        }
        is_behind_small = c.is_lowercase() || c.is_ascii_digit();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::has_verb;

    #[test]
    fn a_verb_is_a_part_of_a_word() {
        let has = [
            "delete",
            "delete-job",
            "vm.delete",
            "bucket:delete",
            "deleteJob",
            "DeleteJob",
            "job_delete",
            "kv:key-delete:all",
            "vmsvc/delete",
        ];
        for word in has {
            assert!(has_verb(word, "delete"), "{word}");
        }
        let has_not = [
            "deleted",
            "list-delete-markers",
            "src/delete-x",
            "delete.png",
            "undelete",
            "a=delete",
            "--delete",
            "test_delete",
            "on-delete-cascade",
            "status=DELETED",
        ];
        for word in has_not {
            assert!(!has_verb(word, "delete"), "{word}");
        }
    }
}
