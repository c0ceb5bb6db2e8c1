//! `termctl replay`: plays a terminal on the tty, live or long closed, drawn by termd's own model.
//!
//! - [`player`]: the state, and what each key does; with it [`timeline`], [`clock`], [`page`],
//!   [`event_queue`], [`commands`], and for a search [`pattern_prompt`], [`search`], [`find`].
//! - [`stage`]: the model that the output is fed to.
//! - [`frame`] and [`bar`]: what the tty shows.
//! - [`source`]: what is read of the daemon.
//!
//! **Invariant:** the tty gets cells and nothing else of a recording (docs/decisions/0147).

mod bar;
mod clock;
mod commands;
mod event_queue;
pub(super) mod find;
mod frame;
mod keys;
pub(super) mod page;
mod pattern_prompt;
mod playback;
mod player;
mod range;
mod search;
pub(super) mod source;
pub(super) mod stage;
mod timeline;

use std::num::NonZeroU8;
use std::pin::Pin;
use std::time::{Duration, Instant};

use jiff::Zoned;
use termd_client::gap_note;
use termd_proto::TerminalRef;
use termd_proto::command::ShowCommand;
use termd_proto::terminal::TerminalInfo;
use tokio::signal::unix::{Signal, SignalKind};

use self::frame::Frame;
use self::keys::KeyReader;
use self::playback::Playback;
use self::player::{Outcome, Player};
use self::range::Range;
use self::source::{Loaded, Source};
use self::stage::Stage;
use super::output_offset::{range_of, within};
use super::own_terminal::is_own;
use super::show::show;
use super::{Context, gaps};
use crate::arg_types::Size;
use crate::args::ReplayArgs;
use crate::attach::tty::{self, ChangedTty};
use crate::display::Display;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::input::{Stdin, read_stdin};
use crate::output::{self, Pump};
use crate::output_position::OutputPosition;
use crate::signals::{self, Signals};
use crate::usage_error::UsageError;

/// The shortest time between two frames: 60 a second.
const FRAME: Duration = Duration::from_millis(16);
/// How often the bar is drawn anew while only the position changes.
const BAR: Duration = Duration::from_millis(200);
/// How long a program's frame may be unfinished before it is shown as it is.
const UNFINISHED_FRAME: Duration = Duration::from_millis(200);
/// How long is slept where nothing changes by itself.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);
/// The size of a tty that does not say one.
const NO_SIZE: Size = Size { cols: 80, rows: 24 };
/// Rows of the bar.
const BAR_ROWS: u16 = 1;

/// Takes the tty's alternate screen, without autowrap: no cell reaches into the next row.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[m\x1b[2J";
/// Gives it back as it was.
const LEAVE: &[u8] = b"\x1b[m\x1b[?7h\x1b[?25h\x1b[?1049l";

pub(super) async fn run(context: Context, args: &ReplayArgs) -> Result<ExitCode, CliError> {
    let link = context.open().await?;
    let info = show(&link, &TerminalRef(args.terminal.clone())).await?;
    if !tty::is_interactive() {
        return Err(UsageError::ReplayNeedsTty.into());
    }
    if is_own(&info) {
        return Err(UsageError::OwnTerminal(info.id).into());
    }
    let id = TerminalRef::from(&info.id);
    let source = Source {
        link: &link,
        id: &id,
    };
    let player = prepare(source, &info, args).await?;
    let ended = play(source, player, context.display).await?;
    Ok(match ended {
        Ended::Quit => ExitCode::OK,
        Ended::Signalled(number) => ExitCode::of_signal(number),
    })
}

/// A replay at its beginning.
async fn prepare(
    source: Source<'_>,
    info: &TerminalInfo,
    args: &ReplayArgs,
) -> Result<Player, CliError> {
    let range = range(source, info, args).await?;
    let idle_ms = u64::try_from(args.idle.as_millis()).unwrap_or(u64::MAX);
    let timeline = source.timeline(range, idle_ms).await?;
    let commands = source.commands().await?;
    let stage = Stage::new(info.stdio, info.cols, info.rows);
    let now = Instant::now();
    let mut playback = Playback::new((range, timeline), &commands, (stage, args.speed.0), now);
    match args.at {
        None => {}
        Some(OutputPosition::Offset(at)) => {
            let played = (range.start, range.end.unwrap_or(info.end));
            playback.seek_offset(within(("--at", at), played)?);
        }
        Some(at) => {
            if let Some(at_ms) = at.at_ms(info, &Zoned::now()) {
                if at_ms < info.created_at_ms {
                    return Err(UsageError::BeforeStart.into());
                }
                playback.seek_clock(at_ms, now);
            }
        }
    }
    let mut player = Player::new(playback);
    if let Some(gap) = gaps::beginning(info) {
        player.say(&gap_note(gap), now);
    }
    Ok(player)
}

/// The output that is asked for.
async fn range(
    source: Source<'_>,
    info: &TerminalInfo,
    args: &ReplayArgs,
) -> Result<Range, CliError> {
    let mut range = Range {
        kept_from: info.start,
        start: info.start,
        end: None,
    };
    if let Some(number) = args.command {
        let id = source.id.clone();
        let command = source.link.repeat(&ShowCommand { id, number }).await?;
        range.start = command.start.max(info.start);
        range.end = command.end.map(|end| end.max(range.start));
        return Ok(range);
    }
    (range.start, range.end) = range_of(source.link, info, (args.from, args.to)).await?;
    Ok(range)
}

/// Why a replay is over.
enum Ended {
    Quit,
    Signalled(NonZeroU8),
}

