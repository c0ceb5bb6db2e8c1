//! The objects of `service`, made and joined to each other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use termd_proto::event::TerminalEvent;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

use crate::approval::Approvals;
use crate::askpass::Askpass;
use crate::clock::now_ms;
use crate::config::{ApprovedPlace, Config, MaxRunning};
use crate::heap_trim::HeapTrim;
use crate::keeper_client::KeeperClient;
use crate::paths::Paths;
use crate::service::{
    Adopter, ApprovedRules, Approver, Attachments, AttentionCommand, AttentionWatch, AuditLog,
    Catalog, ConnectionBinding, Creator, Disk, Ender, Explainer, FileOperator, Files, Gate,
    IdleTimer, Importer, Indexer, InputRecorder, InputSender, LimitRecorder, LimitWatch,
    OutputSecrets, OwnDirectories, PolicyInForce, Preflight, Registry, Retirement, Sandboxes,
    Scopes, Screens, Searcher, SecretDesk, Starter, TerminalTasks, TreeEnd, TtySecrets,
};
use crate::shell::ShellFiles;
use crate::store::{SearchIndex, Store};
use crate::terminal::TerminalError;
use crate::terminal::input::input_audit::InputLog;
use crate::terminal::output::backlog::Backlog;
use crate::terminal::output::flood_turn::FloodTurns;
use termd_keeper::protocol::message::InventoryTerminal;
use termd_policy::Policy;
use termd_policy::secrets::redact::{RedactionKey, Redactor};

/// Events that a subscriber may be behind before it gets a lag event.
const EVENT_QUEUE: usize = 1_024;

/// What the services are made of.
#[derive(Debug)]
pub(super) struct ServicesOptions<'a> {
    pub(super) config: &'a Config,
    pub(super) paths: &'a Paths,
    pub(super) policy: Arc<Policy>,
    pub(super) approved: ApprovedPlace,
    /// The scripts of shell integration; `None` where it is switched off.
    pub(super) shell: Option<ShellFiles>,
    /// What asks for passwords; `None` where it is switched off.
    pub(super) askpass: Option<Askpass>,
    pub(super) store: Store,
    pub(super) keeper: KeeperClient,
    /// The key of the hashes that stand in records for what was asked.
    pub(super) key: RedactionKey,
    /// The index of the search; `None` where it is switched off.
    pub(super) index: Option<Arc<SearchIndex>>,
}

/// What most services need.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub(super) store: Store,
    keeper: KeeperClient,
    pub(super) audit: AuditLog,
    pub(super) registry: Arc<Registry>,
    pub(super) events: broadcast::Sender<TerminalEvent>,
    /// Cancelled when the daemon stops or is replaced: no terminal is created from then on.
    pub(super) stopping: CancellationToken,
    pub(super) heap: HeapTrim,
    flood_turns: FloodTurns,
}

impl Base {
    fn new(store: Store, keeper: KeeperClient, max_running: MaxRunning) -> Self {
        let events = broadcast::Sender::new(EVENT_QUEUE);
        let stopping = CancellationToken::new();
        let registry = Registry::new(max_running, events.clone(), stopping.clone());
        let flood_turns = FloodTurns::default();
        Self {
            audit: AuditLog::new(store.clone(), flood_turns.clone()),
            registry: Arc::new(registry),
            store,
            keeper,
            events,
            stopping,
            heap: HeapTrim::start(),
            flood_turns,
        }
    }
}

/// What judges commands.
#[derive(Debug)]
pub(super) struct GateServices {
    pub(super) gate: Arc<Gate>,
    pub(super) policy: Arc<PolicyInForce>,
    pub(super) approvals: Approvals,
    pub(super) approver: Arc<Approver>,
}

