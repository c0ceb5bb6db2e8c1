//! The overview's state, and how what happens changes it. Pure: the time is an argument, and what is to be
//! done is a value.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use termd_client::escape::one_line;
use termd_proto::TerminalId;
use termd_proto::attention::Attention;
use termd_proto::event::TerminalEvent;
use termd_proto::screen::Screen;
use termd_proto::terminal::{TerminalInfo, TerminalState};

use super::arrangement::Item;
use super::effect::{Call, Effect, Followed};
use super::layout::{Layout, Wants};
use super::list::{ListArea, TerminalList};
use super::mode::Mode;
use super::news::{News, ScreenRowsKind};
use super::questions::{Asked as _, Questions};
use super::row::{MINUTE_MS, Row};
use super::surroundings::{Now, Surroundings, Typist};
use crate::text::wrap;

/// How long a message is shown.
const MESSAGE: Duration = Duration::from_secs(5);
/// How long after it has printed a terminal is glanced at: what comes at once after it is waited for.
const SETTLE: Duration = Duration::from_millis(120);
/// How long a terminal is at hand before its screen is shown, which then counts as seen: who goes on to
/// another one, or types a filter, has not looked at those between.
const DWELL: Duration = Duration::from_millis(150);
/// The shortest time between two glances.
const GLANCE_PAUSE: Duration = Duration::from_millis(500);
/// Most terminals of a glance.
const MAX_GLANCES: usize = termd_proto::glance::MAX_GLANCES;

/// Whether the daemon answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Daemon {
    Connecting,
    Here,
    /// The connection stands, and a call waits for its answer.
    Silent,
    /// It was here, and is looked for: why it does not answer.
    Away(String),
}

/// A screen as far as it was read.
#[derive(Debug, Clone)]
pub(super) struct ShownScreen {
    pub(super) id: TerminalId,
    pub(super) screen: Screen,
    pub(super) from_row: i64,
}

/// The state.
#[derive(Debug)]
pub struct Model {
    pub(super) surroundings: Surroundings,
    pub(super) size: (u16, u16),
    pub(super) now: Now,
    pub(super) daemon: Daemon,
    pub(super) typist: Typist,
    pub(super) list: TerminalList,
    /// The terminal at hand at the last change, and since when it is.
    held: Option<(TerminalId, Instant)>,
    /// What events have said of terminals that are not in the list yet.
    heard: BTreeMap<TerminalId, Attention>,
    pub(super) screen: Option<ShownScreen>,
    /// Rows of the scrollback above the first one that is shown.
    pub(super) scrolled: u32,
    pub(super) questions: Questions,
    pub(super) mode: Mode,
    message: Option<(String, Instant)>,
    /// Keys are dropped until then.
    pub(super) deaf_until: Option<Instant>,
    followed: Option<Followed>,
    glance: GlanceTurn,
    /// When ages were drawn last.
    aged_at: Instant,
    /// The list may be another one.
    pub(super) is_disordered: bool,
    /// What is shown may be something else.
    is_stale: bool,
}

/// When terminals may be glanced at.
#[derive(Debug)]
struct GlanceTurn {
    is_under_way: bool,
    next_at: Instant,
}

impl Model {
    /// Of a tty of this size, before the daemon was reached.
    pub fn new(surroundings: Surroundings, size: (u16, u16), now: Now) -> Self {
        Self {
            size,
            now,
            daemon: Daemon::Connecting,
            typist: Typist::Person,
            list: TerminalList::new(surroundings.home.clone()),
            held: None,
            heard: BTreeMap::new(),
            screen: None,
            scrolled: 0,
            questions: Questions::default(),
            mode: Mode::Browse,
            message: None,
            deaf_until: None,
            followed: None,
            glance: GlanceTurn {
                is_under_way: false,
                next_at: now.at,
            },
            aged_at: now.at,
            is_disordered: true,
            is_stale: true,
            surroundings,
        }
    }

