//! A kernel that cannot hold everything: what is refused, what is told, and what still holds.

use std::process::Command;

use serde_json::{Value, json};

use crate::Test;
use crate::ground::Ground;
use crate::support::{NOBODY, User};

pub(crate) const TESTS: &[Test] = &[
    (
        "confine_without_namespaces_is_refused",
        without_namespaces_is_refused,
    ),
    ("confine_without_namespaces_by_best_effort", by_best_effort),
];

/// ENOSPC: the limit on user namespaces (`user_namespaces(7)`).
const NO_MORE: i32 = 28;

pub(crate) fn cramped() -> Option<Ground> {
    let can = Command::new("unshare")
        .args(["--user", "--map-root-user", "true"])
        .status();
    if !can.is_ok_and(|status| status.success()) {
        eprintln!("SKIP: this user may have no user namespace to begin with");
        return None;
    }
    Some(Ground::new(User::Cramped))
}

fn without_namespaces_is_refused() {
    let Some(ground) = cramped() else { return };
    let before = ground.keeper.open_fds();
    let (_, answer) = ground
        .keeper
        .try_confined(&["/bin/true"], &ground.work, &ground.workspace());
    let refused = json!({"error": "spawn", "step": "Confine(Namespaces)", "errno": NO_MORE});
    assert_eq!(answer, refused);
    assert_eq!(ground.keeper.children(), NOBODY);
    assert_eq!(ground.keeper.open_fds(), before);
}

/// Everything that stands on namespaces is named, and the rest holds.
fn by_best_effort() {
    let Some(ground) = cramped() else { return };
    let mut spec = ground.workspace();
    spec["sandbox"]["best_effort"] = json!(true);
    let (id, answer) = ground
        .keeper
        .try_confined(&["/bin/true"], &ground.work, &spec);
    assert!(answer.is_number(), "{answer}");
    let enforced = ground.keeper.enforced(&id);
    let gone = ["devices", "hidden", "namespaces", "protected", "read_only"];
    let missing: serde_json::Map<String, Value> = gone
        .iter()
        .map(|wall| ((*wall).to_owned(), json!(NO_MORE)))
        .collect();
    assert_eq!(enforced["missing"], Value::Object(missing));
    let held = [
        "core_bytes",
        "no_new_privileges",
        "capabilities",
        "landlock_writes",
        "landlock_tcp",
        "landlock_scopes",
        "seccomp",
        "seccomp_network",
    ];
    assert_eq!(enforced["held"], json!(held));
    let (_other, pid) = ground.keeper.spawn("read line");
    let lines = [
        "create ~/project/new = crossed".to_owned(),
        "write /dev/null = crossed".to_owned(),
        "write /dev/tty = crossed".to_owned(),
        "create ~/new = EACCES".to_owned(),
        "write ~/other/file = EACCES".to_owned(),
        "truncate ~/other/file = EACCES".to_owned(),
        "rename ~/other ~/project/o = EACCES|EXDEV".to_owned(),
        "create /dev/shm/termd-crossed = EACCES".to_owned(),
        format!("kill {pid} = EPERM"),
        format!("ptrace {pid} = EPERM"),
        format!("list /proc/{pid}/root = EACCES"),
        "tiocsti 0 upper = EPERM".to_owned(),
        "unshare = EPERM".to_owned(),
        "mount ~/project = EPERM".to_owned(),
        "capabilities = none".to_owned(),
        "udp 127.0.0.1:9 = EACCES".to_owned(),
        // What the answer has said.
        "read ~/.secret/key = crossed".to_owned(),
    ];
    let table: Vec<&str> = lines.iter().map(String::as_str).collect();
    ground.expect(User::Cramped, &spec, &table);
}
