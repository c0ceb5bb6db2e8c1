//! The gate's answers, as a model reads them.

use termd_test_support::TestDaemon;

use crate::Door;

#[test]
fn what_is_dangerous_is_not_run_and_the_line_says_why() {
    let door = Door::open();
    std::fs::create_dir(door.daemon.user_home().join("build")).unwrap();
    let ended = door.run("rm -rf build");
    assert_eq!((ended.code, ended.out.as_str()), (Some(126), ""));
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert!(ended.err.starts_with("termd: not run: "), "{ended:?}");
    for hint in ["termctl", "confirmed", "approve"] {
        assert!(!ended.err.contains(hint), "{ended:?}");
    }
    assert!(door.daemon.user_home().join("build").exists());
}

#[test]
fn rules_for_shells_hold() {
    let door = Door::of(TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nfront = \"shell\"\nprogram = \"frob\"\n",
    ));
    let ended = door.run("frob x");
    assert_eq!(ended.code, Some(126), "{ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert_eq!(door.run("echo frob").code, Some(0));
}