    /// Whether something else may be shown than at the last call.
    pub fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.is_stale)
    }

    /// The tty's columns and rows.
    pub fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Whether the daemon answers, as far as is known.
    pub fn is_answered(&self) -> bool {
        self.daemon == Daemon::Here
    }

    /// Whose keys these are, as the daemon sees it.
    pub fn typist(&self) -> Typist {
        self.typist
    }

    /// Takes the tty's size.
    pub fn resize(&mut self, size: (u16, u16), now: Now) -> Vec<Effect> {
        self.size = size;
        self.is_disordered = true;
        self.settle(now, Vec::new())
    }

    /// Forgets whose screen is followed: its follower is gone.
    pub fn forget_followed(&mut self) {
        self.followed = None;
    }

    /// Shows a line for a moment that begins now: the last input may be long ago.
    pub fn say_at(&mut self, text: &str, now: Now) {
        self.now = now;
        self.say(text);
    }

    /// Shows a line for a moment.
    pub(super) fn say(&mut self, text: &str) {
        self.message = Some((one_line(text), self.now.at + MESSAGE));
    }

    pub(super) fn message(&self) -> Option<&str> {
        self.message.as_ref().map(|(text, _)| text.as_str())
    }

    /// Takes what the daemon says.
    pub fn hear(&mut self, news: News, now: Now) -> Vec<Effect> {
        self.now = now;
        // Twenty floods say this four hundred times a second.
        if let News::Event(TerminalEvent::Output { id, .. }) = &news {
            let row = self.list.rows.get_mut(id);
            let Some(row) = row.filter(|row| row.stale_since.is_none()) else {
                return Vec::new();
            };
            row.stale_since = Some(now.at);
            return self.glance().into_iter().collect();
        }
        let mut effects = Vec::new();
        self.is_disordered |= !matches!(news, News::Screen { .. } | News::Glances(_));
        match news {
            News::Connected { terminals, typist } => self.take_all(terminals, typist),
            News::Away(why) => {
                self.daemon = Daemon::Away(why);
                self.followed = None;
                self.glance.is_under_way = false;
            }
            News::Silent if self.daemon == Daemon::Here => self.daemon = Daemon::Silent,
            News::Answered if self.daemon == Daemon::Silent => self.daemon = Daemon::Here,
            News::Silent | News::Answered => {}
            News::Event(event) => effects.extend(self.take_event(event)),
            News::Shown(info) => self.take_info(*info),
            News::Missing(id) => {
                self.heard.remove(&id);
                self.list.rows.remove(&id);
            }
            News::Questions(list) => self.questions.take(&list),
            News::Glances(glances) => {
                self.glance.is_under_way = false;
                for seen in glances {
                    if let Some(row) = self.list.rows.get_mut(&seen.glance.id) {
                        row.take(seen);
                    }
                }
            }
            News::Screen {
                id,
                screen,
                from_row,
                rows,
            } => self.take_screen(id, *screen, from_row, rows),
            News::Said(text) => self.say(&text),
            News::Created { info, attach } => {
                let id = info.id.clone();
                self.take_info(*info);
                self.list.take_in_hand(&id);
                self.list.filter.clear();
                if attach {
                    effects.push(Effect::Leave(super::effect::Leave::Attach(id)));
                }
            }
            News::Found { hits, is_cut } => {
                if let Mode::Hits(shown) = &mut self.mode {
                    shown.found = Some(hits);
                    shown.is_cut = is_cut;
                }
            }
            News::Copied { said, .. } => self.say(&said),
        }
        self.settle(now, effects)
    }

    /// Does what is due by the time.
    pub fn tick(&mut self, now: Now) -> Vec<Effect> {
        if now.at < self.wake() {
            return Vec::new();
        }
        self.settle(now, Vec::new())
    }

    /// When something is due, as far as nothing else happens.
    pub fn wake(&self) -> Instant {
        let message = self.message.as_ref().map(|(_, until)| *until);
        let ages = self.aged_at + Duration::from_millis(MINUTE_MS.unsigned_abs());
        let due = [message, self.glance_due(), self.follow_due()];
        let due = due.into_iter().flatten().min();
        due.map_or(ages, |due| due.min(ages))
    }

    /// What follows from each change: the order of the list, the question that is shown, and what has to
    /// be read.
    pub(super) fn settle(&mut self, now: Now, mut effects: Vec<Effect>) -> Vec<Effect> {
        self.now = now;
        self.is_stale = true;
        if self
            .message
            .as_ref()
            .is_some_and(|(_, until)| *until <= now.at)
        {
            self.message = None;
        }
        if now.at.duration_since(self.aged_at).as_millis() >= MINUTE_MS.unsigned_abs().into() {
            self.aged_at = now.at;
        }
        if std::mem::take(&mut self.is_disordered) {
            self.arrange();
        }
        self.hold();
        self.questions.choose(self.list.at_hand(), now.at);
        if self.questions.shown().is_none() && matches!(self.mode, Mode::Question(_)) {
            self.mode = Mode::Browse;
        }
        if self.daemon == Daemon::Here {
            effects.extend(self.follow());
            effects.extend(self.glance());
        }
        effects
    }

    pub(super) fn layout(&self) -> Layout {
        let is_group = |item: &&Item| matches!(item, Item::Group(_));
        let groups = self.list.items.iter().filter(is_group).count();
        let terminals = self.list.items.len() - groups;
        let small = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let question = self.question_lines();
        let wants = Wants {
            terminals: small(terminals),
            groups: small(groups),
            // A title, and the keys that answer it.
            question: question.map_or(0, |lines| small(lines.len()).saturating_add(2)),
        };
        Layout::of(self.size, wants)
    }

    /// The lines of the question that is shown.
    pub(super) fn question_lines(&self) -> Option<Vec<String>> {
        let question = self.questions.shown()?;
        Some(wrap(&question.text(), self.size.0.saturating_sub(2)))
    }

    /// Whether all of the question is in sight below the list.
    pub(super) fn question_fits(&self) -> bool {
        let lines = self.question_lines().map_or(0, |lines| lines.len());
        usize::from(self.layout().question.height) >= lines + 2
    }

    /// Where the list is drawn.
    pub(super) fn list_area(&self) -> ListArea {
        let layout = self.layout();
        ListArea {
            height: layout.list.height,
            row_height: layout.row_height,
        }
    }

    /// Lists anew. The terminal at hand stays in sight where it was.
    pub(super) fn arrange(&mut self) {
        let was_in_sight = self.list.is_at_hand_in_sight(self.list_area());
        self.list.arrange();
        // Of the list as it is now.
        let area = self.list_area();
        self.list.fill(area);
        if was_in_sight {
            self.list.show_at_hand(area);
        }
    }

    /// Notes which terminal is at hand. Of another one no screen was read yet.
    fn hold(&mut self) {
        let at_hand = self.list.at_hand();
        if at_hand != self.held.as_ref().map(|(id, _)| id) {
            self.held = at_hand.map(|id| (id.clone(), self.now.at));
            self.screen = None;
            self.scrolled = 0;
        }
    }

    fn take_all(&mut self, terminals: Vec<TerminalInfo>, typist: Typist) {
        let was_away = matches!(self.daemon, Daemon::Away(_) | Daemon::Silent);
        self.daemon = Daemon::Here;
        self.typist = typist;
        self.followed = None;
        self.glance.is_under_way = false;
        self.heard.clear();
        let mut before = std::mem::take(&mut self.list.rows);
        for info in terminals {
            if self.is_own(&info.id) {
                continue;
            }
            let known = before.remove(&info.id);
            let row = Row::new(info, self.now.at);
            let row = match known {
                Some(known) => Row {
                    info: row.info,
                    stale_since: row.stale_since,
                    ..known
                },
                None => row,
            };
            self.list.rows.insert(row.info.id.clone(), row);
        }
        // What has become of a call goes before it.
        if was_away && self.message.is_none() {
            self.say("the daemon answers again");
        }
        if let Some(here) = self.surroundings.here.take() {
            self.list.take_in_hand(&here);
        }
    }

    fn is_own(&self, id: &TerminalId) -> bool {
        self.surroundings.own.as_ref() == Some(id)
    }

    fn take_info(&mut self, mut info: TerminalInfo) {
        // What an event has said may be newer than this answer.
        let heard = self.heard.remove(&info.id);
        info.attention = heard.or(info.attention);
        if info.state == TerminalState::Closed || self.is_own(&info.id) {
            self.list.rows.remove(&info.id);
            return;
        }
        let now = self.now.at;
        match self.list.rows.get_mut(&info.id) {
            // An earlier answer.
            Some(row) if row.info.exited_at_ms.is_some() && info.exited_at_ms.is_none() => {}
            Some(row) => {
                let attention = row.info.attention.take().or(info.attention.clone());
                row.info = TerminalInfo { attention, ..info };
                row.stale_since.get_or_insert(now);
            }
            None => {
                self.list.rows.insert(info.id.clone(), Row::new(info, now));
            }
        }
    }

    fn take_event(&mut self, event: TerminalEvent) -> Option<Effect> {
        let now = self.now.at;
        match event {
            // What it is; how it has ended, and when.
            TerminalEvent::Created { id } | TerminalEvent::Exited { id, .. } => {
                return Some(Effect::Call(Call::Show(id)));
            }
            TerminalEvent::Resized { id, cols, rows } => {
                let row = self.list.rows.get_mut(&id)?;
                (row.info.cols, row.info.rows) = (cols, rows);
            }
            TerminalEvent::Named { id, label, tags } => {
                let row = self.list.rows.get_mut(&id)?;
                (row.info.label, row.info.tags) = (label, tags);
            }
            TerminalEvent::Attention { id, attention } => {
                let Some(row) = self.list.rows.get_mut(&id) else {
                    self.heard.insert(id.clone(), attention);
                    return Some(Effect::Call(Call::Show(id)));
                };
                row.info.attention = Some(attention);
                row.stale_since.get_or_insert(now);
            }
            TerminalEvent::Closed { id } => {
                self.list.rows.remove(&id);
            }
            TerminalEvent::Output { .. }
            | TerminalEvent::LimitReached { .. }
            | TerminalEvent::PeerLimitReached { .. }
            // Who reads the events lists anew.
            | TerminalEvent::Lagged { .. } => {}
        }
        None
    }

    fn take_screen(&mut self, id: TerminalId, screen: Screen, from_row: i64, rows: ScreenRowsKind) {
        if self.list.at_hand() != Some(&id) {
            return;
        }
        let before = self.screen.take().filter(|before| before.id == id);
        let mut screen = screen;
        if let (Some(before), ScreenRowsKind::Changed) = (before, rows) {
            let mut lines: BTreeMap<_, _> = before
                .screen
                .lines
                .into_iter()
                .map(|line| (line.row, line))
                .collect();
            let changed = std::mem::take(&mut screen.lines);
            lines.extend(changed.into_iter().map(|line| (line.row, line)));
            screen.lines = lines.into_values().collect();
        }
        self.screen = Some(ShownScreen {
            id,
            screen,
            from_row,
        });
    }

    /// Whose screen is to be followed now, where that is another one than before.
    fn follow(&mut self) -> Option<Effect> {
        let is_soon = self.follow_due().is_some_and(|due| due > self.now.at);
        let id = self.list.at_hand().cloned();
        let wanted = id.filter(|_| !is_soon).map(|id| Followed {
            id,
            rows: self.layout().screen.height,
            scrolled: self.scrolled,
        });
        if wanted == self.followed {
            return None;
        }
        self.followed.clone_from(&wanted);
        Some(Effect::Follow(wanted))
    }

    /// When the screen of the terminal at hand is to be followed; `None`: it is, or there is none.
    fn follow_due(&self) -> Option<Instant> {
        let (at_hand, since) = self.held.as_ref()?;
        let followed = self.followed.as_ref().map(|followed| &followed.id);
        let is_due = followed != Some(at_hand) && self.daemon == Daemon::Here;
        is_due.then(|| *since + DWELL)
    }

    /// The terminals in sight that have printed since the last glance.
    fn stale_in_sight(&self) -> impl Iterator<Item = (&TerminalId, Instant)> {
        let items = self.list.shown_items(self.list_area()).into_iter();
        items.filter_map(|(_, item)| match item {
            Item::Terminal(id) => Some((id, self.list.rows.get(id)?.stale_since?)),
            Item::Group(_) => None,
        })
    }

    fn glance_due(&self) -> Option<Instant> {
        if self.glance.is_under_way || self.daemon != Daemon::Here {
            return None;
        }
        let oldest = self.stale_in_sight().map(|(_, since)| since).min()?;
        Some((oldest + SETTLE).max(self.glance.next_at))
    }

    fn glance(&mut self) -> Option<Effect> {
        if self.glance_due()? > self.now.at {
            return None;
        }
        let ids: Vec<_> = (self.stale_in_sight().map(|(id, _)| id.clone()))
            .take(MAX_GLANCES)
            .collect();
        for id in &ids {
            if let Some(row) = self.list.rows.get_mut(id) {
                row.stale_since = None;
            }
        }
        self.glance = GlanceTurn {
            is_under_way: true,
            next_at: self.now.at + GLANCE_PAUSE,
        };
        Some(Effect::Call(Call::Glance(ids)))
    }
}
