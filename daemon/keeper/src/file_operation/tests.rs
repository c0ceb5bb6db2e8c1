use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rustix::fs::MemfdFlags;

use super::*;
use crate::protocol::file_operation::{Target, WriteMode};

/// What an operation answers, and what it has read.
fn run(task: &FileTask, text: &[u8]) -> (FileAnswer, Vec<u8>) {
    let memfd = |name| File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).unwrap());
    let (mut content, output) = (memfd("content"), memfd("output"));
    content.write_all(text).unwrap();
    task.answer(content.as_fd(), output.as_fd()).unwrap();
    let mut bytes = vec![0; usize::try_from(output.metadata().unwrap().len()).unwrap()];
    rustix::io::pread(&output, &mut bytes, 0).unwrap();
    let (answer, read) = FileAnswer::from_bytes(&bytes).unwrap();
    (answer, read.to_vec())
}

fn task(action: FileAction, path: &Path) -> FileTask {
    FileTask {
        action,
        path: path.to_owned(),
        limits: PathLimits::default(),
        new_name: ".new.tmp".into(),
    }
}

fn write(path: &Path, mode: WriteMode, text: &[u8]) -> Result<u64, FileProblem> {
    match run(&task(FileAction::Write(mode), path), text).0 {
        FileAnswer::Done { bytes, .. } => Ok(bytes),
        FileAnswer::Failed(failure) => Err(failure.problem),
    }
}

fn resolve(path: &Path, target: Target) -> Result<PathBuf, FileProblem> {
    match run(&task(FileAction::Resolve(target), path), b"").0 {
        FileAnswer::Done { path, .. } => Ok(OsString::from_vec(path).into()),
        FileAnswer::Failed(failure) => Err(failure.problem),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_is_replaced_whole_appended_to_and_created() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("a");
    assert_eq!(write(&path, WriteMode::Replace, b"one"), Ok(3));
    let usual = root.join("usual");
    fs::write(&usual, b"").unwrap();
    assert_eq!(mode(&path), mode(&usual), "the umask decides");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4640)).unwrap();
    let before = fs::File::open(&path).unwrap();
    assert_eq!(write(&path, WriteMode::Replace, b"two!"), Ok(4));
    // The old file is as it was, for whoever has it open, and the new one runs for nobody.
    assert_eq!(before.metadata().unwrap().len(), 3);
    assert_eq!(mode(&path), 0o640);
    assert_eq!(write(&path, WriteMode::Append, b"+"), Ok(5));
    assert_eq!(
        write(&path, WriteMode::Create, b"x"),
        Err(FileProblem::System)
    );
    assert_eq!(fs::read(&path).unwrap(), b"two!+");
    assert_eq!(write(&root.join("b"), WriteMode::Create, b""), Ok(0));
    assert_eq!(fs::read_dir(&root).unwrap().count(), 3);
    let (answer, read) = run(&task(FileAction::Read, &path), b"");
    assert!(matches!(answer, FileAnswer::Done { bytes: 5, .. }));
    assert_eq!(read, b"two!+");
}

#[test]
fn only_regular_files_are_opened_and_no_link_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("dir")).unwrap();
    fs::write(root.join("dir/file"), "own").unwrap();
    symlink(root.join("dir"), root.join("link-dir")).unwrap();
    symlink(root.join("dir/file"), root.join("link")).unwrap();
    symlink(root.join("none"), root.join("dangling")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("fifo"), rustix::fs::Mode::RWXU).unwrap();
    let other = FileProblem::NoRegularFile;
    for (path, problem) in [
        (root.join("link"), FileProblem::Link),
        (root.join("dangling"), FileProblem::Link),
        (root.join("link-dir"), FileProblem::Link),
        (root.join("link-dir/file"), FileProblem::Directory),
        (root.join("dangling/file"), FileProblem::Directory),
        (root.join("dangling/deep/file"), FileProblem::Directory),
        (root.join("dir/file/file"), FileProblem::Directory),
        (root.join("dir"), other),
        (root.join("fifo"), other),
        ("/dev/null".into(), other),
        (
            format!("/proc/{}/oom_score_adj", std::process::id()).into(),
            other,
        ),
        ("/proc/self/oom_score_adj".into(), FileProblem::Directory),
        ("/proc/self/root/etc".into(), FileProblem::Directory),
        ("/".into(), FileProblem::NoName),
    ] {
        for mode in [WriteMode::Replace, WriteMode::Append, WriteMode::Create] {
            assert_eq!(write(&path, mode, b"x"), Err(problem), "{path:?} {mode:?}");
        }
        let read = run(&task(FileAction::Read, &path), b"");
        let FileAnswer::Failed(failure) = read.0 else {
            panic!("{path:?} was read");
        };
        assert_eq!((failure.problem, read.1.len()), (problem, 0), "{path:?}");
    }
    assert_eq!(fs::read(root.join("dir/file")).unwrap(), b"own");
    assert!(!root.join("none").exists());
}

