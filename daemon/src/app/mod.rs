//! The server: database, services and socket put together, and the events of the keeper.

mod handlers;
mod policy_changes;
mod redaction_key;
mod services;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Map;
use thiserror::Error;
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::handlers::api;
use self::policy_changes::{approved_in_force, record_change};
use self::redaction_key::{KeyError, redaction_key};
use self::services::{Services, ServicesOptions};
use crate::askpass::Askpass;
use crate::clock::now_ms;
use crate::config::{ApprovedPlace, Config, ConfigError, InForce, StartReason, approved_file};
use crate::journal::AnchorKeeper;
use crate::keeper_client::{Connected, KeeperClient, KeeperError};
use crate::paths::Paths;
use crate::rpc::{Faults, ReloadFault, ServeOptions, SocketStats, serve};
use crate::service::{Descent, Registry, TerminalTasks};
use crate::shell::ShellFiles;
use crate::store::{
    AuditAction, AuditEntry, AuditHead, AuditOutcome, SearchIndex, Stall, Store, StoreError,
    own_actor,
};
use crate::terminal::TerminalError;
use termd_keeper::InheritedFds;
use termd_keeper::protocol::message::KeeperEvent;
use termd_policy::Daemon;
use termd_policy::secrets::redact::PatternError;

/// The pause between two searches for what is past retention.
const RETENTION_PERIOD: Duration = Duration::from_hours(1);
/// How long after the start the first search is: not while clients wait for the socket.
const FIRST_RETENTION: Duration = Duration::from_mins(1);
/// How long a stopping server waits for output to reach the database.
const FINISH_DEADLINE: Duration = Duration::from_secs(8);
/// The same where the disk is full.
const FULL_FINISH_DEADLINE: Duration = Duration::from_secs(1);

