//! The server's side of the control socket, against a keeper that says only what the test says.

use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tokio::io::Interest;
use tokio::time::timeout;

use super::*;
use termd_keeper::protocol::channel::{self, ChannelError, Packet, Received};
use termd_keeper::protocol::confinement::{
    Access, Enforcement, ProcessLimits, Processes, Sandbox, Temporary,
};
use termd_keeper::protocol::message::{LEVEL_PAUSE_BEFORE_EXEC, PausePoint};

const PATIENCE: Duration = Duration::from_secs(20);

/// The other end of the socket.
struct FakeKeeper(UnixStream);

impl FakeKeeper {
    fn pair() -> (Self, OwnedFd) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        let ours = UnixStream::from_std(std::os::unix::net::UnixStream::from(ours)).unwrap();
        (Self(ours), theirs)
    }

    /// Says this; a test says so little that it fits.
    fn say(&self, request: u32, message: &ToServer) {
        let (kind, body) = message.encode();
        let packet = Packet {
            kind,
            request,
            body,
        };
        channel::send(self.0.as_fd(), &packet, &[]).unwrap();
    }

    /// What the server says next, and the request's number.
    async fn hear(&self) -> (u32, ToKeeper) {
        let receive = || match channel::receive(self.0.as_fd()) {
            Err(ChannelError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            received => Ok(received),
        };
        let Received { packet, .. } =
            timeout(PATIENCE, self.0.async_io(Interest::READABLE, receive))
                .await
                .expect("the server says something in time")
                .unwrap()
                .unwrap();
        let message = ToKeeper::decode(packet.kind, &packet.body).unwrap();
        (packet.request, message.expect("a known message"))
    }

    /// A server that has been given an empty inventory.
    async fn connected() -> (Self, Connected) {
        let (keeper, control) = Self::pair();
        let version = PROTOCOL_VERSION;
        keeper.say(
            0,
            &ToServer::Hello {
                version,
                level: LEVEL,
            },
        );
        keeper.say(0, &ToServer::InventoryEnd);
        let connected = timeout(PATIENCE, KeeperClient::connect(control))
            .await
            .unwrap()
            .unwrap();
        (keeper, connected)
    }
}

/// The keeper pings every few seconds: it must not have to ping again for a request to come.
#[tokio::test]
async fn after_a_ping_requests_go_on_without_another_word() {
    let (keeper, Connected { keeper: client, .. }) = FakeKeeper::connected().await;
    assert!(matches!(keeper.hear().await, (0, ToKeeper::Hello { .. })));
    for _ in 0..3 {
        keeper.say(0, &ToServer::Ping);
        assert!(matches!(keeper.hear().await, (0, ToKeeper::Pong)));
        let asking = tokio::spawn({
            let client = client.clone();
            async move { client.ready().await }
        });
        let (request, asked) = keeper.hear().await;
        assert!(matches!(asked, ToKeeper::Ready), "{asked:?}");
        keeper.say(request, &ToServer::Done);
        timeout(PATIENCE, asking).await.unwrap().unwrap().unwrap();
    }
}

/// An old keeper would take it for a terminal: it is not asked at all.
#[tokio::test]
async fn a_keeper_that_says_no_level_is_not_asked_for_pipes() {
    let (keeper, control) = FakeKeeper::pair();
    let (version, level) = (PROTOCOL_VERSION, 0);
    keeper.say(0, &ToServer::Hello { version, level });
    keeper.say(0, &ToServer::InventoryEnd);
    let connected = timeout(PATIENCE, KeeperClient::connect(control));
    let Connected { keeper: client, .. } = connected.await.unwrap().unwrap();
    let request = SpawnRequest::bare(TerminalId::from_random(1), "/bin/true", Stdio::Pipes);
    let refused = timeout(PATIENCE, client.spawn(request.into()))
        .await
        .unwrap();
    assert!(
        matches!(refused, Err(KeeperError::TooOld("pipes"))),
        "{refused:?}"
    );
    assert!(client.can_start(Stdio::Pty, Stdin::Null).is_ok());
}