impl GateServices {
    fn new(
        base: &Base,
        policy: Arc<Policy>,
        approved: ApprovedPlace,
        approvals: Approvals,
    ) -> Self {
        let policy = Arc::new(PolicyInForce::new(policy));
        let rules = ApprovedRules::new(approved, Arc::clone(&policy), base.audit.clone());
        let rules = Arc::new(rules);
        let gate = Gate::new(
            Arc::clone(&policy),
            approvals.clone(),
            Arc::clone(&rules),
            base.audit.clone(),
            base.keeper.clone(),
        );
        let approver = Approver::new(
            approvals.clone(),
            rules,
            base.audit.clone(),
            base.stopping.clone(),
        );
        Self {
            gate: Arc::new(gate),
            policy,
            approvals,
            approver: Arc::new(approver),
        }
    }
}

fn input_sender(gate: &GateServices, recorder: &InputRecorder, screens: &Screens) -> InputSender {
    InputSender::new(Arc::clone(&gate.gate), recorder.clone(), screens.clone())
}

fn attention_watch(
    base: &Base,
    gate: &GateServices,
    secrets: &OutputSecrets,
    config: &Config,
) -> AttentionWatch {
    AttentionWatch {
        secrets: secrets.clone(),
        command: AttentionCommand::new(base.keeper.clone(), &config.attention.command),
        started_at_ms: now_ms(),
        approvals: gate.approvals.clone(),
        store: base.store.clone(),
        events: base.events.clone(),
    }
}

fn secret_desk(base: &Base, gate: &GateServices) -> SecretDesk {
    SecretDesk {
        approvals: gate.approvals.clone(),
        audit: base.audit.clone(),
    }
}

fn tty_secrets(config: &Config, desk: &SecretDesk, input: &Arc<InputSender>) -> Option<TtySecrets> {
    let (desk, input) = (desk.clone(), Arc::clone(input));
    let is_on = config.agents.askpass;
    is_on.then_some(TtySecrets { desk, input })
}

fn output_secrets(redactor: Redactor, gate: &GateServices, config: &Config) -> OutputSecrets {
    OutputSecrets {
        redactor,
        policy: Arc::clone(&gate.policy),
        hidden_in_shells: config.agents.output.hide_secrets,
    }
}

/// What ends terminals.
#[derive(Debug)]
pub(super) struct EndingServices {
    pub(super) ender: Arc<Ender>,
    pub(super) binding: ConnectionBinding,
    retirement: Arc<Retirement>,
    limits: LimitWatch,
    scopes: Scopes,
}

impl EndingServices {
    fn new(base: &Base, kill_grace: Duration) -> Self {
        let tree_end = TreeEnd::new(base.keeper.clone(), kill_grace);
        let retirement = Retirement::new(Arc::clone(&base.registry), base.keeper.clone());
        let retirement = Arc::new(retirement);
        let ender = Arc::new(Ender::new(
            tree_end.clone(),
            Arc::clone(&base.registry),
            Arc::clone(&retirement),
            base.audit.clone(),
            base.store.clone(),
            base.events.clone(),
        ));
        let recorder = LimitRecorder::new(base.audit.clone(), base.events.clone());
        Self {
            binding: ConnectionBinding::new(
                Arc::clone(&ender),
                base.keeper.clone(),
                base.stopping.clone(),
            ),
            scopes: Scopes::new(recorder.clone()),
            limits: LimitWatch::new(recorder, tree_end, base.store.clone()),
            ender,
            retirement,
        }
    }
}

/// The services that `app` and the handlers of `rpc` use.
#[derive(Debug)]
pub(super) struct Services {
    pub(super) base: Base,
    pub(super) gate: GateServices,
    pub(super) ending: EndingServices,
    pub(super) catalog: Catalog,
    pub(super) creator: Arc<Creator>,
    pub(super) attachments: Attachments,
    pub(super) input: Arc<InputSender>,
    pub(super) input_recorder: InputRecorder,
    pub(super) screens: Screens,
    pub(super) explainer: Arc<Explainer>,
    pub(super) files: Arc<Files>,
    pub(super) importer: Arc<Importer>,
    pub(super) disk: Arc<Disk>,
    pub(super) sandboxes: Sandboxes,
    pub(super) tasks: Arc<TerminalTasks>,
    pub(super) output_secrets: OutputSecrets,
    pub(super) secret_desk: SecretDesk,
    pub(super) searcher: Searcher,
    pub(super) index: Option<Arc<SearchIndex>>,
}

