//! The list of terminals: which there are, which are listed in which order, the one at hand, and how far the
//! list is scrolled. Pure.

use std::collections::BTreeMap;

use termd_proto::TerminalId;

use super::arrangement::{AtHand, Choice, Grouping, Item, arrange, urgency};
use super::row::Row;

/// Where the list is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListArea {
    /// Rows in all.
    pub(super) height: u16,
    /// Rows of a terminal.
    pub(super) row_height: u16,
}

impl ListArea {
    /// Rows of an item.
    pub(super) fn height_of(self, item: &Item) -> u16 {
        match item {
            Item::Group(_) => 1,
            Item::Terminal(_) => self.row_height,
        }
    }
}

/// The terminals, and how they are listed.
#[derive(Debug, Default)]
pub(super) struct TerminalList {
    pub(super) rows: BTreeMap<TerminalId, Row>,
    pub(super) items: Vec<Item>,
    pub(super) filter: String,
    pub(super) grouping: Grouping,
    pub(super) shows_ended: bool,
    /// The person's home, which is left out of the names of groups.
    home: Option<String>,
    at_hand: Option<AtHand>,
    /// The first item that is shown.
    pub(super) top: usize,
}

impl TerminalList {
    pub(super) fn new(home: Option<String>) -> Self {
        Self {
            home,
            ..Self::default()
        }
    }

    pub(super) fn at_hand(&self) -> Option<&TerminalId> {
        self.at_hand.as_ref().map(|at_hand| &at_hand.id)
    }

    pub(super) fn row_at_hand(&self) -> Option<&Row> {
        self.rows.get(self.at_hand()?)
    }

    /// Takes a terminal in hand, if it is there.
    pub(super) fn take_in_hand(&mut self, id: &TerminalId) {
        if self.at_hand() == Some(id) {
            return;
        }
        if let Some(row) = self.rows.get(id) {
            self.at_hand = Some(AtHand {
                id: id.clone(),
                urgency: urgency(row),
            });
        }
    }

    /// Lists what is to be listed, in its order. Where the terminal at hand is not, what has taken its place is
    /// taken in hand.
    pub(super) fn arrange(&mut self) {
        let place = self.place_at_hand();
        self.list();
        if self.place_at_hand().is_some() {
            return;
        }
        self.at_hand = None;
        let from = place.unwrap_or(0).min(self.items.len().saturating_sub(1));
        let after = self.items.iter().skip(from);
        let before = self.items.iter().take(from).rev();
        let next = after.chain(before).find_map(|item| match item {
            Item::Terminal(id) => Some(id.clone()),
            Item::Group(_) => None,
        });
        if let Some(id) = next {
            self.take_in_hand(&id);
            self.list();
        }
    }

    fn list(&mut self) {
        let choice = Choice {
            filter: &self.filter,
            grouping: self.grouping,
            shows_ended: self.shows_ended,
            at_hand: self.at_hand.as_ref(),
            home: self.home.as_deref(),
        };
        self.items = arrange(&self.rows, choice);
    }

    fn place_at_hand(&self) -> Option<usize> {
        let at_hand = self.at_hand()?;
        let is_it = |item: &Item| matches!(item, Item::Terminal(id) if id == at_hand);
        self.items.iter().position(is_it)
    }

    /// The items in sight, each with its first row.
    pub(super) fn shown_items(&self, area: ListArea) -> Vec<(u16, &Item)> {
        let mut shown = Vec::new();
        let mut y = 0;
        for item in self.items.iter().skip(self.top) {
            let height = area.height_of(item);
            if y + height > area.height {
                break;
            }
            shown.push((y, item));
            y += height;
        }
        shown
    }

    pub(super) fn is_at_hand_in_sight(&self, area: ListArea) -> bool {
        let place = self.place_at_hand();
        let shown = self.top..self.top + self.shown_items(area).len();
        place.is_some_and(|place| shown.contains(&place))
    }

    /// Scrolls so that the terminal at hand is in sight.
    pub(super) fn show_at_hand(&mut self, area: ListArea) {
        let Some(place) = self.place_at_hand() else {
            return;
        };
        // With the name of its group, where that stands right before it.
        let before = place.checked_sub(1);
        let first = match before.and_then(|before| self.items.get(before)) {
            Some(Item::Group(_)) => place - 1,
            _ => place,
        };
        self.top = self.top.min(first);
        let rows = |from: usize| -> u16 {
            let items = self.items.iter().take(place + 1).skip(from);
            items.map(|item| area.height_of(item)).sum()
        };
        while self.top < place && rows(self.top) > area.height {
            self.top += 1;
        }
    }

    /// Scrolls as far as rows would be left empty at the end.
    pub(super) fn fill(&mut self, area: ListArea) {
        let mut rows = 0;
        let fits = |item: &&Item| {
            rows += area.height_of(item);
            rows <= area.height
        };
        let fitting = self.items.iter().rev().take_while(fits).count();
        self.top = self.top.min(self.items.len() - fitting);
    }
}
