//! Links that a text makes, and the paths that lead through them: `ln -s ~/.bashrc x; echo … > x`.

use super::file_name::may_be;
use crate::program::kind::base_name;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// The links of one text that are remembered.
const MAX_LINKS: usize = 64;
/// The links of one path that are followed. The kernel follows 40 (`path_resolution(7)`).
const MAX_FOLLOWED: usize = 8;

/// Programs that work on a link itself, and not on what it leads to.
const OF_LINKS: &str = "ln link rm unlink mv ls stat readlink rmdir git";
const VALUED: Valued<'_> = Valued::These("S suffix t target-directory o options");

/// The links that a text has made. One is known by its name without the directory.
#[derive(Debug, Default, Clone)]
pub(in crate::inspect) struct Links {
    links: Vec<Link>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    /// The last parts of its path.
    name: String,
    target: String,
}

/// A link at a path, known by its last part.
fn link(source: &str, path: &str, is_symbolic: bool) -> Link {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let leads_from_directory =
        is_symbolic && !directory.is_empty() && !source.starts_with(['/', '~', '$']);
    let target = if leads_from_directory {
        format!("{directory}/{source}")
    } else {
        source.to_owned()
    };
    Link {
        name: base_name(path).to_owned(),
        target,
    }
}

/// Whether a command makes links, or mounts that act as such: ln(1), link(1), cp(1), mount(8).
pub(in crate::inspect) fn makes_links(program: &str, args: &[Word]) -> bool {
    let given = || options(args, VALUED, Order::Permuted);
    match program {
        "ln" | "link" | "bindfs" => true,
        "cp" => given().has(&["s", "symbolic-link", "l", "link"]),
        "mount" => {
            let given = given();
            let kinds = given.value(&["o", "options"]);
            given.has(&["B", "bind", "R", "rbind"])
                || kinds.is_some_and(|(_, kinds)| kinds.contains("bind"))
        }
        _ => false,
    }
}

/// The links that a command makes, which [makes links](makes_links).
fn links_of(args: &[Word]) -> Vec<Link> {
    let given = options(args, VALUED, Order::Permuted);
    let is_symbolic = given.has(&["s", "symbolic", "symbolic-link"]);
    let paths: Vec<String> = given
        .operands
        .iter()
        .filter_map(|(at, _)| args.get(*at))
        .map(Word::path)
        .collect();
    let operands: Vec<&str> = paths.iter().map(String::as_str).collect();
    let inside = |directory: &str, source: &str| {
        let path = format!("{}/{}", directory.trim_end_matches('/'), base_name(source));
        link(source, &path, is_symbolic)
    };
    if let Some((_, directory)) = given.value(&["t", "target-directory"]) {
        let sources = operands.iter();
        return sources.map(|source| inside(directory, source)).collect();
    }
    match operands.as_slice() {
        [] => Vec::new(),
        [source] => vec![link(source, base_name(source), is_symbolic)],
        [source, path] if !path.ends_with(['/', '.']) => {
            let mut within = inside(path, source);
            // Only as long as the path is a directory.
            within.name = format!("{}/{}", base_name(path), within.name);
            vec![link(source, path, is_symbolic), within]
        }
        [sources @ .., directory] => {
            let sources = sources.iter();
            sources.map(|source| inside(directory, source)).collect()
        }
    }
}

impl Links {
    /// Learns of the links that a command makes. `false`: there are more than are remembered.
    pub(in crate::inspect) fn learn(&mut self, program: &str, args: &[Word]) -> bool {
        if makes_links(program, args) {
            for link in links_of(args) {
                if !self.links.contains(&link) {
                    self.links.push(link);
                }
            }
        }
        self.links.len() <= MAX_LINKS
    }

    /// The other files that a path may lead to.
    pub(in crate::inspect) fn targets(&self, path: &str) -> Vec<String> {
        let mut paths = vec![path.to_owned()];
        let mut at = 0;
        while let Some(path) = paths.get(at).cloned() {
            at += 1;
            if at > MAX_FOLLOWED {
                break;
            }
            let led = self.links.iter().filter_map(|link| link.through(&path));
            let led: Vec<String> = led.filter(|target| !paths.contains(target)).collect();
            paths.extend(led);
        }
        paths.split_off(1)
    }

    /// The words of a command with what their links lead to. `None`: no link is used.
    pub(in crate::inspect) fn followed(&self, program: &str, args: &[Word]) -> Option<Vec<Word>> {
        if self.links.is_empty() || is_listed(program, OF_LINKS) {
            return None;
        }
        let mut is_used = false;
        let words = args.iter().flat_map(|word| {
            // `of=FILE`, `f=@FILE`
            let begin = word.text.rfind(['=', '@']).map_or(0, |at| at + 1);
            let (before, path) = word.text.split_at(begin);
            let path = if begin == 0 {
                word.path()
            } else {
                path.to_owned()
            };
            let targets = self.targets(&path);
            is_used |= !targets.is_empty();
            let targets = targets.into_iter();
            let targets = targets.map(move |target| format!("{before}{target}"));
            let targets = targets.map(|text| Word::literal(&text, word.span));
            let targets: Vec<Word> = targets.collect();
            if targets.is_empty() {
                vec![word.clone()]
            } else {
                targets
            }
        });
        let words: Vec<Word> = words.collect();
        is_used.then_some(words)
    }
}

impl Link {
    /// What a path is that leads through the link.
    fn through(&self, path: &str) -> Option<String> {
        let parts: Vec<&str> = path.split('/').collect();
        let name: Vec<&str> = self.name.split('/').collect();
        let mut found = parts.windows(name.len());
        let at = found.position(|part| {
            part.iter()
                .zip(&name)
                .all(|(part, name)| may_be(name, part))
        })?;
        let mut led = vec![self.target.as_str()];
        led.extend_from_slice(parts.get(at + name.len()..).unwrap_or_default());
        Some(led.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use termd_proto::policy::Span;

    #[test]
    fn a_path_leads_through_links() {
        for (args, path, targets) in [
            ("-s a x", "x", &["a"][..]),
            ("-s ../a d/x", "d/x", &["d/../a"]),
            ("../a d/x", "x", &["../a"]),
            ("-s /e/h x", "d/x/y", &["/e/h/y"]),
            ("-s /e/h", "h/y", &["/e/h/y"]),
            ("-s /e/h .", "h", &["/e/h"]),
            ("-st d /e/h /e/k", "d/k", &["/e/k"]),
            ("-s /e/h d", "d/h", &["/e/h/h", "/e/h"]),
            ("-s x x", "y", &[]),
        ] {
            let words = args.split_whitespace();
            let words = words.map(|text| Word::literal(text, Span { start: 0, end: 0 }));
            let mut links = Links::default();
            assert!(links.learn("ln", &words.collect::<Vec<_>>()));
            assert_eq!(links.targets(path), targets, "{args}");
        }
    }

    #[test]
    fn links_that_lead_to_each_other_end() {
        let mut links = Links::default();
        for args in ["a b", "b a"] {
            let words = args.split_whitespace();
            let words = words.map(|text| Word::literal(text, Span { start: 0, end: 0 }));
            links.learn("ln", &words.collect::<Vec<_>>());
        }
        assert_eq!(links.targets("a"), ["b"]);
    }
}
