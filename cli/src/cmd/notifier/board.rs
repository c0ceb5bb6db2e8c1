//! What is on the desktop.

use std::collections::{HashMap, HashSet};

use super::rules::{News, Subject};
use crate::desktop::{Desktop, DesktopError, Shown};

/// Most notifications at a time; more would fill a screen. The others wait for a place.
const MAX_SHOWN: usize = 8;

/// The notifications on the desktop.
#[derive(Debug, Default)]
pub(super) struct Board {
    shown: HashMap<Shown, Subject>,
    /// Those that a person has closed without an answer: not shown again.
    put_away: HashSet<Subject>,
}

impl Board {
    /// Withdraws what is over, and shows what is new.
    pub(super) async fn follow(
        &mut self,
        desktop: &Desktop,
        news: News,
    ) -> Result<(), DesktopError> {
        let is_news = |subject: &Subject| news.notices.iter().any(|(known, _)| known == subject);
        let over: Vec<Shown> = self
            .shown
            .iter()
            .filter(|(_, subject)| !is_news(subject))
            .map(|(shown, _)| shown.clone())
            .collect();
        self.put_away.retain(is_news);
        for shown in over {
            self.shown.remove(&shown);
            desktop.withdraw(&shown).await?;
        }
        for (subject, notification) in news.notices {
            let is_known = self.shown.values().any(|known| *known == subject)
                || self.put_away.contains(&subject);
            if !is_known && self.shown.len() < MAX_SHOWN {
                let shown = desktop.show(&notification).await?;
                self.shown.insert(shown, subject);
            }
        }
        Ok(())
    }

    pub(super) fn subject(&self, shown: &Shown) -> Option<&Subject> {
        self.shown.get(shown)
    }

    /// A person, or the desktop, has closed a notification.
    pub(super) fn closed(&mut self, shown: &Shown) {
        self.put_away.extend(self.shown.remove(shown));
    }

    /// Withdraws all.
    pub(super) async fn clear(&mut self, desktop: &Desktop) {
        for (shown, _) in self.shown.drain() {
            // A failure means that the desktop is gone.
            let _ = desktop.withdraw(&shown).await;
        }
    }
}
