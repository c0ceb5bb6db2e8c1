//! What git runs although nothing is there yet, or where its settings lead elsewhere.

use termd_test_support::wait_until;

use super::{Case, inside, is_held, outside, sandboxed};

#[track_caller]
fn each_is_held(cwd: &'static str, cases: &[(&str, &str, &'static str)]) {
    for (before, inside, outside) in cases {
        // `hook FILE` makes a script of FILE.
        let leak = |text: &str| -> &'static str {
            let hook = "hook() { mkdir -p $(dirname $1); rmdir $1 2>/dev/null; \
                 printf '#!/bin/sh\\n%s' \"$EVIL\" > $1; chmod +x $1; }";
            Box::leak(format!("{hook}\n{text}").into_boxed_str())
        };
        is_held(&Case {
            before: leak(before),
            cwd,
            inside: leak(inside),
            outside,
        });
    }
}

/// `core.worktree` says where a repository's files are.
pub(super) fn other_work_tree() {
    let repository = "mkdir -p src/wk/hk; git init -q src/g; cd src/g; \
         git commit -q --allow-empty -m x; git config core.worktree ../../wk;";
    let filter = "printf '#!/bin/sh\ncat' > ../wk/hk/cl; chmod +x ../wk/hk/cl; \
         echo '* filter=x' > ../wk/.gitattributes; echo x > ../wk/file";
    let commit = "cd src/g; git commit --allow-empty -m x";
    let add = "echo x >> src/wk/file; git -C src/g add -A";
    each_is_held(
        "src",
        &[
            (
                &format!("{repository} git config core.hooksPath hk"),
                "hook wk/hk/pre-commit",
                commit,
            ),
            (
                &format!(
                    "{repository} git config core.worktree $HOME/src/wk; rmdir ../wk/hk; \
                     git config core.hooksPath hk"
                ),
                "hook wk/hk/pre-commit",
                commit,
            ),
            (
                &format!("{repository} {filter}; git config filter.x.clean hk/cl"),
                "hook wk/hk/cl",
                add,
            ),
            (
                &format!("{repository} git config core.fsmonitor ./.fsm"),
                "hook wk/.fsm",
                "git -C src/g status",
            ),
            // A git directory without a `.git` that leads to it.
            (
                &format!(
                    "{repository} git config core.hooksPath hk; mv .git ../data; \
                     git config -f ../data/config core.worktree ../wk"
                ),
                "hook wk/hk/pre-commit",
                "git --git-dir=src/data commit --allow-empty -m x",
            ),
        ],
    );
}

/// A setting names a program that does not exist.
pub(super) fn absent() {
    let work = "make_repository work; cd work;";
    let filter = "echo 'file filter=x diff=x' > .gitattributes;";
    let change = "cd work; echo x >> file; git diff; git add file";
    each_is_held(
        "work",
        &[
            (
                &format!("{work} git config core.fsmonitor ./.fsm"),
                "hook .fsm",
                "git -C work status",
            ),
            (
                "make_repository work; git config --global core.fsmonitor ./.fsm",
                "hook .fsm",
                "git -C work status",
            ),
            (
                &format!("{work} {filter} git config filter.x.clean './bin/clean || cat'"),
                "hook bin/clean",
                change,
            ),
            (
                &format!(
                    "{work} {filter} \
                     git config filter.x.process '[ -x bin/clean ] && bin/clean || cat'"
                ),
                "hook bin/clean",
                change,
            ),
            (
                &format!("{work} {filter} git config filter.x.clean 'sh fmt'"),
                "hook fmt",
                change,
            ),
            (
                &format!("{work} {filter} git config diff.x.textconv node_modules/.bin/tc"),
                "hook node_modules/.bin/tc",
                change,
            ),
            (
                &format!("{work} {filter} mkdir tools; git config filter.x.clean 'tools/c*'"),
                "hook tools/clean",
                change,
            ),
            (
                &format!("{work} git config commit.gpgSign true; git config gpg.program './my gp'"),
                "rmdir 'my gp'; hook gp; mv gp 'my gp'",
                "git -C work commit --allow-empty -m x",
            ),
            (
                &format!("{work} git config alias.g '!./bin/g'"),
                "hook bin/g",
                "git -C work g",
            ),
            (
                &format!(
                    "{work} mkdir bin; git config alias.g 'grep -O./bin/g'; \
                     echo x > file; git add file"
                ),
                "hook bin/g",
                "git -C work g x",
            ),
            (
                &format!(
                    "{work} mkdir t; echo 'BEGIN {{ }}' > t/n; cd .git/hooks; \
                     printf '#!/bin/sh\nawk -f./t/n' > pre-commit; chmod +x pre-commit"
                ),
                "echo 'BEGIN { system(\"'\"$EVIL\"'\") }' > t/n",
                "git -C work commit --allow-empty -m x",
            ),
            (
                "make_repository other; make_repository work; cd work; \
                 git submodule add -q $HOME/other sm; git commit -qm sm; \
                 git -C sm config core.fsmonitor ./.fsm",
                "hook sm/.fsm",
                "git -C work status",
            ),
        ],
    );
}

