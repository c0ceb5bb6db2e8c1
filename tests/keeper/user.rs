//! As whom a keeper runs.

use std::path::Path;
use std::process::Command;

/// Whose keeper it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests.
    Me,
    /// An ordinary user, where root runs them (`nobody`, who owns nothing else).
    Nobody,
    /// Whoever runs the tests, in a user namespace that may have no others in it.
    Cramped,
    /// Root, with a part of `/proc` covered, as in a container.
    WithoutAllOfProc,
    /// Root, with this script in bubblewrap's place; with `/dev/null` there where it is empty.
    WithABwrap(&'static str),
    /// Another ordinary user, with a bubblewrap that is setuid: it can map no `nobody`, whose number it
    /// takes for that of everybody else.
    WithASetuidBwrap,
}

/// Gets a program, which it runs as an ordinary user.
const WITH_A_SETUID_BWRAP: &str = "set -e; mount -t tmpfs none /mnt; chmod 755 /mnt; \
    cp /usr/bin/bwrap /mnt/bwrap; chmod 4755 /mnt/bwrap; mount --bind /mnt/bwrap /usr/bin/bwrap; \
    exec setpriv --reuid=4711 --regid=4711 --clear-groups \"$0\"";

/// Gets a program and a script, and is alone in seeing what it mounts.
const WITH_A_BWRAP: &str = "set -e; bwrap=/dev/null; \
    if [ -n \"$1\" ]; then mount -t tmpfs none /mnt; bwrap=/mnt/bwrap; \
    cp /usr/bin/bwrap /mnt/real; \
    printf '#!/bin/sh\n%s\n' \"$1\" > $bwrap; chmod 755 /mnt $bwrap; fi; \
    mount --bind $bwrap /usr/bin/bwrap; exec \"$0\"";

/// `nobody`, as on every Linux.
const NOBODYS_ID: u32 = 65534;
/// As in [`WITH_A_SETUID_BWRAP`].
const ANOTHERS_ID: u32 = 4711;

impl User {
    /// Whom walls have to hold: an ordinary user always, and root where root runs the tests.
    pub(crate) fn all() -> Vec<Self> {
        if rustix::process::geteuid().is_root() {
            vec![Self::Me, Self::Nobody]
        } else {
            eprintln!("SKIP: as root: the tests are not run by root");
            vec![Self::Me]
        }
    }

    /// The command that runs a program as this user.
    pub(crate) fn runs(self, program: &Path) -> Command {
        let words: &[&str] = match self {
            Self::Me => return Command::new(program),
            Self::Nobody => &[
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
            ],
            Self::Cramped => &[
                "unshare",
                "--user",
                "--map-root-user",
                "sh",
                "-c",
                "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\"",
            ],
            Self::WithoutAllOfProc => &[
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs none /proc/fs; exec \"$0\"",
            ],
            Self::WithABwrap(_) => &["unshare", "--mount", "sh", "-c", WITH_A_BWRAP],
            Self::WithASetuidBwrap => &["unshare", "--mount", "sh", "-c", WITH_A_SETUID_BWRAP],
        };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(program);
        if let Self::WithABwrap(script) = self {
            command.arg(script);
        }
        command
    }

    /// Makes something this user's.
    pub(crate) fn is_given(self, path: &Path) {
        let id = match self {
            Self::Nobody => NOBODYS_ID,
            Self::WithASetuidBwrap => ANOTHERS_ID,
            Self::Me | Self::Cramped | Self::WithoutAllOfProc | Self::WithABwrap(_) => return,
        };
        std::os::unix::fs::lchown(path, Some(id), Some(id)).unwrap();
    }
}
