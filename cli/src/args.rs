//! What may stand on the command line, and the help that says so. No logic: the build script
//! makes man pages and completions from this file and `values.rs`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod acp;
mod setup;

pub(crate) use acp::{AcpArgs, DisplayArg};
pub(crate) use setup::SetupArgs;

use crate::values::{ControlKey, Moment, RowRange, Size, Variable, parse_duration};

/// What the exit codes mean; docs/termctl.md has the same table.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    no such terminal or command
  4    the daemon cannot be reached or started
  124  a --timeout ran out (run, wait, screen)
  141  standard output was closed
run, wait and attach pass on the command's exit code, 128+n where signal n ended it.

TERMINAL is an id, a unique prefix of one (with or without term_), or a label.";

/// Terminals that outlive whoever opened them, shared by agents, scripts and people.
#[derive(Debug, Parser)]
#[command(name = "termctl", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Print JSON, and errors as JSON on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not start the daemon where none is running
    #[arg(long, global = true)]
    pub(crate) no_start: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a command in a terminal of its own, stream its output, pass on its exit code
    Run(RunArgs),
    /// Start a command in a new terminal and print its id
    Create(CreateArgs),
    /// Print a terminal's output
    Read(ReadArgs),
    /// Print a terminal's screen: what a person would see now
    Screen(ScreenArgs),
    /// Take a picture of a terminal's screen
    Screenshot(ScreenshotArgs),
    /// Wait until a terminal's command has exited, and pass on its exit code
    Wait(WaitArgs),
    /// Type into a terminal
    Send(SendArgs),
    /// End a terminal's command and all that it started, or send it a signal
    Kill(KillArgs),
    /// End terminals and take them off the list; their records stay
    Close(CloseArgs),
    /// List terminals
    List(ListArgs),
    /// Show all that is known of a terminal
    Show(ShowArgs),
    /// Use a terminal from this one
    Attach(AttachArgs),
    /// Set a terminal's size
    Resize(ResizeArgs),
    /// Serve the Model Context Protocol on standard input and output, for a coding agent
    Mcp(McpArgs),
    /// Start an ACP agent, and be its client's terminals: what an editor runs as its agent
    Acp(AcpArgs),
    /// Say whether the daemon runs, and what it holds; never starts it
    Status,
    /// Show what was run in terminals and in their shells, newest first
    History(HistoryArgs),
    /// Show who did what, newest first
    Audit(AuditArgs),
    /// Ask the gate about a command, without running it
    Policy(PolicyArgs),
    /// Tell MCP clients (Claude Code, VS Code, Codex, Zed and others) of `termctl mcp`
    Setup(SetupArgs),
}

/// What to start, and how: common to `run` and `create`.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// A name for the terminal, unique among those that are open
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Where to start it [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable for it; may be given again
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<Variable>,
    /// Columns [default: this terminal's, else 80]
    #[arg(long)]
    pub(crate) cols: Option<u16>,
    /// Rows [default: this terminal's, else 24]
    #[arg(long)]
    pub(crate) rows: Option<u16>,
    /// Give it no terminal but two pipes, so that standard output and error stay apart; nothing can
    /// be typed into it
    #[arg(long)]
    pub(crate) pipes: bool,
    /// Run it also where the gate would ask first
    #[arg(long)]
    pub(crate) confirmed: bool,
}

/// `termctl run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// How to start it.
    #[command(flatten)]
    pub(crate) start: StartArgs,
    /// End it after this long, and exit with 124
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Leave the terminal open when termctl ends
    #[arg(long)]
    pub(crate) keep: bool,
    /// Pass on exact bytes where standard output is no terminal (default: plain text)
    #[arg(long)]
    pub(crate) raw: bool,
    /// Type standard input into it, then end of file
    #[arg(short = 'i', long, conflicts_with = "pipes")]
    pub(crate) stdin: bool,
    /// The command and its arguments; one argument with shell syntax is run by your shell
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// `termctl create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// How to start it.
    #[command(flatten)]
    pub(crate) start: StartArgs,
    /// Close it after so long (a bare number: seconds) without output, input or anybody attached
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) idle_timeout: Option<Duration>,
    /// Lines of scrollback that its screen keeps, 0 to 100,000 [default: 10,000]
    #[arg(long, value_name = "LINES")]
    pub(crate) scrollback: Option<u32>,
    /// The command and its arguments [default: your shell]
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// One of the two that a command on pipes writes to.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Only standard output, of a command on pipes
    #[arg(long, conflicts_with_all = ["stderr", "command"])]
    pub(crate) stdout: bool,
    /// Only standard error, of a command on pipes
    #[arg(long, conflicts_with = "command")]
    pub(crate) stderr: bool,
}

