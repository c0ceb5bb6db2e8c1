//! The gate's answers, as a model reads them.

use termd_test_support::TestDaemon;

use crate::TestShells;

#[test]
fn what_is_dangerous_is_not_run_and_the_line_says_why() {
    let shells = TestShells::open();
    std::fs::create_dir(shells.daemon.user_home().join("build")).unwrap();
    let ended = shells.run("rm -rf build");
    assert_eq!((ended.code, ended.out.as_str()), (Some(126), ""));
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert!(ended.err.starts_with("termd: not run: "), "{ended:?}");
    for hint in ["termctl", "confirmed", "approve"] {
        assert!(!ended.err.contains(hint), "{ended:?}");
    }
    assert!(shells.daemon.user_home().join("build").exists());
}

#[test]
fn rules_for_shells_hold() {
    let shells = TestShells::of(TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nfront = \"shell\"\nprogram = \"frob\"\n",
    ));
    let ended = shells.run("frob x");
    assert_eq!(ended.code, Some(126), "{ended:?}");
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
    assert_eq!(shells.run("echo frob").code, Some(0));
}
