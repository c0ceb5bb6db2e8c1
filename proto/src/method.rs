//! Every method of the socket, one row each: its name, its params and its answer.
//!
//! Params are named: they are the members of a struct, which is all that a client fills in and all
//! that a handler gets.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::event::TerminalEvent;
use crate::{
    acp, approval, attention, audit, command, daemon, file, glance, import, interact, policy,
    recording, screen, search, secret, shell, terminal,
};

/// A method of the socket, named by its params.
pub trait Method: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// What it answers.
    type Answer: Serialize + DeserializeOwned + Send + 'static;
}

/// A method whose answer is the number of a subscription, which then sends notifications.
pub trait Subscribe: Method<Answer = u64> {
    /// The method that ends it: its one param is the number.
    const END: &'static str;
    /// The method of its notifications.
    const NOTIFICATION: &'static str;
    /// What each of them carries.
    type Item: Serialize + DeserializeOwned + Send + 'static;
}

/// Declares the table: for each params struct the method's name and answer.
macro_rules! methods {
    ($($name:literal $params:ty => $answer:ty;)*) => {
        $(impl Method for $params {
            const NAME: &'static str = $name;
            type Answer = $answer;
        })*

        /// The names of all methods.
        pub const NAMES: &[&str] = &[$($name),*];
    };
}

methods! {
    // ACP v1, to the letter.
    "terminal/create" acp::CreateTerminalRequest => acp::CreateTerminalResponse;
    "terminal/output" acp::TerminalOutputRequest => acp::TerminalOutputResponse;
    "terminal/wait_for_exit" acp::WaitForTerminalExitRequest => acp::WaitForTerminalExitResponse;
    "terminal/kill" acp::KillTerminalRequest => acp::EmptyResponse;
    "terminal/release" acp::ReleaseTerminalRequest => acp::EmptyResponse;

    // Terminals.
    "session.create" terminal::CreateTerminal => terminal::TerminalInfo;
    "session.hold" terminal::HoldTerminal => ();
    "session.list" terminal::ListTerminals => terminal::TerminalPage;
    "session.show" terminal::ShowTerminal => terminal::TerminalInfo;
    "session.read" terminal::ReadTerminal => terminal::ReadResult;
    "session.send" terminal::SendInput => terminal::SendResult;
    "session.rename" terminal::RenameTerminal => terminal::TerminalInfo;
    "session.tag" terminal::TagTerminal => terminal::TerminalInfo;
    "session.resize" terminal::ResizeTerminal => ();
    "session.kill" terminal::KillTerminal => terminal::WaitResult;
    "session.attach" terminal::AttachTerminal => ();
    "session.detach" terminal::DetachTerminal => ();
    "session.wait" terminal::WaitForExit => terminal::WaitResult;
    "session.close" terminal::CloseTerminal => terminal::WaitResult;
    "session.delete" terminal::DeleteTranscript => terminal::DeletedTranscript;
    "session.subscribe" terminal::SubscribeEvents => u64;
    "session.unsubscribe" terminal::UnsubscribeEvents => bool;

    // The shells of agents.
    "shell.in_place" shell::ReportInPlace => ();

    // Typing and waiting for what comes of it.
    "session.type" interact::TypeInput => terminal::SendResult;
    "session.wait_for" interact::WaitFor => interact::WaitForResult;
    "session.interact" interact::Interact => interact::WaitForResult;
    "session.activity" interact::GetActivity => interact::Activity;
    "session.screen" screen::ReadScreen => screen::ScreenResult;
    "session.glance" glance::GlanceAtTerminals => Vec<glance::Glance>;

    // Recordings.
    "session.timeline" recording::ReadTimeline => recording::Timeline;
    "session.keyframe" recording::ReadKeyframe => recording::Keyframe;

    // Recordings that were made elsewhere.
    "import.begin" import::BeginImport => import::ImportBegun;
    "import.add" import::AddToImport => ();
    "import.finish" import::FinishImport => terminal::TerminalInfo;

    // What was run.
    "command.list" command::ListCommands => command::CommandPage;
    "command.show" command::ShowCommand => command::CommandInfo;
    "command.read" command::ReadCommand => terminal::ReadResult;

    "output.search" search::SearchOutput => search::SearchPage;

    // Files, as a terminal's commands see them.
    "file.write" file::WriteFile => file::WrittenFile;
    "file.search" file::SearchFile => file::FoundFile;

    // The gate.
    "policy.check" policy::CheckPolicy => policy::Judgement;
    "policy.explain" policy::ExplainPolicy => Vec<policy::Explanation>;
    "approval.list" approval::ListApprovals => approval::ApprovalList;
    "approval.wait" approval::WaitForApproval => approval::ApprovalInfo;
    "approval.answer" approval::AnswerApproval => approval::ApprovalInfo;
    "attention.report" attention::ReportAttention => ();
    "secret.ask" secret::AskSecret => secret::AskedSecret;
    "secret.answer" secret::AnswerSecret => ();

    // The record.
    "audit.list" audit::ListAudit => audit::AuditPage;
    "audit.hashes" audit::ReadAuditHashes => audit::AuditHashes;
    "audit.verify" audit::VerifyAudit => audit::AuditVerdict;

    // The daemon itself.
    "daemon.hello" daemon::Hello => daemon::DaemonInfo;
    "daemon.info" daemon::GetDaemonInfo => daemon::DaemonInfo;
    "daemon.stats" daemon::GetDaemonStats => daemon::DaemonStats;
}

impl Subscribe for terminal::SubscribeEvents {
    const END: &'static str = <terminal::UnsubscribeEvents as Method>::NAME;
    const NOTIFICATION: &'static str = crate::event::EVENT_METHOD;
    type Item = TerminalEvent;
}
