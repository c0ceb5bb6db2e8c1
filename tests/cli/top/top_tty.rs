//! A person's tty with `termctl top` on it, and what the person sees there.

use std::process::{Child, Command};
use std::time::Duration;

use termd_test_support::{DEADLINE, Deadline, Home, Process, Pty};
use termd_vt::{Model, Scrollback, Size};

use crate::termctl::command;

/// The tty.
pub(super) struct TopTty {
    pty: Pty,
    top: Child,
    modes: String,
    seen: Model,
    rows: usize,
    /// All that termctl has written.
    pub(super) written: String,
}

impl TopTty {
    /// `termctl` with these arguments.
    pub(super) fn new(home: &Home, size: (u16, u16), args: &[&str]) -> Self {
        Self::of(&command(home, args), size)
    }

    /// A program that starts `termctl`.
    pub(super) fn of(program: &Command, (cols, rows): (u16, u16)) -> Self {
        let pty = Pty::open(cols, rows);
        let modes = pty.modes();
        let top = pty.spawn(program);
        let size = Size {
            cols: cols.into(),
            rows: rows.into(),
        };
        Self {
            pty,
            top,
            modes,
            seen: Model::new(size, Scrollback::new(100, 1 << 20)),
            rows: rows.into(),
            written: String::new(),
        }
    }

    pub(super) fn pid(&self) -> i32 {
        self.top.id().try_into().unwrap()
    }

    pub(super) fn process(&self) -> Process {
        Process::expect(self.top.id().into())
    }

    pub(super) fn text(&self) -> String {
        let rows = (0..self.rows).map(|y| self.seen.row_text(y) + "\n");
        rows.collect()
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub(super) fn wait_for(&mut self, what: &str, is_shown: impl Fn(&str) -> bool) -> String {
        let deadline = Deadline::after(DEADLINE);
        loop {
            self.look();
            let text = self.text();
            if is_shown(&text) {
                return text;
            }
            assert!(!deadline.passed(), "{what}:\n{text}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits for this text.
    #[track_caller]
    pub(super) fn wait_for_text(&mut self, text: &str) -> String {
        self.wait_for(text, |shown| shown.contains(text))
    }

    pub(super) fn look(&mut self) {
        let written = self.pty.read_now();
        self.seen.feed(written.as_bytes());
        self.written.push_str(&written);
    }

    pub(super) fn press(&mut self, keys: &str) {
        self.pty.write(keys);
    }

    /// Presses keys until this text is there: a question takes no key before it could be read.
    #[track_caller]
    pub(super) fn press_until(&mut self, keys: &str, text: &str) {
        let deadline = Deadline::after(DEADLINE);
        while !self.text().contains(text) {
            assert!(!deadline.passed(), "{text}:\n{}", self.text());
            self.press(keys);
            for _ in 0..20 {
                self.look();
                std::thread::park_timeout(Duration::from_millis(20));
            }
        }
    }

    pub(super) fn resize(&mut self, cols: u16, rows: u16) {
        self.pty.resize(cols, rows);
        let size = Size {
            cols: cols.into(),
            rows: rows.into(),
        };
        self.seen.resize(size);
        self.rows = rows.into();
    }

    /// The tty's modes are those of before.
    pub(super) fn is_restored(&self) -> bool {
        self.pty.modes() == self.modes
    }

    /// Waits for the end, which must give back the tty: the exit code.
    #[track_caller]
    pub(super) fn wait_restored(mut self) -> Option<i32> {
        let status = self.pty.wait(&mut self.top);
        self.look();
        assert!(self.is_restored());
        assert!(!self.seen.is_alternate() && !self.seen.hides_cursor());
        let modes = self.seen.modes();
        assert!(modes.autowrap && !modes.bracketed_paste, "{modes:?}");
        assert_eq!(modes.mouse, termd_proto::screen::MouseMode::Off);
        status.code()
    }
}
