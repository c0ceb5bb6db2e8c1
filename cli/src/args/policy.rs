//! The arguments of `policy`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    /// The shell that an agent calls
    Shell,
}

impl From<FrontName> for termd_proto::terminal::Front {
    fn from(name: FrontName) -> Self {
        match name {
            FrontName::Acp => Self::Acp,
            FrontName::Mcp => Self::Mcp,
            FrontName::Cli => Self::Cli,
            FrontName::Shell => Self::Shell,
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
