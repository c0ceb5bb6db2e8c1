//! What the overview hears of the daemon.

use termd_proto::TerminalId;
use termd_proto::approval::ApprovalList;
use termd_proto::event::TerminalEvent;
use termd_proto::screen::Screen;
use termd_proto::search::SearchHit;
use termd_proto::terminal::TerminalInfo;

use super::surroundings::Typist;

/// Something that the daemon has said, or that it says nothing.
#[derive(Debug)]
pub enum News {
    /// It is reached, and these are the terminals.
    Connected {
        terminals: Vec<TerminalInfo>,
        /// Whose keys the overview is given, as it sees it.
        typist: Typist,
    },
    /// It is not reached: why.
    Away(String),
    /// It is reached, and does not answer a call.
    Silent,
    /// It has answered that call.
    Answered,
    /// An event of a terminal.
    Event(TerminalEvent),
    /// What is known of a terminal.
    Shown(Box<TerminalInfo>),
    /// There is no such terminal.
    Missing(TerminalId),
    /// The questions.
    Questions(ApprovalList),
    /// What terminals show.
    Glances(Vec<GlanceWithBranch>),
    /// A screen, or the rows of it that have changed.
    Screen {
        id: TerminalId,
        screen: Box<Screen>,
        /// The first row that is shown.
        from_row: i64,
        rows: ScreenRowsKind,
    },
    /// What came of a call, in a line for the person.
    Said(String),
    /// A terminal was created: it is to be at hand, and attached to where it is a shell.
    Created {
        info: Box<TerminalInfo>,
        attach: bool,
    },
    /// What a search has found, and whether there is more.
    Found { hits: Vec<SearchHit>, is_cut: bool },
    /// What is to be copied, and the line for the person.
    Copied { text: String, said: String },
}

/// Which rows of a screen were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenRowsKind {
    /// All that can be shown.
    All,
    /// Those that have changed.
    Changed,
}

/// What a terminal shows, and the branch that its directory is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlanceWithBranch {
    /// The glance.
    pub glance: termd_proto::glance::Glance,
    /// The branch of git; absent: there is none.
    pub branch: Option<String>,
}
