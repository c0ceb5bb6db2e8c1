use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use nix::libc;

use super::find_in;

#[test]
fn a_program_is_taken_from_whom_it_is_trusted() {
    let home = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| home.path().join(name));
    let owner = fs::metadata(home.path()).unwrap().uid();
    for directory in [&one, &other] {
        fs::create_dir(directory).unwrap();
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let find = |owner| find_in(&[one.as_path(), other.as_path(), Path::new("/none")], owner);
    assert_eq!(find(owner), Err(libc::ENOENT));
    let program = other.join("bwrap");
    let with_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::write(&program, "").unwrap();
    for (mode, expected) in [
        (0o755, Ok(program.canonicalize().unwrap())),
        (0o644, Err(libc::EACCES)),
        (0o775, Err(libc::EPERM)),
        (0o757, Err(libc::EPERM)),
        (0o4755, Ok(program.canonicalize().unwrap())),
    ] {
        with_mode(&program, mode);
        assert_eq!(find(owner), expected, "{mode:o}");
    }
    assert_eq!(find(owner + 1), Err(libc::EPERM));
    // Whoever can write the directory can put another one there.
    with_mode(&other, 0o777);
    assert_eq!(find(owner), Err(libc::EPERM));
    with_mode(&other, 0o755);
    // One that is not to be trusted hides none that is.
    fs::write(one.join("bwrap"), "").unwrap();
    with_mode(&one.join("bwrap"), 0o777);
    assert_eq!(find(owner), Ok(program.canonicalize().unwrap()));
}
