//! A desktop for `termctl approvals --notify`: a D-Bus bus, and a notification server that shows
//! nothing, records its requests, and answers as a person would.

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
/// The reasons for which a notification is closed: by a person, or by a call.
const DISMISSED: u32 = 2;
const BY_A_CALL: u32 = 3;

/// A bus with no other peers, which starts no services.
#[derive(Debug)]
pub(crate) struct Bus {
    daemon: Child,
    /// The address for `DBUS_SESSION_BUS_ADDRESS`.
    pub(crate) address: String,
}

impl Bus {
    /// Starts a bus. `None` where there is no dbus-daemon.
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
        let mut output = BufReader::new(daemon.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        assert!(!address.is_empty(), "dbus-daemon told no address");
        Some(Self { daemon, address })
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// A request to the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// `GetCapabilities`.
    Capabilities,
    /// `Notify`.
    Notify(Notice),
    /// `CloseNotification`.
    Close(u32),
}

/// A notification.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) id: u32,
    pub(crate) summary: String,
    pub(crate) body: String,
    /// The keys of the actions.
    pub(crate) keys: Vec<String>,
}

/// A notification server (Desktop Notifications Specification 1.2).
#[derive(Debug)]
pub(crate) struct Server {
    runtime: Runtime,
    bus: Connection,
    request: Receiver<Request>,
    /// Notifications that a person has dismissed. A later call that closes one of them is ignored.
    dismissed: RefCell<HashSet<u32>>,
}

impl Server {
    /// Takes the service's name on this bus and announces these capabilities.
    pub(crate) fn start(bus: &Bus, capabilities: &[&str]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (sender, request) = channel();
        let capabilities: Vec<String> = capabilities.iter().map(ToString::to_string).collect();
        let bus = runtime.block_on(async {
            let builder = zbus::connection::Builder::address(bus.address.as_str());
            let bus = builder.build().await.unwrap();
            let calls = MessageStream::from(&bus);
            bus.request_name(SERVICE).await.unwrap();
            tokio::spawn(serve(bus.clone(), calls, capabilities, sender));
            bus
        });
        Self {
            runtime,
            bus,
            request,
            dismissed: RefCell::default(),
        }
    }

    fn is_news(&self, request: &Request) -> bool {
        !matches!(request, Request::Close(id) if self.dismissed.borrow().contains(id))
    }

    /// The next request.
    #[track_caller]
    pub(crate) fn next(&self) -> Request {
        loop {
            let request = self.request.recv_timeout(DEADLINE);
            let request = request.expect("the server of notifications is asked");
            if self.is_news(&request) {
                return request;
            }
        }
    }

    /// The next request, which must be a notification.
    #[track_caller]
    pub(crate) fn notice(&self) -> Notice {
        match self.next() {
            Request::Notify(notice) => notice,
            other => panic!("not a notification: {other:?}"),
        }
    }

    /// Checks that no request is left.
    #[track_caller]
    pub(crate) fn assert_no_more_requests(&self) {
        let left: Vec<Request> = self
            .request
            .try_iter()
            .filter(|it| self.is_news(it))
            .collect();
        assert_eq!(left, []);
    }

    /// Presses a button. The notification is closed by that, as by real servers.
    pub(crate) fn press(&self, id: u32, key: &str) {
        self.dismissed.borrow_mut().insert(id);
        self.sender("ActionInvoked", &(id, key));
        self.dismiss(id);
    }

    /// Dismisses a notification.
    pub(crate) fn dismiss(&self, id: u32) {
        self.dismissed.borrow_mut().insert(id);
        self.sender("NotificationClosed", &(id, DISMISSED));
    }

    fn sender<B: serde::Serialize + zbus::DynamicType>(&self, signal: &str, body: &B) {
        let emitted = self
            .bus
            .emit_signal(None::<&str>, PATH, SERVICE, signal, body);
        self.runtime.block_on(emitted).unwrap();
    }
}

async fn serve(
    bus: Connection,
    mut calls: MessageStream,
    capabilities: Vec<String>,
    sender: Sender<Request>,
) {
    let mut last_id = 0;
    while let Some(Ok(call)) = calls.next().await {
        let header = call.header();
        if call.message_type() != Type::MethodCall {
            continue;
        }
        let request = match header.member().map(MemberName::as_str) {
            Some("GetCapabilities") => {
                bus.reply(&header, &capabilities).await.unwrap();
                Request::Capabilities
            }
            Some("Notify") => {
                last_id += 1;
                bus.reply(&header, &last_id).await.unwrap();
                Request::Notify(notice(&call, last_id))
            }
            Some("CloseNotification") => {
                let id: u32 = call.body().deserialize().unwrap();
                bus.reply(&header, &()).await.unwrap();
                let closed = (id, BY_A_CALL);
                bus.emit_signal(None::<&str>, PATH, SERVICE, "NotificationClosed", &closed)
                    .await
                    .unwrap();
                Request::Close(id)
            }
            other => panic!("the server of notifications was asked {other:?}"),
        };
        if sender.send(request).is_err() {
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
