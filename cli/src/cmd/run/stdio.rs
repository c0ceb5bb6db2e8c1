//! What a command of `run` has for standard input, output and error, by what `run` itself has.

use std::io::{self, IsTerminal as _};

use nix::unistd::{getpgrp, tcgetpgrp};
use termd_proto::terminal::{CreateTerminal, Stdin, Stdio};

use crate::args::StdioArgs;

/// What `run` stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Surroundings {
    stdin: OwnStdin,
    stdout_is_tty: bool,
    json: bool,
}

/// What standard input of `run` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnStdin {
    Tty,
    /// A tty, and `run` is a job in the background, which would be stopped if it read it.
    BackgroundTty,
    Other,
}

impl Surroundings {
    pub(super) fn look(json: bool) -> Self {
        let stdin = io::stdin();
        // Both are 0 where the group is in a PID namespace above (`docker exec`, `nsenter`).
        let foreground = tcgetpgrp(&stdin);
        let own_group = getpgrp();
        Self {
            stdin: match foreground {
                _ if !stdin.is_terminal() => OwnStdin::Other,
                Ok(foreground) if foreground != own_group => OwnStdin::BackgroundTty,
                Ok(_) | Err(_) => OwnStdin::Tty,
            },
            stdout_is_tty: io::stdout().is_terminal(),
            json,
        }
    }
}

/// What the command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunStdio {
    /// This tty, as good as: a PTY of its size, keys and resizes.
    Interactive,
    /// A PTY whose output is passed on. With input, that is typed, and end of file last.
    Pty { has_input: bool },
    /// Pipes, as a filter has them. Without input `/dev/null`.
    Pipes { has_input: bool },
}

impl RunStdio {
    pub(super) fn choose(args: StdioArgs, place: Surroundings) -> Self {
        let is_at_tty = place.stdin != OwnStdin::Other && place.stdout_is_tty && !place.json;
        let may_read = place.stdin != OwnStdin::BackgroundTty;
        match (args.no_tty, args.tty || place.json) {
            (true, _) => Self::Pipes {
                has_input: args.stdin || (may_read && !place.json),
            },
            (false, _) if is_at_tty => Self::Interactive,
            (false, true) => Self::Pty {
                has_input: args.stdin,
            },
            (false, false) => Self::Pipes {
                has_input: args.stdin || may_read,
            },
        }
    }

    /// The request for such a terminal.
    pub(super) fn request(self, request: CreateTerminal) -> CreateTerminal {
        let (stdio, stdin) = match self {
            Self::Interactive | Self::Pty { .. } => (Stdio::Pty, Stdin::Null),
            Self::Pipes { has_input: false } => (Stdio::Pipes, Stdin::Null),
            Self::Pipes { has_input: true } => (Stdio::Pipes, Stdin::Pipe),
        };
        CreateTerminal {
            stdio,
            stdin,
            ..request
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTY: StdioArgs = StdioArgs {
        tty: true,
        no_tty: false,
        stdin: false,
    };
    const NO_TTY: StdioArgs = StdioArgs {
        tty: false,
        no_tty: true,
        stdin: false,
    };

    fn with_stdin(args: StdioArgs) -> StdioArgs {
        StdioArgs {
            stdin: true,
            ..args
        }
    }

    #[test]
    fn a_tty_is_used_as_one_and_a_pipeline_as_a_filter() {
        let none = StdioArgs::default();
        let pipes = |has_input| RunStdio::Pipes { has_input };
        let pty = |has_input| RunStdio::Pty { has_input };
        // Which of standard input and output are ttys.
        let (both, input, output, neither) =
            ((true, true), (true, false), (false, true), (false, false));
        for (args, ttys, json, expected) in [
            (none, both, false, RunStdio::Interactive),
            (none, input, false, pipes(true)),
            (none, output, false, pipes(true)),
            (none, neither, false, pipes(true)),
            (none, both, true, pty(false)),
            (none, neither, true, pty(false)),
            (with_stdin(none), both, false, RunStdio::Interactive),
            (with_stdin(none), neither, false, pipes(true)),
            (with_stdin(none), neither, true, pty(true)),
            (TTY, both, false, RunStdio::Interactive),
            (TTY, input, false, pty(false)),
            (TTY, output, false, pty(false)),
            (TTY, neither, false, pty(false)),
            (with_stdin(TTY), neither, false, pty(true)),
            (NO_TTY, both, false, pipes(true)),
            (NO_TTY, neither, false, pipes(true)),
            (NO_TTY, neither, true, pipes(false)),
            (with_stdin(NO_TTY), neither, true, pipes(true)),
        ] {
            let place = Surroundings {
                stdin: if ttys.0 {
                    OwnStdin::Tty
                } else {
                    OwnStdin::Other
                },
                stdout_is_tty: ttys.1,
                json,
            };
            let chosen = RunStdio::choose(args, place);
            assert_eq!(chosen, expected, "{args:?} {place:?}");
        }
    }

    #[test]
    fn a_job_in_the_background_does_not_read_its_tty() {
        let place = Surroundings {
            stdin: OwnStdin::BackgroundTty,
            stdout_is_tty: false,
            json: false,
        };
        let chosen = RunStdio::choose(StdioArgs::default(), place);
        assert_eq!(chosen, RunStdio::Pipes { has_input: false });
    }
}
