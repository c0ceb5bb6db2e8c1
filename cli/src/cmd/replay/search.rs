//! A search through what a replay shows, piece by piece. Pure.
//!
//! Forward it goes on from what is shown. Backward it goes through windows of the output, the last first,
//! each of which is shown from a keyframe on, because a screen cannot be played backwards.

use regex::Regex;
use termd_proto::Offset;

use super::find::Finder;
use super::stage::Stage;

/// Where the next match is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// A search that is under way.
#[derive(Debug)]
pub(super) struct Search {
    pattern: Regex,
    pass: Pass,
    /// The play time at which it began. Without a match the replay goes back there.
    pub(super) origin_ms: u64,
}

#[derive(Debug)]
enum Pass {
    Forward(Box<Finder>),
    Backward {
        /// `None` until the window is shown from its start on.
        finder: Option<Box<Finder>>,
        /// Where the window begins and ends.
        window: (Offset, Offset),
        /// The last match in it.
        found: Option<Match>,
    },
}

/// A piece of output that brought a match onto the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: Offset,
    /// When the output before this is shown, the match is on the screen.
    pub(super) end: Offset,
}

/// What a search has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// More output is to be shown.
    Unfinished,
    /// The output before this is to be shown: the window before is looked through.
    Before(Offset),
    Found(Match),
    NotFound,
}

impl Search {
    /// A search from what is shown on, or back from `before`.
    pub(super) fn new(
        direction: Direction,
        pattern: Regex,
        (stage, before): (&Stage, Offset),
        origin_ms: u64,
    ) -> Self {
        let pass = match direction {
            Direction::Forward => {
                Pass::Forward(Box::new(Finder::new(pattern.clone(), stage.model())))
            }
            Direction::Backward => Pass::before(before),
        };
        Self {
            pattern,
            pass,
            origin_ms,
        }
    }

    /// A keyframe is shown: a window begins there.
    pub(super) fn begin_window(&mut self, stage: &Stage) {
        if let Pass::Backward { finder, window, .. } = &mut self.pass {
            window.0 = stage.shown_to();
            let looking = Finder::new(self.pattern.clone(), stage.model());
            *finder = Some(Box::new(looking));
        }
    }

    /// Whether another piece of output is to be shown.
    pub(super) fn wants_piece(&self, stage: &Stage) -> bool {
        match &self.pass {
            Pass::Forward(_) => true,
            Pass::Backward { finder, window, .. } => {
                finder.is_some() && stage.shown_to() < window.1
            }
        }
    }

    /// Where the next piece ends at the latest.
    pub(super) fn end_of_pieces(&self) -> Offset {
        match &self.pass {
            Pass::Forward(_) => Offset(u64::MAX),
            Pass::Backward { window, .. } => window.1,
        }
    }

    /// Looks at the screen after the piece that began at `from`. `start` is where the range begins that is
    /// played.
    pub(super) fn look(&mut self, stage: &Stage, from: Offset, start: Offset) -> Progress {
        let piece = Match {
            start: from,
            end: stage.shown_to(),
        };
        match &mut self.pass {
            Pass::Forward(finder) => {
                if finder.look(stage.model()) {
                    return Progress::Found(piece);
                }
            }
            Pass::Backward { finder, found, .. } => {
                let is_new = (finder.as_mut()).is_some_and(|finder| finder.look(stage.model()));
                if is_new && start <= piece.end {
                    *found = Some(piece);
                }
            }
        }
        Progress::Unfinished
    }

    /// Says how it goes on after all pieces that have been read. `is_over`: no more output comes.
    pub(super) fn conclude(&mut self, stage: &Stage, start: Offset, is_over: bool) -> Progress {
        match &mut self.pass {
            Pass::Forward(_) if is_over => Progress::NotFound,
            Pass::Backward {
                finder: Some(_),
                window,
                found,
            } if is_over || stage.shown_to() >= window.1 => {
                let begins_at = window.0;
                if let Some(found) = *found {
                    return Progress::Found(found);
                }
                if begins_at <= start {
                    return Progress::NotFound;
                }
                self.pass = Pass::before(begins_at);
                Progress::Before(begins_at)
            }
            Pass::Forward(_) | Pass::Backward { .. } => Progress::Unfinished,
        }
    }

    /// The play time that the bar shows: forward it moves with the search.
    pub(super) fn position_ms(&self, shown_ms: u64) -> u64 {
        match self.pass {
            Pass::Forward(_) => shown_ms,
            Pass::Backward { .. } => self.origin_ms,
        }
    }

    /// What is said where there is no match.
    pub(super) fn without_match(&self) -> &'static str {
        match self.pass {
            Pass::Forward(_) => "no match after this; N searches before it",
            Pass::Backward { .. } => "no match before this; n searches after it",
        }
    }
}

impl Pass {
    fn before(end: Offset) -> Self {
        Self::Backward {
            finder: None,
            window: (end, end),
            found: None,
        }
    }
}