/// An old keeper would run it unconfined, and never say so: it is not asked at all.
#[tokio::test]
async fn a_keeper_below_the_level_is_not_asked_to_confine() {
    let (keeper, control) = FakeKeeper::pair();
    let (version, level) = (PROTOCOL_VERSION, LEVEL_PIPES);
    keeper.say(0, &ToServer::Hello { version, level });
    keeper.say(0, &ToServer::InventoryEnd);
    let connected = timeout(PATIENCE, KeeperClient::connect(control));
    let Connected { keeper: client, .. } = connected.await.unwrap().unwrap();
    assert!(client.can_confine(&Confinement::default()).is_ok());
    let limited = Confinement {
        limits: ProcessLimits {
            open_files: Some(100),
            ..ProcessLimits::default()
        },
        sandbox: None,
    };
    let request = SpawnRequest {
        confinement: limited,
        ..SpawnRequest::bare(TerminalId::from_random(1), "/bin/true", Stdio::Pty)
    };
    let refused = timeout(PATIENCE, client.spawn(request.into()))
        .await
        .unwrap();
    assert!(
        matches!(refused, Err(KeeperError::TooOld("confinement"))),
        "{refused:?}"
    );
    // An older keeper would run it at once.
    let held = timeout(
        PATIENCE,
        client.spawn_paused(
            SpawnRequest::bare(TerminalId::from_random(1), "/bin/true", Stdio::Pty).into(),
            PausePoint::BeforeConfinement,
        ),
    )
    .await;
    let held = held.unwrap();
    assert!(
        matches!(held, Err(KeeperError::TooOld("scopes"))),
        "{held:?}"
    );
}

/// Also one that comes before the inventory's end, whose pong is sent while nobody asks yet.
#[tokio::test]
async fn a_ping_amid_the_inventory_is_answered() {
    let (keeper, control) = FakeKeeper::pair();
    let version = PROTOCOL_VERSION;
    keeper.say(
        0,
        &ToServer::Hello {
            version,
            level: LEVEL,
        },
    );
    keeper.say(0, &ToServer::Ping);
    keeper.say(0, &ToServer::InventoryEnd);
    let connected = timeout(PATIENCE, KeeperClient::connect(control));
    let Connected { keeper: client, .. } = connected.await.unwrap().unwrap();
    assert!(matches!(keeper.hear().await, (0, ToKeeper::Hello { .. })));
    assert!(matches!(keeper.hear().await, (0, ToKeeper::Pong)));
    let (asked, (request, message)) = tokio::join!(
        async { timeout(PATIENCE, client.ready()).await.unwrap() },
        async {
            let heard = keeper.hear().await;
            keeper.say(heard.0, &ToServer::Done);
            heard
        }
    );
    asked.unwrap();
    assert!(
        request > 0 && matches!(message, ToKeeper::Ready),
        "{message:?}"
    );
}

/// It would take the spec for damaged, which says nothing of what to do.
#[tokio::test]
async fn a_keeper_below_the_level_is_not_asked_for_bubblewrap() {
    let (keeper, control) = FakeKeeper::pair();
    let (version, level) = (PROTOCOL_VERSION, LEVEL_PAUSE_BEFORE_EXEC);
    keeper.say(0, &ToServer::Hello { version, level });
    keeper.say(0, &ToServer::InventoryEnd);
    let connected = timeout(PATIENCE, KeeperClient::connect(control));
    let Connected { keeper: client, .. } = connected.await.unwrap().unwrap();
    let built_by = |builder| Confinement {
        sandbox: Some(Sandbox {
            writable: Vec::new(),
            protected: Vec::new(),
            writable_ids: Vec::new(),
            hidden: Vec::new(),
            visible: Vec::new(),
            network: Access::Denied,
            daemon_socket: Access::Denied,
            enforcement: Enforcement::Required,
            temporary: Temporary::Shared,
            processes: Processes::Private,
            builder,
        }),
        ..Confinement::default()
    };
    assert!(client.can_confine(&built_by(Builder::Termd)).is_ok());
    let refused = client.can_confine(&built_by(Builder::Bubblewrap));
    assert!(
        matches!(refused, Err(KeeperError::TooOld(_))),
        "{refused:?}"
    );
    let mut confinement = built_by(Builder::Termd);
    let missing = client.remove_unsupported(&mut confinement);
    let names = missing.map(|missing| missing.restriction.name());
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["pid_namespace", "ipc_namespace"]
    );
    let sandbox = confinement.sandbox.as_ref();
    assert!(sandbox.is_some_and(|sandbox| sandbox.processes == Processes::Shared));
    assert_eq!(client.remove_unsupported(&mut confinement).count(), 0);
    assert!(matches!(client.orphans().await, Ok(None)));
}
