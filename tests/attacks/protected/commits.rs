//! A command commits by the recipe of docs/profiles.md, and the user fetches the bundle.

use std::fs;

use termd_test_support::TestDaemon;

use super::{inside, outside, sandboxed};

/// A kind of repository.
struct Repository {
    name: &'static str,
    /// Lines that make it.
    before: &'static str,
    /// Where commands start.
    cwd: &'static str,
}

const REPOSITORIES: &[Repository] = &[
    Repository::of("main", "make_project work"),
    Repository::of("master", "make_project work -b master"),
    Repository::of(
        "detached",
        "make_project work; git -C work checkout -q --detach",
    ),
    Repository::of("sha256", "make_project work --object-format=sha256"),
    Repository::of(
        "sparse",
        "make_project work; git -C work sparse-checkout set in",
    ),
    Repository::of(
        "sparse index",
        "make_project work; git -C work sparse-checkout set --sparse-index in",
    ),
    Repository::of(
        "split index",
        "make_project work; git -C work update-index --split-index",
    ),
    Repository::of(
        "linked worktree",
        "make_project from; git -C from worktree add -q ../work",
    ),
    Repository::of(
        "sparse linked worktree",
        "make_project from; git -C from worktree add -q ../work; \
         git -C work sparse-checkout set in",
    ),
    Repository::of(
        "submodule",
        "make_project from; make_project work; cd work; \
         git submodule --quiet add $HOME/from sm; git commit -qm sm",
    ),
    Repository {
        name: "in a submodule",
        before: "make_project from; make_project work; cd work; \
                 git submodule --quiet add $HOME/from sm; git commit -qm sm",
        cwd: "work/sm",
    },
    Repository::of(
        "shallow",
        "make_project from; git clone -q --depth 1 file://$HOME/from work",
    ),
    Repository::of(
        "partial",
        "make_project from; git -C from config uploadpack.allowFilter true; \
         git clone -q --filter=blob:none --sparse file://$HOME/from work; \
         git -C work sparse-checkout set in",
    ),
    Repository {
        name: "space in a name",
        before: "make_project 'a b'",
        cwd: "a b",
    },
    Repository {
        name: "subdirectory",
        before: "make_project work",
        cwd: "work/in",
    },
];

impl Repository {
    const fn of(name: &'static str, before: &'static str) -> Self {
        let cwd = "work";
        Self { name, before, cwd }
    }
}

/// The user's identity is known in one directory only. `.env` is excluded by the repository alone.
const PROJECT: &str = "set -e; unset -f git
    git config --global init.defaultBranch main
    git config --global protocol.file.allow always
    git config --global includeIf.gitdir:$PWD/.path identity
    git config -f identity user.name Person; git config -f identity user.email person@example
    make_project() { d=$1; shift; git init -q \"$@\" \"$d\"; (cd \"$d\"
        mkdir in out; echo 1 > in/file; echo 1 > out/file; seq 9 > in/old; echo 1 > in/gone
        echo 1 > in/run; echo '*.log' > .gitignore; git add -A; git commit -qm first
        echo 2 > in/file; git commit -qam second); }
    exclude() { echo .env >> \"$(git -C \"$1\" rev-parse --path-format=absolute \
        --git-path info/exclude)\"; echo secret > \"$1/.env\"; }\n";

/// What a command changes in the work tree, and what the user then finds in the commit.
const CHANGE: &str = "(cd \"$(git rev-parse --show-toplevel)/in\"
    echo 3 > file; mv old new; rm gone; chmod +x run; ln -s file link; echo x > x.log)\n";
const CHANGES: &str = " delete mode 100644 in/gone
 create mode 120000 in/link
 rename in/{old => new} (100%)
 mode change 100644 => 100755 in/run
";

/// Takes the commits into the branch of the work tree that they are of.
const TAKE: &str =
    "git fetch -q --no-tags agent.bundle agent/work:agent/work; git reset -q agent/work
    git status --porcelain; git show -s --format='%s by %an' agent/work\n";
const TAKEN: &str = "?? agent.bundle\n… by Person\n";

fn recipe() -> &'static str {
    let page = include_str!("../../../docs/profiles.md");
    let mut blocks = page.split("```sh\n").skip(1);
    let recipe = blocks.find(|block| block.contains("bundle create"));
    recipe.unwrap().split("```").next().unwrap()
}

