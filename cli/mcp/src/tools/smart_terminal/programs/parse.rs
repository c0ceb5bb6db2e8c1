//! The output of commands with a known format (some of git's, and `which`) as facts.
//!
//! Output that is not understood whole is not parsed at all, since a guess would look like a fact.

use serde_json::{Value, json};

/// Output as facts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    /// Everything that the output says.
    pub(crate) whole: Value,
    /// Counts.
    pub(crate) summary: Value,
}

/// Parses the output of a command that succeeded.
pub(crate) fn output(cmd: &str, args: &[String], text: &str) -> Option<Parsed> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let program = cmd.rsplit('/').next().unwrap_or(cmd);
    match (program, args.split_first()) {
        ("which" | "where", _) => Some(paths(text)),
        ("git", Some((&"status", rest))) if is_porcelain(rest) => status(text),
        ("git", Some((&"log", rest))) => log(rest, text),
        ("git", Some((&"branch", rest))) => branches(rest, text),
        ("git", Some((&"diff", rest))) if rest.iter().any(|it| it.starts_with("--stat")) => {
            stat(text)
        }
        ("git", Some((&"ls-files", rest))) if rest.iter().all(|it| !it.starts_with('-')) => {
            let files: Vec<&str> = text.lines().collect();
            Some(Parsed {
                summary: json!({ "fileCount": files.len() }),
                whole: json!({ "files": files }),
            })
        }
        ("git", Some((&"remote", rest))) if rest.contains(&"-v") => remotes(text),
        ("git", Some((&"rev-parse", _))) => {
            let values: Vec<&str> = text.lines().collect();
            Some(Parsed {
                summary: json!({ "value": values.first() }),
                whole: json!({ "value": values.first(), "values": values }),
            })
        }
        _ => None,
    }
}

fn paths(text: &str) -> Parsed {
    let paths: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    Parsed {
        summary: json!({ "pathCount": paths.len() }),
        whole: json!({ "paths": paths }),
    }
}

fn is_porcelain(args: &[&str]) -> bool {
    let short = [
        "--porcelain",
        "--porcelain=v1",
        "--short",
        "-s",
        "-sb",
        "-bs",
    ];
    args.iter().any(|it| short.contains(it)) && !args.contains(&"-z")
}

/// git-status(1), "Short Format" and "Porcelain Format Version 1".
fn status(text: &str) -> Option<Parsed> {
    let (mut staged, mut modified, mut untracked) = (Vec::new(), Vec::new(), Vec::new());
    let mut branch = Value::Null;
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("## ") {
            branch = branch_line(head);
            continue;
        }
        let (code, path) = (line.get(..2)?, line.get(3..)?);
        let (index, tree) = (code.chars().next()?, code.chars().nth(1)?);
        match code {
            "??" => untracked.push(path),
            "!!" => {}
            _ => {
                if index != ' ' {
                    staged.push(path);
                }
                if tree != ' ' {
                    modified.push(path);
                }
            }
        }
    }
    let summary = json!({
        "stagedCount": staged.len(),
        "modifiedCount": modified.len(),
        "untrackedCount": untracked.len(),
        "branch": branch.get("head").cloned().unwrap_or_default(),
    });
    Some(Parsed {
        summary,
        whole: json!({
            "branch": branch, "staged": staged, "modified": modified, "untracked": untracked,
        }),
    })
}

/// `main...origin/main [ahead 1, behind 2]`.
fn branch_line(line: &str) -> Value {
    let (names, counts) = match line.split_once(" [") {
        Some((names, counts)) => (names, counts.trim_end_matches(']')),
        None => (line, ""),
    };
    let mut branch = json!({});
    let (head, upstream) = match names.split_once("...") {
        Some((head, upstream)) => (head, Some(upstream)),
        None => (names, None),
    };
    branch["head"] = head.into();
    if let Some(upstream) = upstream {
        branch["upstream"] = upstream.into();
    }
    for count in counts.split(", ") {
        if let Some((word @ ("ahead" | "behind"), number)) = count.split_once(' ')
            && let Ok(number) = number.parse::<u64>()
        {
            branch[word] = number.into();
        }
    }
    branch
}

