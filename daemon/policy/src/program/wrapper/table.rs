//! The programs that start what stands behind their own options, by their manuals.

use crate::program::options::Valued;

/// How a program finds the command that it starts.
#[derive(Debug)]
pub(crate) struct Wrapper {
    names: &'static [&'static str],
    /// Its options that take a value.
    pub(crate) valued: Valued<'static>,
    /// Operands of its own before the command.
    pub(crate) skip: usize,
    /// Whether `NAME=value` may stand before the command.
    pub(crate) assignments: bool,
    /// Whether it gives the words, joined, to a shell.
    pub(crate) joins: bool,
    /// Options whose value is a shell line.
    pub(crate) line_options: &'static [&'static str],
}

const fn plain(names: &'static [&'static str], valued: &'static [&'static str]) -> Wrapper {
    Wrapper {
        names,
        valued: Valued::These(valued),
        skip: 0,
        assignments: false,
        joins: false,
        line_options: &[],
    }
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        assignments: true,
        ..plain(
            &["sudo", "sudo-rs"],
            &[
                "u",
                "g",
                "h",
                "p",
                "C",
                "T",
                "D",
                "R",
                "U",
                "r",
                "t",
                "user",
                "group",
                "host",
                "prompt",
                "close-from",
                "command-timeout",
                "chroot",
                "chdir",
                "other-user",
                "role",
                "type",
            ],
        )
    },
    plain(&["doas"], &["u", "C", "a"]),
    plain(&["pkexec", "run0"], &["user", "u", "D", "g"]),
    Wrapper {
        assignments: true,
        ..plain(&["busybox", "toybox"], &[])
    },
    plain(&["time"], &["f", "o", "format", "output"]),
    plain(&["nice"], &["n", "adjustment"]),
    plain(
        &["ionice"],
        &["c", "n", "p", "P", "u", "class", "classdata"],
    ),
    plain(
        &[
            "nohup",
            "setsid",
            "command",
            "builtin",
            "chronic",
            "noglob",
            "nocorrect",
            "-",
        ],
        &[],
    ),
    plain(&["exec"], &["a"]),
    plain(&["stdbuf"], &["i", "o", "e", "input", "output", "error"]),
    Wrapper {
        skip: 1,
        ..plain(
            &["timeout", "gtimeout"],
            &["s", "k", "signal", "kill-after"],
        )
    },
    Wrapper {
        joins: true,
        ..plain(&["watch"], &["n", "interval", "q", "equexit"])
    },
    Wrapper {
        skip: 1,
        ..plain(&["chroot"], &["userspec", "groups"])
    },
    Wrapper {
        skip: 1,
        line_options: &["c", "command"],
        ..plain(
            &["flock"],
            &[
                "w",
                "wait",
                "timeout",
                "E",
                "conflict-exit-code",
                "c",
                "command",
            ],
        )
    },
    plain(
        &["strace", "ltrace"],
        &[
            "o", "e", "p", "s", "a", "E", "u", "P", "S", "O", "I", "b", "X", "l", "n", "A", "D",
        ],
    ),
    Wrapper {
        // What it starts is in the option; its operand is a file.
        skip: 64,
        line_options: &["c", "command"],
        ..plain(
            &["script"],
            &["c", "command", "E", "I", "O", "B", "T", "m", "o"],
        )
    },
    Wrapper {
        skip: 1,
        line_options: &["c", "command", "session-command"],
        ..plain(
            &["su"],
            &[
                "c",
                "command",
                "session-command",
                "s",
                "shell",
                "g",
                "group",
                "G",
                "w",
            ],
        )
    },
    Wrapper {
        line_options: &["c", "command", "session-command"],
        ..plain(
            &["runuser"],
            &[
                "u",
                "user",
                "c",
                "command",
                "session-command",
                "s",
                "g",
                "G",
            ],
        )
    },
    Wrapper {
        skip: 1,
        joins: true,
        ..plain(
            &["ssh", "mosh", "autossh"],
            &[
                "B", "b", "c", "D", "E", "e", "F", "I", "i", "J", "L", "l", "m", "O", "o", "P",
                "p", "Q", "R", "S", "W", "w", "M",
            ],
        )
    },
    plain(&["sshpass"], &["p", "f", "d", "P"]),
    plain(
        &["nsenter", "unshare"],
        &[
            "t", "target", "S", "G", "setuid", "setgid", "R", "root", "w", "wd",
        ],
    ),
    plain(
        &["systemd-run", "systemd-inhibit", "systemd-cat"],
        &[
            "u",
            "unit",
            "p",
            "property",
            "E",
            "setenv",
            "H",
            "M",
            "slice",
            "description",
            "uid",
            "gid",
            "nice",
            "working-directory",
            "what",
            "who",
            "why",
            "mode",
            "t",
            "identifier",
            "on-active",
            "on-calendar",
        ],
    ),
    Wrapper {
        skip: 1,
        ..plain(&["taskset", "chrt"], &["T", "P", "D"])
    },
    Wrapper {
        skip: 1,
        ..plain(&["gosu", "su-exec", "setarch"], &[])
    },
    plain(
        &["setpriv"],
        &[
            "reuid",
            "regid",
            "groups",
            "inh-caps",
            "ambient-caps",
            "bounding-set",
        ],
    ),
    plain(
        &["prlimit", "choom", "cpulimit"],
        &["p", "n", "l", "pid", "limit"],
    ),
    plain(
        &[
            "firejail",
            "fakeroot",
            "unbuffer",
            "torsocks",
            "proxychains",
            "proxychains4",
        ],
        &["l", "f"],
    ),
    plain(&["rlwrap", "entr"], &["a", "f", "b", "H", "s", "S", "C"]),
    plain(
        &["dbus-run-session", "xvfb-run", "linux32", "linux64"],
        &["n", "s", "e", "server-args"],
    ),
    plain(&["valgrind", "catchsegv", "tsocks"], &[]),
    Wrapper {
        skip: 1,
        ..plain(&["poetry", "pipenv", "uv", "rye", "hatch", "bundle"], &[])
    },
    Wrapper {
        skip: 2,
        ..plain(&["direnv"], &[])
    },
    plain(&["npx", "bunx"], &["p", "package", "c", "call"]),
    Wrapper {
        joins: true,
        ..plain(
            &["hyperfine"],
            &[
                "w", "r", "m", "M", "p", "c", "s", "n", "warmup", "runs", "prepare",
            ],
        )
    },
];

/// The program of this name, if it starts others.
pub(crate) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&name))
}
