//! The server, put together: database, terminals, socket; and what the keeper tells it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use thiserror::Error;
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;
use crate::config::{
    ApprovedInForce, ApprovedPlace, Change, Config, InForce, approved_file, keep_approved,
};
use crate::journal::AnchorKeeper;
use crate::keeper_client::{Connected, KeeperClient, KeeperError};
use crate::paths::Paths;
use crate::rpc::{
    AcpHandler, Api, ApprovalHandler, AuditHandler, CommandHandler, ConfigFaults, DaemonHandler,
    InteractHandler, PolicyHandler, ScreenHandler, ServeOptions, SessionHandler, SocketStats,
    serve,
};
use crate::service::{Terminals, TerminalsOptions};
use crate::shell::ShellFiles;
use crate::store::{AuditEntry, Store, StoreError, own_actor};
use crate::terminal::TerminalError;
use crate::terminal::input::input_audit::InputLog;
use termd_keeper::InheritedFds;
use termd_keeper::protocol::message::KeeperEvent;
use termd_policy::secrets::redact::PatternError;

/// How often the database is looked through for what is past retention.
const RETENTION_PERIOD: Duration = Duration::from_hours(1);
/// How long after the start the first look is: not while clients wait for the socket.
const FIRST_RETENTION: Duration = Duration::from_mins(1);
/// How long a stopping server waits for output to reach the database.
const FINISH_DEADLINE: Duration = Duration::from_secs(8);

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
    /// Taking over terminals.
    #[error(transparent)]
    Terminals(#[from] TerminalError),
    /// The listening socket.
    #[error("the listening socket cannot be used: {0}")]
    Listener(#[from] std::io::Error),
}

impl AppError {
    /// Whether starting again can help. A database that another termd must read cannot be mended
    /// by trying.
    pub fn is_permanent(&self) -> bool {
        matches!(
            self,
            Self::Store(
                StoreError::FromTheFuture { .. }
                    | StoreError::Damaged { .. }
                    | StoreError::Open { .. }
            )
        )
    }
}

/// Serves until the keeper says that this server's time is over.
pub async fn run(inherited: InheritedFds, paths: Paths, in_force: InForce) -> Result<(), AppError> {
    let Connected {
        keeper,
        inventory,
        events,
    } = KeeperClient::connect(inherited.control).await?;
    let store = Store::open_with(paths.database(), in_force.file.config.redactor()?).await?;
    let in_force = record_change(in_force, &store).await?;
    if let Some(fault) = &in_force.fault {
        tracing::error!(fault, "config.toml is not in force, the last good one is");
    }
    if let Err(error) = in_force.keep(&paths.state_dir) {
        tracing::error!(%error, "cannot keep the configuration for the next server");
    }
    let config_hash = in_force.hash();
    let InForce { file, fault, .. } = in_force;
    let config = file.config;
    let approved = approved_in_force(&paths, &config_hash, &store).await;
    let faults = ConfigFaults {
        config: fault,
        approved: approved.fault,
    };
    let mut anchors = AnchorKeeper::new(store.watch_audit());
    let shell = shell_files(&config, &paths);
    record_start(&store, shell.as_ref()).await;
    let options = TerminalsOptions {
        kill_grace: config.kill_grace(),
        approval_timeout: config.approval_timeout(),
        spool: config.spool.clone(),
        store: config.store.clone(),
        state_dir: paths.state_dir.clone(),
        max_running: config.limits.running(),
        shell,
        policy: Arc::new(file.policy.with_approved(approved.approved)),
        approved: approved_place(&paths, config_hash, &config)?,
        config_dir: config_dir(&paths),
        input_log: input_log(&config),
    };
    let terminals = Terminals::new(options, store.clone(), keeper.clone());
    let adopted = inventory.len();
    terminals.adopt(inventory).await?;

    let stats = Arc::<SocketStats>::default();
    let api = api(&terminals, &stats, &paths, faults);
    let listener = std::os::unix::net::UnixListener::from(inherited.listener);
    let listener = UnixListener::from_std(listener)?;
    let shutdown = CancellationToken::new();
    let serve_options = ServeOptions {
        stats,
        events: Some(terminals.event_sender()),
        ..ServeOptions::default()
    };
    let serving = tokio::spawn(serve(
        listener,
        Arc::new(api),
        serve_options,
        shutdown.clone(),
    ));
    let tells_journal = config.audit.journal;
    tokio::spawn(keep_retention(terminals.clone(), config));
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
    let ending = tokio::select! {
        ending = listen_to_keeper(events, &terminals) => ending,
        never = anchoring => match never {},
    };
    terminals.refuse_new();
    shutdown.cancel();
    if serving.await.is_err() {
        tracing::error!("the socket's task failed");
    }
    if ending == Ending::Finish {
        terminals.give_up_unstored();
        let stored = tokio::time::timeout(FINISH_DEADLINE, terminals.all_stored()).await;
        if stored.is_err() {
            tracing::error!("stopped before all output was in the database");
        }
        terminals.let_all_go().await;
    }
    terminals.record_all_typed().await;
    let closed = store.close().await;
    if tells_journal {
        anchors.last();
    }
    closed?;
    tracing::info!(?ending, "this server is done");
    Ok(())
}

fn config_dir(paths: &Paths) -> PathBuf {
    let parent = paths.config_file.parent();
    parent.map(Path::to_owned).unwrap_or_default()
}

fn input_log(config: &Config) -> InputLog {
    if config.audit.log_input {
        InputLog::Text
    } else {
        InputLog::Sums
    }
}

/// Records a change of the configuration, before it is in force. Where that cannot be, the one
/// before stays.
async fn record_change(in_force: InForce, store: &Store) -> Result<InForce, AppError> {
    let Some(change) = &in_force.change else {
        return Ok(in_force);
    };
    let entry = change_entry(change, in_force.fault.as_deref(), Map::new());
    match store.audit(entry).await {
        Ok(_) => Ok(in_force),
        Err(error) => match in_force.unrecorded(&error.to_string()) {
            Some(before) => Ok(before),
            None => Err(error.into()),
        },
    }
}

/// Where approved.toml and what goes with it are.
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

/// What somebody has agreed to for always, recorded where it has changed, and kept.
async fn approved_in_force(paths: &Paths, config_hash: &str, store: &Store) -> ApprovedInForce {
    let mut approved = ApprovedInForce::find(&approved_file(&paths.config_file), &paths.state_dir);
    if let Some(change) = &approved.change {
        let more = Map::from_iter([
            ("file".to_owned(), json!(approved_file(&paths.config_file))),
            ("config".to_owned(), config_hash.into()),
        ]);
        let entry = change_entry(change, approved.fault.as_deref(), more);
        if let Err(error) = store.audit(entry).await {
            approved = approved.unrecorded(&error.to_string());
        }
    }
    if let Some(fault) = &approved.fault {
        tracing::error!(fault, "approved.toml is not in force, the last good one is");
    }
    if let Err(error) = keep_approved(&approved.text, &paths.state_dir) {
        tracing::error!(%error, "cannot keep approved.toml for the next server");
    }
    approved
}

/// The record of a change of the policy.
fn change_entry(change: &Change, fault: Option<&str>, more: Map<String, Value>) -> AuditEntry {
    let (outcome, names, hashes) = match change {
        Change::Made { old, new } => ("ok".to_owned(), ["old", "new"], [old.as_ref(), Some(new)]),
        Change::Refused { stays, refused } => {
            let fault = fault.unwrap_or_default();
            let names = ["stays", "refused"];
            (
                format!("refused: {fault}"),
                names,
                [Some(stays), refused.as_ref()],
            )
        }
    };
    let hashes = hashes.map(|hash| hash.map(String::as_str).into());
    let hashes = names.map(str::to_owned).into_iter().zip(hashes);
    AuditEntry {
        at_ms: now_ms(),
        action: "policy.changed",
        outcome,
        actor: own_actor(),
        terminal: None,
        detail: hashes.chain(more).collect(),
    }
}

/// The scripts of shell integration, unless it is switched off. Shells work without.
fn shell_files(config: &Config, paths: &Paths) -> Option<ShellFiles> {
    let directory = paths.socket.parent().filter(|_| config.shell.integration)?;
    ShellFiles::install(directory)
        .inspect_err(|error| tracing::error!(%error, "no shell integration"))
        .ok()
}

/// Says in the audit that this server begins, and what it wrote for that outside its database. Where
/// the disk takes no record it begins all the same: what it is then asked for is refused.
async fn record_start(store: &Store, shell: Option<&ShellFiles>) {
    let written = shell.map(ShellFiles::written).unwrap_or_default();
    let entry = AuditEntry {
        at_ms: now_ms(),
        action: "daemon.start",
        outcome: "ok".to_owned(),
        actor: own_actor(),
        terminal: None,
        detail: Map::from_iter([
            ("version".to_owned(), env!("CARGO_PKG_VERSION").into()),
            ("written".to_owned(), written.into()),
        ]),
    };
    if let Err(error) = store.audit(entry).await {
        tracing::error!(%error, "cannot record that this server begins");
    }
}

/// Why a server's time is over.
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
    terminals: &Terminals,
) -> Ending {
    while let Some(event) = events.recv().await {
        match event {
            KeeperEvent::Exited { id, status } => terminals.root_was_reaped(&id, status),
            KeeperEvent::BuilderFailed { id, stderr } => {
                let said = String::from_utf8_lossy(&stderr);
                tracing::warn!(terminal = %id, said = said.trim(), "bubblewrap built no sandbox");
            }
            KeeperEvent::HandOver => return Ending::HandOver,
            KeeperEvent::Stopping => {
                tracing::info!("stopping: terminals are being ended");
                terminals.refuse_new();
            }
            KeeperEvent::Finish => return Ending::Finish,
        }
    }
    Ending::Orphaned
}