/// What is done once, when a server starts.
#[derive(Debug)]
pub(super) struct Startup {
    adopter: Adopter,
    idle_timer: IdleTimer,
    disk: Arc<Disk>,
    approver: Arc<Approver>,
    indexer: Option<Indexer>,
}

impl Startup {
    /// Takes over the terminals that there are, and starts what runs beside them.
    pub(super) async fn run(self, inventory: Vec<InventoryTerminal>) -> Result<(), TerminalError> {
        self.disk.start().await;
        self.approver.restore().await?;
        self.adopter.adopt(inventory).await?;
        tokio::spawn(self.idle_timer.run());
        if let Some(indexer) = self.indexer {
            indexer.start();
        }
        let approver = Arc::clone(&self.approver);
        tokio::spawn(async move { approver.record_watches().await });
        tokio::spawn(async move { self.approver.record_expired().await });
        Ok(())
    }
}

impl Services {
    /// Makes the services. There are no terminals before [`Startup::run`].
    pub(super) fn new(options: ServicesOptions<'_>) -> (Self, Startup) {
        let (config, paths) = (options.config, options.paths);
        let base = Base::new(options.store, options.keeper, config.limits.running());
        let approved_file = options.approved.file.clone();
        let redactor = options.approved.redactor.clone();
        let watchers = options.policy.daemon().pids.clone();
        let approvals = Approvals::new(config.approval_timeout(), options.key, watchers);
        let gate = GateServices::new(&base, options.policy, options.approved, approvals);
        let ending = EndingServices::new(&base, config.kill_grace());
        let sandboxes = Sandboxes::new(&paths.state_dir, config_dir(paths));
        let disk = Arc::new(disk(&base, config, paths));
        let idle_listed = Arc::<Notify>::default();
        let idle_timer = IdleTimer::new(
            Arc::clone(&base.registry),
            Arc::clone(&ending.ender),
            base.stopping.clone(),
            Arc::clone(&idle_listed),
        );
        let screens = Screens::new(base.store.clone());
        let input_recorder = InputRecorder::new(base.audit.clone(), base.stopping.clone());
        let input = Arc::new(input_sender(&gate, &input_recorder, &screens));
        let secret_desk = secret_desk(&base, &gate);
        let tty_secrets = tty_secrets(config, &secret_desk, &input);
        let output_secrets = output_secrets(redactor, &gate, config);
        let tasks = Arc::new(TerminalTasks {
            tty_secrets,
            registry: Arc::clone(&base.registry),
            retirement: Arc::clone(&ending.retirement),
            ender: Arc::clone(&ending.ender),
            limits: ending.limits.clone(),
            attention: attention_watch(&base, &gate, &output_secrets, config),
            scopes: ending.scopes.clone(),
            disk: Arc::clone(&disk),
            store: base.store.clone(),
            keeper: base.keeper.clone(),
            events: base.events.clone(),
            backlog: Backlog::default(),
            flood_turns: base.flood_turns.clone(),
            input_log: input_log(config),
            idle_listed,
            stopping: base.stopping.clone(),
            heap: base.heap.clone(),
        });
        let creator = Creator {
            registry: Arc::clone(&base.registry),
            disk: Arc::clone(&disk),
            preflight: Preflight::new(Arc::clone(&gate.gate), sandboxes.clone()),
            starter: Starter::new(base.keeper.clone(), ending.scopes.clone()),
            tasks: Arc::clone(&tasks),
            audit: base.audit.clone(),
            store: base.store.clone(),
            events: base.events.clone(),
            spool: config.spool.clone(),
            agents: config.agents.clone(),
            shell: options.shell,
            askpass: options.askpass,
        };
        let startup = Startup {
            adopter: adopter(&base, &ending, &tasks, &sandboxes, config),
            idle_timer,
            disk: Arc::clone(&disk),
            approver: Arc::clone(&gate.approver),
            indexer: indexer(&base, options.index.as_ref()),
        };
        let explainer = explainer(&gate, &sandboxes, paths, approved_file);
        let files = files(&base, &gate, &sandboxes, &disk, paths);
        let importer = Importer::new(base.store.clone(), Arc::clone(&disk));
        let services = Self {
            importer: Arc::new(importer),
            searcher: searcher(&base, options.index.clone(), &output_secrets),
            index: options.index,
            secret_desk,
            output_secrets,
            catalog: Catalog::new(Arc::clone(&base.registry), base.store.clone()),
            attachments: attachments(&base, &screens),
            base,
            gate,
            ending,
            creator: Arc::new(creator),
            input,
            input_recorder,
            screens,
            explainer: Arc::new(explainer),
            files: Arc::new(files),
            disk,
            sandboxes,
            tasks,
        };
        (services, startup)
    }

