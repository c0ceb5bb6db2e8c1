use std::collections::BTreeMap;
use std::process::Command;

use super::*;

/// What terminfo promises to programs whose TERM is xterm-256color. Its keys are those of keypad
/// transmit mode (smkx: DECCKM and DECKPAM set).
#[test]
fn keys_as_terminfo_has_them() {
    let Ok(output) = Command::new("infocmp")
        .args(["-1x", "xterm-256color"])
        .output()
    else {
        eprintln!("SKIP keys_as_terminfo_has_them: infocmp is not installed");
        return;
    };
    if !output.status.success() {
        eprintln!("SKIP keys_as_terminfo_has_them: there is no xterm-256color");
        return;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let capabilities: BTreeMap<&str, String> = text
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(',').split_once('='))
        .map(|(name, value)| {
            (
                name,
                value
                    .replace("\\E", "\x1b")
                    .replace("^?", "\x7f")
                    .replace("^H", "\x08"),
            )
        })
        .collect();
    let transmit = KeyModes {
        cursor: KeyMode::Application,
        keypad: KeyMode::Application,
        ..NORMAL
    };
    let mut table: Vec<(String, String)> = [
        ("kcuu1", "up"),
        ("kcud1", "down"),
        ("kcuf1", "right"),
        ("kcub1", "left"),
        ("khome", "home"),
        ("kend", "end"),
        ("kich1", "insert"),
        ("kdch1", "delete"),
        ("kpp", "page-up"),
        ("knp", "page-down"),
        ("kcbt", "shift-tab"),
        ("kDC", "shift-delete"),
        ("kIC", "shift-insert"),
        ("kHOM", "shift-home"),
        ("kEND", "shift-end"),
        ("kLFT", "shift-left"),
        ("kRIT", "shift-right"),
        ("kNXT", "shift-page-down"),
        ("kPRV", "shift-page-up"),
        ("kent", "kp-enter"),
        ("kDC5", "ctrl-delete"),
        ("kUP5", "ctrl-up"),
        ("kLFT3", "alt-left"),
        ("kRIT7", "ctrl-alt-right"),
    ]
    .map(|(capability, name)| (capability.to_owned(), name.to_owned()))
    .to_vec();
    table.extend((1..=24).map(|n| (format!("kf{n}"), format!("f{n}"))));
    let mut compared = 0;
    for (capability, name) in table {
        let Some(want) = capabilities.get(capability.as_str()) else {
            continue;
        };
        let got = String::from_utf8(press(&name).bytes(transmit)).unwrap();
        assert_eq!(
            got.escape_debug().to_string(),
            want.escape_debug().to_string(),
            "{name}"
        );
        compared += 1;
    }
    assert!(compared >= 40, "only {compared} were compared");
}