fn api(
    terminals: &Terminals,
    stats: &Arc<SocketStats>,
    paths: &Paths,
    faults: ConfigFaults,
) -> Api {
    let daemon = DaemonHandler::new(
        terminals.clone(),
        Arc::clone(stats),
        &paths.socket,
        &paths.database(),
        faults,
    );
    let mut api = Api::default();
    AcpHandler::new(terminals.clone()).register(&mut api);
    SessionHandler::new(terminals.clone()).register(&mut api);
    ScreenHandler::new(terminals.clone()).register(&mut api);
    InteractHandler::new(terminals.clone()).register(&mut api);
    CommandHandler::new(terminals.clone()).register(&mut api);
    PolicyHandler::new(terminals.clone(), paths.config_file.clone()).register(&mut api);
    ApprovalHandler::new(terminals.clone()).register(&mut api);
    AuditHandler::new(terminals.store().clone()).register(&mut api);
    daemon.register(&mut api);
    api
}

async fn keep_retention(terminals: Terminals, config: Config) {
    let retention = config.store_retention();
    let mut pause = FIRST_RETENTION;
    loop {
        tokio::time::sleep(pause).await;
        pause = RETENTION_PERIOD;
        match terminals
            .store()
            .apply_retention(&retention, now_ms())
            .await
        {
            Ok(dropped) => terminals.forget_output(&dropped).await,
            Err(StoreError::Closed) => return,
            Err(error) => tracing::error!(%error, "retention failed"),
        }
    }
}
