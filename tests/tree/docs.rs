//! The docs name only what exists: tests, files, headings, error kinds, tables.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::markdown::{Page, code_spans, last_cells, page, pages, root};

/// The text of every Rust file below the folders that hold code and tests.
fn sources() -> String {
    fn add(folder: &Path, sources: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                add(&path, sources);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut sources = String::new();
    for folder in ["proto", "daemon", "cli", "tests", "fuzz/src"] {
        add(&root().join(folder), &mut sources);
    }
    sources
}

/// Whether a code span is the name of a test: at least three words joined by underscores.
fn is_test_name(span: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    span.matches('_').count() >= 2 && span.chars().all(|letter| is_word(letter) || letter == '_')
}

#[test]
fn each_test_that_the_docs_name_exists() {
    let sources = sources();
    let mut missing = BTreeSet::new();
    let mut named = 0;
    for (path, section) in [
        ("docs/architecture.md", "What always holds"),
        ("docs/testing.md", "Attacks"),
    ] {
        let page = page(path);
        for name in last_cells(page.section(section)).flat_map(code_spans) {
            if is_test_name(name) {
                named += 1;
                // The keeper's tests are entries of a table, with their names as strings.
                let is_there = sources.contains(&format!("fn {name}("))
                    || sources.contains(&format!("\"{name}\""));
                if !is_there {
                    missing.insert(format!("{path}: {name}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no such test: {missing:#?}");
    assert!(
        named > 60,
        "only {named} names were found: did a heading change?"
    );
}

#[test]
fn each_link_leads_to_a_file_and_a_heading() {
    let mut broken = BTreeSet::new();
    for page in pages() {
        let folder = root().join(page.path.parent().unwrap());
        for link in page.links() {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => root().join(&page.path),
                file => folder.join(file),
            };
            let has_anchor = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                let page = Page {
                    path: target.clone(),
                    text,
                };
                page.anchors().iter().any(|known| known == anchor)
            };
            if !target.exists() || !anchor.is_empty() && !has_anchor() {
                broken.insert(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links: {broken:#?}");
}

/// Code spans such as `daemon/src/rpc/` and `tests/cli/verbs.rs`, without capitals, which stand for
/// names that the reader fills in.
#[test]
fn each_path_that_the_docs_name_exists() {
    const FOLDERS: [&str; 10] = [
        "proto/",
        "daemon/",
        "cli/",
        "tests/",
        "docs/",
        "fuzz/",
        "migrations/",
        "systemd/",
        ".ci/",
        ".github/",
    ];
    let mut missing = BTreeSet::new();
    for page in pages() {
        // What was decided then may be elsewhere now.
        let is_history =
            page.path.starts_with("docs/decisions") || page.path.ends_with("CHANGELOG.md");
        if is_history {
            continue;
        }
        for span in code_spans(&page.text) {
            let is_path = FOLDERS.iter().any(|folder| span.starts_with(folder))
                && span.chars().all(|letter| {
                    letter.is_ascii_lowercase()
                        || letter.is_ascii_digit()
                        || "/._-".contains(letter)
                });
            // Made by the tools, and not a part of the tree.
            let is_made = span.starts_with("fuzz/corpus");
            if is_path && !is_made && !root().join(span).exists() {
                missing.insert(format!("{}: {span}", page.path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "no such file or folder: {missing:#?}");
}

#[test]
fn each_page_that_the_code_names_exists() {
    let sources = sources();
    let mut missing = BTreeSet::new();
    for rest in sources.split("docs/").skip(1) {
        let is_part = |letter: &char| letter.is_ascii_alphanumeric() || "/.-_".contains(*letter);
        let name: String = rest.chars().take_while(is_part).collect();
        let page = name.trim_end_matches('.');
        let is_page = Path::new(page)
            .extension()
            .is_some_and(|extension| extension == "md");
        if is_page && !root().join("docs").join(page).exists() {
            missing.insert(format!("docs/{page}"));
        }
    }
    assert!(missing.is_empty(), "no such page: {missing:#?}");
}

#[test]
fn each_decision_is_in_the_index() {
    let index = page("docs/decisions/README.md");
    for entry in fs::read_dir(root().join("docs/decisions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_listed = name == "README.md" || index.links().contains(&name.as_str());
        assert!(is_listed, "docs/decisions/README.md does not list {name}");
    }
}

#[test]
fn each_error_kind_is_on_the_page_of_the_api() {
    let source = fs::read_to_string(root().join("proto/src/error.rs")).unwrap();
    let kinds = source
        .split("pub enum ErrorKind {")
        .nth(1)
        .expect("the enum");
    let kinds = kinds.split('}').next().unwrap();
    let page = page("docs/api.md");
    let errors = page.section("Errors");
    let variants: Vec<&str> = (kinds.lines().map(str::trim))
        .filter(|line| line.starts_with(|letter: char| letter.is_ascii_uppercase()))
        .filter_map(|line| line.strip_suffix(','))
        .collect();
    assert!(variants.len() > 20, "{variants:?}");
    for variant in variants {
        let kind = snake_case(variant);
        assert!(
            errors.contains(&format!("| `{kind}` |")),
            "no row for {kind}"
        );
    }
}

#[test]
fn each_method_is_on_a_page_of_the_api() {
    let pages = ["docs/api.md", "docs/sessions.md", "docs/screens.md"].map(page);
    for method in termd_proto::method::NAMES {
        let is_there = |page: &Page| page.text.contains(&format!("`{method}`"));
        assert!(pages.iter().any(is_there), "no page has {method}");
    }
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[test]
fn each_table_of_the_schema_is_on_the_page_of_the_database() {
    let page = page("docs/database.md");
    let tables = page.section("Tables");
    for entry in fs::read_dir(root().join("migrations")).unwrap() {
        let schema = fs::read_to_string(entry.unwrap().path()).unwrap();
        for statement in schema.split("TABLE ").skip(1) {
            let name: String = (statement.chars())
                .take_while(|letter| letter.is_ascii_lowercase() || *letter == '_')
                .collect();
            let is_there = name.is_empty() || tables.contains(&format!("| `{name}` |"));
            assert!(is_there, "no row for {name}");
        }
    }
}