/// Changes something in a sandbox and commits it: what is printed. The home lies below `/tmp`, which
/// is not writable then.
fn commit_inside(daemon: &TestDaemon, cwd: &str, change: &str) -> String {
    let lines = format!(
        "unset -f git; export TMPDIR=/var/tmp\n{change}\n({}) 2>&1",
        recipe()
    );
    inside(daemon, cwd, &lines)
}

pub(super) fn leave_as_a_bundle() {
    for repository in REPOSITORIES {
        leaves_as_a_bundle("termd", repository);
    }
    leaves_as_a_bundle("bubblewrap", &REPOSITORIES[0]);
}

fn leaves_as_a_bundle(builder: &str, Repository { name, before, cwd }: &Repository) {
    let Some(daemon) = sandboxed(&format!("builder = '{builder}'\n")) else {
        return;
    };
    let before = format!("{PROJECT}({before})\nexclude '{cwd}'; git -C '{cwd}' rev-parse HEAD");
    let before = outside(&daemon, &before);
    let base = before.lines().last().unwrap();
    let in_tree = |lines: &str| {
        let top = format!("unset -f git; cd '{cwd}'; cd \"$(git rev-parse --show-toplevel)\"");
        outside(&daemon, &format!("{top}\n{lines}"))
    };

    let held = "(echo x > \"$(git rev-parse --git-path new)\") 2>/dev/null || echo held";
    let mut said = commit_inside(&daemon, cwd, &format!("{CHANGE}{held}"));
    assert!(said.starts_with("held"), "{name}: {before}{said}");
    // A second commit, before the user has fetched the first one.
    let more = "echo more >> \"$(git rev-parse --show-toplevel)/in/file\"";
    said += &commit_inside(&daemon, cwd, more);
    assert_eq!(in_tree(TAKE), TAKEN, "{name}: {before}{said}");
    let changed = in_tree(&format!("git diff --summary -M {base} agent/work"));
    assert_eq!(changed, CHANGES, "{name}: {said}");
    // A third one, while the bundle still lies there.
    said += &commit_inside(&daemon, cwd, more);
    assert_eq!(in_tree(TAKE), TAKEN, "{name}: {said}");
    let count = in_tree(&format!("git rev-list --count {base}.."));
    assert_eq!(count, "3\n", "{name}: {said}");
}

/// The user commits before the bundle of a first command is fetched.
pub(super) fn join_those_of_the_user() {
    let Some(daemon) = sandboxed("") else {
        return;
    };
    outside(&daemon, &format!("{PROJECT}make_project work"));
    let mut said = commit_inside(&daemon, "work", "echo 1 > agents");
    outside(
        &daemon,
        "cd work; echo 1 > users; git add users; git commit -qm users",
    );
    said += &commit_inside(&daemon, "work", "echo 2 > agents");
    let joined = "git merge-base --is-ancestor users agent/work && git log --format=%s users..";
    let take = format!("cd work; git branch users; {TAKE}{joined}");
    let seen = outside(&daemon, &take);
    assert_eq!(seen, format!("{TAKEN}…\n…\n"), "{said}");
}

/// A bundle may hold tags of any name, and git fetches those of the commits that it fetches.
pub(super) fn bring_no_tags() {
    let Some(daemon) = sandboxed("") else {
        return;
    };
    outside(&daemon, &format!("{PROJECT}make_project work"));
    let mut said = commit_inside(&daemon, "work", "echo 1 > agents");
    said += &inside(
        &daemon,
        "work",
        "unset -f git; copy=$(TMPDIR=/var/tmp mktemp -d); cp -r .git $copy; export GIT_DIR=$copy/.git
        git fetch -q agent.bundle agent/work:agent/work; git tag main agent/work
        git bundle create -q agent.bundle agent/work refs/tags/main; rm -rf $copy",
    );
    let seen = outside(
        &daemon,
        &format!("cd work; git bundle list-heads agent.bundle | wc -l; {TAKE} git tag"),
    );
    assert_eq!(seen, format!("2\n{TAKEN}"), "{said}");
}

pub(super) fn need_a_first_one() {
    let Some(daemon) = sandboxed("") else {
        return;
    };
    outside(&daemon, "git init -q work");
    let said = commit_inside(&daemon, "work", "echo x > file");
    assert!(said.contains("fatal: Needed a single revision"), "{said}");
    let bundle = daemon.user_home().join("work/agent.bundle");
    assert!(!fs::exists(bundle).unwrap(), "{said}");
}
