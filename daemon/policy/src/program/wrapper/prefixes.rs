//! Programs that start the command behind their own options, by their manuals: sudo, nice, timeout.

use super::inner_command::InnerCommand;
use crate::program::options::{Order, Valued, options as take_options};
use crate::shell::word::{Word, is_assignment};
use crate::word_list::is_listed;

/// A program whose command stands behind its own options.
#[derive(Debug)]
struct Prefix {
    names: &'static str,
    /// The options that take a value.
    valued: Valued<'static>,
    /// The number of the program's own operands before the command.
    skip: usize,
    /// Whether `NAME=value` may stand before the command.
    assignments: bool,
    /// Whether the program gives the words to a shell, joined.
    joins: bool,
    /// Options whose value is a shell line.
    line_options: &'static [&'static str],
}

const fn plain(names: &'static str, valued: &'static str) -> Prefix {
    Prefix {
        names,
        valued: Valued::These(valued),
        skip: 0,
        assignments: false,
        joins: false,
        line_options: &[],
    }
}

const PREFIXES: &[Prefix] = &[
    Prefix {
        assignments: true,
        ..plain(
            "sudo sudo-rs",
            "
                u g h p C T D R U r t user group host prompt close-from command-timeout chroot
                chdir other-user role type",
        )
    },
    plain("doas", "u C a"),
    plain("pkexec run0", "user u D g"),
    Prefix {
        assignments: true,
        ..plain("busybox toybox", "")
    },
    plain("time", "f o format output"),
    plain("nice", "n adjustment"),
    plain("ionice", "c n p P u class classdata"),
    plain(
        "nohup setsid command builtin chronic noglob nocorrect -",
        "",
    ),
    plain("exec", "a"),
    plain("stdbuf", "i o e input output error"),
    Prefix {
        skip: 1,
        ..plain("timeout gtimeout", "s k signal kill-after")
    },
    Prefix {
        joins: true,
        ..plain("watch", "n interval q equexit")
    },
    Prefix {
        skip: 1,
        ..plain("chroot", "userspec groups")
    },
    Prefix {
        skip: 1,
        line_options: &["c", "command"],
        ..plain("flock", "w wait timeout E conflict-exit-code c command")
    },
    plain("strace ltrace", "o e p s a E u P S O I b X l n A D"),
    Prefix {
        // The command is the value of an option. The operand is a file.
        skip: 64,
        line_options: &["c", "command"],
        ..plain("script", "c command E I O B T m o")
    },
    Prefix {
        line_options: &["c", "command", "session-command"],
        ..plain("runuser", "u user c command session-command s g G")
    },
    Prefix {
        skip: 1,
        joins: true,
        ..plain(
            "ssh mosh autossh",
            "B b c D E e F I i J L l m O o P p Q R S W w M",
        )
    },
    plain("sshpass", "p f d P"),
    plain("nsenter unshare", "t target S G setuid setgid R root w wd"),
    plain(
        "systemd-run systemd-inhibit systemd-cat",
        "
            u unit p property E setenv H M slice description uid gid nice working-directory what
            who why mode t identifier on-active on-calendar",
    ),
    Prefix {
        skip: 1,
        ..plain("taskset chrt", "T P D")
    },
    Prefix {
        skip: 1,
        ..plain("gosu su-exec setarch", "")
    },
    plain(
        "setpriv",
        "reuid regid groups inh-caps ambient-caps bounding-set",
    ),
    plain("prlimit choom cpulimit", "p n l pid limit"),
    plain(
        "firejail fakeroot unbuffer torsocks proxychains proxychains4",
        "l f",
    ),
    plain("rlwrap entr", "a f b H s S C"),
    plain(
        "dbus-run-session xvfb-run linux32 linux64",
        "n s e server-args",
    ),
    plain("valgrind catchsegv tsocks", ""),
    Prefix {
        skip: 1,
        ..plain("poetry pipenv uv rye hatch bundle", "")
    },
    Prefix {
        skip: 2,
        ..plain("direnv", "")
    },
    plain("npx bunx", "p package c call"),
    Prefix {
        joins: true,
        ..plain("hyperfine", "w r m M p c s n warmup runs prepare")
    },
];

/// The command behind the options of a program that is a prefix.
pub(super) fn prefixed(program: &str, args: &[Word]) -> Vec<InnerCommand> {
    let mut prefixes = PREFIXES.iter();
    let Some(prefix) = prefixes.find(|prefix| is_listed(program, prefix.names)) else {
        return Vec::new();
    };
    let options = take_options(args, prefix.valued, Order::OptionsFirst);
    let line = options.value(prefix.line_options);
    let mut started: Vec<InnerCommand> = line.map(InnerCommand::line).into_iter().collect();
    let mut operands = options.operands.iter().skip(prefix.skip);
    let first = if prefix.assignments {
        operands.find(|(_, text)| !is_assignment(text))
    } else {
        operands.next()
    };
    let Some((at, text)) = first else {
        return started;
    };
    // Options may stand behind the program's own operands: `flock FILE -c LINE`.
    if text.starts_with('-') && prefix.skip > 0 {
        let rest = args.get(*at..).unwrap_or_default();
        let late = take_options(rest, prefix.valued, Order::OptionsFirst);
        if let Some((line_at, line)) = late.value(prefix.line_options) {
            started.push(InnerCommand::line((at + line_at, line)));
            return started;
        }
    }
    if prefix.joins {
        started.extend(InnerCommand::joined_line(args, *at));
    } else {
        started.extend(InnerCommand::argv(args.get(*at..).unwrap_or_default()));
    }
    started
}