fn log(args: &[&str], text: &str) -> Option<Parsed> {
    let is_custom = |it: &&str| {
        [
            "--pretty",
            "--format",
            "--graph",
            "--stat",
            "-p",
            "--patch",
            "--name",
            "--numstat",
            "-z",
        ]
        .iter()
        .any(|option| it.starts_with(option))
    };
    if args.iter().any(is_custom) {
        return None;
    }
    let commits = if args.contains(&"--oneline") {
        let commit = |line: &str| {
            let (hash, subject) = line.split_once(' ')?;
            is_hash(hash).then(|| json!({ "hash": hash, "subject": subject }))
        };
        text.lines().map(commit).collect::<Option<Vec<_>>>()?
    } else {
        medium(text)?
    };
    Some(Parsed {
        summary: json!({ "commitCount": commits.len() }),
        whole: json!({ "commits": commits }),
    })
}

/// git-log(1), "medium".
fn medium(text: &str) -> Option<Vec<Value>> {
    let mut commits: Vec<Value> = Vec::new();
    let mut message: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("commit ") {
            finish(&mut commits, &mut message);
            let hash = rest.split(' ').next()?;
            if !is_hash(hash) {
                return None;
            }
            commits.push(json!({ "hash": hash }));
        } else if let Some(words) = line.strip_prefix("    ") {
            message.push(words);
        } else if line.is_empty() {
            if !message.is_empty() {
                message.push("");
            }
        } else {
            let (name, value) = line.split_once(':')?;
            let name = match name {
                "Author" => "author",
                "Date" => "date",
                "Merge" => "merge",
                _ => return None,
            };
            commits.last_mut()?[name] = value.trim().into();
        }
    }
    finish(&mut commits, &mut message);
    Some(commits)
}

fn finish(commits: &mut [Value], message: &mut Vec<&str>) {
    let whole = message.join("\n");
    message.clear();
    if let Some(commit) = commits.last_mut() {
        let whole = whole.trim_end();
        commit["subject"] = whole.lines().next().unwrap_or_default().into();
        commit["message"] = whole.into();
    }
}

fn is_hash(word: &str) -> bool {
    word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn branches(args: &[&str], text: &str) -> Option<Parsed> {
    let plain = [
        "-a",
        "-r",
        "--all",
        "--remotes",
        "--list",
        "-l",
        "--no-color",
    ];
    if args
        .iter()
        .any(|it| it.starts_with('-') && !plain.contains(it))
    {
        return None;
    }
    let mut current = None;
    let mut names = Vec::new();
    for line in text.lines() {
        let (mark, name) = (line.get(..2)?, line.get(2..)?);
        if mark == "* " {
            current = Some(name);
        }
        names.push(name);
    }
    Some(Parsed {
        summary: json!({ "branchCount": names.len(), "current": current }),
        whole: json!({ "current": current, "branches": names }),
    })
}

/// git-diff(1), `--stat`.
fn stat(text: &str) -> Option<Parsed> {
    let mut files = Vec::new();
    let mut totals = json!({ "filesChanged": 0, "insertions": 0, "deletions": 0 });
    for line in text.lines() {
        if let Some((path, changes)) = line.rsplit_once(" | ") {
            let changes = changes.trim();
            let count = changes
                .split(' ')
                .next()
                .and_then(|it| it.parse::<u64>().ok());
            files.push(json!({ "path": path.trim(), "changes": count, "graph": changes }));
            continue;
        }
        for part in line.trim().split(", ") {
            let (number, words) = part.split_once(' ')?;
            let name = match words {
                words if words.starts_with("file") => "filesChanged",
                words if words.starts_with("insertion") => "insertions",
                words if words.starts_with("deletion") => "deletions",
                _ => return None,
            };
            totals[name] = number.parse::<u64>().ok()?.into();
        }
    }
    let mut whole = totals.clone();
    whole["files"] = files.into();
    Some(Parsed {
        whole,
        summary: totals,
    })
}

fn remotes(text: &str) -> Option<Parsed> {
    let remote = |line: &str| {
        let (name, rest) = line.split_once('\t')?;
        let (url, kind) = rest.rsplit_once(" (")?;
        let kind = kind.strip_suffix(')')?;
        Some(json!({ "name": name, "url": url, "type": kind }))
    };
    let remotes = text.lines().map(remote).collect::<Option<Vec<_>>>()?;
    Some(Parsed {
        summary: json!({ "remoteCount": remotes.len() }),
        whole: json!({ "remotes": remotes }),
    })
}

#[cfg(test)]
mod tests;
