//! What is typed into programs that draw the whole screen. They run in bash, which tells their end.

use super::scenario::Output::Any;
use super::scenario::{Scenario, Step, Typed, done, screen, steps};

fn keys(keys: &'static str, holds: &'static str) -> Step {
    screen("", holds).typed(Typed::Keys(keys))
}

fn key(key: &'static str, holds: &'static str) -> Step {
    screen("", holds).typed(Typed::Key(key))
}

pub(crate) fn vim() -> Vec<Scenario> {
    vec![
        steps(
            "writes_a_file",
            vec![
                screen("vim -u NONE -nN written-$$", "written"),
                keys("i", "INSERT"),
                screen("first line", "first line"),
                keys("secnd", "secnd"),
                key("left", "secnd"),
                key("left", "secnd"),
                keys("o", "second"),
                key("escape", "second"),
                screen(":set number", "2 second"),
                done(":wq", ""),
                done("cat written-$$", "first line\nsecond"),
            ],
        ),
        steps(
            "leaves",
            vec![screen("vim -u NONE -nN", "~"), done(":q!", "")],
        ),
        steps(
            "fails",
            vec![screen("vim -u NONE -nN", "~"), done(":cq 3", "").exits(3)],
        ),
    ]
}

pub(crate) fn less() -> Vec<Scenario> {
    let leave = || done("", "").typed(Typed::Keys("q"));
    vec![
        steps(
            "pages",
            vec![
                done("seq -f 'row %g' 1 500 > rows-$$", ""),
                screen("less rows-$$", "row 23"),
                key("page-down", "row 46"),
                keys("G", "row 500"),
                keys("g", "row 1\n"),
                screen("/row 77", "row 77"),
                leave(),
            ],
        ),
        steps("leaves", vec![screen("less rows-$$", "row 1\n"), leave()]),
        steps("pipe", vec![screen("seq 1 500 | less", "23"), leave()]),
    ]
}

pub(crate) fn top() -> Vec<Scenario> {
    vec![
        steps(
            "leaves",
            vec![
                screen("top -d 1", "load average"),
                done("", Any).typed(Typed::Keys("q")),
            ],
        ),
        steps(
            "takes_keys",
            vec![
                screen("top -d 1", "load average"),
                keys("1", "load average"),
                done("", Any).typed(Typed::Keys("q")),
            ],
        ),
    ]
}
