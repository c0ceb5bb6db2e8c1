//! What the checks read of a Markdown page: links, headings, code spans, rows of tables.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A page with its path from the root.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Every page that people read: those in the root, below `docs/`, and each crate's README.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = Vec::new();
    for (folder, is_deep) in [
        ("", false),
        ("docs", true),
        ("daemon", true),
        ("cli", true),
        ("proto", true),
    ] {
        add_pages(&root(), Path::new(folder), is_deep, &mut paths);
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        Page { path, text }
    };
    paths.into_iter().map(read).collect()
}

/// The page at a path from the root.
pub(crate) fn page(path: &str) -> Page {
    let text = fs::read_to_string(root().join(path)).expect(path);
    Page {
        path: path.into(),
        text,
    }
}

fn add_pages(root: &Path, folder: &Path, is_deep: bool, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let name = entry.unwrap().file_name();
        let path = folder.join(&name);
        if root.join(&path).is_dir() {
            if is_deep && name != "target" {
                add_pages(root, &path, true, paths);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

impl Page {
    /// The lines outside of code blocks.
    fn prose(&self) -> impl Iterator<Item = &str> {
        let mut is_code = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
    }

    /// The text between a heading of the second level and the next one.
    pub(crate) fn section(&self, heading: &str) -> &str {
        let start = format!("\n## {heading}\n");
        let from = self.text.find(&start).expect(heading);
        let section = &self.text[from + start.len()..];
        &section[..section.find("\n## ").unwrap_or(section.len())]
    }

    /// The anchors that GitHub gives to the headings.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let headings = self.prose().filter(|line| line.starts_with('#'));
        headings.map(anchor).collect()
    }

    /// The targets of links and pictures, as written.
    pub(crate) fn links(&self) -> Vec<&str> {
        let mut links = Vec::new();
        for line in self.prose() {
            for part in line.split("](").skip(1) {
                links.extend(part.split(')').next());
            }
        }
        links
    }
}

fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        _ => (letter.is_alphanumeric() || "-_".contains(letter)).then_some(letter),
    });
    kept.collect()
}

/// The code spans of a text.
pub(crate) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The last cells of the rows of tables in a text.
pub(crate) fn last_cells(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next())
}