/// Why a server could not start or go on.
#[derive(Debug, Error)]
pub enum AppError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The keeper.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The patterns of secrets, which were read and checked at the start.
    #[error(transparent)]
    Patterns(#[from] PatternError),
    /// The key of the hashes that stand for secrets.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Taking over terminals.
    #[error(transparent)]
    Terminals(#[from] TerminalError),
    /// The listening socket.
    #[error("the listening socket cannot be used: {0}")]
    Listener(#[from] std::io::Error),
}

impl AppError {
    /// Whether starting again cannot help: a database that only another termd can read stays so.
    pub fn is_permanent(&self) -> bool {
        matches!(
            self,
            Self::Store(
                StoreError::FromTheFuture { .. }
                    | StoreError::Damaged { .. }
                    | StoreError::Open { .. }
            ) | Self::Key(_)
        )
    }
}

/// Serves until the keeper ends this server.
pub async fn run(inherited: InheritedFds, paths: Paths) -> Result<(), AppError> {
    let Connected {
        keeper,
        inventory,
        audit_head,
        is_recovery,
        events,
    } = KeeperClient::connect(inherited.control).await?;
    let reason = StartReason::of(is_recovery);
    let in_force = InForce::find(&paths.config_file, &paths.state_dir, reason)?;
    let key = redaction_key(&paths.state_dir)?;
    let redactor = in_force.file.config.redactor()?.with_key(key);
    let store = Store::open_with(paths.database(), redactor).await?;
    let store = store.with_earlier_head(audit_head);
    let has_earlier_head = follow_chain(&store, &keeper).await?;
    let in_force = bring_into_force(in_force, &paths, &store).await?;
    let config_hash = in_force.hash();
    let InForce { file, fault, .. } = in_force;
    let config = file.config;
    let approved = approved_in_force(&paths, &config_hash, &store, reason).await;
    let mut anchors = AnchorKeeper::new(store.watch_audit());
    let shell = shell_files(&config, &paths);
    let askpass = askpass(&config, &paths);
    record_start(&store, shell.as_ref(), has_earlier_head).await;
    let policy = file.policy.with_approved(approved.approved);
    let (services, startup) = Services::new(ServicesOptions {
        policy: Arc::new(policy.with_daemon(Arc::new(daemon(&paths)))),
        approved: approved_place(&paths, config_hash, &config)?,
        config: &config,
        paths: &paths,
        shell,
        askpass,
        store: store.clone(),
        keeper: keeper.clone(),
        key,
        index: search_index(&config, &store).await,
    });
    let adopted = inventory.len();
    startup.run(inventory).await?;

    let stats = Arc::<SocketStats>::default();
    let reload_fault = ReloadFault::default();
    let faults = Faults {
        config: fault,
        approved: approved.fault,
        reload: reload_fault.clone(),
    };
    let api = api(&services, &stats, &paths, faults, &keeper);
    let listener = std::os::unix::net::UnixListener::from(inherited.listener);
    let listener = UnixListener::from_std(listener)?;
    let shutdown = CancellationToken::new();
    let serve_options = serve_options(&services, stats, &paths);
    let serving = tokio::spawn(serve(
        listener,
        Arc::new(api),
        serve_options,
        shutdown.clone(),
    ));
    let tells_journal = config.audit.journal;
    let registry = Arc::clone(&services.base.registry);
    tokio::spawn(keep_retention(store.clone(), registry, config));
    keeper.ready().await?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        terminals = adopted,
        "serving"
    );

    let anchoring = async {
        if tells_journal {
            anchors.run().await
        } else {
            std::future::pending().await
        }
    };
    let stopping = &services.base.stopping;
    let listening = listen_to_keeper(events, &services.tasks, stopping, &reload_fault);
    let ending = tokio::select! {
        ending = listening => ending,
        never = anchoring => match never {},
    };
    services.base.stopping.cancel();
    shutdown.cancel();
    if serving.await.is_err() {
        tracing::error!("the socket's task failed");
    }
    if ending == Ending::Finish {
        finish(&services).await;
    }
    let terminals = services.base.registry.all();
    services.input_recorder.flush(&terminals).await;
    let closed = close(store, ending).await;
    if tells_journal {
        anchors.last();
    }
    closed?;
    tracing::info!(?ending, "this server is done");
    Ok(())
}

fn serve_options(services: &Services, stats: Arc<SocketStats>, paths: &Paths) -> ServeOptions {
    let registry = Arc::clone(&services.base.registry);
    ServeOptions {
        stats,
        events: Some(services.base.events.clone()),
        descent: Some(Arc::new(Descent::new(registry, &paths.state_dir))),
        heap: services.base.heap.clone(),
        ..ServeOptions::default()
    }
}

/// Records a change of the configuration, and keeps the text for the next server.
async fn bring_into_force(
    found: InForce,
    paths: &Paths,
    store: &Store,
) -> Result<InForce, StoreError> {
    let in_force = record_change(found, store).await?;
    if let Some(fault) = &in_force.fault {
        tracing::error!(fault, "config.toml is not in force, the last good one is");
    }
    if let Err(error) = in_force.keep(&paths.state_dir) {
        tracing::error!(%error, "cannot keep the configuration for the next server");
    }
    Ok(in_force)
}

/// Stores what can be stored of the terminals, all of which have ended, and removes what was created for
/// their sandboxes.
async fn finish(services: &Services) {
    services.disk.give_up_unstored();
    let deadline = match services.base.store.stall() {
        Some(Stall::FullForOutput | Stall::Full) => FULL_FINISH_DEADLINE,
        Some(Stall::Failing) | None => FINISH_DEADLINE,
    };
    let stored = tokio::time::timeout(deadline, services.all_stored()).await;
    if stored.is_err() {
        tracing::error!("stopped before all output was in the database");
    }
    services.sandboxes.remove_all().await;
}

/// Closes the database. What waits for a full disk is given up at the daemon's end: another server would
/// find the disk as full.
async fn close(store: Store, ending: Ending) -> Result<(), StoreError> {
    let is_full = matches!(store.stall(), Some(Stall::FullForOutput | Stall::Full));
    match store.close().await {
        Err(error) if is_full && ending == Ending::Finish => {
            tracing::error!(%error, "what waited for the disk is not in the database");
            Ok(())
        }
        closed => closed,
    }
}

/// Where approved.toml is, and what goes with it.
fn approved_place(
    paths: &Paths,
    config_hash: String,
    config: &Config,
) -> Result<ApprovedPlace, PatternError> {
    Ok(ApprovedPlace {
        file: approved_file(&paths.config_file),
        state_dir: paths.state_dir.clone(),
        config_hash,
        redactor: config.redactor()?,
    })
}

/// The daemon that this server is of, as the gate has to know it.
fn daemon(paths: &Paths) -> Daemon {
    let keeper = rustix::process::getppid().map(rustix::process::Pid::as_raw_pid);
    let server = rustix::process::getpid().as_raw_pid();
    let program = std::env::current_exe().ok().map(as_installed);
    let config_dir = paths.config_file.parent();
    let client = program
        .as_deref()
        .map(|path| path.with_file_name("termctl"));
    // A socket that was named may lie in a directory of others.
    let runtime_dir = paths.socket.parent().filter(|path| path.ends_with("termd"));
    let own = [
        config_dir,
        Some(&paths.state_dir),
        Some(runtime_dir.unwrap_or(&paths.socket)),
        program.as_deref(),
        client.as_deref(),
    ];
    let own = own.into_iter().flatten();
    Daemon {
        pids: keeper.into_iter().chain([server]).collect(),
        paths: own
            .map(|path| path.to_string_lossy().into_owned())
            .collect(),
    }
}

/// The path of a program that another one has taken the place of (`proc_pid_exe(5)`).
fn as_installed(program: PathBuf) -> PathBuf {
    match program
        .to_str()
        .and_then(|path| path.strip_suffix(" (deleted)"))
    {
        Some(path) => path.into(),
        None => program,
    }
}

/// The scripts of shell integration, unless it is switched off. Shells work without.
fn shell_files(config: &Config, paths: &Paths) -> Option<ShellFiles> {
    let directory = paths.socket.parent().filter(|_| config.shell.integration)?;
    ShellFiles::install(directory)
        .inspect_err(|error| tracing::error!(%error, "no shell integration"))
        .ok()
}

/// The index of the search, unless it is switched off. Searches work without.
async fn search_index(config: &Config, store: &Store) -> Option<Arc<SearchIndex>> {
    let index = if config.search.index {
        SearchIndex::open(store.path()).await.map(Some)
    } else {
        SearchIndex::remove(store.path()).map(|()| None)
    };
    index
        .inspect_err(|error| tracing::error!(%error, "no index of the search"))
        .ok()?
        .map(Arc::new)
}

/// The program that asks a person for passwords, unless it is switched off.
fn askpass(config: &Config, paths: &Paths) -> Option<Askpass> {
    let directory = paths.socket.parent().filter(|_| config.agents.askpass)?;
    let installed = Askpass::install(directory);
    installed
        .inspect_err(|error| tracing::error!(%error, "agents' commands cannot ask for passwords"))
        .ok()?
}

/// Whether the chain goes on from the head that the keeper holds. Only then the keeper is given the
/// next heads: of a chain that was changed it holds what was written, for `verify` of every later server.
async fn follow_chain(store: &Store, keeper: &KeeperClient) -> Result<bool, StoreError> {
    let goes_on = store.has_earlier_head().await?;
    if goes_on {
        tokio::spawn(keep_audit_head(keeper.clone(), store.watch_audit()));
    } else {
        tracing::error!("the audit chain was changed while no server ran");
    }
    Ok(goes_on)
}

/// Gives the keeper each head of the audit chain, for the next server. Ends with the store or the keeper.
async fn keep_audit_head(keeper: KeeperClient, mut head: AuditHead) {
    loop {
        let newest = head.newest();
        if newest.seq > 0 && keeper.set_audit_head(&newest).await.is_err() {
            return;
        }
        if !head.moved().await {
            return;
        }
    }
}

/// Records that this server starts, whether the chain is as the server before left it, and the files that it wrote outside its database. The server
/// starts also where the disk takes no record; what is then requested is refused.
async fn record_start(store: &Store, shell: Option<&ShellFiles>, has_earlier_head: bool) {
    let written = shell.map(ShellFiles::written).unwrap_or_default();
    let mut detail = Map::from_iter([
        ("version".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ("written".to_owned(), written.into()),
    ]);
    if !has_earlier_head {
        let chain = "changed while no server ran";
        detail.insert("chain".to_owned(), chain.into());
    }
    let entry = AuditEntry {
        at_ms: now_ms(),
        action: AuditAction::DaemonStart,
        outcome: AuditOutcome::Ok,
        actor: own_actor(),
        terminal: None,
        detail,
    };
    if let Err(error) = store.audit(entry).await {
        tracing::error!(%error, "cannot record that this server starts");
    }
}

/// Why a server ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The next one takes over.
    HandOver,
    /// Every terminal has ended.
    Finish,
    /// The keeper is gone.
    Orphaned,
}

async fn listen_to_keeper(
    mut events: mpsc::Receiver<KeeperEvent>,
    tasks: &TerminalTasks,
    stopping: &CancellationToken,
    reload_fault: &ReloadFault,
) -> Ending {
    while let Some(event) = events.recv().await {
        match event {
            KeeperEvent::Exited { id, status } => tasks.root_was_reaped(&id, status),
            KeeperEvent::BuilderFailed { id, stderr } => {
                let said = String::from_utf8_lossy(&stderr);
                tracing::warn!(terminal = %id, said = said.trim(), "bubblewrap built no sandbox");
            }
            KeeperEvent::Reloading => reload_fault.clear(),
            KeeperEvent::ReloadFailed { reason } => {
                // The journal shows the message alone.
                tracing::error!("not reloaded, this server goes on: {reason}");
                reload_fault.set(reason);
            }
            KeeperEvent::HandOver => return Ending::HandOver,
            KeeperEvent::Stopping => {
                tracing::info!("stopping: terminals are being ended");
                stopping.cancel();
            }
            KeeperEvent::Finish => return Ending::Finish,
        }
    }
    Ending::Orphaned
}

/// Applies retention once an hour.
async fn keep_retention(store: Store, registry: Arc<Registry>, config: Config) {
    let retention = config.store_retention();
    let mut pause = FIRST_RETENTION;
    loop {
        tokio::time::sleep(pause).await;
        pause = RETENTION_PERIOD;
        match store.apply_retention(&retention, now_ms()).await {
            Ok(dropped) => registry.discard_output(&dropped).await,
            Err(StoreError::Closed) => return,
            Err(error) => tracing::error!(%error, "retention failed"),
        }
    }
}
