//! A terminal's output in time as the pictures of an animation. Pure: times are arguments.

use termd_picture::Frame;
use termd_proto::screen::{Screen, ScreenRows, Style};
use termd_vt::{Model, Size};

/// The most pictures of an animation: a minute of constant change. Each costs about as much in the file as
/// the rows that it changes.
pub(super) const MAX_FRAMES: usize = 1_500;
/// The shortest time that a picture is shown, in milliseconds: 25 a second, as in the cinema.
const MIN_FRAME_MS: u64 = 40;
/// How long the last picture is shown before it begins anew, in milliseconds: long enough to be read.
const LAST_FRAME_MS: u16 = 3_000;
/// The longest that a picture is shown, in milliseconds: a PNG has 16 bits for it.
const MAX_FRAME_MS: u64 = 60_000;

/// More pictures than [`MAX_FRAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

/// Takes pictures of a model.
#[derive(Debug)]
pub(super) struct Film {
    model: Model,
    /// Pauses are no longer than this, in milliseconds.
    idle_ms: u64,
    speed: f64,
    /// Each with the time when it was to be seen first, in milliseconds of the animation.
    shots: Vec<(u64, Screen)>,
    /// When it was changed after the last one was taken.
    changed_at: Option<u64>,
    /// The time of the last event as it was recorded, and in the animation.
    recorded_ms: Option<i64>,
    now_ms: u64,
}

impl Film {
    /// Begins with what the model shows.
    pub(super) fn new(model: Model, idle_ms: u64, speed: f64) -> Self {
        Self {
            model,
            idle_ms: idle_ms.min(MAX_FRAME_MS),
            speed,
            shots: Vec::new(),
            changed_at: Some(0),
            recorded_ms: None,
            now_ms: 0,
        }
    }

    /// Something was printed, or the size was changed.
    pub(super) fn change(
        &mut self,
        at_ms: i64,
        change: impl FnOnce(&mut Model),
    ) -> Result<(), TooMany> {
        self.go_on_to(at_ms);
        let is_due = |since: u64| self.now_ms >= since.saturating_add(MIN_FRAME_MS);
        if self.changed_at.is_some_and(is_due) && !self.model.is_drawing() {
            self.shoot()?;
        }
        change(&mut self.model);
        self.changed_at.get_or_insert(self.now_ms);
        Ok(())
    }

    /// The pictures with how long each is shown. Empty ones at the beginning and at the end are left out: the
    /// first is what a viewer without animations shows, and the last stands longest.
    pub(super) fn finish(mut self) -> Result<Vec<Frame>, TooMany> {
        self.shoot()?;
        let is_drawn = |(_, screen): &(u64, Screen)| !is_empty(screen);
        if let Some(last) = self.shots.iter().rposition(is_drawn) {
            self.shots.truncate(last + 1);
            let first = self.shots.iter().position(is_drawn);
            self.shots.drain(..first.unwrap_or_default());
        }
        let starts = self.shots.iter().skip(1).map(|(start, _)| *start);
        let ends: Vec<_> = starts.map(Some).chain([None]).collect();
        let frames = self.shots.into_iter().zip(ends);
        Ok(frames
            .map(|((start, screen), end)| Frame {
                screen,
                shown_ms: end.map_or(LAST_FRAME_MS, |end| {
                    let shown = end.saturating_sub(start).clamp(MIN_FRAME_MS, MAX_FRAME_MS);
                    u16::try_from(shown).unwrap_or(u16::MAX)
                }),
            })
            .collect())
    }

    fn go_on_to(&mut self, at_ms: i64) {
        let pause = at_ms.saturating_sub(self.recorded_ms.unwrap_or(at_ms));
        self.recorded_ms = Some(at_ms);
        let pause = u64::try_from(pause).unwrap_or(0).min(self.idle_ms);
        // It is a minute at the most, and a speed is 0.1 at the least.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let pause = (pause as f64 / self.speed).round() as u64;
        self.now_ms += pause;
    }

    /// Takes a picture, unless it would be the same again.
    fn shoot(&mut self) -> Result<(), TooMany> {
        let Some(changed_at) = self.changed_at.take() else {
            return Ok(());
        };
        let screen = self.model.screen(ScreenRows::default());
        if let Some((_, last)) = self.shots.last()
            && looks_alike(last, &screen)
        {
            return Ok(());
        }
        if self.shots.len() >= MAX_FRAMES {
            return Err(TooMany);
        }
        self.shots.push((changed_at, screen));
        Ok(())
    }
}

