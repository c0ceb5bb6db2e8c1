//! The output's side of attach: the screen at once, and then what draws of the output as it comes.

use std::time::Duration;

use termd_client::{ClientError, Link, OutputReader};
use termd_proto::screen::{ReadScreen, Screen, ScreenFormat, ScreenResult};
use termd_proto::terminal::{ExitStatus, ReadFrom, TerminalState};
use termd_proto::{Offset, TerminalRef};
use tokio::signal::unix::Signal;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::cover::Cover;
use super::scrollback;
use crate::arg_types::Size;
use crate::attach::notice::{Notice, NoticeKind};
use crate::attach::tty;
use crate::attach::tty_filter::TtyFilter;
use crate::cmd::show::show;
use crate::error::CliError;
use crate::output::Pump;

/// The pause between two pictures of a screen that is not of the tty's size: 30 a second.
const PICTURE_PAUSE_MS: u64 = 33;
/// The pause between two checks whether the terminal still has the tty's size.
const SIZE_PAUSE: Duration = Duration::from_millis(250);
/// Bytes a page of live output; small, for latency.
const PAGE_BYTES: u64 = 64 * 1024;

/// Shows a terminal on a tty.
pub(super) struct Viewer<'a> {
    pub(super) link: &'a Link,
    pub(super) id: TerminalRef,
    pub(super) pump: &'a mut Pump,
    pub(super) filter: &'a mut TtyFilter,
    /// Whether the tty's alternate screen is taken. The picture of a command that has exited stays.
    pub(super) takes_screen: bool,
    pub(super) notices: watch::Receiver<Option<Notice>>,
    pub(super) cover: Cover,
    /// The tty's changes of size.
    pub(super) window: Signal,
    /// The title in the last picture.
    pub(super) title: String,
}

/// Why output is no longer passed on.
enum Passed {
    /// The command has ended.
    Ended(Option<ExitStatus>),
    /// The tty has to be drawn anew: it or the terminal has another size, the program another screen, or a
    /// notice comes or goes.
    Stale,
}

impl Viewer<'_> {
    /// Draws the screen, and then passes on the output, until the command has ended. A tty of another
    /// size cannot show the output itself, so it gets a picture after each change.
    pub(super) async fn show_output(mut self) -> Result<Option<ExitStatus>, CliError> {
        if self.takes_screen {
            let filter = &mut *self.filter;
            self.pump
                .write_made(|| filter.enter_alternate_screen())
                .await?;
        }
        let (mut seen, mut shown) = (None, None);
        loop {
            if self.cover.is_requested() {
                self.leave_tty().await?;
                (seen, shown) = (None, None);
            }
            let notice = self.notices.borrow_and_update().clone();
            let notice = notice.filter(|notice| notice.until > Instant::now());
            let view = tty::stdout_size();
            let showing = notice.clone().zip(view);
            if let Some((notice, view)) = &showing
                && shown != showing
            {
                // Over the picture before it: the daemon may not have another one now.
                self.write_filtered(&notice.bytes(*view)).await?;
            }
            shown = showing;
            if notice
                .as_ref()
                .is_some_and(|notice| notice.kind == NoticeKind::Asks)
            {
                change(
                    &mut self.notices,
                    notice.as_ref(),
                    &self.cover,
                    &mut self.window,
                )
                .await;
                seen = None;
                continue;
            }
            let drawn = tokio::select! {
                drawn = redraw(self.link, &self.id, view, seen) => drawn?,
                () = change(&mut self.notices, notice.as_ref(), &self.cover, &mut self.window) => {
                    seen = None;
                    continue;
                }
            };
            let screen = self.draw(drawn, view, notice.as_ref()).await?;
            seen = Some(screen.seq);
            if has_tty_size(screen.cols, screen.rows) {
                match self.pass_on(screen.end, notice.as_ref()).await? {
                    Passed::Ended(status) => return Ok(status),
                    Passed::Stale => seen = None,
                }
            } else {
                let info = show(self.link, &self.id).await?;
                if info.state != TerminalState::Running && info.end <= screen.end {
                    return Ok(info.exit_status);
                }
            }
        }
    }

    /// Leaves the tty to another picture until that is gone.
    async fn leave_tty(&mut self) -> Result<(), CliError> {
        let filter = &mut *self.filter;
        self.pump
            .write_made(|| [filter.pause(), filter.feed(scrollback::ENTER)].concat())
            .await?;
        self.cover.give();
        self.cover.removed().await;
        self.write_filtered(scrollback::LEAVE).await
    }

    async fn draw(
        &mut self,
        mut drawn: ScreenResult,
        view: Option<Size>,
        notice: Option<&Notice>,
    ) -> Result<Screen, CliError> {
        let mut picture = drawn.rendering.take().unwrap_or_default().into_bytes();
        // A title that was set before is shown, too. Without one the person's own stays.
        let title = &drawn.screen.title;
        if self.takes_screen && *title != self.title {
            picture.extend(format!("\x1b]2;{title}\x1b\\").bytes());
            self.title.clone_from(title);
        }
        if let (Some(notice), Some(view)) = (notice, view) {
            picture.extend(notice.bytes(view));
        }
        self.write_filtered(&picture).await?;
        // The picture is of the screen that the program is on.
        self.filter.take_switched_screen();
        Ok(drawn.screen)
    }

    async fn write_filtered(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        let filter = &mut *self.filter;
        self.pump.write_made(|| filter.feed(bytes)).await
    }

    /// Passes on what draws of the output from here, as long as the tty shows the terminal's screen.
    async fn pass_on(&mut self, from: Offset, notice: Option<&Notice>) -> Result<Passed, CliError> {
        tokio::select! {
            passed = pass_on_pages(self.link, &self.id, from, self.pump, self.filter) => passed,
            resized = other_size(self.link, &self.id) => resized.map(|()| Passed::Stale),
            () = change(&mut self.notices, notice, &self.cover, &mut self.window) => Ok(Passed::Stale),
        }
    }
}

