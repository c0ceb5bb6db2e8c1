//! The layers of the library: no folder imports from one above it.

use std::fs;
use std::path::Path;

/// From the ground up. Folders of one layer do not know each other.
const LAYERS: [&[&str]; 9] = [
    &[
        "bounded_parse",
        "daemon",
        "environment_hash",
        "fit",
        "glob",
        "path",
        "request",
        "unseen",
        "word_list",
        "work",
    ],
    &["pattern", "shell"],
    &["program"],
    &["agent_line", "danger"],
    &["inspect"],
    &["secrets"],
    &["profile"],
    &["rules", "typed"],
    &["policy"],
];

fn layer(folder: &str) -> usize {
    let layer = LAYERS.iter().position(|folders| folders.contains(&folder));
    layer.unwrap_or_else(|| panic!("{folder} has no layer"))
}

fn check(path: &Path, folder: &str, wrong: &mut Vec<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            check(&entry.unwrap().path(), folder, wrong);
        }
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    for import in text.split("crate::").skip(1) {
        let end = import.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = import.get(..end.unwrap_or(import.len())).unwrap();
        // A name of the crate's face stands in a link of the documentation.
        let is_module = name.starts_with(char::is_lowercase);
        if is_module && name != folder && layer(name) >= layer(folder) {
            wrong.push(format!("{} imports {name}", path.display()));
        }
    }
}

#[test]
fn no_folder_imports_from_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let folder = path.file_stem().unwrap().to_str().unwrap();
        if !matches!(folder, "lib" | "tests") {
            check(&path, folder, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