/// `termctl read`.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Start at this offset
    #[arg(long, value_name = "OFFSET", conflicts_with = "tail")]
    pub(crate) since: Option<u64>,
    /// Start this many lines before the end
    #[arg(long, value_name = "LINES")]
    pub(crate) tail: Option<u64>,
    /// Print the output of this command, as history numbers them; -1 is the newest
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        conflicts_with_all = ["since", "tail", "follow"]
    )]
    pub(crate) command: Option<i64>,
    /// Print at most this many bytes of output
    #[arg(long, value_name = "COUNT")]
    pub(crate) bytes: Option<u64>,
    /// Of a command on pipes, only this.
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    /// Go on until the command has exited
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Exact bytes, escape sequences and all
    #[arg(long)]
    pub(crate) raw: bool,
    /// Plain text on a terminal too, redraws applied: what a pipe gets
    #[arg(long, conflicts_with = "raw")]
    pub(crate) plain: bool,
}

/// How `termctl screen` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScreenFormatArg {
    /// A line a row
    Text,
    /// Text with colours and links, and the cursor in its place
    Ansi,
    /// Style runs, cursor, modes
    Json,
    /// One element, with its styles inline
    Html,
}

/// `termctl screen`.
#[derive(Debug, Args)]
pub(crate) struct ScreenArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// How to print it [default: ansi on a terminal, else text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ScreenFormatArg>,
    /// Join lines that were too long for a row; text only
    #[arg(long)]
    pub(crate) join: bool,
    /// Only rows that changed after the screen with this seq
    #[arg(long, value_name = "SEQ")]
    pub(crate) since: Option<u64>,
    /// This many lines of scrollback before the screen
    #[arg(long, value_name = "LINES", conflicts_with = "rows")]
    pub(crate) scrollback: Option<u32>,
    /// Only these rows; 0 is the screen's first, -1 the newest of the scrollback
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) rows: Option<RowRange>,
    /// Wait until the screen changes
    #[arg(long)]
    pub(crate) wait_change: bool,
    /// Wait until the screen is a later one than that with this seq
    #[arg(long, value_name = "SEQ", conflicts_with = "wait_change")]
    pub(crate) wait_change_after: Option<u64>,
    /// Then wait until nothing has changed for this many milliseconds
    #[arg(long, value_name = "MS")]
    pub(crate) settle: Option<u64>,
    /// Wait no longer than this, print the screen as it is, and exit with 124 [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

/// The colours of a screenshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArg {
    /// xterm's, on black
    Dark,
    /// On white
    Light,
}

/// `termctl screenshot`.
#[derive(Debug, Args)]
pub(crate) struct ScreenshotArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// The file to write; its extension says the format: png, svg or html
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// This many lines of scrollback above the screen
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    pub(crate) scrollback: u32,
    /// Colours
    #[arg(long, value_enum, value_name = "THEME", default_value = "dark")]
    pub(crate) theme: ThemeArg,
    /// Size of the letters in pixels
    #[arg(long, value_name = "PX", default_value_t = 16, value_parser = clap::value_parser!(u16).range(6..=128))]
    pub(crate) font_size: u16,
    /// Leave the cursor out
    #[arg(long)]
    pub(crate) no_cursor: bool,
}

/// `termctl wait`.
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Give up after this long, and exit with 124
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

/// `termctl send`. What is given is typed in this order: text, control keys, keys, standard input,
/// enter, end of file.
// Each is one switch, with a name of its own.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// What to type, joined by spaces; line ends are Enter
    pub(crate) text: Vec<String>,
    /// Then a control key, such as c; may be given again
    #[arg(long, value_name = "KEY")]
    pub(crate) ctrl: Vec<ControlKey>,
    /// Then a key by name, such as up, ctrl-a, alt-x, shift-f5, kp-enter; may be given again
    #[arg(short = 'k', long, value_name = "NAME")]
    pub(crate) key: Vec<String>,
    /// Then all of standard input, byte for byte
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Then the enter key (CR)
    #[arg(short = 'e', long)]
    pub(crate) enter: bool,
    /// Then end of file (ctrl-d)
    #[arg(long)]
    pub(crate) eof: bool,
    /// Type a secret, read from standard input without showing it: one line; only where the
    /// terminal waits for one
    #[arg(long, conflicts_with_all = ["text", "ctrl", "key", "stdin", "eof"])]
    pub(crate) secret: bool,
    /// Type it although the terminal says that it will not arrive as meant: a secret where none is
    /// awaited, a line that its tty would cut
    #[arg(long)]
    pub(crate) force: bool,
    /// Type it also where the gate would ask first
    #[arg(long)]
    pub(crate) confirmed: bool,
}

/// `termctl kill`.
#[derive(Debug, Args)]
pub(crate) struct KillArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Send this signal once [default: SIGTERM, and SIGKILL for what is left after a grace]
    #[arg(short = 's', long, value_name = "NAME")]
    pub(crate) signal: Option<String>,
}

/// `termctl close`.
#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// Which terminals
    #[arg(required = true)]
    pub(crate) terminals: Vec<String>,
    /// Type end of file first, and give the command so many milliseconds to go by itself
    #[arg(
        long,
        value_name = "MS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2000"
    )]
    pub(crate) eof: Option<u64>,
}

/// `termctl list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Closed ones too
    #[arg(short = 'a', long, conflicts_with = "running")]
    pub(crate) all: bool,
    /// Only those whose command runs
    #[arg(long)]
    pub(crate) running: bool,
}