/// Which word an interpreter takes for its script is its own affair: each may be one.
pub(super) fn absent_scripts() {
    let work = "make_repository work; cd work; echo 'file filter=x' > .gitattributes;";
    let change = "cd work; echo x >> file; git add file";
    let script = "rm -rf n; echo \"$EVIL\" > n";
    let program = "rm -rf n d; mkdir d; hook n; hook d/n";
    let python = "rm -rf n; echo \"import os; os.system('$EVIL')\" > n";
    let module = "rm -rf n.py; echo \"import os; os.system('$EVIL')\" > n.py";
    for (clean, inside) in [
        ("bash -e -x n", script),
        ("/bin/sh n", script),
        ("/usr/bin/env bash n", script),
        ("bash --norc n", script),
        ("bash -o pipefail n", script),
        ("bash -euo pipefail n", script),
        ("bash < n", script),
        ("cat n | sh", script),
        ("bash -c '. ./n'", script),
        (
            "bash -e sub/n",
            "rm -rf sub; mkdir sub; echo \"$EVIL\" > sub/n",
        ),
        ("sh<n", script),
        ("cat<n|sh", script),
        ("sh 3<n /dev/fd/3", script),
        ("env -S \\\"sh n\\\"", script),
        ("BASH_ENV=n bash -c cat", script),
        ("BASH_ENV=./n bash -c cat", script),
        ("ENV=./n sh -i", script),
        ("PATH=./d:\\$PATH n", program),
        ("PATH=d:\\$PATH; n", program),
        ("PATH=.:\\$PATH n", program),
        ("cd d; ./n", program),
        ("bash \\`pwd\\`/n", script),
        ("eval \\\"\\$(cat n)\\\"", script),
        ("sh -c \\\"\\$(cat n)\\\"", script),
        ("n=n; bash \\$n", script),
        ("F=./n; \\$F", program),
        ("sh d/%f", "rm -rf d; mkdir d; echo \"$EVIL\" > d/file"),
        ("python3 -X utf8 n", python),
        ("python3 -u -W ignore n", python),
        ("python3 -m n", module),
    ] {
        let before = format!("{work} git config filter.x.clean \"{clean}\"");
        each_is_held("work", &[(&before, inside, change)]);
    }
}

/// Helpers of addresses run lines, too (git-remote-ext(1)).
pub(super) fn absent_helpers() {
    let work = "make_repository work; cd work; git config protocol.ext.allow always;";
    each_is_held(
        "work",
        &[
            (
                &format!("{work} git config remote.o.url \"ext::sh n\""),
                "rm -rf n; echo \"$EVIL\" > n",
                "git -C work fetch o",
            ),
            (
                &format!("{work} git config \"url.ext::./n .insteadOf\" foo:"),
                "hook n",
                "git -C work ls-remote foo:x",
            ),
        ],
    );
}

/// What holds an absent program's name is gone some seconds after the command.
pub(super) fn nothing_is_left() {
    let Some(daemon) = sandboxed("private_tmp = true\n") else {
        return;
    };
    outside(
        &daemon,
        "make_repository work; cd work; git config core.fsmonitor ./.fsm; \
         git config filter.x.clean 'bin/clean || cat'; echo 'file filter=x' > .gitattributes; \
         git add .gitattributes; git commit -qm x",
    );
    let said = inside(&daemon, "work", "ls -A1; echo x > bin/tool");
    assert!(
        said.contains(".fsm\r\n") && said.contains("bin\r\n"),
        "{said}"
    );
    let status =
        "cd work; rm bin/tool; echo x >> file; git add file; git show :file; git status -s";
    assert!(outside(&daemon, status).ends_with("text\nx\nM  file\n"));
    let work = daemon.user_home().join("work");
    wait_until("the empty directories are gone", || {
        ![".fsm", "bin"].iter().any(|name| work.join(name).exists())
    });
}

