//! What is done about a request.

use termd_proto::policy::Judgement;

use super::only_once::OnlyOnceReason;
use crate::inspect::cwd::PossibleCwd;
use crate::inspect::finding::DangerousCommand;
use crate::profile::Profile;

/// What is done about a request, by which rule, and what the command runs under.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What the request is, and what is done about it.
    pub judgement: Judgement,
    /// The line of the file at which the rule stands that decided the effect.
    pub rule_line: Option<usize>,
    /// Why the effect is what it is, in one line.
    pub why: String,
    /// What the command is to run under.
    pub profile: Profile,
    /// The names of the profiles that rules gave. That of the client's kind is not among them.
    pub profiles_by_rule: Vec<String>,
    /// Why the command cannot be approved for always. `None`: it can.
    pub only_once: Option<OnlyOnceReason>,
    /// The directory in which the next text starts that the same shell reads.
    pub next_cwd: PossibleCwd,
    /// The first dangerous commands of the text.
    pub dangerous: Vec<DangerousCommand>,
}
