//! Sandboxes that bubblewrap builds: the walls of the others, crossed the same way; and what is only
//! about bubblewrap.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::Test;
use crate::{confine, confine_limits, confine_links, confine_outside, confined_work};

thread_local! {
    /// Who builds the sandboxes that a test asks for, where it does not say so itself.
    static BUILDER: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// Whose processes they see, likewise.
    static PROCESSES: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Runs a test with its sandboxes built by this one.
fn with_builder(builder: &'static str, test: fn()) {
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            BUILDER.set(None);
        }
    }
    BUILDER.set(Some(builder));
    let _back = Back;
    test();
}

/// Runs a test with sandboxes that have PID and IPC namespaces.
pub(crate) fn with_private_processes(test: fn()) {
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            PROCESSES.set(None);
        }
    }
    PROCESSES.set(Some("private"));
    let _back = Back;
    test();
}

/// A request as it is sent, with who builds its sandbox, and whose processes are seen in it.
pub(crate) fn built(request: &Value) -> Value {
    let mut request = request.clone();
    let sandbox = request.pointer_mut("/confinement/sandbox");
    if let Some(Value::Object(sandbox)) = sandbox {
        for (name, value) in [("builder", BUILDER.get()), ("processes", PROCESSES.get())] {
            if let Some(value) = value {
                sandbox.entry(name).or_insert(json!(value));
            }
        }
    }
    request
}

/// Whether bubblewrap is there; without it there is nothing to test.
pub(crate) fn is_installed() -> bool {
    let is_there = ["/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap"]
        .iter()
        .any(|path| std::fs::exists(path).is_ok_and(|exists| exists));
    if !is_there {
        eprintln!("SKIP: bubblewrap is not installed: none of its tests is run");
    }
    is_there
}

fn crossed(test: fn()) {
    if is_installed() {
        with_builder("bubblewrap", test);
    }
}

/// What is tried in every sandbox, in these.
pub(crate) const CROSSINGS: &[Test] = &[
    ("bubblewrap_writes_stay_in_the_workspace", || {
        crossed(confine::writes_stay_in_the_workspace);
    }),
    ("bubblewrap_what_is_protected_stays_as_it_is", || {
        crossed(confine::what_is_protected_stays_as_it_is);
    }),
    ("bubblewrap_what_is_hidden_is_not_seen", || {
        crossed(confine::what_is_hidden_is_not_seen);
    }),
    ("bubblewrap_a_spec_that_cannot_be_held_is_refused", || {
        crossed(confine::a_spec_that_cannot_be_held_is_refused);
    }),
    ("bubblewrap_everything_may_be_writable", || {
        crossed(confine::everything_may_be_writable);
    }),
    ("bubblewrap_a_workspace_may_be_in_memory", || {
        crossed(confine::a_workspace_may_be_in_memory);
    }),
    ("bubblewrap_limits_are_hard", || {
        crossed(confine_limits::limits_are_hard);
    }),
    ("bubblewrap_counts_processes_of_this_sandbox_alone", || {
        crossed(confine_limits::processes_of_this_sandbox_alone);
    }),
    ("bubblewrap_temporary_files_are_its_own", || {
        crossed(confine_links::temporary_files_are_its_own);
    }),
    ("bubblewrap_nobody_outside_is_reached", || {
        crossed(confine_outside::nobody_outside_is_reached);
    }),
    ("bubblewrap_no_rights_are_gained", || {
        crossed(confine_outside::no_rights_are_gained);
    }),
    ("bubblewrap_sandboxes_are_apart", || {
        crossed(confine_outside::sandboxes_are_apart);
    }),
    ("bubblewrap_programs_work", || {
        crossed(confined_work::programs_work);
    }),
    ("bubblewrap_git_commits", || {
        crossed(confined_work::git_commits);
    }),
    ("bubblewrap_job_control_works", || {
        crossed(confined_work::job_control_works);
    }),
    ("bubblewrap_terminals_work", || {
        crossed(confined_work::terminals_work);
    }),
    ("bubblewrap_exits_are_exact", || {
        crossed(confined_work::exits_are_exact);
    }),
    ("bubblewrap_trees_are_ended", || {
        crossed(confined_work::trees_are_ended);
    }),
    ("bubblewrap_debuggers_see_their_own", || {
        crossed(confined_work::debuggers_see_their_own);
    }),
    ("bubblewrap_on_pipes", || crossed(confined_work::on_pipes)),
    ("bubblewrap_best_effort", || {
        crossed(confined_work::best_effort);
    }),
    ("bubblewrap_spawns_are_quick", || {
        crossed(confined_work::spawns_are_quick);
    }),
];
