//! What may stand on the command line, and the help that says so. No logic: man pages and
//! completions are made from this too.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

mod acp;
mod approvals;
mod attach;
mod attention;
mod audit;
mod codex;
mod daemon;
mod ending;
mod exec;
mod help;
mod history;
mod hook;
mod policy;
mod reading;
mod replay;
mod run;
mod screen;
mod search;
mod send;
mod setup;
mod suggestions;
mod tag;
mod top;
mod words;

pub(crate) use acp::{AcpAgentArgs, AcpArgs};
pub(crate) use approvals::{AnswerArgs, ApprovalsArgs, ApproveArgs, AskpassArgs, DenyArgs};
pub(crate) use attach::{AttachArgs, AttachSizeArgs, DetachKeysArgs};
pub(crate) use attention::{NotifierArgs, NotifyArgs, StatusArgs};
pub(crate) use audit::{
    AuditArgs, AuditExportArgs, AuditVerb, AuditVerifyArgs, FilterArgs, FrontArg, VerdictArg,
};
pub(crate) use codex::CodexExecServerArgs;
pub(crate) use daemon::{DaemonArgs, DaemonEndArgs, DaemonVerb};
pub(crate) use ending::{CloseArgs, DeleteArgs, KillArgs};
pub(crate) use exec::ExecArgs;
pub(crate) use history::HistoryArgs;
pub(crate) use hook::{HookAgentArg, HookArgs};
pub(crate) use policy::{PolicyArgs, PolicyCheckArgs, PolicyTestArgs, PolicyVerb};
pub(crate) use reading::name_top;
pub(crate) use replay::{ReplayArgs, Speed};
pub(crate) use run::{
    CreateArgs, LinesArgs, NewArgs, ReadArgs, RunArgs, StartArgs, StayArgs, StdioArgs,
};
pub(crate) use screen::{
    AnimationArgs, ExportArgs, ExportFormatArg, ImportArgs, ScreenArgs, ScreenFormatArg,
    ScreenshotArgs, ThemeArg,
};
pub(crate) use search::{PatternArgs, SearchArgs, SearchInArg};
pub(crate) use send::{InputPart, SendArgs};
pub(crate) use setup::SetupArgs;
pub(crate) use tag::{TagArgs, TaggedArgs};
pub(crate) use top::TopArgs;
pub(crate) use words::verb;

use termd_mcp::Toolset;
use termd_proto::duration;

use crate::arg_types::Size;
use crate::template::Template;

/// What the exit codes mean; docs/termctl.md has the same table.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    failed
  2    wrong usage
  3    no such terminal, command or question
  4    the daemon cannot be reached or started
  5    the journal has nothing to compare with (audit verify)
  124  a --timeout ran out (run, exec, wait, screen)
  125  run, exec and wait: termctl failed, or the daemon; whatever is not one of the others
  126  run: the command cannot be executed; run and exec: the gate refused it
  127  run: there is no such command
  141  standard output was closed
run, exec, wait and attach pass on the command's exit code, 128+n where signal n ended it. So run,
exec and wait have 125 in the place of 1 to 5.

TERMINAL is an id, a unique prefix of one (with or without term_), or a label.";

/// Terminals that outlive whoever opened them, shared by agents, scripts and people.
#[derive(Debug, Parser)]
#[command(name = "termctl", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What every verb knows
    #[command(flatten)]
    pub(crate) common: Common,
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// The options of every verb.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Print JSON, and errors as JSON on standard error
    #[arg(long, global = true, help_heading = OF_EVERY_VERB)]
    pub(crate) json: bool,
    /// Do not start the daemon where none is running
    #[arg(long, global = true, help_heading = OF_EVERY_VERB)]
    pub(crate) no_start: bool,
    /// Show times in UTC [default: the local time]
    #[arg(long, global = true, help_heading = OF_EVERY_VERB)]
    pub(crate) utc: bool,
    /// Colours in tables and of `read`; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto",
          hide_possible_values = true, help_heading = OF_EVERY_VERB)]
    pub(crate) color: ColorArg,
}

const OF_EVERY_VERB: &str = "Options of every verb";