/// Waits until something else is to be shown: another picture, another notice, or none, since this one's time
/// is over. A tty of another size shows what it had as it likes.
async fn change(
    notices: &mut watch::Receiver<Option<Notice>>,
    shown: Option<&Notice>,
    cover: &Cover,
    window: &mut Signal,
) {
    tokio::select! {
        () = notice_change(notices, shown) => {}
        () = cover.requested() => {}
        Some(()) = window.recv() => {}
    }
}

/// Waits until another notice comes, or this one's time is over.
async fn notice_change(notices: &mut watch::Receiver<Option<Notice>>, shown: Option<&Notice>) {
    let over = async {
        match shown {
            Some(notice) => sleep_until(notice.until).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        changed = notices.changed() => if changed.is_err() { std::future::pending().await },
        () = over => {}
    }
}

/// Whether the terminal has the tty's size. A tty without a size counts as having the same.
fn has_tty_size(cols: u16, rows: u16) -> bool {
    tty::stdout_size().is_none_or(|size| (size.cols, size.rows) == (cols, rows))
}

/// Passes on what draws of the output until the command has ended, or the program switches to its
/// other screen. The terminal has answered the program's queries, and the tty's answers would be
/// typed into the program as well.
async fn pass_on_pages(
    link: &Link,
    id: &TerminalRef,
    from: Offset,
    pump: &mut Pump,
    filter: &mut TtyFilter,
) -> Result<Passed, CliError> {
    let mut reader = OutputReader::new(link, id.clone(), ReadFrom::Offset(from));
    loop {
        let page = reader.follow(PAGE_BYTES).await?;
        pump.write_made(|| filter.feed(&page.bytes)).await?;
        if page.is_last() {
            return Ok(Passed::Ended(page.exit_status));
        }
        if filter.take_switched_screen() {
            return Ok(Passed::Stale);
        }
    }
}

/// Waits until the terminal runs in another size than the tty's.
async fn other_size(link: &Link, id: &TerminalRef) -> Result<(), CliError> {
    // One mismatch may be the moment between the tty's new size and the terminal's.
    let mut was_other = false;
    let mut looks = interval_at(Instant::now() + SIZE_PAUSE, SIZE_PAUSE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        let info = show(link, id).await?;
        let is_other = !has_tty_size(info.cols, info.rows);
        if is_other && was_other && info.state == TerminalState::Running {
            return Ok(());
        }
        was_other = is_other;
    }
}

/// What makes a tty of this size show the screen. With `changed_after`, waits for a later screen that
/// has settled.
async fn redraw(
    link: &Link,
    id: &TerminalRef,
    view: Option<Size>,
    changed_after: Option<u64>,
) -> Result<ScreenResult, ClientError> {
    let request = ReadScreen {
        format: Some(ScreenFormat::Attach),
        changed_after,
        settle_ms: changed_after.map(|_| PICTURE_PAUSE_MS),
        view_cols: view.map(|view| view.cols),
        view_rows: view.map(|view| view.rows),
        ..ReadScreen::of(id.clone())
    };
    link.repeat(&request).await
}