    /// Resolves when every terminal has exited and all of its output is stored.
    pub(super) async fn all_stored(&self) {
        for terminal in self.base.registry.all() {
            terminal.task_has_ended().await;
        }
    }
}

fn attachments(base: &Base, screens: &Screens) -> Attachments {
    let (audit, stopping) = (base.audit.clone(), base.stopping.clone());
    Attachments::new(audit, screens.clone(), stopping)
}

fn explainer(
    gate: &GateServices,
    sandboxes: &Sandboxes,
    paths: &Paths,
    approved_file: PathBuf,
) -> Explainer {
    Explainer::new(
        Arc::clone(&gate.policy),
        sandboxes.clone(),
        paths.config_file.clone(),
        approved_file,
    )
}

fn adopter(
    base: &Base,
    ending: &EndingServices,
    tasks: &Arc<TerminalTasks>,
    sandboxes: &Sandboxes,
    config: &Config,
) -> Adopter {
    Adopter {
        registry: Arc::clone(&base.registry),
        retirement: Arc::clone(&ending.retirement),
        tasks: Arc::clone(tasks),
        scopes: ending.scopes.clone(),
        sandboxes: sandboxes.clone(),
        ender: Arc::clone(&ending.ender),
        binding: ending.binding.clone(),
        audit: base.audit.clone(),
        store: base.store.clone(),
        keeper: base.keeper.clone(),
        spool: config.spool.clone(),
    }
}

fn searcher(
    base: &Base,
    index: Option<Arc<SearchIndex>>,
    output_secrets: &OutputSecrets,
) -> Searcher {
    let (store, registry) = (base.store.clone(), Arc::clone(&base.registry));
    Searcher::new(store, registry, index, output_secrets.clone())
}

fn indexer(base: &Base, index: Option<&Arc<SearchIndex>>) -> Option<Indexer> {
    index.map(|index| {
        Indexer::new(
            base.store.clone(),
            Arc::clone(&base.registry),
            Arc::clone(index),
            base.events.subscribe(),
            base.stopping.clone(),
            base.flood_turns.clone(),
        )
    })
}

fn disk(base: &Base, config: &Config, paths: &Paths) -> Disk {
    Disk::new(
        paths.state_dir.clone(),
        config.store.clone(),
        base.store.clone(),
        Arc::clone(&base.registry),
        base.audit.clone(),
        base.events.clone(),
    )
}

fn files(
    base: &Base,
    gate: &GateServices,
    sandboxes: &Sandboxes,
    disk: &Arc<Disk>,
    paths: &Paths,
) -> Files {
    Files {
        gate: Arc::clone(&gate.gate),
        policy: Arc::clone(&gate.policy),
        sandboxes: sandboxes.clone(),
        operator: FileOperator::new(base.keeper.clone(), OwnDirectories::new(paths)),
        disk: Arc::clone(disk),
        audit: base.audit.clone(),
    }
}

fn config_dir(paths: &Paths) -> PathBuf {
    let parent = paths.config_file.parent();
    parent.map(std::path::Path::to_owned).unwrap_or_default()
}

fn input_log(config: &Config) -> InputLog {
    if config.audit.log_input {
        InputLog::Text
    } else {
        InputLog::Sums
    }
}