/// Whether nothing is drawn on a screen but its cursor.
fn is_empty(screen: &Screen) -> bool {
    let mut runs = screen.lines.iter().flat_map(|line| &line.runs);
    runs.all(|run| run.style == Style::default() && run.text.trim().is_empty())
}

fn looks_alike(one: &Screen, other: &Screen) -> bool {
    let rows = |screen: &Screen| (screen.cols, screen.lines.len(), screen.modes.reverse_video);
    let mut pairs = one.lines.iter().zip(&other.lines);
    rows(one) == rows(other)
        && one.cursor == other.cursor
        && pairs.all(|(one, other)| (one.size, &one.runs) == (other.size, &other.runs))
}

/// A size for the model.
pub(super) fn size(cols: u16, rows: u16) -> Size {
    Size {
        cols: cols.into(),
        rows: rows.into(),
    }
}

#[cfg(test)]
mod tests {
    use termd_vt::Scrollback;

    use super::*;

    fn film(idle_ms: u64, speed: f64) -> Film {
        Film::new(
            Model::new(size(20, 2), Scrollback::new(0, 0)),
            idle_ms,
            speed,
        )
    }

    fn print(film: &mut Film, at_ms: i64, text: &str) -> Result<(), TooMany> {
        film.change(at_ms, |model| drop(model.feed(text.as_bytes())))
    }

    fn shown(frames: &[Frame]) -> Vec<(u16, String)> {
        let text = |frame: &Frame| {
            let runs = frame.screen.lines[0].runs.iter();
            runs.map(|run| run.text.as_str()).collect()
        };
        frames
            .iter()
            .map(|frame| (frame.shown_ms, text(frame)))
            .collect()
    }

    #[test]
    fn what_comes_together_is_one_picture_and_pauses_are_cut() {
        let mut film = film(2_000, 1.0);
        for (at_ms, text) in [
            (5_000, "a"),
            (5_010, "b"),
            (5_030, "c"),
            (5_500, "d"),
            (95_000, "e"),
        ] {
            print(&mut film, at_ms, text).unwrap();
        }
        let frames = film.finish().unwrap();
        let want = [(500, "abc"), (2_000, "abcd"), (3_000, "abcde")];
        let want = want.map(|(ms, text)| (ms, text.to_owned()));
        assert_eq!(shown(&frames), want);
    }

    #[test]
    fn it_begins_and_ends_with_a_picture_that_shows_something() {
        let mut film = film(10_000, 1.0);
        for (at_ms, text) in [
            (0, "\x1b[?1049h\x1b[H"),
            (1_000, "htop"),
            (2_000, "\x1b[2J"),
            (3_000, "\x1b[Htop"),
            (4_000, "\x1b[2J"),
            (5_000, "\x1b[?1049l"),
        ] {
            print(&mut film, at_ms, text).unwrap();
        }
        let want = [(1_000, "htop"), (1_000, ""), (3_000, "top")];
        let want = want.map(|(ms, text)| (ms, text.to_owned()));
        assert_eq!(shown(&film.finish().unwrap()), want);
        let nothing = super::tests::film(10_000, 1.0).finish().unwrap();
        assert_eq!(shown(&nothing), [(3_000, String::new())]);
    }

    #[test]
    fn a_speed_shortens_all_and_what_changes_nothing_is_no_picture() {
        let mut film = film(10_000, 2.0);
        for (at_ms, text) in [(0, "a"), (1_000, "\x1b[m"), (2_000, "b")] {
            print(&mut film, at_ms, text).unwrap();
        }
        let frames = film.finish().unwrap();
        assert_eq!(
            shown(&frames),
            [(1_000, "a".to_owned()), (3_000, "ab".to_owned())]
        );
    }

    #[test]
    fn pictures_are_bounded() {
        let mut film = film(10_000, 1.0);
        let lines = (0..2_000).map(|line| print(&mut film, line * 100, &format!("{line}\r\n")));
        assert_eq!(lines.into_iter().find(Result::is_err), Some(Err(TooMany)));
    }
}
