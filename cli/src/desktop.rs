//! The desktop's notifications: `org.freedesktop.Notifications` on the session bus (Desktop
//! Notifications Specification 1.2).
//!
//! Text is never markup. An action counts only from the server that accepted the notification.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use thiserror::Error;
use zbus::wire::Variant;
use zbus::{Connection, MatchRule, Message, MessageStream};

const SERVICE: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// How long the server may take to answer. D-Bus may have to start it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// `urgency` normal: a critical notification would be shown over a locked screen.
const NORMAL: u8 = 1;
/// `expire_timeout` never: termctl withdraws its notifications.
const NEVER: i32 = 0;

/// Why there are no notifications.
#[derive(Debug, Error)]
pub(crate) enum DesktopError {
    /// There is no session bus.
    #[error("no session bus, so no desktop notifications ({0}): run it in a desktop session")]
    NoBus(zbus::Error),
    /// There is no server of notifications.
    #[error(
        "no notification server on the session bus ({0}): a desktop has one, or start dunst or mako"
    )]
    NoServer(zbus::Error),
    /// The bus, or the server, failed.
    #[error("the session bus failed: {0}")]
    Bus(#[from] zbus::Error),
    #[error("the session bus has closed the connection")]
    Closed,
}

/// The id of a notification on its server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shown {
    server: String,
    id: u32,
}

/// An event of a notification.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The person chose an action, by its key.
    Chosen(Shown, String),
    /// The notification is no longer shown.
    Closed(Shown),
}

/// The content of a notification.
#[derive(Debug)]
pub(crate) struct Notification {
    /// One line.
    pub(crate) summary: String,
    /// Lines.
    pub(crate) body: String,
    /// Keys, and the texts of their buttons.
    pub(crate) actions: Vec<(&'static str, &'static str)>,
}

/// A session bus with a server of notifications.
#[derive(Debug)]
pub(crate) struct Desktop {
    bus: Connection,
    signals: MessageStream,
    /// The server reads markup in the body (`body-markup`).
    reads_markup: bool,
    /// The server shows buttons (`actions`).
    pub(crate) has_actions: bool,
}

impl Desktop {
    /// Connects, and asks for the server's capabilities.
    pub(crate) async fn connect() -> Result<Self, DesktopError> {
        let builder = zbus::connection::Builder::session().method_timeout(ANSWER_WITHIN);
        let bus = builder.build().await.map_err(DesktopError::NoBus)?;
        let rule = MatchRule::builder()
            .msg_type(zbus::message::Type::Signal)
            .interface(SERVICE)
            .path(PATH)
            .build()?;
        let signals = MessageStream::for_match_rule(rule, &bus, None).await?;
        let asked = bus.call_method(Some(SERVICE), PATH, Some(SERVICE), "GetCapabilities", &());
        let answer = asked.await.map_err(DesktopError::NoServer)?;
        let can: Vec<String> = answer.body().deserialize()?;
        let is_able = |name: &str| can.iter().any(|own| own == name);
        Ok(Self {
            reads_markup: is_able("body-markup"),
            has_actions: is_able("actions"),
            bus,
            signals,
        })
    }

    pub(crate) async fn show(&self, shown: &Notification) -> Result<Shown, DesktopError> {
        let body = if self.reads_markup {
            without_markup(&shown.body)
        } else {
            shown.body.clone()
        };
        let actions: Vec<&str> = shown
            .actions
            .iter()
            .flat_map(|(key, text)| [*key, *text])
            .collect();
        let hints = HashMap::from([("urgency", Variant::from(NORMAL))]);
        let arguments = (
            "termd",
            0_u32,
            "dialog-question",
            shown.summary.as_str(),
            body.as_str(),
            actions,
            hints,
            NEVER,
        );
        let asked = self
            .bus
            .call_method(Some(SERVICE), PATH, Some(SERVICE), "Notify", &arguments);
        let answer = asked.await?;
        Ok(Shown {
            id: answer.body().deserialize()?,
            server: sender(&answer),
        })
    }

    /// Withdraws a notification, which may be gone already.
    pub(crate) async fn withdraw(&self, shown: &Shown) -> Result<(), DesktopError> {
        let server = Some(shown.server.as_str());
        let (path, method) = (PATH, "CloseNotification");
        let asked = self
            .bus
            .call_method(server, path, Some(SERVICE), method, &shown.id);
        match asked.await {
            // The server does not know the notification any more, or is gone.
            Ok(_) | Err(zbus::Error::MethodError(..)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for an event. Cancel safe.
    pub(crate) async fn next(&mut self) -> Result<Event, DesktopError> {
        loop {
            let message = self.signals.next().await.ok_or(DesktopError::Closed)??;
            if let Some(event) = event(&message) {
                return Ok(event);
            }
        }
    }
}

fn event(message: &Message) -> Option<Event> {
    let server = sender(message);
    let header = message.header();
    let body = message.body();
    match header.member()?.as_str() {
        "ActionInvoked" => {
            let (id, key): (u32, String) = body.deserialize().ok()?;
            Some(Event::Chosen(Shown { server, id }, key))
        }
        "NotificationClosed" => {
            let (id, _why): (u32, u32) = body.deserialize().ok()?;
            Some(Event::Closed(Shown { server, id }))
        }
        _ => None,
    }
}

/// The sender's unique name, which the bus sets.
fn sender(message: &Message) -> String {
    let header = message.header();
    header.sender().map(ToString::to_string).unwrap_or_default()
}

/// Escapes a text for a server that reads markup.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '"' => plain.push_str("&quot;"),
            '\'' => plain.push_str("&#39;"),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(
            without_markup("<b>a</b> && 'x' > \"y\" &lt;"),
            "&lt;b&gt;a&lt;/b&gt; &amp;&amp; &#39;x&#39; &gt; &quot;y&quot; &amp;lt;"
        );
    }
}
