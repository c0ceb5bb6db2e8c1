//! A command in a workspace leaves nothing that somebody outside runs later.

mod commits;
mod hidden;
mod programs;
mod running;
mod settings;

use std::fs;
use std::process::Command;

use serde_json::json;
use termd_test_support::{Home, TestDaemon, sh, skip};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    ("git_commondir_is_not_left", commondir),
    ("git_config_worktree_is_not_left", config_worktree),
    ("git_of_a_submodule_is_not_replaced", submodule),
    ("git_of_an_absent_submodule_is_not_made", absent_submodule),
    ("git_of_a_linked_worktree_is_not_replaced", linked_worktree),
    ("git_below_a_workspace_is_not_written", nested),
    ("git_of_a_bare_repository_is_not_written", bare),
    ("git_elsewhere_in_the_workspace_is_not_written", separate),
    ("git_in_an_unreadable_directory_is_not_written", unreadable),
    ("git_of_a_workspace_is_not_made", new_repository),
    ("git_hooks_in_the_tree_are_not_written", hooks_in_tree),
    ("git_settings_in_the_tree_are_not_written", settings_in_tree),
    (
        "git_work_trees_elsewhere_are_not_written",
        programs::other_work_tree,
    ),
    (
        "git_programs_that_are_absent_are_not_made",
        programs::absent,
    ),
    (
        "git_scripts_that_are_absent_are_not_made",
        programs::absent_scripts,
    ),
    (
        "git_helpers_that_are_absent_are_not_made",
        programs::absent_helpers,
    ),
    (
        "git_programs_that_are_absent_leave_nothing",
        programs::nothing_is_left,
    ),
    (
        "git_settings_through_other_directories_are_held",
        programs::through_other_directories,
    ),
    (
        "git_templates_and_lefthook_are_not_written",
        programs::templates,
    ),
    (
        "what_lies_beneath_a_protected_directory_is_not_written",
        programs::beneath,
    ),
    ("git_index_and_refs_are_not_written", index_and_refs),
    ("git_commits_leave_as_a_bundle", commits::leave_as_a_bundle),
    (
        "git_commits_join_those_of_the_user",
        commits::join_those_of_the_user,
    ),
    ("git_commits_bring_no_tags", commits::bring_no_tags),
    ("git_commits_need_a_first_one", commits::need_a_first_one),
    ("git_follows_no_link_of_a_command", links_for_git),
    ("git_at_the_top_of_a_workspace_is_not_made", bare_at_the_top),
    (
        "git_at_the_top_of_a_writable_place_is_not_made",
        writable_place,
    ),
    ("directories_of_workspaces_are_no_workspace", workspaces),
    (
        "settings_that_run_unasked_are_not_written",
        settings::are_not_written,
    ),
    (
        "settings_of_repositories_below_are_not_written",
        settings::of_repositories_below_are_not_written,
    ),
    (
        "settings_are_made_for_programs_in_use",
        settings::directories_are_made_for_what_is_used,
    ),
    ("scripts_that_hooks_call_are_not_written", scripts_of_hooks),
    (
        "scripts_that_managers_of_hooks_call_are_not_written",
        scripts_of_managers,
    ),
    (
        "settings_that_links_lead_to_are_not_written",
        settings::links,
    ),
    (
        "git_of_another_branchs_submodule_is_not_made",
        submodule_of_a_branch,
    ),
    ("workspace_swapped_in_a_loop_is_not_left", swapped_workspace),
    (
        "protection_outlives_what_the_person_replaces",
        running::protection,
    ),
    ("hiding_outlives_what_the_person_replaces", running::hiding),
    ("sockets_that_act_outside_are_not_reached", hidden::sockets),
    (
        "a_server_of_tmux_is_not_left_for_the_person",
        hidden::tmux_server,
    ),
    (
        "credentials_and_histories_are_not_read",
        hidden::credentials,
    ),
    ("secrets_behind_links_are_not_read", hidden::links),
    (
        "settings_that_variables_move_are_held",
        hidden::moved_by_variables,
    ),
    (
        "names_that_come_and_go_refuse_no_start",
        hidden::busy_directories,
    ),
];

/// An attack: what is there, what the command does in the sandbox, and what its user does outside.
/// All are lines of a shell in the user's home; `cwd` is below the home.
struct Case {
    before: &'static str,
    cwd: &'static str,
    inside: &'static str,
    outside: &'static str,
}

