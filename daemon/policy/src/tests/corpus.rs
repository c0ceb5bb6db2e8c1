//! The corpus of `commands.txt` and the files beside it.

use termd_proto::policy::Verdict;

use super::judged;

const CORPUS: &str = concat!(
    include_str!("commands.txt"),
    include_str!("commands_of_code.txt"),
    include_str!("commands_of_files.txt"),
    include_str!("commands_of_programs.txt"),
    include_str!("commands_of_interpreters.txt"),
    include_str!("commands_of_starters.txt"),
    include_str!("commands_of_settings.txt"),
    include_str!("commands_of_requests.txt"),
    include_str!("commands_of_work.txt"),
    include_str!("commands_of_attacks.txt")
);

/// Each family with its commands: one that is lost is missed.
const FAMILIES: [(&str, usize); 57] = [
    ("spelling of rm", 41),
    ("quoting of words", 24),
    ("variables and expansions", 27),
    ("lines and joints", 30),
    ("redirections", 40),
    ("blocks and functions", 33),
    ("substitutions", 22),
    ("wrapped by programs", 56),
    ("shells in shells", 32),
    ("encoded and fetched", 28),
    ("disks, files and rights", 28),
    ("the machine and its processes", 30),
    ("repositories", 21),
    ("databases", 21),
    ("code on the command line", 19),
    ("words as data", 24),
    ("what cannot be read", 11),
    ("in another directory", 38),
    ("programs by the table", 602),
    ("programs in everyday use", 760),
    ("fetched, sent and opened", 198),
    ("fetched, sent and opened: neighbours", 176),
    ("what destroys, publishes and sends, by class", 713),
    ("everyday lines across languages", 389),
    (
        "what a shell substitutes in a here-document and in an expansion",
        17,
    ),
    ("what code puts together, removes, signals and sends", 309),
    ("pipes that code opens", 23),
    (
        "texts that code runs later, or by the name of a function",
        51,
    ),
    ("files that scripts of editors and of awk write", 48),
    ("variables that code sets for what it starts", 12),
    (
        "what a line of code gives to a shell whose words the text does not tell",
        15,
    ),
    ("files that a line empties", 67),
    ("files and data that a line sends", 60),
    (
        "databases that code opens anew, and consoles of frameworks",
        50,
    ),
    ("scripts out of a pipe, and options that name programs", 160),
    ("what leads clusters and databases", 106),
    (
        "trees packed in place, disks filled, keys given to containers",
        22,
    ),
    (
        "interpreters beside the large ones, and verbs in the words of tools",
        354,
    ),
    (
        "deletion by options, lines on other machines, and files that sessions send",
        317,
    ),
    (
        "what code fetches, settings on the command line, and full disks",
        373,
    ),
    ("secrets in any part of a request", 117),
    ("secrets in a request of code", 91),
    ("secrets in a request, written blind", 71),
    ("a day's lines and accidents, written blind", 323),
    (
        "settings, clients and functions that run or remove by another word",
        34,
    ),
    ("code and lines that an attacker found", 27),
    (
        "commands of calls that name their program beside its file",
        48,
    ),
    ("code that runs what it reads", 128),
    ("variables that awk gets", 59),
    ("options in variables, between quotes", 22),
    ("arguments of parallel", 47),
    ("functions that PHP calls by their names", 33),
    ("options and settings that run programs", 39),
    ("code that starts programs, by other ways", 93),
    ("everyday lines beside what an attacker found", 67),
    (
        "what ends, fills, replaces and gives away, as an attacker wrote it",
        31,
    ),
    ("directories that a tool makes anew", 20),
];

/// Stands between a command and the reason why it stays unknown.
const WHY: char = '«';

struct Family<'a> {
    name: &'a str,
    commands: Vec<(Verdict, String)>,
}

fn families() -> Vec<Family<'static>> {
    let mut families: Vec<Family<'static>> = Vec::new();
    for line in CORPUS.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            let commands = Vec::new();
            families.push(Family { name, commands });
        } else if !line.is_empty() && !line.starts_with('#') {
            let (verdict, rest) = line.split_once(' ').expect("a verdict and a command");
            let verdict = match verdict {
                "safe" => Verdict::Safe,
                "unknown" => Verdict::Unknown,
                "dangerous" => Verdict::Dangerous,
                other => panic!("{other} is no verdict: {line}"),
            };
            let command = rest.split(WHY).next().unwrap_or(rest);
            let command = if command == rest {
                rest
            } else {
                command.trim_end()
            };
            let family = families.last_mut().expect("a family first");
            family.commands.push((verdict, spelled_out(command)));
        }
    }
    families
}

fn spelled_out(command: &str) -> String {
    let pictures = [
        ('⏎', "\n"),
        ('␍', "\r"),
        ('⇥', "\t"),
        ('␛', "\u{1b}"),
        ('␈', "\u{8}"),
    ];
    pictures
        .iter()
        .fold(command.to_owned(), |command, (picture, is)| {
            command.replace(*picture, is)
        })
}

#[test]
fn every_command_of_the_corpus_is_what_it_is_said_to_be() {
    let mut wrong = Vec::new();
    for family in families() {
        for (verdict, command) in &family.commands {
            let judgement = judged(command, None);
            if judgement.verdict != *verdict {
                wrong.push(format!(
                    "{}: {command:?} is {:?} and not {verdict:?} ({})",
                    family.name,
                    judgement.verdict,
                    judgement.reason.unwrap_or_default()
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_corpus_is_whole() {
    let families = families();
    let counts: Vec<(&str, usize)> = (families.iter())
        .map(|family| (family.name, family.commands.len()))
        .collect();
    assert_eq!(counts, FAMILIES);
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    assert!(all >= 300, "{all} commands");
}

#[test]
fn what_stays_unknown_says_why() {
    let unknown = CORPUS.lines().filter(|line| line.starts_with("unknown "));
    let silent: Vec<&str> = unknown.filter(|line| !line.contains(WHY)).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}
