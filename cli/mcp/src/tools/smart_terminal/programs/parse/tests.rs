use serde_json::{Value, json};

use super::output;

fn whole(line: &str, text: &str) -> Option<Value> {
    parsed(line, text).map(|(whole, _)| whole)
}

fn parsed(line: &str, text: &str) -> Option<(Value, Value)> {
    let mut words = line.split(' ').map(str::to_owned);
    let cmd = words.next().unwrap();
    let args: Vec<_> = words.collect();
    output(&cmd, &args, text).map(|parsed| (parsed.whole, parsed.summary))
}

#[test]
fn status_is_as_the_original_gives_it() {
    let (whole, summary) = parsed(
        "git status --porcelain --branch",
        "## No commits yet on master\nA  a\n?? b\n",
    )
    .unwrap();
    assert_eq!(
        whole,
        json!({
            "branch": { "head": "No commits yet on master" },
            "staged": ["a"], "modified": [], "untracked": ["b"],
        })
    );
    assert_eq!(
        summary,
        json!({
            "stagedCount": 1, "modifiedCount": 0, "untrackedCount": 1,
            "branch": "No commits yet on master",
        })
    );
}

#[test]
fn status_knows_both_columns_and_the_upstream() {
    let text =
        "## main...origin/main [ahead 1, behind 2]\nMM both\n M tree\nR  old -> new\n!! no\n";
    let found = whole("git status -sb", text).unwrap();
    assert_eq!(found["staged"], json!(["both", "old -> new"]));
    assert_eq!(found["modified"], json!(["both", "tree"]));
    assert_eq!(
        found["branch"],
        json!({ "head": "main", "upstream": "origin/main", "ahead": 1, "behind": 2 })
    );
    assert_eq!(whole("git status", "On branch main\n"), None);
    assert_eq!(whole("git status --porcelain", "x\n"), None);
}

#[test]
fn which_gives_paths() {
    let (whole, summary) = parsed("which bash", "/usr/bin/bash\n").unwrap();
    assert_eq!(whole, json!({ "paths": ["/usr/bin/bash"] }));
    assert_eq!(summary, json!({ "pathCount": 1 }));
}

#[test]
fn a_log_is_its_commits() {
    let oneline = whole("git log --oneline", "abc1234 One thing\ndef5678 Another\n").unwrap();
    assert_eq!(
        oneline["commits"],
        json!([
            { "hash": "abc1234", "subject": "One thing" },
            { "hash": "def5678", "subject": "Another" },
        ])
    );
    let text = "commit 0123456789abcdef (HEAD -> main)\nMerge: aa bb\nAuthor: A B <a@b>\nDate:   now\n\n    \
                Subject\n    \n    Body: here\n\ncommit fedcba9876543210\nAuthor: C <c@d>\nDate:   then\n\n    \
                Old\n";
    let found = whole("git log -2", text).unwrap();
    assert_eq!(
        found["commits"],
        json!([
            {
                "hash": "0123456789abcdef", "merge": "aa bb", "author": "A B <a@b>", "date": "now",
                "subject": "Subject", "message": "Subject\n\nBody: here",
            },
            {
                "hash": "fedcba9876543210", "author": "C <c@d>", "date": "then",
                "subject": "Old", "message": "Old",
            },
        ])
    );
    assert_eq!(whole("git log --format=%H", "abc\n"), None);
    assert_eq!(whole("git log --oneline", "no hash here\n"), None);
}

#[test]
fn the_other_formats_of_git() {
    let table = [
        (
            "git branch",
            "  dev\n* main\n",
            json!({ "current": "main", "branches": ["dev", "main"] }),
        ),
        (
            "git diff --stat",
            " a/b.rs | 5 ++---\n c | Bin 0 -> 9 bytes\n 2 files changed, 2 insertions(+), 3 deletions(-)\n",
            json!({
                "files": [
                    { "path": "a/b.rs", "changes": 5, "graph": "5 ++---" },
                    { "path": "c", "changes": null, "graph": "Bin 0 -> 9 bytes" },
                ],
                "filesChanged": 2, "insertions": 2, "deletions": 3,
            }),
        ),
        ("git ls-files", "a\nb c\n", json!({ "files": ["a", "b c"] })),
        (
            "git remote -v",
            "origin\thttps://e/x (fetch)\norigin\thttps://e/x (push)\n",
            json!({ "remotes": [
                { "name": "origin", "url": "https://e/x", "type": "fetch" },
                { "name": "origin", "url": "https://e/x", "type": "push" },
            ] }),
        ),
        (
            "git rev-parse HEAD",
            "abc\n",
            json!({ "value": "abc", "values": ["abc"] }),
        ),
    ];
    for (line, text, want) in table {
        assert_eq!(whole(line, text), Some(want), "{line}");
    }
    assert_eq!(whole("git diff", "diff --git a b\n"), None);
    assert_eq!(whole("ls", "a\n"), None);
}
