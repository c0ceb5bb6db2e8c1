//! What an audit record is about.

/// What an audit record is about. Its word is stored, hashed, and matched by `audit.list` and by
/// scripts, so it never changes; new ones are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditAction {
    /// A person answered a question of the gate, or no person did in time.
    ApprovalAnswer,
    /// The first person has begun to watch the questions of the gate, or the last one has ceased to.
    ApprovalWatch,
    /// Another process has appended records to the chain.
    AuditForged,
    /// Retention dropped the oldest records.
    AuditPruned,
    /// Records can be written again: what was refused, or done without a record, until then.
    AuditRecovered,
    /// A record could not be written because the disk is full.
    AuditRefused,
    /// A server has started.
    DaemonStart,
    /// What came of a use of a file.
    FileDone,
    /// A file is about to be read for a client.
    FileRead,
    /// A file is about to be written for a client.
    FileWrite,
    /// The disk is above its floor again.
    LimitLeft,
    /// A limit of a terminal or of the disk is reached.
    LimitReached,
    /// Output or commands are about to be searched.
    OutputSearch,
    /// Another config.toml or approved.toml is in force, or was refused.
    PolicyChanged,
    /// A person answered a question for a secret, or somebody else wanted to.
    SecretAnswer,
    /// A program of an agent's asked a person for a secret.
    SecretAsk,
    /// An agent's shell runs its command where it is, outside the daemon.
    ShellInPlace,
    /// A connection attached to a terminal.
    TerminalAttach,
    /// A terminal was closed.
    TerminalClose,
    /// A command runs without a part of its sandbox or limits.
    TerminalConfined,
    /// A terminal was requested.
    TerminalCreate,
    /// What a closed terminal had printed was deleted.
    TerminalDelete,
    /// A connection detached from a terminal.
    TerminalDetach,
    /// A command has ended, or did not start after all.
    TerminalExit,
    /// A recording that was made elsewhere became a closed terminal.
    TerminalImport,
    /// A connection typed into a terminal for the first time, or typed a line that is not safe.
    TerminalInput,
    /// Control keys were typed while what is typed could not be recorded.
    TerminalInterrupt,
    /// A command and all that it started was ended.
    TerminalKill,
    /// ACP released a terminal.
    TerminalRelease,
    /// A terminal was given another label.
    TerminalRename,
    /// A signal was sent.
    TerminalSignal,
    /// A terminal's tags were changed.
    TerminalTag,
    /// How much was typed, summed over a second.
    TerminalTyped,
    /// An agent wants to use a terminal that it has not opened, or one without its front's profile.
    TerminalUse,
    /// A word for tests of filters, which termd never writes.
    #[cfg(test)]
    Other(&'static str),
}

impl AuditAction {
    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApprovalAnswer => "approval.answer",
            Self::ApprovalWatch => "approval.watch",
            Self::AuditForged => "audit.forged",
            Self::AuditPruned => "audit.pruned",
            Self::AuditRecovered => "audit.recovered",
            Self::AuditRefused => "audit.refused",
            Self::DaemonStart => "daemon.start",
            Self::FileDone => "file.done",
            Self::FileRead => "file.read",
            Self::FileWrite => "file.write",
            Self::LimitLeft => "limit.left",
            Self::LimitReached => "limit.reached",
            Self::OutputSearch => "output.search",
            Self::PolicyChanged => "policy.changed",
            Self::SecretAnswer => "secret.answer",
            Self::SecretAsk => "secret.ask",
            Self::ShellInPlace => "shell.in_place",
            Self::TerminalAttach => "terminal.attach",
            Self::TerminalClose => "terminal.close",
            Self::TerminalConfined => "terminal.confined",
            Self::TerminalCreate => "terminal.create",
            Self::TerminalDelete => "terminal.delete",
            Self::TerminalDetach => "terminal.detach",
            Self::TerminalExit => "terminal.exit",
            Self::TerminalImport => "terminal.import",
            Self::TerminalInput => "terminal.input",
            Self::TerminalInterrupt => "terminal.interrupt",
            Self::TerminalKill => "terminal.kill",
            Self::TerminalRelease => "terminal.release",
            Self::TerminalRename => "terminal.rename",
            Self::TerminalSignal => "terminal.signal",
            Self::TerminalTag => "terminal.tag",
            Self::TerminalTyped => "terminal.typed",
            Self::TerminalUse => "terminal.use",
            #[cfg(test)]
            Self::Other(word) => word,
        }
    }

    /// What becomes of the action where its record cannot be written.
    pub(crate) fn without_record(self) -> WithoutRecord {
        match self {
            Self::TerminalExit | Self::TerminalTyped => WithoutRecord::Retried,
            Self::DaemonStart
            | Self::FileDone
            | Self::LimitLeft
            | Self::LimitReached
            | Self::TerminalClose
            | Self::TerminalConfined
            | Self::TerminalDetach
            | Self::TerminalInterrupt
            | Self::TerminalKill
            | Self::TerminalRelease
            | Self::TerminalSignal => WithoutRecord::Deferred,
            _ => WithoutRecord::Refused,
        }
    }
}

/// What becomes of an action whose record cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithoutRecord {
    /// It is not done: whatever begins something.
    Refused,
    /// It is over, and its author tries again until the record is written.
    Retried,
    /// It is done, and the store writes the record as soon as it can: whatever ends something.
    Deferred,
}

#[cfg(test)]
mod tests {
    use termd_proto::audit::ACTIONS;

    #[test]
    fn the_contract_names_each_action() {
        let words = include_str!("action.rs").lines().filter_map(|line| {
            let (_, word) = line.trim().strip_prefix("Self::")?.split_once(" => \"")?;
            word.strip_suffix("\",")
        });
        assert_eq!(words.collect::<Vec<_>>(), ACTIONS);
    }
}
