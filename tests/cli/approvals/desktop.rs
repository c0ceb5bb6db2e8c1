//! A desktop for `termctl approvals --notify`: a bus of its own, and a server of notifications on it
//! that shows nothing, tells what it was asked, and answers as a person would.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

use futures_util::StreamExt as _;
use termd_test_support::{DEADLINE, Home};
use tokio::runtime::Runtime;
use zbus::message::Type;
use zbus::names::MemberName;
use zbus::wire::OwnedVariant;
use zbus::{Connection, Message, MessageStream};

const SERVICE: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// Why a notification has gone: a person put it away, or a call did.
const DISMISSED: u32 = 2;
const BY_A_CALL: u32 = 3;

/// A bus that nobody else is on, and that starts nobody: whoever is on it was put there.
#[derive(Debug)]
pub(crate) struct Bus {
    daemon: Child,
    /// Where it listens, for `DBUS_SESSION_BUS_ADDRESS`.
    pub(crate) address: String,
}

impl Bus {
    /// Starts one; none where there is no dbus-daemon to start.
    pub(crate) fn start(home: &Home) -> Option<Self> {
        let socket = home.path("run/bus-of-the-test");
        let config = home.path("bus.conf");
        let text = format!(
            "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
             \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\
             <busconfig><type>session</type><listen>unix:path={}</listen>\
             <policy context=\"default\"><allow send_destination=\"*\"/>\
             <allow receive_sender=\"*\"/><allow own=\"*\"/></policy></busconfig>\n",
            socket.display()
        );
        fs::write(&config, text).unwrap();
        let mut daemon = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--print-address"])
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut address = String::new();
        let mut said = BufReader::new(daemon.stdout.take().unwrap());
        said.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(!address.is_empty(), "dbus-daemon told no address");
        Some(Self { daemon, address })
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // Where it has ended already, it ended before the test.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// What the server was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// What it can do.
    Capabilities,
    /// To show this.
    Notify(Notice),
    /// To take this one away.
    Close(u32),
}

/// One notification.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) id: u32,
    pub(crate) summary: String,
    pub(crate) body: String,
    /// The actions' keys.
    pub(crate) keys: Vec<String>,
}

/// A server of notifications (Desktop Notifications Specification 1.2).
#[derive(Debug)]
pub(crate) struct Server {
    runtime: Runtime,
    bus: Connection,
    asked: Receiver<Asked>,
    /// What a person has put away: a call that closes one of these again says nothing new.
    put_away: RefCell<HashSet<u32>>,
}

impl Server {
    /// Takes the name on this bus, and says that it can do this.
    pub(crate) fn start(bus: &Bus, capabilities: &[&str]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (tell, asked) = channel();
        let capabilities: Vec<String> = capabilities.iter().map(ToString::to_string).collect();
        let bus = runtime.block_on(async {
            let builder = zbus::connection::Builder::address(bus.address.as_str());
            let bus = builder.build().await.unwrap();
            let calls = MessageStream::from(&bus);
            bus.request_name(SERVICE).await.unwrap();
            tokio::spawn(serve(bus.clone(), calls, capabilities, tell));
            bus
        });
        Self {
            runtime,
            bus,
            asked,
            put_away: RefCell::default(),
        }
    }

    fn is_news(&self, asked: &Asked) -> bool {
        !matches!(asked, Asked::Close(id) if self.put_away.borrow().contains(id))
    }

    /// The next thing that it is asked.
    #[track_caller]
    pub(crate) fn next(&self) -> Asked {
        loop {
            let asked = self.asked.recv_timeout(DEADLINE);
            let asked = asked.expect("the server of notifications is asked");
            if self.is_news(&asked) {
                return asked;
            }
        }
    }

    /// The next thing, which must be a notification.
    #[track_caller]
    pub(crate) fn notice(&self) -> Notice {
        match self.next() {
            Asked::Notify(notice) => notice,
            other => panic!("not a notification: {other:?}"),
        }
    }

    /// Nothing that it was asked is left over.
    #[track_caller]
    pub(crate) fn assert_asked_no_more(&self) {
        let left: Vec<Asked> = self
            .asked
            .try_iter()
            .filter(|it| self.is_news(it))
            .collect();
        assert_eq!(left, []);
    }

    /// A person presses a button; as servers do, the notification goes with that.
    pub(crate) fn press(&self, id: u32, key: &str) {
        self.put_away.borrow_mut().insert(id);
        self.tell("ActionInvoked", &(id, key));
        self.dismiss(id);
    }

    /// A person takes a notification away.
    pub(crate) fn dismiss(&self, id: u32) {
        self.put_away.borrow_mut().insert(id);
        self.tell("NotificationClosed", &(id, DISMISSED));
    }

    fn tell<B: serde::Serialize + zbus::DynamicType>(&self, signal: &str, body: &B) {
        let told = self
            .bus
            .emit_signal(None::<&str>, PATH, SERVICE, signal, body);
        self.runtime.block_on(told).unwrap();
    }
}

async fn serve(
    bus: Connection,
    mut calls: MessageStream,
    capabilities: Vec<String>,
    tell: Sender<Asked>,
) {
    let mut last_id = 0;
    while let Some(Ok(call)) = calls.next().await {
        let header = call.header();
        if call.message_type() != Type::MethodCall {
            continue;
        }
        let asked = match header.member().map(MemberName::as_str) {
            Some("GetCapabilities") => {
                bus.reply(&header, &capabilities).await.unwrap();
                Asked::Capabilities
            }
            Some("Notify") => {
                last_id += 1;
                bus.reply(&header, &last_id).await.unwrap();
                Asked::Notify(notice(&call, last_id))
            }
            Some("CloseNotification") => {
                let id: u32 = call.body().deserialize().unwrap();
                bus.reply(&header, &()).await.unwrap();
                let closed = (id, BY_A_CALL);
                bus.emit_signal(None::<&str>, PATH, SERVICE, "NotificationClosed", &closed)
                    .await
                    .unwrap();
                Asked::Close(id)
            }
            other => panic!("the server of notifications was asked {other:?}"),
        };
        if tell.send(asked).is_err() {
            return;
        }
    }
}

fn notice(call: &Message, id: u32) -> Notice {
    type Arguments = (
        String,
        u32,
        String,
        String,
        String,
        Vec<String>,
        HashMap<String, OwnedVariant>,
        i32,
    );
    let body = call.body();
    let (_app, _replaces, _icon, summary, body, actions, _hints, expires): Arguments =
        body.deserialize().unwrap();
    assert_eq!(expires, 0, "the server must not take it away by itself");
    Notice {
        id,
        summary,
        body,
        keys: actions.chunks(2).map(|action| action[0].clone()).collect(),
    }
}
