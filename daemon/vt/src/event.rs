//! What feeding bytes brings about beside the screen: replies for the program, and events.

use termd_proto::screen::Progress;

/// The most reply bytes of one feed. A program that asks without end gets no more replies.
pub(crate) const MAX_REPLY_BYTES: usize = 64 << 10;
/// The most events of one feed; later ones are dropped.
pub(crate) const MAX_EVENTS: usize = 4_096;

/// Something that a program did and that no screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// BEL.
    Bell,
    /// OSC 0 or 2: the window's title, when it changes.
    Title(String),
    /// OSC 133;A, 633;A: a prompt begins.
    PromptStart,
    /// OSC 133;B, 633;B: the prompt ends, and the command line follows.
    PromptEnd,
    /// OSC 133;P;k=s: a further prompt, as the command line is not complete.
    Continuation,
    /// OSC 633;E: the command line.
    CommandLine {
        /// The command line, unescaped.
        text: String,
        /// The nonce that came with it. The caller decides whether it is the one that it gave to
        /// the shell.
        nonce: Option<String>,
    },
    /// OSC 133;C, 633;C, or the line feed that ends a command line after 133;I: the command's output
    /// follows.
    OutputStart,
    /// OSC 133;D, 633;D: the command has ended.
    CommandFinished {
        /// The command's exit code, if the shell gave it.
        exit: Option<i32>,
    },
    /// OSC 7, 9;9, 633;P;Cwd=, 1337;CurrentDir=: the shell's directory, when it changes.
    Cwd(String),
    /// OSC 9;4: the progress, when it changes; `None` when it is removed.
    Progress(Option<Progress>),
    /// OSC 9 with a text, 777, 99: a notification, without control characters.
    Notification(String),
    /// Whether the alternate screen is shown, when it changes.
    AlternateScreen(bool),
    /// XTWINOPS 8, DECCOLM: the program asks for another size. The model does not take it by
    /// itself, except for DECCOLM's width.
    ResizeRequest {
        /// Rows; 0 for as many as there are.
        rows: u16,
        /// Columns; 0 for as many as there are.
        cols: u16,
    },
}

/// What one [`feed`](crate::Model::feed) or [`resize`](crate::Model::resize) brought about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fed {
    /// Replies to the program, in order. Write them to the PTY at once.
    pub replies: Vec<u8>,
    /// Events, each with the offset in the output after the bytes that made it.
    pub events: Vec<(u64, Event)>,
}

impl Fed {
    /// Adds a reply. One that does not fit [`MAX_REPLY_BYTES`] is left out whole.
    pub(crate) fn reply(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() <= MAX_REPLY_BYTES {
            self.replies.extend_from_slice(bytes);
        }
    }

    pub(crate) fn event(&mut self, offset: u64, event: Event) {
        if self.events.len() < MAX_EVENTS {
            self.events.push((offset, event));
        }
    }
}
