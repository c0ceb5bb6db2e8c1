//! Tab stops.

use serde::{Deserialize, Serialize};

/// Columns between the stops of a fresh terminal.
const DEFAULT_DISTANCE: usize = 8;

/// The tab stops.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TabStops {
    /// `None` until a program sets or clears a stop: most never do.
    own: Option<Box<[bool]>>,
}

impl TabStops {
    /// The next stop after a column, or the last column.
    #[inline]
    pub(crate) fn next(&self, column: usize, last: usize) -> usize {
        match &self.own {
            None => ((column / DEFAULT_DISTANCE + 1) * DEFAULT_DISTANCE).min(last),
            Some(stops) => (column + 1..last)
                .find(|at| is_stop(stops, *at))
                .unwrap_or(last),
        }
    }

    /// The stop before a column, or the first column.
    pub(crate) fn previous(&self, column: usize, first: usize) -> usize {
        (first + 1..column)
            .rev()
            .find(|at| self.is_stop(*at))
            .unwrap_or(first)
    }

    pub(crate) fn is_stop(&self, column: usize) -> bool {
        match &self.own {
            None => column.is_multiple_of(DEFAULT_DISTANCE),
            Some(stops) => is_stop(stops, column),
        }
    }

    /// HTS.
    pub(crate) fn set(&mut self, column: usize, cols: usize) {
        self.change(column, cols, Stop::Set);
    }

    /// TBC 0.
    pub(crate) fn clear(&mut self, column: usize, cols: usize) {
        self.change(column, cols, Stop::Clear);
    }

    /// TBC 3.
    pub(crate) fn clear_all(&mut self, cols: usize) {
        self.own = Some(vec![false; cols].into());
    }

    /// RIS, DECST8C: the default stops again.
    pub(crate) fn reset(&mut self) {
        self.own = None;
    }

    fn change(&mut self, column: usize, cols: usize, stop: Stop) {
        let default = |at: usize| at.is_multiple_of(DEFAULT_DISTANCE);
        let stops = match self.own.take() {
            Some(stops) if stops.len() > column => stops,
            old => {
                let length = cols.max(column + 1);
                let at = |at: usize| match &old {
                    Some(stops) => stops.get(at).copied().unwrap_or(default(at)),
                    None => default(at),
                };
                (0..length).map(at).collect()
            }
        };
        let mut stops = stops;
        stops[column] = matches!(stop, Stop::Set);
        self.own = Some(stops);
    }
}

#[derive(Debug, Clone, Copy)]
enum Stop {
    Set,
    Clear,
}

fn is_stop(stops: &[bool], column: usize) -> bool {
    stops
        .get(column)
        .copied()
        .unwrap_or(column.is_multiple_of(DEFAULT_DISTANCE))
}
