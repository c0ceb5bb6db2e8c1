//! Code that only reads and prints: all that it calls and imports is in a list.

use super::calls::calls;
use super::plain::{self, Code};
use super::tokens::{Token, tokens};
use crate::word_list::is_listed;

/// Calls that read, reckon and print. What a call of another name does is not known.
const CALLS: &str = "
    print len sum range sorted min max abs round int str float bool list dict set tuple enumerate zip map filter
    any all reversed type isinstance repr format join split strip lstrip rstrip replace startswith endswith lower upper
    get items keys values index count find append add extend load loads dumps read readline readlines splitlines
    read_text read_bytes exists is_file is_dir glob rglob iterdir resolve Path match search findall sub fullmatch compile
    group groups Counter defaultdict most_common now today strftime isoformat fromisoformat sqrt floor ceil pow log10
    DictReader reader writerow if for in and or not while return with lambda else elif assert print_exc
    console.log console.error console.table log error table stringify parse entries fromEntries slice toLowerCase
    toUpperCase trim includes indexOf reduce forEach some every sort push concat flat flatMap toString padStart padEnd
    const let var new of await async import from as is del yield raise except try typeof instanceof throw case do None
    True False toFixed repeat test exec_path require exit readFileSync existsSync readdirSync statSync Number String Boolean Array
    Object Date Set Map RegExp Math toISOString switch catch function matchAll charAt at localeCompare has";
/// Modules that a code may load.
const MODULES: &str = "
    json re sys math csv collections pathlib datetime time textwrap itertools functools statistics string decimal
    fractions random platform pprint typing dataclasses enum hashlib base64 binascii struct difflib fnmatch glob operator
    unicodedata uuid zoneinfo calendar tomllib heapq bisect copy site sysconfig fs path url util";
/// Words that reach what is not in the lists.
const OTHERS: &str = "
    exec eval compile __import__ breakpoint getattr setattr globals locals builtins __builtins__ environ env system popen
    child_process Function constructor binding mainModule dlopen global globalThis importlib input open_code Proxy
    Reflect __class__ __subclasses__ modules import_module decorator";

/// Whether a code of Python or JavaScript only reads and prints. It may not write files, start programs, use
/// the network or call what it computes.
pub(crate) fn is_harmless(program: &str, code: &str) -> bool {
    match plain::read(program, code) {
        Code::Plain(plain) => is_harmless_plain(program, &plain),
        Code::Unread | Code::OfOtherLanguage => false,
    }
}

/// Whether a code in the one spelling only reads and prints.
pub(crate) fn is_harmless_plain(program: &str, code: &str) -> bool {
    let is_script = ["node", "nodejs", "deno", "bun"].contains(&program);
    let is_python = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "python";
    if !is_script && !is_python {
        return false;
    }
    let tokens = tokens(code);
    let mut is_import = false;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match token {
            Token::Word(word) if is_listed(word, OTHERS) => return false,
            Token::Word(word) if word == "import" || word == "from" => is_import = true,
            Token::Word(word) if is_import && is_python && !is_listed(word, MODULES) => {
                let is_name = matches!(at.checked_sub(1).and_then(|at| tokens.get(at)),
                    Some(Token::Word(before)) if before == "import" || before == "as")
                    || matches!(
                        at.checked_sub(1).and_then(|at| tokens.get(at)),
                        Some(Token::Sign(','))
                    );
                let from = tokens.get(..at).unwrap_or_default().iter().rev();
                let mut line = from.take_while(|token| !matches!(token, Token::Sign(';' | '\n')));
                let is_from =
                    line.any(|token| matches!(token, Token::Word(word) if word == "from"));
                if !(is_name && is_from) && word != "as" {
                    return false;
                }
            }
            Token::Sign(';' | '\n') => is_import = false,
            // What a call gives back, or an element of a list, is not called by a name.
            Token::Sign(')' | ']') if matches!(next, Some(Token::Sign('('))) => return false,
            Token::Sign('@') => return false,
            Token::Shell(_) if is_python => return false,
            _ => {}
        }
    }
    if code.contains('@') && is_python {
        return false;
    }
    calls(code).iter().all(|call| match call.name.as_str() {
        // A second text is the mode.
        "open" => call.texts.len() < 2 && !call.words.iter().any(|word| word == "mode"),
        "require" => call.texts.iter().all(|text| {
            let name = text.trim_start_matches("node:");
            let is_data = name.rsplit_once('.').is_some_and(|(_, end)| end == "json");
            is_data || is_listed(name, MODULES)
        }),
        "sh" if call.path == "`" => is_script,
        name => is_listed(name, CALLS),
    })
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn code_that_only_reads_and_prints_is_harmless() {
        let harmless = [
            ("python3", "print(sum(range(10)))"),
            (
                "python",
                "import json; print(json.load(open('a.json'))['x'])",
            ),
            (
                "python3.12",
                "from pathlib import Path\nprint(Path('a').read_text())",
            ),
            ("node", "console.log(require('./package.json').version)"),
            (
                "node",
                "const fs = require('fs'); console.log(fs.readFileSync('a').length)",
            ),
            ("node", "console.log(`v${1 + 1}`)"),
        ];
        for (program, code) in harmless {
            assert!(is_harmless(program, code), "{code}");
        }
        let others = [
            ("python", "open('a', 'w')"),
            ("python", "open('a', mode=m)"),
            ("python", "import os\nos.system('x')"),
            ("python", "from os import remove as print\nprint('x')"),
            ("python", "import subprocess as json; json.run('x')"),
            ("python", "[].__class__"),
            ("python", "x = [print]; x[0](1)"),
            ("python", "@exec\nclass x: pass"),
            ("python", "frob(1)"),
            ("node", "require('child_process').execSync('x')"),
            ("node", "require('./x')"),
            ("node", "fetch('http://x')"),
            ("node", "require('fs').rmSync('x')"),
            ("perl", "print 1"),
        ];
        for (program, code) in others {
            assert!(!is_harmless(program, code), "{code}");
        }
    }
}
