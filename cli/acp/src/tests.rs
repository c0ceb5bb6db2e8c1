//! The layers of the crate: no module imports from one above it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up. Modules of one layer do not know each other.
const LAYERS: [&[&str]; 8] = [
    &[
        "wire",
        "busy_poll",
        "error",
        "exit_code",
        "options",
        "rpc_errors",
        "stderr_log",
    ],
    &["capabilities", "client_requests", "sessions", "terminals"],
    &["session_mcp"],
    &["shared"],
    &["display", "permission"],
    &["methods"],
    &["proxy"],
    &["agent"],
];

fn layer(module: &str) -> usize {
    let layer = LAYERS.iter().position(|layer| layer.contains(&module));
    layer.unwrap_or_else(|| panic!("{module} has no layer"))
}

fn files_below(path: PathBuf) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path];
    }
    let entries = fs::read_dir(path).unwrap();
    entries
        .flat_map(|entry| files_below(entry.unwrap().path()))
        .collect()
}

#[test]
fn no_module_imports_from_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if matches!(module.as_str(), "lib" | "tests") {
            continue;
        }
        for file in files_below(path) {
            let text = fs::read_to_string(&file).unwrap();
            for import in text.split("crate::").skip(1) {
                let end = import.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = import.get(..end.unwrap_or(import.len())).unwrap();
                let is_below = name == module || layer(name) < layer(&module);
                assert!(is_below, "{} imports {name}", file.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked} imports");
}