/// The most lines of scrollback that a terminal may keep.
const MAX_SCROLLBACK: i64 = 100_000;

/// Whether tables and what `read` prints have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// In pipes and files too
    Always,
    /// Nowhere
    Never,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a command in a terminal of its own, as if it ran here, and pass on its exit code
    ///
    /// On a terminal the command is used from it. In a pipeline it is a filter: standard input is passed
    /// on, standard output and error stay apart and exact. What the command leaves behind (`server &`)
    /// ends with it, unless `--keep` is given.
    Run(RunArgs),
    /// Start a command in a new terminal and print its id
    Create(CreateArgs),
    /// Start a command in a new terminal and attach to it
    New(NewArgs),
    /// Print a terminal's output
    #[command(alias = "logs")]
    Read(ReadArgs),
    /// Print a terminal's screen: what a person would see now
    Screen(ScreenArgs),
    /// Take a picture of a terminal's screen
    Screenshot(ScreenshotArgs),
    /// Play what a terminal showed, when it showed it, live or long closed
    ///
    /// Space pauses, arrows and digits jump, + and - change the speed, brackets go to the command before and
    /// after, / searches in what was shown (n and N go on), ? lists the keys, q quits.
    Replay(ReplayArgs),
    /// Write a terminal's recording, for asciinema or as text, while it runs too
    Export(ExportArgs),
    /// Make a closed terminal of a recording, an asciicast of version 1, 2 or 3
    ///
    /// It can be read, shown and searched like one that ran here, and is marked as imported. A file with a
    /// fault imports nothing.
    Import(ImportArgs),
    /// Wait until terminals' commands have exited, or output matches; pass on the exit code
    Wait(WaitArgs),
    /// Type into a terminal
    Send(SendArgs),
    /// Run a line in a terminal's shell, stream its output, pass on its exit code
    Exec(ExecArgs),
    /// End a terminal's command and all that it started, or send it a signal
    Kill(KillArgs),
    /// End terminals and take them off the list; their records stay
    Close(CloseArgs),
    /// Close all terminals whose command has exited, as `close --exited` does
    Prune,
    /// Delete what a closed terminal has printed, for good
    Delete(DeleteArgs),
    /// List terminals
    #[command(aliases = ["ls", "ps"])]
    List(ListArgs),
    /// Show all that is known of a terminal
    #[command(alias = "inspect")]
    Show(ShowArgs),
    /// Use a terminal from this one
    #[command(alias = "a")]
    Attach(AttachArgs),
    /// Watch all terminals, answer what waits, and use one: what termctl opens without a verb
    ///
    /// Enter attaches, y, a and n answer the gate's questions, / filters, ? lists the keys, q quits.
    Top(TopArgs),
    /// Give a terminal another label
    Rename(RenameArgs),
    /// Give a terminal tags, words that group it with others, or take them away
    Tag(TagArgs),
    /// Set a terminal's size
    Resize(ResizeArgs),
    /// Serve the Model Context Protocol on standard input and output, for a coding agent
    Mcp(McpArgs),
    /// Start an ACP agent, and be its client's terminals: what an editor runs as its agent
    Acp(AcpArgs),
    /// Hold an ACP agent for `termctl acp`, which alone starts this
    #[command(hide = true)]
    AcpAgent(AcpAgentArgs),
    /// Run `codex exec-server` with termd's shell: what Codex's environments.toml starts
    CodexExecServer(CodexExecServerArgs),
    /// Say whether the daemon runs, and what it holds; never starts it
    Status(StatusArgs),
    /// Reload, stop or restart the daemon
    Daemon(DaemonArgs),
    /// Show what was run in terminals and in their shells, newest first
    History(HistoryArgs),
    /// Search what terminals have printed and what was run in them, newest first
    Search(Box<SearchArgs>),
    /// Show who did what, newest first
    Audit(Box<AuditArgs>),
    /// List what the gate wants a person to agree to
    Approvals(ApprovalsArgs),
    /// Show what needs a person as desktop notifications, until it is ended
    Notifier(NotifierArgs),
    /// Tell the person that a script or an agent waits for an answer, is done, or has failed
    Notify(NotifyArgs),
    /// Agree to what the gate asks about: it may run, once or always
    Approve(ApproveArgs),
    /// Say no to what the gate asks about, or to a question for a secret
    Deny(DenyArgs),
    /// Type the secret that a program of an agent's asks for
    Answer(AnswerArgs),
    /// Ask a person for a secret, as sudo, ssh and git run it in agents' commands, and print it
    Askpass(AskpassArgs),
    /// Ask the gate about a command, without running it
    Policy(PolicyArgs),
    /// Tell clients (Claude Code, VS Code, Codex, Zed and others) of `termctl mcp`, or make termd the shell
    /// that they run commands by
    Setup(SetupArgs),
    /// Answer an agent's hook with the gate's verdict about the command on standard input
    Hook(HookArgs),
    /// Try each agent's way to termd's shell, and say what works, what does not, and why
    Doctor,
    /// Print a shell's completions for termctl
    Completions(CompletionsArgs),
    /// Print termctl's man page, or write those of all verbs and termd's into a directory
    Man(ManArgs),
}

