//! `screenshot --animate`: what a terminal has shown, as an animated PNG.

use std::fs;

use termd_test_support::TestDaemon;

use crate::termctl::{ok, termctl};

#[test]
fn a_range_is_animated_and_its_faults_are_told() {
    let daemon = TestDaemon::start();
    let cast = concat!(
        "{\"version\":2,\"width\":20,\"height\":3,\"timestamp\":1500000000}\n",
        "[0.5,\"o\",\"one\\r\\n\"]\n[1.5,\"o\",\"two\\r\\n\"]\n[99,\"o\",\"three\"]\n",
    );
    let file = daemon.path("demo.cast");
    fs::write(&file, cast).unwrap();
    ok(
        &daemon,
        &["import", file.to_str().unwrap(), "--label", "demo"],
    );
    let picture = daemon.path("demo.png");
    let path = picture.to_str().unwrap();
    let animate = |more: &[&str]| {
        let args = ["screenshot", "demo", "--animate", "-o", path, "--json"];
        termctl(&daemon, &[&args[..], more].concat())
    };
    let all = animate(&[]).json();
    assert_eq!(
        (&all["format"], &all["frames"]),
        (&"apng".into(), &3.into()),
        "{all}"
    );
    let bytes = fs::read(&picture).unwrap();
    assert_eq!(all["bytes"], bytes.len());
    assert!(bytes.windows(4).any(|window| window == b"acTL"));
    // "one" and its line end are 5 bytes.
    assert_eq!(animate(&["--from", "5", "--to", "10"]).json()["frames"], 1);
    let by_time = [
        "--from",
        "2017-07-14T02:40:01Z",
        "--speed",
        "2",
        "--idle",
        "1s",
    ];
    assert_eq!(animate(&by_time).json()["frames"], 2);
    let early = animate(&["--to", "2016-01-01"]);
    assert!(
        early.err.contains("nothing was printed before --to"),
        "{early:?}"
    );
    let late = animate(&["--from", "2033-01-01"]);
    assert!(
        late.err.contains("nothing was printed after --from"),
        "{late:?}"
    );
    let page = ok(&daemon, &["export", "demo", "--format", "html"]);
    assert!(page.contains("<title>demo</title>"), "{page}");
    let empty = animate(&["--from", "5", "--to", "5"]);
    let vector = termctl(
        &daemon,
        &["screenshot", "demo", "--animate", "-o", "/x/demo.svg"],
    );
    let alone = termctl(&daemon, &["screenshot", "demo", "-o", path, "--from", "5"]);
    for fault in [early, late, empty, vector, alone] {
        assert_eq!(fault.code, Some(2), "{fault:?}");
        assert!(
            !fault.err.contains('{') || fault.err.lines().count() == 1,
            "{fault:?}"
        );
    }
}