/// Lines that every shell of an attack starts with. `$EVIL` makes the file `ran` in the home, which
/// only somebody outside can do: the sandbox does not see the home.
const PRELUDE: &str = "export GIT_CONFIG_NOSYSTEM=1 EVIL=\"touch $HOME/ran; false\"
    git() { command git -c init.defaultBranch=main -c user.name=n -c user.email=n@e \
        -c protocol.file.allow=always \"$@\"; }
    make_repository() { git init -q $1 && echo text > $1/file && git -C $1 add file && \
        git -C $1 commit -qm first; }\n";

/// A daemon whose commands are in a workspace sandbox. `None` where the kernel supports no sandbox.
fn sandboxed(profile: &str) -> Option<TestDaemon> {
    sandboxed_in(Home::create(), profile)
}

fn sandboxed_in(home: Home, profile: &str) -> Option<TestDaemon> {
    sandboxed_with(home, profile, &[])
}

/// The same, with variables in the daemon's environment.
fn sandboxed_with(home: Home, profile: &str, env: &[(&str, &str)]) -> Option<TestDaemon> {
    home.configure(&format!(
        "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = 'boxed'\n[policy.profiles.boxed]\n\
         sandbox = 'workspace'\n{profile}"
    ));
    fs::create_dir(home.user_home().join("plain")).unwrap();
    let daemon = TestDaemon::start_with(home, env);
    let params = json!({ "command": "/bin/true", "cwd": daemon.user_home().join("plain") });
    match daemon.client().request("session.create", &params) {
        Ok(_) => Some(daemon),
        Err(error) => {
            skip("a sandbox", format!("this kernel holds none: {error:?}"));
            None
        }
    }
}

/// Runs lines in a sandbox: what they print, or why they were not run.
fn inside(daemon: &TestDaemon, cwd: &str, script: &str) -> String {
    let mut client = daemon.client();
    let mut params = sh(&format!("{PRELUDE}{script}"));
    // The sandbox is attacked here, and not the gate before it.
    params["confirmed"] = json!(true);
    params["cwd"] = json!(fs::canonicalize(daemon.user_home().join(cwd)).unwrap());
    match client.request("session.create", &params) {
        Ok(info) => {
            let output = client.transcript(info["id"].as_str().unwrap());
            String::from_utf8_lossy(&output).into_owned()
        }
        Err(error) => format!("refused: {error:?}"),
    }
}

/// Runs lines as the user does, outside: what they print.
fn outside(daemon: &TestDaemon, script: &str) -> String {
    let mut command: Command = daemon.command("/bin/sh");
    command.args(["-c", &format!("{PRELUDE}{script}")]);
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

/// Fails where the user runs what the command has left. Twice: the second command starts in what
/// the first one left.
#[track_caller]
fn is_held(case: &Case) {
    if let Some(daemon) = sandboxed("private_tmp = true\n") {
        is_held_by(&daemon, case);
    }
}

#[track_caller]
fn is_held_by(daemon: &TestDaemon, case: &Case) {
    let ran = daemon.user_home().join("ran");
    let before = outside(daemon, &format!("set -e\n{}\necho set up", case.before));
    assert!(!ran.exists() && before.ends_with("set up\n"), "{before}");
    let mut said = String::new();
    for _ in 0..2 {
        said += &inside(daemon, case.cwd, case.inside);
    }
    assert!(!ran.exists(), "the command itself is outside: {said}");
    let after = outside(daemon, case.outside);
    assert!(!ran.exists(), "inside: {said}\noutside: {after}");
    // The same outside is what would have been run: the attack is one.
    outside(daemon, &format!("cd {} || exit\n{}", case.cwd, case.inside));
    let after = outside(daemon, case.outside);
    assert!(ran.exists(), "this attack does nothing: {after}");
}

fn commondir() {
    for inside in [
        "cp -r .git evil; git config -f evil/config core.fsmonitor \"$EVIL\"; \
         echo ../evil > .git/commondir",
        "cp -r .git evil; printf '#!/bin/sh\\n%s' \"$EVIL\" > evil/hooks/pre-commit; \
         chmod +x evil/hooks/pre-commit; echo ../evil > .git/commondir",
    ] {
        is_held(&Case {
            before: "make_repository work",
            cwd: "work",
            inside,
            outside: "cd work; git status; git commit --allow-empty -m x",
        });
    }
}

fn config_worktree() {
    is_held(&Case {
        before: "make_repository work; git -C work config extensions.worktreeConfig true",
        cwd: "work",
        inside: "git config -f .git/config.worktree core.fsmonitor \"$EVIL\"",
        outside: "git -C work status",
    });
}

fn submodule() {
    is_held(&Case {
        before: "make_repository other; make_repository work; cd work; \
                 git submodule add -q $HOME/other sm; git commit -qm sm",
        cwd: "work",
        inside: "rm -rf sm/.git; git init -q sm; git -C sm commit -q --allow-empty -m x; \
                 git -C sm config core.fsmonitor \"$EVIL\"; echo x > sm/file",
        outside: "git -C work status",
    });
}

/// A submodule that was never fetched is an empty directory, or none.
fn absent_submodule() {
    for before in [
        "make_repository work; cd work; git update-index --add \
         --cacheinfo 160000,$(git rev-parse HEAD),deep/sm; mkdir -p deep/sm",
        "make_repository work; cd work; git update-index --add \
         --cacheinfo 160000,$(git rev-parse HEAD),deep/sm",
        "make_repository work; cd work; git update-index --index-version 4; git update-index --add \
         --cacheinfo 160000,$(git rev-parse HEAD),sm; git update-index --split-index",
        "git init -q --object-format=sha256 work; cd work; git commit -q --allow-empty -m x; \
         git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sm",
    ] {
        is_held(&Case {
            before,
            cwd: "work",
            inside: "for sm in sm deep/sm; do mkdir -p $sm; git init -q $sm; \
                     git -C $sm config core.fsmonitor \"$EVIL\"; \
                     git -C $sm commit -q --allow-empty -m x; echo x > $sm/file; done",
            outside: "git -C work status",
        });
    }
}

fn linked_worktree() {
    is_held(&Case {
        before: "make_repository main; git -C main worktree add -q $HOME/work",
        cwd: "work",
        inside: "rm .git; git init -q .; git config core.fsmonitor \"$EVIL\"",
        outside: "git -C work status",
    });
}

fn nested() {
    for (cwd, before) in [
        (
            "src",
            "mkdir src; make_repository src/a; make_repository src/deep/er/b",
        ),
        (
            "src",
            "make_repository src; make_repository src/a; make_repository src/deep/er/b",
        ),
    ] {
        is_held(&Case {
            before,
            cwd,
            inside: "for r in a deep/er/b; do \
                     printf '#!/bin/sh\\n%s' \"$EVIL\" > $r/.git/hooks/pre-commit; \
                     chmod +x $r/.git/hooks/pre-commit; \
                     git -C $r config core.fsmonitor \"$EVIL\"; done",
            outside: "for r in a deep/er/b; do git -C src/$r commit --allow-empty -m x; done",
        });
    }
}

fn bare() {
    for cwd in ["src/bare.git", "src", "src/bare.git/hooks"] {
        is_held(&Case {
            before: "mkdir src; git init -q --bare src/bare.git; make_repository work",
            cwd,
            inside: "for r in bare.git . ..; do \
                     printf '#!/bin/sh\\n%s' \"$EVIL\" > $r/hooks/post-receive; \
                     chmod +x $r/hooks/post-receive; done",
            outside: "git -C work push -q $HOME/src/bare.git HEAD:new$$",
        });
    }
}

/// The git directory has another name, and lies in the workspace.
fn separate() {
    is_held(&Case {
        before: "mkdir -p src/tree; git init -q --separate-git-dir=src/data src/work; cd src/work; \
                 git commit -q --allow-empty -m x; git worktree add -q $HOME/src/tree/linked",
        cwd: "src",
        inside: "git config -f data/config core.fsmonitor \"$EVIL\"; \
                 echo ../evil > data/commondir; cp -r data evil; \
                 git config -f evil/config core.fsmonitor \"$EVIL\"",
        outside: "git -C src/work status; git -C src/tree/linked status",
    });
}

/// The first command makes a directory unreadable, the second one writes in it.
fn unreadable() {
    is_held(&Case {
        before: "make_repository src/a; chmod 300 src",
        cwd: "src",
        inside: "chmod 700 . a; git -C a config core.fsmonitor \"$EVIL\"; chmod 300 .",
        outside: "git -C src/a status; chmod 700 src",
    });
    is_held(&Case {
        before: "make_repository src; make_repository src/deep/a; chmod 300 src/deep",
        cwd: "src",
        inside: "chmod 700 deep; git -C deep/a config core.fsmonitor \"$EVIL\"",
        outside: "git -C src/deep/a status; chmod 700 src/deep",
    });
}

fn new_repository() {
    for before in [
        "mkdir work",
        "git init -q .; mkdir work; echo x > work/x; git add work",
    ] {
        is_held(&Case {
            before,
            cwd: "work",
            inside: "git init -q .; git config core.fsmonitor \"$EVIL\"",
            outside: "cd work; git status",
        });
    }
}

fn hooks_in_tree() {
    for before in [
        "make_repository work; mkdir -p work/my/hooks; git -C work config core.hooksPath my/hooks",
        "make_repository work; git -C work config core.hooksPath my/hooks",
        "make_repository work; git config --global core.hooksPath my/hooks",
        "make_repository work; git -C work config include.path ../my/settings; \
         mkdir -p work/my; git config -f work/my/settings core.hooksPath my/hooks",
        "make_repository work; mkdir -p work/my/hooks; ln -sfn ../my/hooks work/.git/hooks2; \
         rm -r work/.git/hooks; mv work/.git/hooks2 work/.git/hooks",
        "make_repository work; mkdir -p work/my/hooks work/.git/hooks; \
         echo exit > work/my/hooks/pre-commit; chmod +x work/my/hooks/pre-commit; \
         ln -s ../../my/hooks/pre-commit work/.git/hooks/pre-commit",
        "make_repository work; mkdir -p work/my work/.git/hooks; \
         ln -s ../../my/hooks/pre-commit work/.git/hooks/pre-commit",
    ] {
        is_held(&Case {
            before,
            cwd: "work",
            inside: "mkdir -p my/hooks; printf '#!/bin/sh\\n%s' \"$EVIL\" > my/hooks/pre-commit; \
                     chmod +x my/hooks/pre-commit",
            outside: "cd work; git commit --allow-empty -m x",
        });
    }
}

/// Files of the work tree that the repository's own settings name.
fn settings_in_tree() {
    for before in [
        "make_repository work; git -C work config include.path ../.gitsettings; \
         touch work/.gitsettings",
        "make_repository work; git -C work config include.path ../.gitsettings",
        "make_repository work; git -C work config includeIf.gitdir:~/.path \
         $HOME/work/.gitsettings; touch work/.gitsettings",
    ] {
        is_held(&Case {
            before,
            cwd: "work",
            inside: "git config -f .gitsettings core.fsmonitor \"$EVIL\"",
            outside: "git -C work status",
        });
    }
    is_held(&Case {
        before: "make_repository work; mkdir work/tools; echo 'false' > work/tools/monitor; \
                 chmod +x work/tools/monitor; git -C work config core.fsmonitor tools/monitor",
        cwd: "work",
        inside: "mv tools gone; mkdir tools; printf '#!/bin/sh\\n%s' \"$EVIL\" > tools/monitor; \
                 chmod +x tools/monitor",
        outside: "git -C work status",
    });
}

/// Scripts of the work tree that a hook calls.
fn scripts_of_hooks() {
    for hook in [
        "exec ./scripts/check.sh",
        "sh scripts/check.sh",
        "\"$(git rev-parse --show-toplevel)/scripts/check.sh\"",
        "ROOT=$(git rev-parse --show-toplevel)\n$ROOT/scripts/check.sh",
        "\"${ROOT:-.}\"/scripts/check.sh",
        "exec \"${ROOT:-.}/scripts/check.sh\" \"$@\"",
        "exec $PWD/scripts/check.sh",
        "exec ${HOME}/work/scripts/check.sh",
        "cd scripts && ./check.sh",
        "cd scripts; sh check.sh",
        "true|scripts/check.sh>&2",
        "\"$PWD/scripts/check.sh\"",
    ] {
        let before = format!(
            "make_repository work; mkdir -p work/scripts work/.git/hooks; \
             echo true > work/scripts/check.sh; chmod +x work/scripts/check.sh; \
             printf '#!/bin/sh\\n%b' '{hook}' > work/.git/hooks/pre-commit; \
             chmod +x work/.git/hooks/pre-commit"
        );
        is_held(&Case {
            before: Box::leak(before.into_boxed_str()),
            cwd: "work",
            inside: "printf '#!/bin/sh\n%s' \"$EVIL\" > scripts/check.sh; \
                     rm -rf scripts; mkdir -p scripts; \
                     printf '#!/bin/sh\n%s' \"$EVIL\" > scripts/check.sh; chmod +x scripts/check.sh",
            outside: "cd work; git commit --allow-empty -m x",
        });
    }
}

/// husky 9, and scripts that settings of lefthook, pre-commit and git itself name.
fn scripts_of_managers() {
    let evil = "printf '#!/bin/sh\n%s' \"$EVIL\" > 't s/f'; chmod +x 't s/f'";
    for (before, outside) in [
        (
            "mkdir -p work/.husky/_; printf '#!/bin/sh\nsh -e .husky/pre-commit' \
             > work/.husky/_/pre-commit; chmod +x work/.husky/_/pre-commit; \
             echo \"'./t s/f'\" > work/.husky/pre-commit; \
             git -C work config core.hooksPath .husky/_",
            "git -C work commit -q --allow-empty -m x",
        ),
        (
            "echo 'pre-commit: { commands: { a: { run: \"./t s/f\" } } }' > work/lefthook.yml",
            "cd work; './t s/f'",
        ),
        (
            "echo '- entry: \"./t s/f\"' > work/.pre-commit-config.yaml",
            "cd work; './t s/f'",
        ),
        (
            "echo 'file filter=x' > work/.gitattributes; \
             git -C work config filter.x.clean \"'./t s/f' %f\"",
            "cd work; touch file; git status",
        ),
    ] {
        let before = format!(
            "make_repository work; mkdir 'work/t s'; printf '#!/bin/sh\ncat' > 'work/t s/f'; \
             chmod +x 'work/t s/f'; {before}"
        );
        is_held(&Case {
            before: Box::leak(before.into_boxed_str()),
            cwd: "work",
            inside: evil,
            outside,
        });
    }
}

/// A submodule that only another branch has, and that was fetched once.
fn submodule_of_a_branch() {
    is_held(&Case {
        before: "make_repository other; make_repository work; cd work; git switch -qc with; \
                 git submodule add -q $HOME/other deep/sm; git commit -qm sm; git switch -q main; \
                 rm -rf deep",
        cwd: "work",
        inside: "mkdir -p deep/sm; git init -q deep/sm; \
                 git -C deep/sm config core.fsmonitor \"$EVIL\"; \
                 git -C deep/sm commit -q --allow-empty -m x; echo x > deep/sm/file",
        outside: "cd work; git switch -q with; git status; git switch -q main",
    });
}

/// Another process puts a link to a directory of programs where the workspace was, and back, again and
/// again. Each command is in the workspace, or refused.
fn swapped_workspace() {
    let Some(daemon) = sandboxed("private_tmp = true\n") else {
        return;
    };
    outside(
        &daemon,
        "mkdir -p ws/y programs/bin; ln -s $HOME/programs/bin ws/z",
    );
    let ws = fs::canonicalize(daemon.user_home().join("ws")).unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swap = || {
            let at = |name: &str| ws.join(name);
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let cwd = rustix::fs::CWD;
                rustix::fs::renameat_with(cwd, at("y"), cwd, at("z"), flags).unwrap();
            }
        };
        scope.spawn(swap);
        let mut client = daemon.client();
        for _ in 0..SWAPPED_STARTS {
            let mut params = sh(&format!(
                "touch {}/new",
                ws.join("../programs/bin").display()
            ));
            params["confirmed"] = json!(true);
            params["cwd"] = json!(ws.join("y"));
            if let Ok(info) = client.request("session.create", &params) {
                client.transcript(info["id"].as_str().unwrap());
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(!daemon.user_home().join("programs/bin/new").exists());
}

/// How many commands start while their workspace is swapped.
const SWAPPED_STARTS: usize = 150;

/// What the index names is entered by `git status`.
fn index_and_refs() {
    is_held(&Case {
        before: "make_repository work",
        cwd: "work",
        inside: "git init -q sm; git -C sm commit -q --allow-empty -m x; \
                 git -C sm config core.fsmonitor \"$EVIL\"; git add sm; git commit -qm x",
        outside: "git -C work status",
    });
    // Without the index of the repository, onto its branch.
    is_held(&Case {
        before: "make_repository work",
        cwd: "work",
        inside: "git init -q sm; git -C sm commit -q --allow-empty -m x; \
                 git -C sm config core.fsmonitor \"$EVIL\"; export GIT_INDEX_FILE=$PWD/index; \
                 git read-tree HEAD; \
                 git update-index --add --cacheinfo 160000,$(git -C sm rev-parse HEAD),sm; \
                 c=$(git commit-tree -p HEAD -m x $(git write-tree)); \
                 git update-ref refs/heads/main $c; cp index .git/index",
        outside: "cd work; git status; git diff; git diff --cached; git log -p; git stash list",
    });
    is_held(&Case {
        before: "make_repository work",
        cwd: "work",
        inside: "cp -r .git evil; git config -f evil/config core.fsmonitor \"$EVIL\"; \
                 mv .git/refs .git/gone; mv .git/objects .git/away; rm -rf .git/HEAD; \
                 rm -rf .git; mv evil .git",
        outside: "git -C work status",
    });
}

/// The user's git writes and removes what links in a repository lead to: it appends to logs, and locks
/// what a link to a commit graph names. None can be made.
fn links_for_git() {
    for (before, inside, outside) in [
        (
            "make_repository work; git -C work branch 'a;eval${IFS}$EVIL'; echo true > .bashrc",
            "for log in HEAD refs/heads/main; do ln -sf $HOME/.bashrc .git/logs/$log; done",
            "git -C work switch -q 'a;eval${IFS}$EVIL'; sh .bashrc; git -C work switch -q main",
        ),
        (
            "make_repository work; echo true > .bashrc",
            "mkdir -p .git/objects/info; ln -sf $HOME/.bashrc .git/objects/info/commit-graph",
            "git -C work commit-graph write --reachable; grep -q true .bashrc || eval $EVIL",
        ),
        (
            "make_repository work; make_repository other; git -C other branch kept; \
             git -C work fetch -q ../other",
            "ln -sfn $HOME/other/.git/refs/heads .git/refs/heads/x",
            "git -C work pack-refs --all; git -C other rev-parse -q --verify kept || eval $EVIL",
        ),
    ] {
        is_held(&Case {
            before,
            cwd: "work",
            inside,
            outside,
        });
    }
}

/// Lines that make a repository of the directory that they run in. Git needs no `.git` for that.
const REPOSITORIES: [&str; 3] = [
    "git init -q .; git config core.fsmonitor \"$EVIL\"",
    "rmdir HEAD; git init -q --bare .; git config -f config core.bare false; \
     git config -f config core.worktree $PWD; git config -f config core.fsmonitor \"$EVIL\"",
    "rmdir HEAD; git init -q --bare b; git config -f b/config core.bare false; \
     git config -f b/config core.worktree $PWD; \
     git config -f b/config core.fsmonitor \"$EVIL\"; cp -rf b/. .",
];

fn bare_at_the_top() {
    no_repository_is_made("work", "");
}

/// A writable place of a program, in which no repositories are searched for.
fn writable_place() {
    let place = "writable = ['~/.cargo/registry']\n";
    no_repository_is_made(".cargo/registry", place);
}

#[track_caller]
fn no_repository_is_made(place: &str, profile: &str) {
    for lines in REPOSITORIES {
        let home = Home::create();
        for directory in [place, "work", "other"] {
            fs::create_dir_all(home.user_home().join(directory)).unwrap();
        }
        let Some(daemon) = sandboxed_in(home, &format!("private_tmp = true\n{profile}")) else {
            return;
        };
        let ran = daemon.user_home().join("ran");
        let mut said = String::new();
        for _ in 0..2 {
            said += &inside(&daemon, "work", &format!("cd ~/{place}; {lines}"));
        }
        let after = outside(&daemon, &format!("cd {place}; git status"));
        assert!(!ran.exists(), "inside: {said}\noutside: {after}");
        let after = outside(&daemon, &format!("cd other; {lines}; git status"));
        assert!(ran.exists(), "this attack does nothing: {after}");
    }
}

/// The directory above the workspaces is none.
fn workspaces() {
    let Some(daemon) = sandboxed("workspaces = ['~/src']\n") else {
        return;
    };
    outside(&daemon, "mkdir -p src/a");
    for (cwd, expected) in [("src", "kept"), ("src/a", "written"), ("plain", "kept")] {
        let script = "(echo x > new) 2>/dev/null && echo written || echo kept";
        assert_eq!(inside(&daemon, cwd, script).trim(), expected, "{cwd}");
    }
}
