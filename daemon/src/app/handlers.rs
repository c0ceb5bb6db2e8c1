//! The socket's methods, each with the services that it needs.

use std::sync::Arc;

use super::services::Services;
use crate::keeper_client::KeeperClient;
use crate::paths::Paths;
use crate::rpc::{
    AcpHandler, Api, ApprovalHandler, AttentionHandler, AuditHandler, CommandHandler,
    DaemonHandler, Faults, FileHandler, ImportHandler, InteractHandler, OutputHandler,
    PolicyHandler, RecordingHandler, ScreenHandler, SecretHandler, SessionHandler, ShellHandler,
    SocketStats,
};
use crate::service::{InPlace, Namer, TranscriptEraser};

/// All methods of the socket.
pub(super) fn api(
    services: &Services,
    stats: &Arc<SocketStats>,
    paths: &Paths,
    faults: Faults,
    keeper: &KeeperClient,
) -> Api {
    let Services {
        base,
        gate,
        ending,
        catalog,
        creator,
        input,
        screens,
        ..
    } = services;
    let (ender, binding, store) = (&ending.ender, &ending.binding, &base.store);
    let output_secrets = &services.output_secrets;
    let acp = AcpHandler {
        output_secrets: output_secrets.clone(),
        registry: Arc::clone(&base.registry),
        creator: Arc::clone(creator),
        ender: Arc::clone(ender),
        binding: binding.clone(),
    };
    let in_place = InPlace {
        audit: base.audit.clone(),
    };
    let session = session(services, keeper, in_place.clone());
    let screen = ScreenHandler {
        catalog: catalog.clone(),
        screens: screens.clone(),
        output_secrets: output_secrets.clone(),
    };
    let recording = recording(services);
    let interact = InteractHandler {
        catalog: catalog.clone(),
        input: Arc::clone(input),
        store: store.clone(),
        output_secrets: output_secrets.clone(),
    };
    let command = CommandHandler {
        output_secrets: output_secrets.clone(),
        catalog: catalog.clone(),
        store: store.clone(),
    };
    let file = FileHandler {
        catalog: catalog.clone(),
        files: Arc::clone(&services.files),
    };
    let policy = PolicyHandler {
        policy: Arc::clone(&gate.policy),
        explainer: Arc::clone(&services.explainer),
        file: paths.config_file.clone(),
    };
    let daemon = DaemonHandler::new(
        catalog.clone(),
        Arc::clone(&services.disk),
        keeper.clone(),
        Arc::clone(stats),
        paths,
        faults,
        gate.approvals.clone(),
    )
    .with_shell(services.creator.agents.output.for_shell());
    let mut api = Api::hiding(output_secrets.clone());
    acp.register(&mut api);
    session.register(&mut api);
    ShellHandler { in_place }.register(&mut api);
    screen.register(&mut api);
    recording.register(&mut api);
    interact.register(&mut api);
    command.register(&mut api);
    file.register(&mut api);
    ImportHandler::new(Arc::clone(&services.importer)).register(&mut api);
    output(services).register(&mut api);
    policy.register(&mut api);
    register_for_people(&mut api, services);
    AuditHandler::new(store.clone()).register(&mut api);
    daemon.register(&mut api);
    api
}

/// What asks a person, and what a person answers.
fn register_for_people(api: &mut Api, services: &Services) {
    let approvals = &services.gate.approvals;
    let approval = ApprovalHandler {
        approvals: approvals.clone(),
        approver: Arc::clone(&services.gate.approver),
    };
    approval.register(api);
    let attention = AttentionHandler {
        approvals: approvals.clone(),
        catalog: services.catalog.clone(),
        gate: Arc::clone(&services.gate.gate),
    };
    attention.register(api);
    let secret = SecretHandler {
        desk: services.secret_desk.clone(),
    };
    secret.register(api);
}

fn output(services: &Services) -> OutputHandler {
    OutputHandler {
        catalog: services.catalog.clone(),
        searcher: services.searcher.clone(),
        audit: services.base.audit.clone(),
    }
}

fn recording(services: &Services) -> RecordingHandler {
    RecordingHandler {
        catalog: services.catalog.clone(),
        screens: services.screens.clone(),
        output_secrets: services.output_secrets.clone(),
    }
}

fn session(services: &Services, keeper: &KeeperClient, in_place: InPlace) -> SessionHandler {
    let base = &services.base;
    let store = &base.store;
    SessionHandler {
        catalog: services.catalog.clone(),
        creator: Arc::clone(&services.creator),
        ender: Arc::clone(&services.ending.ender),
        in_place,
        output_secrets: services.output_secrets.clone(),
        binding: services.ending.binding.clone(),
        attachments: services.attachments.clone(),
        gate: Arc::clone(&services.gate.gate),
        input: Arc::clone(&services.input),
        screens: services.screens.clone(),
        eraser: TranscriptEraser {
            registry: Arc::clone(&base.registry),
            audit: base.audit.clone(),
            store: store.clone(),
            index: services.index.clone(),
        },
        namer: Namer {
            registry: Arc::clone(&base.registry),
            audit: base.audit.clone(),
            keeper: keeper.clone(),
            store: store.clone(),
            events: base.events.clone(),
        },
        events: base.events.clone(),
    }
}
