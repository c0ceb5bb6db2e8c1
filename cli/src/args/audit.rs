//! `termctl audit`: its arguments.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::arg_types::action;
use crate::moment::Moment;

/// `termctl audit`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AuditArgs {
    /// Something other than listing.
    #[command(subcommand)]
    pub(crate) verb: Option<AuditVerb>,
    /// Which records.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// At most this many records; with --follow as many of the old ones
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: u32,
    /// Print the newest records, oldest first, and then each new one as it is written
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
}

/// Which records are wanted: those for which all of these hold.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only records of this terminal
    #[arg(long)]
    pub(crate) terminal: Option<String>,
    /// Only this action, or all that begin with it and a dot
    #[arg(long, value_parser = action)]
    pub(crate) action: Option<String>,
    /// Only what this client or ACP session did
    #[arg(long)]
    pub(crate) client: Option<String>,
    /// Only what came through this front
    #[arg(long, value_enum)]
    pub(crate) front: Option<FrontArg>,
    /// Only what is about this program: what was run, or typed into, by its base name
    #[arg(long, value_name = "NAME")]
    pub(crate) program: Option<String>,
    /// Only what the gate found so
    #[arg(long, value_enum)]
    pub(crate) verdict: Option<VerdictArg>,
    /// Only what went so, such as ok or refused
    #[arg(long, value_name = "WORD")]
    pub(crate) outcome: Option<String>,
    /// At this time or later, such as yesterday, 14:03 or 1h (an hour ago)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<Moment>,
    /// Before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<Moment>,
}

/// A front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FrontArg {
    /// An ACP agent
    Acp,
    /// An MCP client
    Mcp,
    /// The shell of an agent
    Shell,
    /// termctl, or a script on the socket
    Cli,
    /// termd itself
    Daemon,
}

/// What the gate found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictArg {
    /// Nothing dangerous
    Safe,
    /// What cannot be understood
    Unknown,
    /// Something that destroys, stops or gives away
    Dangerous,
}

/// `termctl audit VERB`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditVerb {
    /// Check that no record was changed or taken out; exits with 1 where one was
    Verify(AuditVerifyArgs),
    /// Print all records, oldest first: a JSON object a line, or CSV
    Export(AuditExportArgs),
}

/// `termctl audit verify`.
#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    /// Compare the chain with its heads in the journal as well: what was cut off or written anew is
    /// then missed. Exits with 5 where the journal has none
    #[arg(long)]
    pub(crate) journal: bool,
    /// The same with the heads in this file: lines as `journalctl -o json` prints them, of this
    /// machine's journal or of the one that it is sent to
    #[arg(long, value_name = "FILE", conflicts_with = "journal")]
    pub(crate) anchors: Option<PathBuf>,
    /// Only heads that were told at this time or later
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<Moment>,
}

/// `termctl audit export`.
#[derive(Debug, Args)]
pub(crate) struct AuditExportArgs {
    /// Which records.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// CSV (RFC 4180) with a header, for spreadsheets: cells that one would compute get a `'` before
    /// them, and control characters are written out
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}
