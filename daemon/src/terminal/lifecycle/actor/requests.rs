//! What others ask of a terminal's task: to type, to resize, to say how its tty is.

use std::time::Instant;

use rustix::termios::SpecialCodeIndex;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::Stdio;

use super::{Actor, Phase};
use crate::terminal::handle::Command;
use crate::terminal::input::tty;
use crate::terminal::lifecycle::record::Size;

impl Actor {
    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Input(input) => {
                let left = match self.source.pty() {
                    Some(master) => self.keyboard.push(input, &self.terminal, master),
                    None => input.bytes.len(),
                };
                self.terminal.input_left(left);
                if !matches!(self.phase, Phase::Running) {
                    self.abandon_input();
                }
            }
            Command::Resize(size, done) => {
                self.resize(size);
                // Whoever asked may be gone.
                let _ = done.send(());
            }
            Command::LineDiscipline(answer) => {
                // Dropped where the tty cannot say, or the command has ended: nobody asks for a
                // password any more.
                if !matches!(self.phase, Phase::Storing)
                    && let Some(master) = self.source.pty()
                    && let Some(tty) = tty::line_discipline(master)
                {
                    let _ = answer.send(tty);
                }
            }
            Command::Foreground(answer) => {
                // Dropped where there is none, or nobody is left to be in it.
                if !matches!(self.phase, Phase::Storing)
                    && let Some(master) = self.source.pty()
                    && let Ok(group) = rustix::termios::tcgetpgrp(master)
                {
                    let _ = answer.send(group.as_raw_nonzero().get());
                }
            }
            Command::EndOfFileCharacter(answer) => {
                // 0 is _POSIX_VDISABLE: the tty has none. Then, too, the answer is dropped.
                if let Some(master) = self.source.pty()
                    && let Ok(termios) = rustix::termios::tcgetattr(master)
                    && let character @ 1.. = termios.special_codes[SpecialCodeIndex::VEOF]
                {
                    let _ = answer.send(character);
                }
            }
        }
    }

    fn resize(&mut self, size: Size) {
        let winsize = rustix::termios::Winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        if let Some(master) = self.source.pty() {
            // The kernel sends SIGWINCH if the size is another one. After the exit nobody is there.
            let _ = rustix::termios::tcsetwinsize(master, winsize);
        }
        self.reading.feed_all(self.keyboard.queue());
        let (store, fed) = (&self.around.store, self.reading.fed());
        let answer = self.checkpoints.resize(&self.terminal, store, fed, size);
        self.terminal
            .answer_queued(self.keyboard.queue().push_answer(answer));
        if self.source.stdio() == Stdio::Pipes {
            self.abandon_input();
        }
        let screen = self.screen_state(Instant::now());
        self.terminal.update(|progress| {
            progress.size = size;
            progress.screen = screen;
        });
        let id = self.terminal.id().clone();
        let event = TerminalEvent::Resized {
            id,
            cols: size.cols,
            rows: size.rows,
        };
        let _ = self.around.events.send(event);
    }
}
