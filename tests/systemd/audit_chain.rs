//! The head of the audit chain in the journal.

use std::io::{self, Write as _};

use serde_json::Value;

use crate::installed::{install, text};
use crate::machine::Machine;

/// A comparison with the journal finds records that were removed or forged.
#[test]
fn the_journal_knows_the_end_of_the_audit_chain() {
    let Some(installed) = install() else { return };
    installed.enable_socket();
    for word in ["one", "two"] {
        installed.termctl(&["run", "--", "echo", word]);
    }
    let status = installed.termctl_json(&["status"]);
    let database = status.pointer("/daemon/database").and_then(Value::as_str);
    let database = database.expect("a path").to_owned();
    let verify = || {
        let termctl = Machine::home().join(".cargo/bin/termctl");
        let termctl = termctl.to_str().expect("our own path").to_owned();
        installed
            .machine
            .as_user(&[&termctl, "audit", "verify", "--journal"])
    };
    // The head is logged at the stop, whatever the time.
    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    installed.machine.as_root(&["journalctl", "--sync"]);
    let whole = verify();
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole));
    assert!(text(&whole).contains("all agree"), "{}", text(&whole));

    // Any process of this user can log the same fields, but not as termd.
    let forged = format!(
        "printf 'MESSAGE_ID={}\\nTERMD_AUDIT_SEQ=999999\\nTERMD_AUDIT_HASH=aa\\n\
         TERMD_DATABASE={database}\\nMESSAGE=x\\n' | logger --journald",
        termd_proto::audit::ANCHOR_MESSAGE_ID
    );
    installed.ok(&["sh", "-c", &forged]);
    installed.machine.as_root(&["journalctl", "--sync"]);
    let forged = verify();
    assert_eq!(forged.status.code(), Some(0), "{}", text(&forged));
    assert!(
        text(&forged).contains("by other programs"),
        "{}",
        text(&forged)
    );

    // The end of the chain is removed while no daemon runs. The file alone looks whole.
    installed.ok(&["systemctl", "--user", "stop", "termd.service"]);
    let trigger = "audit_is_dropped_by_retention_alone";
    let definition = format!("SELECT sql FROM sqlite_master WHERE name = '{trigger}'");
    let definition = installed
        .machine
        .as_user(&["sqlite3", &database, &definition]);
    let cut = format!(
        "DROP TRIGGER {trigger}; DELETE FROM audit WHERE seq > 3; {};",
        String::from_utf8_lossy(&definition.stdout)
    );
    let sqlite = installed.machine.as_user(&["sqlite3", &database, &cut]);
    if !sqlite.status.success() {
        let _ = writeln!(
            io::stderr(),
            "SKIP the cut: no sqlite3 here: {}",
            text(&sqlite)
        );
        return;
    }
    let alone = installed.termctl(&["audit", "verify"]);
    assert!(alone.contains("none changed or missing"), "{alone}");
    let missed = verify();
    assert_eq!(missed.status.code(), Some(1), "{}", text(&missed));
    assert!(
        text(&missed).contains("is not the one that the journal") || text(&missed).contains("gone"),
        "{}",
        text(&missed)
    );
}