/// Plays until the person quits, and leaves the tty as it was.
async fn play(source: Source<'_>, player: Player, display: Display) -> Result<Ended, CliError> {
    // In the background this stops the process, which a signal still ends then: none is caught yet.
    let raw_tty = ChangedTty::raw()?;
    // From here on nothing is awaited but beside keys and signals.
    let mut theatre = Theatre::new(player, display)?;
    let mut pump = Pump::start()?;
    pump.write(ENTER.to_vec()).await?;
    let ended = theatre.serve(source, &mut pump).await;
    if pump.finish_on_tty().await {
        output::print(LEAVE)?;
    }
    drop(raw_tty);
    ended
}

type Loading<'a> = Pin<Box<dyn Future<Output = Result<Loaded, CliError>> + 'a>>;

/// The person's side of a replay: keys, signals, and what the tty shows.
struct Theatre {
    player: Player,
    display: Display,
    keys: KeyReader,
    typed: Stdin,
    window: Signal,
    signals: Signals,
    /// What the tty shows; `None`: anything.
    shown: Option<Frame>,
    drawn_at: Instant,
    /// The screen has changed since.
    is_stale: bool,
}

impl Theatre {
    fn new(player: Player, display: Display) -> Result<Self, CliError> {
        Ok(Self {
            player,
            display,
            keys: KeyReader::default(),
            typed: read_stdin()?,
            window: signals::catch(SignalKind::window_change())?,
            signals: Signals::catch()?,
            shown: None,
            drawn_at: Instant::now(),
            is_stale: true,
        })
    }

    async fn serve(&mut self, source: Source<'_>, pump: &mut Pump) -> Result<Ended, CliError> {
        let mut loading: Option<Loading<'_>> = None;
        let mut loading_for = 0;
        loop {
            let now = Instant::now();
            self.is_stale |= self.player.tick(now);
            if loading_for != self.player.playback.jumps() {
                loading = None;
            }
            if loading.is_none()
                && let Some(need) = self.player.playback.need()
            {
                loading = Some(Box::pin(source.load(need)));
                loading_for = self.player.playback.jumps();
            }
            if self.is_due(now) && pump.has_room() {
                let bytes = self.draw(now);
                pump.write(bytes).await?;
            }
            let wake = self.wake(now);
            tokio::select! {
                chunk = self.typed.recv() => {
                    // The tty was hung up.
                    let Some(chunk) = chunk else { return Ok(Ended::Quit) };
                    let now = Instant::now();
                    for key in self.keys.read(&chunk) {
                        if self.player.press(key, now) == Outcome::Quit {
                            return Ok(Ended::Quit);
                        }
                    }
                    self.is_stale = true;
                }
                loaded = loaded(&mut loading) => {
                    loading = None;
                    match loaded? {
                        Loaded::Keyframe(keyframe, dump) => {
                            self.player.playback.take_keyframe(&keyframe, dump.as_deref());
                        }
                        Loaded::Commands(commands) => self.player.playback.take_commands(&commands),
                        Loaded::Page(page) => self.player.playback.take_page(page, Instant::now()),
                    }
                }
                _ = self.window.recv() => {
                    self.shown = None;
                    self.is_stale = true;
                }
                number = self.signals.next() => return Ok(Ended::Signalled(number)),
                () = tokio::time::sleep_until(wake.into()) => {}
            }
        }
    }

    /// Whether a frame is to be drawn now.
    fn is_due(&self, now: Instant) -> bool {
        self.next_frame().is_some_and(|due| due <= now)
    }

    /// When the next frame is to be drawn; `None`: nothing changes by itself.
    fn next_frame(&self) -> Option<Instant> {
        let is_unfinished = self.player.playback.stage().is_drawing() && self.shown.is_some();
        let pause = if self.is_stale && is_unfinished {
            UNFINISHED_FRAME
        } else if self.is_stale {
            FRAME
        } else if self.player.playback.is_moving() || self.player.playback.is_seeking() {
            BAR
        } else {
            return None;
        };
        Some(self.drawn_at + pause)
    }

    /// When something is to be done, as far as no key is pressed and nothing read.
    fn wake(&self, now: Instant) -> Instant {
        // A tty that takes no output is asked again after a frame.
        let frame = self.next_frame().map(|due| due.max(now + FRAME / 16));
        let wake = [frame, self.player.wake(now)].into_iter().flatten().min();
        wake.unwrap_or(now + LONGEST_SLEEP)
    }

    fn draw(&mut self, now: Instant) -> Vec<u8> {
        let size = tty::stdout_size().unwrap_or(NO_SIZE);
        let mut frame = Frame::blank(size);
        if self.player.playback.is_seeking()
            && let Some(shown) = &self.shown
            && shown.size() == size
        {
            // On the way nothing is shown.
            frame = shown.clone();
        } else {
            let screen = self.player.playback.stage().screen();
            frame.draw(&screen, BAR_ROWS, self.player.pattern());
        }
        let status = self.player.status(now);
        let clock = status.clock_ms.map(|ms| self.display.time(ms));
        bar::draw(&mut frame, &status, clock.as_deref());
        let bytes = frame.changes(self.shown.as_ref());
        self.shown = Some(frame);
        self.drawn_at = now;
        self.is_stale = false;
        bytes
    }
}

/// What is being read; never, where nothing is.
async fn loaded(loading: &mut Option<Loading<'_>>) -> Result<Loaded, CliError> {
    match loading {
        Some(loading) => loading.await,
        None => std::future::pending().await,
    }
}
