//! Files that a program runs although no word names them whole: `node w` runs `w.js`, `python3 p`
//! `p/__main__.py`, `perl -MW` `W.pm`.

use crate::program::kind::base_name;
use crate::shell::word::Word;

/// The names of files that these words may mean, without directories.
pub(super) fn implied_files(program: &str, args: &[Word]) -> Vec<String> {
    let texts = || args.iter().map(|word| word.text.as_str());
    let operands = texts().filter(|text| !text.starts_with('-'));
    let mut names = Vec::new();
    match program {
        // <https://nodejs.org/api/modules.html#all-together>
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" => {
            for operand in operands {
                let name = base_name(operand);
                names.extend(["js", "cjs", "mjs", "ts"].map(|end| format!("{name}.{end}")));
            }
            names.push("index.js".to_owned());
        }
        // python(1): a directory or an archive, and `-m`.
        _ if program.starts_with("python") || program.starts_with("pypy") => {
            let modules = values(args, "-m");
            names.extend(modules.map(|module| format!("{}.py", last_part(module))));
            names.push("__main__.py".to_owned());
        }
        // perlrun(1): `-M`, `-m`; perldebug(1): `.perldb`.
        "perl" => {
            let modules = values(args, "-M").chain(values(args, "-m"));
            names.extend(modules.map(|module| format!("{}.pm", last_part(module))));
            if texts().any(|text| text.starts_with("-d")) {
                names.push(".perldb".to_owned());
            }
        }
        _ => {}
    }
    names
}

/// What stands behind an option, in its word or in the next one.
fn values<'a>(args: &'a [Word], option: &'a str) -> impl Iterator<Item = &'a str> {
    let next = |at: usize| args.get(at + 1).map(|word| word.text.as_str());
    args.iter().enumerate().filter_map(move |(at, word)| {
        let value = word.text.strip_prefix(option)?;
        if value.is_empty() {
            next(at)
        } else {
            Some(value)
        }
    })
}

/// The last part of a module's name: of `A::B=x` it is `B`, of `a.b` it is `b`.
fn last_part(module: &str) -> &str {
    let name = module.split(['=', ' ']).next().unwrap_or(module);
    name.rsplit([':', '.']).next().unwrap_or(name)
}
