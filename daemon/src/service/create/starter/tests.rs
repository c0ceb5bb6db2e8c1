//! A server beside a keeper from before held commands, which would run them outside of their scope.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use tempfile::TempDir;
use termd_proto::terminal::Confinement as Told;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::broadcast;
use tokio::time::timeout;

use termd_keeper::protocol::message::SpawnRequest;

use super::*;
use crate::keeper_client::{Connected, KeeperClient};
use crate::service::audit_log::AuditLog;
use crate::service::ending::LimitRecorder;
use crate::store::Store;
use crate::terminal::output::flood_turn::FloodTurns;
use termd_keeper::protocol::channel::{self, ChannelError, Packet};
use termd_keeper::protocol::confinement::Enforced;
use termd_keeper::protocol::message::{
    LEVEL_CONFINEMENT, PROTOCOL_VERSION, ProcessId, ToKeeper, ToServer,
};
use termd_policy::LimitsSpec;

const PATIENCE: Duration = Duration::from_secs(20);

/// The other end of the control socket.
struct OldKeeper(UnixStream);

impl OldKeeper {
    fn say(&self, request: u32, message: &ToServer, fds: &[OwnedFd]) {
        let (kind, body) = message.encode();
        let packet = Packet {
            kind,
            request,
            body,
        };
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        channel::send(self.0.as_fd(), &packet, &fds).unwrap();
    }

    async fn hear(&self) -> (u32, ToKeeper) {
        let receive = || match channel::receive(self.0.as_fd()) {
            Err(ChannelError::WouldBlock) => Err(std::io::ErrorKind::WouldBlock.into()),
            received => Ok(received),
        };
        let heard = timeout(PATIENCE, self.0.async_io(Interest::READABLE, receive)).await;
        let packet = heard.unwrap().unwrap().unwrap().packet;
        let message = ToKeeper::decode(packet.kind, &packet.body).unwrap();
        (packet.request, message.unwrap())
    }
}

/// A server's starter, and its keeper, which knows sandboxes and cannot hold a command.
async fn beside_an_old_keeper(state: &TempDir) -> (Starter, OldKeeper) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    let ours = UnixStream::from_std(std::os::unix::net::UnixStream::from(ours)).unwrap();
    let old = OldKeeper(ours);
    let (version, level) = (PROTOCOL_VERSION, LEVEL_CONFINEMENT);
    old.say(0, &ToServer::Hello { version, level }, &[]);
    old.say(0, &ToServer::InventoryEnd, &[]);
    let Connected { keeper, .. } = KeeperClient::connect(theirs).await.unwrap();
    assert!(matches!(old.hear().await.1, ToKeeper::Hello { .. }));
    let store = Store::open(state.path().join("termd.sqlite"));
    let audit = AuditLog::new(store.await.unwrap(), FloodTurns::default());
    let events = broadcast::Sender::new(1);
    let scopes = Scopes::new(LimitRecorder::new(audit, events));
    (Starter::new(keeper, scopes), old)
}

fn limited(best_effort: bool) -> Profile {
    Profile {
        limits: LimitsSpec {
            tasks: Some(10),
            ..LimitsSpec::default()
        },
        scope_best_effort: Some(best_effort),
        ..Profile::default()
    }
}

#[tokio::test]
async fn an_old_keeper_is_not_asked_for_what_needs_a_scope() {
    let state = tempfile::tempdir().unwrap();
    let (starter, old) = beside_an_old_keeper(&state).await;
    let profile = limited(false);
    let of_true = SpawnRequest::bare(TerminalId::from_random(1), "/bin/true", Stdio::Pty).into();
    let started = starter.start(async { Ok(()) }, of_true, &profile, |_| {});
    let refused = timeout(PATIENCE, started);
    let Err(error) = refused.await.unwrap() else {
        panic!("it was started");
    };
    let said = error.to_string();
    assert!(
        said.starts_with("tasks_max: ") && said.contains("scopes"),
        "{said}"
    );
    // It was asked for nothing: the next that it hears is this.
    let asking = tokio::spawn({
        let keeper = starter.keeper.clone();
        async move { keeper.ready().await }
    });
    let (number, heard) = old.hear().await;
    assert!(matches!(heard, ToKeeper::Ready), "{heard:?}");
    old.say(number, &ToServer::Done, &[]);
    timeout(PATIENCE, asking).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn by_best_effort_it_starts_it_without_and_the_answer_says_so() {
    let state = tempfile::tempdir().unwrap();
    let (starter, old) = beside_an_old_keeper(&state).await;
    let asking = tokio::spawn(async move {
        let (of_true, profile) = (
            SpawnRequest::bare(TerminalId::from_random(1), "/bin/true", Stdio::Pty).into(),
            limited(true),
        );
        let started = starter.start(async { Ok(()) }, of_true, &profile, |_| {});
        started.await.map(|(_, scope)| scope)
    });
    let (number, heard) = old.hear().await;
    let ToKeeper::Spawn(asked) = heard else {
        panic!("{heard:?}");
    };
    assert_eq!(asked.pause, None, "it would not let it go");
    let process = ProcessId {
        pid: 1,
        start_time: 1,
    };
    let enforced = Enforced::default();
    let fds = [(); 4].map(|()| OwnedFd::from(std::fs::File::open("/dev/null").unwrap()));
    old.say(number, &ToServer::Spawned { process, enforced }, &fds);
    let scope = timeout(PATIENCE, asking).await.unwrap().unwrap();
    let told = scope.unwrap().added_to(Some(Told::default())).unwrap();
    assert!(told.held.is_empty(), "{told:?}");
    let [missing] = &told.missing[..] else {
        panic!("{told:?}");
    };
    assert_eq!(missing.wall, "tasks_max");
    assert!(missing.reason.contains("scopes"), "{}", missing.reason);
}
