//! What feeding bytes brings about beside the screen: answers for the program, and facts for
//! whoever watches.

use termd_proto::screen::Progress;

/// Answers waiting for the PTY are bounded: a program that asks and never reads gets no more.
pub(crate) const MAX_REPLY_BYTES: usize = 64 << 10;
/// Events of one feed are bounded too; of more, the latest are left out.
pub(crate) const MAX_EVENTS: usize = 4_096;

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// BEL.
    Bell,
    /// OSC 0 or 2.
    Title(String),
    /// OSC 133;A, 633;A: a prompt begins.
    PromptStart,
    /// OSC 133;B, 633;B: what is typed follows.
    PromptEnd,
    /// OSC 633;E: the command line, and whether the nonce that came with it is the one that was
    /// given to the shell.
    CommandLine {
        /// Unescaped.
        text: String,
        /// The nonce, as it came.
        nonce: Option<String>,
    },
    /// OSC 133;C, 633;C: the command's output follows.
    OutputStart,
    /// OSC 133;D, 633;D: the command has ended, with this exit code where it was said.
    CommandFinished {
        /// Its exit code.
        exit: Option<i32>,
    },
    /// OSC 7, 9;9, 633;P;Cwd=, 1337;CurrentDir=: a path.
    Cwd(String),
    /// OSC 9;4; `None`: removed.
    Progress(Option<Progress>),
    /// The alternate screen was entered (true) or left.
    AlternateScreen(bool),
    /// The program asks for the window to be resized (XTWINOPS 8, DECCOLM): it is not done here.
    ResizeRequest {
        /// Rows, 0: as they are.
        rows: u16,
        /// Columns, 0: as they are.
        cols: u16,
    },
}

/// What one [`feed`](crate::Model::feed) brought about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fed {
    /// To be written to the PTY at once, in order.
    pub replies: Vec<u8>,
    /// Facts, each with the offset after the bytes that made it.
    pub events: Vec<(u64, Event)>,
}

impl Fed {
    /// Adds an answer; beyond `MAX_REPLY_BYTES` it is left out, whole.
    pub fn reply(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() <= MAX_REPLY_BYTES {
            self.replies.extend_from_slice(bytes);
        }
    }

    /// Adds a fact.
    pub fn event(&mut self, offset: u64, event: Event) {
        if self.events.len() < MAX_EVENTS {
            self.events.push((offset, event));
        }
    }
}
