//! Code of Lisps, whose calls have their name behind the bracket: `(delete-file "x")`.

use crate::word_list::is_listed;

const LISPS: &str = "
    guile sbcl clisp ecl abcl ccl racket gosh csi chicken chibi chibi-scheme scheme mit-scheme bigloo janet fennel
    picolisp hy newlisp clojure clj bb emacs emacsclient emacs-nox gimp lein";

/// Code of a Lisp with its calls as other languages write them: `delete_file("x")`. `None`: it is of
/// another language.
pub(crate) fn as_calls(program: &str, code: &str) -> Option<String> {
    if !is_listed(program, LISPS) || !code.contains('(') {
        return None;
    }
    let mut calls = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => {
                let length = text_length(rest);
                calls.push_str(rest.get(..length).unwrap_or_default());
                calls.push_str(", ");
                length
            }
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '(' | '[' => {
                let inner = rest.get(1..).unwrap_or_default();
                let behind = inner.trim_start();
                let length = symbol_length(behind);
                calls.push_str(&name(behind.get(..length).unwrap_or_default()));
                calls.push('(');
                1 + inner.len() - behind.len() + length
            }
            ')' | ']' => {
                calls.push_str("), ");
                1
            }
            _ => {
                let length = symbol_length(rest);
                let symbol = rest.get(..length).unwrap_or_default();
                let name = name(symbol);
                if !name.is_empty() && !matches!(symbol, "#p" | "#P") {
                    calls.push_str(&name);
                    calls.push_str(", ");
                }
                length.max(c.len_utf8())
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Some(calls)
}

/// The length of a text with its quotes.
fn text_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == '"' && !is_escaped {
            return at + 1;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    rest.len()
}

fn symbol_length(rest: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || "()[]\"';`,".contains(c);
    rest.find(ends).unwrap_or(rest.len())
}

/// The name of a symbol: `sb-ext:run-program` is `sb_ext.run_program`, `system*` is `system`.
fn name(symbol: &str) -> String {
    let symbol = symbol.trim_start_matches(['#', ':']);
    let symbol = symbol.trim_end_matches(['*', '!', '?']);
    let parts = symbol.split([':', '/']).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.collect();
    parts.join(".").replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::as_calls;

    #[test]
    fn lists_become_calls() {
        let cases = [
            (r#"(system* "rm" "-rf")"#, r#"system("rm", "-rf", ), "#),
            (
                r#"(uiop:delete-directory-tree #p"a/")"#,
                r#"uiop.delete_directory_tree("a/", ), "#,
            ),
            ("(map #'delete-file xs)", "map(delete_file, xs, ), "),
            (r#"(f "a\"b") ; c"#, r#"f("a\"b", ), "#),
        ];
        for (code, calls) in cases {
            assert_eq!(as_calls("sbcl", code).as_deref(), Some(calls), "{code}");
        }
        assert_eq!(as_calls("python3", "f('x')"), None);
    }
}