/// Settings lead through directories that the command can make, or replace by links.
pub(super) fn through_other_directories() {
    let commit = "git -C work commit --allow-empty -m x";
    let status = "git -C work status";
    let link = "mkdir -p evil/p/q evil/a a; rm -rf a/b; ln -s ../evil/p/q a/b;";
    let hooks = "make_repository work; cd work; git config core.hooksPath a/b/../../a/hk";
    let include = "make_repository work; cd work; git config include.path ../a/b/c/../../x.inc";
    let set = "git config -f a/x.inc core.fsmonitor \"$EVIL\"";
    each_is_held(
        "work",
        &[
            (hooks, "mkdir -p a/b; hook a/hk/pre-commit", commit),
            (
                &format!("{hooks}; mkdir a"),
                "mkdir -p a/b; hook a/hk/pre-commit",
                commit,
            ),
            (hooks, &format!("{link} hook evil/a/hk/pre-commit"), commit),
            (
                &format!("{hooks}; mkdir -p a/b a/hk"),
                &format!("{link} hook evil/a/hk/pre-commit"),
                commit,
            ),
            (
                &format!("{hooks}; mkdir -p a/b a/hk"),
                "mv a gone; mkdir -p a/b; hook a/hk/pre-commit",
                commit,
            ),
            (include, &format!("mkdir -p a/b/c; {set}"), status),
            (
                include,
                &format!(
                    "rm -rf a/b/c; mkdir -p a/b q/r/c; ln -s ../../q/r/c a/b/c; {set}; cp a/x.inc q"
                ),
                status,
            ),
        ],
    );
    // What is only passed stays writable.
    let Some(daemon) = sandboxed("private_tmp = true\n") else {
        return;
    };
    outside(
        &daemon,
        "make_repository work; git -C work config core.hooksPath src/../hk; mkdir work/src",
    );
    let said = inside(
        &daemon,
        "work",
        "echo x > src/file && cat src/file; mv src gone",
    );
    assert!(said.starts_with("x\r\n") && said.contains("busy"), "{said}");
}

/// Settings of the user, where the workspace has no repository, and those of lefthook.
pub(super) fn templates() {
    each_is_held(
        "work",
        &[
            (
                "mkdir -p work/t/hooks; git config --global init.templateDir $HOME/work/t",
                "hook t/hooks/pre-commit",
                "rm -rf new; make_repository new",
            ),
            (
                "mkdir -p work; git config --global init.templateDir $HOME/work/t",
                "hook t/hooks/pre-commit",
                "rm -rf new; make_repository new",
            ),
            (
                "make_repository work; cd work; mkdir tools scripts; \
                 printf '{extends: [tools/more.yml], source_dir: \"scripts\"}' > lefthook.yml; \
                 echo true > tools/more.yml",
                "echo eval '$EVIL' > tools/more.yml",
                "sh work/tools/more.yml",
            ),
            (
                "make_repository work; cd work; mkdir scripts; \
                 printf 'source_dir: \"scripts\"\n' > lefthook.yml",
                "hook scripts/x",
                "work/scripts/x",
            ),
        ],
    );
}

/// The caller starts beneath a directory that is protected.
pub(super) fn beneath() {
    each_is_held(
        "tpl/hooks",
        &[(
            "mkdir -p tpl/hooks; git config --global init.templateDir $HOME/tpl",
            "hook pre-commit",
            "rm -rf new; make_repository new",
        )],
    );
    each_is_held(
        "dotfiles/fish/conf.d",
        &[(
            "mkdir -p dotfiles/fish/conf.d .config; ln -s ../dotfiles/fish .config/fish",
            "echo eval '$EVIL' > x.fish",
            "sh dotfiles/fish/conf.d/x.fish",
        )],
    );
}