#[test]
fn what_is_missing_of_the_directory_is_made_and_only_for_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let usual = root.join("usual");
    fs::create_dir(&usual).unwrap();
    for file in ["a/b/c/file", "a/b/other", "a/./d/file"] {
        let path = root.join(file);
        assert_eq!(resolve(&path, Target::NoLink), Ok(path.clone()), "{file}");
        let read = run(&task(FileAction::Read, &path), b"").0;
        assert!(matches!(read, FileAnswer::Failed(_)), "{file}");
        assert!(!path.exists(), "{file}");
        assert_eq!(write(&path, WriteMode::Create, b"x"), Ok(1), "{file}");
        assert_eq!(fs::read(&path).unwrap(), b"x", "{file}");
    }
    assert_eq!(mode(&root.join("a/b/c")), mode(&usual), "the umask decides");
    let limits = PathLimits {
        excluded: vec![root.join("usual")],
        own_of_sandbox: &[],
    };
    let task = FileTask {
        limits,
        ..task(
            FileAction::Write(WriteMode::Replace),
            &root.join("usual/new/file"),
        )
    };
    let expected = FileAnswer::Failed(refusal(FileProblem::Excluded));
    assert_eq!(run(&task, b"x").0, expected);
    assert_eq!(fs::read_dir(usual).unwrap().count(), 0);
}

#[test]
fn a_path_leads_where_its_links_do() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("dir")).unwrap();
    fs::write(root.join("dir/file"), "own").unwrap();
    symlink("dir", root.join("link-dir")).unwrap();
    symlink("dir/file", root.join("link")).unwrap();
    symlink("none", root.join("dangling")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let file = root.join("dir/file");
    let through_proc = PathBuf::from(format!("/proc/self/root{}/link", root.display()));
    let table = [
        ("dir/file", Ok(file.clone())),
        ("link", Ok(file.clone())),
        ("link-dir/../dir/./file", Ok(file.clone())),
        ("link-dir/new", Ok(root.join("dir/new"))),
        ("dangling", Err(FileProblem::System)),
        ("loop", Err(FileProblem::System)),
        ("none/file", Ok(root.join("none/file"))),
        ("link-dir/none/deep/new", Ok(root.join("dir/none/deep/new"))),
        ("none/../file", Err(FileProblem::Directory)),
        ("dangling/file", Err(FileProblem::Directory)),
        ("dir/file/new", Err(FileProblem::System)),
        ("dir", Err(FileProblem::NoRegularFile)),
        ("link-dir", Err(FileProblem::NoRegularFile)),
        ("dir/file/", Err(FileProblem::NoName)),
        ("dir/.", Err(FileProblem::NoName)),
        ("dir/..", Err(FileProblem::NoName)),
    ];
    for (path, expected) in table {
        assert_eq!(resolve(&root.join(path), Target::File), expected, "{path}");
    }
    assert_eq!(resolve(&through_proc, Target::File), Ok(file.clone()));
    assert_eq!(
        resolve(&root.join("link"), Target::NoLink),
        Err(FileProblem::Link)
    );
    assert_eq!(
        resolve(&root.join("dangling"), Target::NoLink),
        Err(FileProblem::Link)
    );
    assert_eq!(
        resolve(&root.join("link-dir"), Target::Existing),
        Ok(root.join("dir"))
    );
    assert_eq!(
        resolve(&root.join("none"), Target::Existing),
        Err(FileProblem::System)
    );
}

#[test]
fn an_excluded_directory_is_known_by_whatever_path() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("state/termd/deep")).unwrap();
    symlink(root.join("state"), root.join("alias")).unwrap();
    let limits = || PathLimits {
        // By a link: the directory counts and not its name.
        excluded: vec![root.join("alias/termd"), root.join("absent")],
        own_of_sandbox: &[],
    };
    for (path, is_excluded) in [
        ("state/termd/db", true),
        ("state/termd/deep/db", true),
        ("state/termd2", false),
        ("state/db", false),
    ] {
        let task = FileTask {
            limits: limits(),
            ..task(FileAction::Write(WriteMode::Replace), &root.join(path))
        };
        let expected = FileAnswer::Failed(refusal(FileProblem::Excluded));
        assert_eq!(run(&task, b"x").0 == expected, is_excluded, "{path}");
        assert_eq!(root.join(path).exists(), !is_excluded, "{path}");
    }
}
