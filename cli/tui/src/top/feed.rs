//! What the daemon says by itself: the terminals, their events, and the questions. Follows it over a
//! server that was replaced or killed.

use std::sync::Arc;
use std::time::Duration;

use termd_client::{ClientError, Link, StartPolicy};
use termd_proto::approval::ListApprovals;
use termd_proto::daemon::GetDaemonInfo;
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{ListScope, ListTerminals, SubscribeEvents, TerminalInfo};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use super::news::News;
use super::surroundings::Typist;

/// The pause between two attempts to reach a daemon that is away.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// How long one call waits for other questions, in milliseconds: less than the call's own deadline.
const WATCH_MS: u64 = 60_000;
/// Terminals a page: the daemon's maximum.
const PAGE: u32 = 1_000;

/// The connection that calls are made on; `None`: there is none.
pub(super) type CurrentLink = watch::Sender<Option<Arc<Link>>>;

/// Follows the daemon for as long as somebody listens. A daemon that is away is looked for, and not
/// started: somebody may have stopped it.
pub(super) async fn follow(first: Arc<Link>, current: Arc<CurrentLink>, news: mpsc::Sender<News>) {
    let mut link = first;
    loop {
        current.send_replace(Some(Arc::clone(&link)));
        let questions = watch_questions(&link, &news);
        let Err(why) = tokio::select! {
            ended = watch_terminals(&link, &news) => ended,
            ended = questions => ended,
        };
        current.send_replace(None);
        let mut why = why;
        link = loop {
            let away = News::Away(why.to_string());
            if matches!(why, Ended::NobodyListens) || news.send(away).await.is_err() {
                return;
            }
            match Link::open(StartPolicy::Never).await {
                Ok(link) => break Arc::new(link),
                Err(error) => why = error.into(),
            }
            sleep(RETRY_PAUSE).await;
        };
    }
}

/// Why the daemon is followed no longer.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("{0}")]
    Daemon(#[from] ClientError),
    #[error("the connection broke")]
    Disconnected,
    #[error("nobody listens")]
    NobodyListens,
}

type Never = std::convert::Infallible;

async fn tell(news: &mpsc::Sender<News>, what: News) -> Result<(), Ended> {
    news.send(what).await.map_err(|_| Ended::NobodyListens)
}

/// Lists the terminals, and says each event.
async fn watch_terminals(link: &Link, news: &mpsc::Sender<News>) -> Result<Never, Ended> {
    loop {
        // Before the list: what changes after it is told.
        let mut events = link.subscribe(&SubscribeEvents { id: None }).await?;
        let daemon = link.repeat(&GetDaemonInfo {}).await?;
        let typist = if daemon.agent {
            Typist::Agent
        } else {
            Typist::Person
        };
        let terminals = list(link).await?;
        let connected = News::Connected { terminals, typist };
        tell(news, connected).await?;
        loop {
            match events.next().await {
                Some(Ok(TerminalEvent::Lagged { .. }) | Err(_)) => break,
                Some(Ok(event)) => tell(news, News::Event(event)).await?,
                None => return Err(Ended::Disconnected),
            }
        }
    }
}

/// Says the questions whenever they change. From then on the connection counts as one through which a
/// person is asked.
async fn watch_questions(link: &Link, news: &mpsc::Sender<News>) -> Result<Never, Ended> {
    let mut after = ListApprovals {
        after: Some(0),
        wait_ms: Some(0),
    };
    let mut shown = None;
    loop {
        let listed = link.repeat(&after).await?;
        after = ListApprovals {
            after: Some(listed.seq),
            wait_ms: Some(WATCH_MS),
        };
        if shown != Some(listed.seq) {
            shown = Some(listed.seq);
            tell(news, News::Questions(listed)).await?;
        }
    }
}

async fn list(link: &Link) -> Result<Vec<TerminalInfo>, ClientError> {
    let mut terminals = Vec::new();
    let mut cursor = None;
    loop {
        let page = link
            .repeat(&ListTerminals {
                scope: Some(ListScope::Open),
                cursor,
                limit: Some(PAGE),
                ..ListTerminals::default()
            })
            .await?;
        terminals.extend(page.terminals);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(terminals);
        }
    }
}