/// `termctl wait`.
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Which terminals
    #[arg(required_unless_present_any = ["attention", "tags"], conflicts_with = "tags")]
    pub(crate) terminals: Vec<String>,
    #[command(flatten)]
    pub(crate) tagged: TaggedArgs,
    /// Wait until they wait for a person (without TERMINAL: until one does), and print for what
    #[arg(long, conflicts_with = "pattern")]
    pub(crate) attention: bool,
    /// Wait for output that matches, from the first byte that is kept on, and print the line
    #[arg(long = "for", value_name = "REGEX")]
    pub(crate) pattern: Option<String>,
    /// Wait for the first of them that exits, matches, or waits for a person
    #[arg(long)]
    pub(crate) any: bool,
    /// Give up after this long, and exit with 124
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
}

/// `termctl list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) scope: ListScopeArgs,
    #[command(flatten)]
    pub(crate) tagged: TaggedArgs,
    /// Only their ids, one a line
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// A line of these words for each, such as '{id} {state}\t{command}'
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "quiet")]
    pub(crate) format: Option<Template>,
}

/// Which terminals are listed: those that are not closed, where nothing is given.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ListScopeArgs {
    /// Closed ones too
    #[arg(short = 'a', long)]
    pub(crate) all: bool,
    /// Only those whose command runs
    #[arg(long)]
    pub(crate) running: bool,
    /// Only those that wait for a person, the most urgent first
    #[arg(short = 'w', long)]
    pub(crate) waiting: bool,
}

/// `termctl show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Which terminal
    pub(crate) terminal: String,
}

/// `termctl rename`.
#[derive(Debug, Args)]
pub(crate) struct RenameArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// Its new label, unique among open terminals; '' takes its label away
    pub(crate) label: String,
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
    /// Five tools that do it all in few tokens, for clients without habits
    Lean,
}

impl From<ToolsetArg> for Toolset {
    fn from(argument: ToolsetArg) -> Self {
        match argument {
            ToolsetArg::Session => Self::TerminalMcp,
            ToolsetArg::Terminal => Self::SmartTerminal,
            ToolsetArg::Lean => Self::Lean,
        }
    }
}

/// `termctl mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Which sets of tools to offer [default: what `TERMCTL_MCP_TOOLS` says, else session]
    #[arg(long, value_name = "SETS", value_enum, value_delimiter = ',')]
    pub(crate) tools: Vec<ToolsetArg>,
}

/// `termctl completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// For which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// `termctl man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write termctl.1, termctl-run.1 and so on here, such as ~/.local/share/man/man1
    #[arg(value_name = "DIRECTORY")]
    pub(crate) directory: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::definition().debug_assert();
    }

    #[test]
    fn what_follows_the_command_is_the_commands() {
        let cli = Cli::try_parse_from(["termctl", "run", "--keep", "ls", "--json", "-l"]);
        let Ok(Cli {
            common: Common { json, .. },
            verb: Verb::Run(run),
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
