use super::index::submodule_paths;
use super::*;

use rustix::fs::FileType;

#[test]
fn a_damaged_index_names_nothing() {
    for index in [
        &b""[..],
        b"DIRC",
        b"DIRC\0\0\0\x02\0\0\0\x01",
        b"DIRC\0\0\0\x09\0\0\0\0",
        &[b"DIRC\0\0\0\x04\xff\xff\xff\xff".as_slice(), &[0xff; 200]].concat(),
        &[b"DIRC\0\0\0\x02\0\0\0\x01".as_slice(), &[0xe0; 200]].concat(),
    ] {
        assert_eq!(submodule_paths(index), Vec::<PathBuf>::new(), "{index:?}");
    }
}

#[test]
fn a_fifo_and_a_large_file_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), FileType::Fifo, mode, 0).unwrap();
    std::fs::write(at("file"), "gitdir: ../x \n").unwrap();
    assert_eq!(read(&at("fifo"), 10), None);
    assert_eq!(read(&at("file"), 3), None);
    assert_eq!(named_path(&at("file"), b"gitdir:"), Some("../x".into()));
    assert_eq!(named_path(&at("file"), b"other:"), None);
}

#[test]
fn an_empty_git_is_no_repository() {
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path();
    assert!(!is_work_tree(top) && !is_git_directory(top));
    std::fs::create_dir(top.join(DOT_GIT)).unwrap();
    assert!(!is_work_tree(top));
    std::fs::write(top.join(".git/HEAD"), "").unwrap();
    assert!(is_work_tree(top));
    std::fs::remove_dir_all(top.join(DOT_GIT)).unwrap();
    std::fs::write(top.join(DOT_GIT), "gitdir: x").unwrap();
    assert!(is_work_tree(top));
}

#[test]
fn a_value_that_leads_to_the_work_tree_protects_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("work/.git")).unwrap();
    let work = top.join("work");
    let config = "[core]\nhooksPath =\nhooksPath = .\nhooksPath = ../work/\nhooksPath = /\n\
        hooksPath = /dev/null\nhooksPath = ~/h\n[x]\ny = a/b .git/config\n";
    std::fs::write(work.join(".git/config"), config).unwrap();
    let user = UserConfig(Vec::new());
    let paths = Repository::of_work_tree(&work).unwrap().paths(&user, &top);
    let expected = [
        (work.join(".git"), MissingPath::CreateDirectory),
        ("/dev/null".into(), MissingPath::CreateDirectory),
        (top.join("h"), MissingPath::CreateDirectory),
        (work.join(".git/config"), MissingPath::Ignore),
    ];
    assert_eq!(paths, expected);
}

/// Bytes that look random, the same each time.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn any_bytes_are_read_to_their_end() {
    let alphabet = b"[]\"\\\n=#; \tac/~.";
    for seed in 0..20_000 {
        let bytes = noise(seed, 200);
        for version in 2..=4 {
            let mut index = b"DIRC\0\0\0\0\0\0\0\x05".to_vec();
            index[7] = version;
            index.extend_from_slice(&bytes);
            // The types of entries that there are.
            for at in [12 + 24, 12 + 24 + 72, 12 + 24 + 144] {
                index[at..at + 4].copy_from_slice(&0o160_000_u32.to_be_bytes());
            }
            submodule_paths(&index);
        }
        let text = bytes
            .iter()
            .map(|byte| alphabet[usize::from(*byte) % alphabet.len()]);
        config::entries(&text.collect::<Vec<_>>());
    }
}

/// An index of one submodule, `sm`, as git writes it: version 2, with an extension.
fn index_of_submodule(hash: &[u8]) -> Vec<u8> {
    let mut index = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
    index.extend_from_slice(&[0; 24]);
    index.extend_from_slice(&0o160_000_u32.to_be_bytes());
    index.extend_from_slice(&[0; 12]);
    index.extend_from_slice(hash);
    index.extend_from_slice(b"\0\x02sm");
    let padded = 12 + (index.len() - 12 + 8) / 8 * 8;
    index.resize(padded, 0);
    index.extend_from_slice(b"TREE\0\0\0\x03abc");
    index.extend_from_slice(hash);
    index
}

#[test]
fn an_index_is_read_whatever_its_hashes_look_like() {
    for seed in 0..20_000 {
        for length in [20, 32] {
            let index = index_of_submodule(&noise(seed, length));
            assert_eq!(submodule_paths(&index), [PathBuf::from("sm")], "{index:?}");
        }
    }
}

#[test]
fn settings_that_variables_name_are_read_beside_the_usual_ones() {
    let home = Path::new("/home/me");
    let variables = [
        ("GIT_CONFIG_GLOBAL", "/home/me/conf/git"),
        ("XDG_CONFIG_HOME", "relative"),
    ];
    let user = UserConfig::named_by(home, |name| {
        let found = variables.iter().find(|(set, _)| *set == name);
        found.map(|(_, value)| value.into())
    });
    let expected = [
        "/etc/gitconfig",
        "/home/me/.config/git/config",
        "/home/me/.gitconfig",
        "/home/me/conf/git",
    ];
    assert_eq!(user.0, expected.map(PathBuf::from));
}
