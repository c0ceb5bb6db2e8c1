//! Errors of `termctl exec`: each is a line for a person.

use thiserror::Error;

/// Why a line was not run, or its end is not known.
#[derive(Debug, Error)]
pub(crate) enum ExecError {
    #[error("nothing to run: LINE is empty")]
    EmptyLine,
    #[error("LINE must be one line: join commands by ; or &&")]
    SeveralLines,
    #[error(
        "LINE has the control character {}: exec types text and TAB alone; see `termctl send`",
        .0.escape_unicode()
    )]
    ControlCharacter(char),
    #[error(
        "LINE is longer than the shell of {0} reads (4095 bytes, without a line editor): nothing was \
         typed; put it into a script"
    )]
    TooLong(String),
    #[error("{0} has exited")]
    Exited(String),
    #[error("{0} is on pipes, and has no shell to type to")]
    OnPipes(String),
    #[error("{0} waits for a secret, not for a line: see `termctl send --secret`")]
    AwaitsSecret(String),
    #[error("{terminal} runs {command}: exec needs its shell at the prompt")]
    Busy { terminal: String, command: String },
    #[error(
        "{0} has no marks of a shell (bash, zsh, fish or dash, started without arguments): exec cannot \
         tell where the line ends; see `termctl send`"
    )]
    NoMarks(String),
    #[error("the shell of {0} is not at its prompt")]
    NotAtPrompt(String),
    #[error("the time was up before the shell of {0} was ready for the line: nothing was typed")]
    NoTime(String),
    #[error(
        "{0} is not at an empty prompt: what was typed there before has not run, or waits for the rest \
         of a line; see `termctl screen {0}`"
    )]
    LineWaits(String),
    #[error(
        "the shell did not run the line, which is not complete or has an error of syntax: it was taken \
         back (Ctrl-C); `termctl screen {0}` shows what the shell said"
    )]
    Incomplete(String),
    #[error("{0} has taken the shell's place and goes on: exec cannot tell where the line ends")]
    Replaced(String),
    #[error(
        "the shell is at a prompt without marks (PROMPT_COMMAND, precmd_functions or PS1 was set anew): \
         exec cannot tell the exit code"
    )]
    MarksLost,
    #[error("the shell ran nothing of the line; `termctl screen {0}` shows what it said")]
    NothingRan(String),
    #[error("the terminal was ended while the line ran: {0}")]
    TerminalEnded(String),
    #[error("the shell did not tell the exit code")]
    NoExitCode,
}