/// `termctl show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which terminal
    pub(crate) terminal: String,
}

/// `termctl attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Only watch: nothing typed is sent, and its size stays
    #[arg(short = 'r', long)]
    pub(crate) read_only: bool,
    /// Leave its size as it is
    #[arg(long)]
    pub(crate) no_resize: bool,
    /// The key that detaches
    #[arg(long, value_name = "KEY", default_value = "ctrl-]")]
    pub(crate) detach_key: ControlKey,
}

/// `termctl resize`.
#[derive(Debug, Args)]
pub(crate) struct ResizeArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Its new size, such as 120x40
    #[arg(value_name = "COLSxROWS")]
    pub(crate) size: Size,
}

/// A set of tools that `termctl mcp` offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolsetArg {
    /// Terminals that stay open over many calls, as terminal-mcp has them
    Session,
    /// Terminals and programs that are run directly, as smart-terminal-mcp has them
    Terminal,
}

/// `termctl mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Which sets of tools to offer [default: what `TERMCTL_MCP_TOOLS` says, else session]
    #[arg(long, value_name = "SETS", value_enum, value_delimiter = ',')]
    pub(crate) tools: Vec<ToolsetArg>,
}

/// `termctl history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Only what was run in this terminal
    pub(crate) terminal: Option<String>,
    /// Only commands that hold each of these words, or a part of one
    #[arg(short = 's', long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Only commands that a signal or an exit code other than 0 ended
    #[arg(long)]
    pub(crate) failed: bool,
    /// At most this many commands
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: u32,
}

/// `termctl audit`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArgs {
    /// Something other than listing.
    #[command(subcommand)]
    pub(crate) verb: Option<AuditVerb>,
    /// Only records of this terminal
    #[arg(long)]
    pub(crate) terminal: Option<String>,
    /// Only this action, or all that begin with it and a dot
    #[arg(long)]
    pub(crate) action: Option<String>,
    /// Only what this client or ACP session did
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Not before: so long ago (1h), or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Moment>,
    /// Before: so long ago (1h), or @SECONDS since 1970
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Moment>,
    /// At most this many records
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: u32,
}

/// `termctl audit VERB`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// Check that no record was changed or taken out; exits with 1 where one was
    Verify,
}

/// `termctl policy`.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// What about it.
    #[command(subcommand)]
    pub(crate) verb: PolicyVerb,
}

/// `termctl policy VERB`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Say what is decided of a shell line, or of a command and its arguments: by which rule, why,
    /// and what it would run under
    Check(PolicyCheckArgs),
    /// Compare what is decided of commands with a table of expectations; 1 where it differs
    Test(PolicyTestArgs),
}

/// A front, by its name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FrontName {
    /// An ACP agent's client
    Acp,
    /// An MCP client
    Mcp,
    /// termctl, and scripts
    Cli,
}

impl From<FrontName> for termd_proto::terminal::Front {
    fn from(name: FrontName) -> Self {
        match name {
            FrontName::Acp => Self::Acp,
            FrontName::Mcp => Self::Mcp,
            FrontName::Cli => Self::Cli,
        }
    }
}

/// `termctl policy test`.
#[derive(Debug, Args)]
pub(crate) struct PolicyTestArgs {
    /// The table, in TOML
    pub(crate) file: PathBuf,
    /// Decide by this file, instead of the configuration in force
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// `termctl policy check`.
#[derive(Debug, Args)]
pub(crate) struct PolicyCheckArgs {
    /// A line as it would be typed
    #[arg(long, value_name = "SHELL LINE", allow_hyphen_values = true)]
    pub(crate) line: Option<String>,
    /// The program that it would be typed into, such as psql [default: a shell]
    #[arg(long, value_name = "NAME", requires = "line")]
    pub(crate) program: Option<String>,
    /// As if it came through this front [default: cli]
    #[arg(long, value_enum, value_name = "FRONT")]
    pub(crate) front: Option<FrontName>,
    /// As if this client asked
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// As if it ran in this directory [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,
    /// Decide by this file, instead of the configuration in force
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// A command and its arguments
    #[arg(
        last = true,
        value_name = "ARGV",
        required_unless_present = "line",
        conflicts_with = "line"
    )]
    pub(crate) argv: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_the_command_is_the_commands() {
        let cli = Cli::try_parse_from(["termctl", "run", "--keep", "ls", "--json", "-l"]);
        let Ok(Cli {
            json,
            verb: Verb::Run(run),
            ..
        }) = cli
        else {
            panic!("{cli:?}");
        };
        assert!(!json && run.keep);
        assert_eq!(run.command, ["ls", "--json", "-l"]);
    }

    #[test]
    fn filters_and_verify_exclude_each_other() {
        assert!(Cli::try_parse_from(["termctl", "audit", "verify"]).is_ok());
        assert!(Cli::try_parse_from(["termctl", "audit", "-n", "5"]).is_ok());
        assert!(Cli::try_parse_from(["termctl", "audit", "-n", "5", "verify"]).is_err());
    }
}
