//! A bound for the lines of each place in the code.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Most lines of one place in a [`WINDOW`].
const MAX_LINES: u32 = 60;
const WINDOW: Duration = Duration::from_mins(1);

/// Leaves out lines of a place that has written many within a minute. What a program or a client
/// brings about can be repeated without end. Lines below `info` are there by request, and all stay.
#[derive(Debug, Default)]
pub(super) struct LineLimit {
    places: Mutex<HashMap<Identifier, Lines>>,
}

/// The lines of a place since a time.
#[derive(Debug)]
struct Lines {
    since: Instant,
    count: u32,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Written,
    /// The first one that is left out.
    Over,
    LeftOut,
}

impl Lines {
    fn new(now: Instant) -> Self {
        Self {
            since: now,
            count: 0,
        }
    }

    /// Counts a line.
    fn add(&mut self, now: Instant) -> Fate {
        if now.duration_since(self.since) >= WINDOW {
            *self = Self::new(now);
        }
        self.count = self.count.saturating_add(1);
        match self.count {
            0..=MAX_LINES => Fate::Written,
            count if count == MAX_LINES + 1 => Fate::Over,
            _ => Fate::LeftOut,
        }
    }
}

impl LineLimit {
    fn fate(&self, place: Identifier, now: Instant) -> Fate {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = places.entry(place).or_insert_with(|| Lines::new(now));
        lines.add(now)
    }
}

impl<S: Subscriber> Layer<S> for LineLimit {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let place = event.metadata();
        if *place.level() > Level::INFO {
            return true;
        }
        let fate = self.fate(place.callsite(), Instant::now());
        if fate == Fate::Over {
            // By stderr, which the journal has too: a line from here would come through here.
            let _ = writeln!(
                io::stderr(),
                "termd: more than {MAX_LINES} lines in a minute at {}:{}; the others are left out",
                place.file().unwrap_or_default(),
                place.line().unwrap_or_default(),
            );
        }
        fate == Fate::Written
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    /// Counts events.
    struct Counter(Arc<Mutex<u32>>);

    impl<S: Subscriber> Layer<S> for Counter {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            *self.0.lock().unwrap() += 1;
        }
    }

    #[test]
    fn a_place_that_repeats_is_bounded_and_others_are_not() {
        let count = Arc::new(Mutex::new(0));
        let registry = tracing_subscriber::registry()
            .with(LineLimit::default())
            .with(Counter(Arc::clone(&count)));
        tracing::subscriber::with_default(registry, || {
            for _ in 0..100_000 {
                tracing::warn!("repeated");
            }
            tracing::error!("another");
            for _ in 0..100 {
                tracing::debug!("by request");
            }
        });
        assert_eq!(*count.lock().unwrap(), MAX_LINES + 1 + 100);
    }

    #[test]
    fn lines_come_again_after_a_while() {
        let begin = Instant::now();
        let mut lines = Lines::new(begin);
        for _ in 0..MAX_LINES {
            assert_eq!(lines.add(begin), Fate::Written);
        }
        assert_eq!(lines.add(begin), Fate::Over);
        assert_eq!(lines.add(begin), Fate::LeftOut);
        assert_eq!(lines.add(begin + WINDOW), Fate::Written);
    }
}
