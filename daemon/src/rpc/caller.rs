//! Who asks, as records name them: the connection's peer, and what it said of itself.

use std::sync::Arc;

use jsonrpsee::Extensions;
use jsonrpsee::types::ErrorObjectOwned;
use serde_json::Map;
use termd_proto::terminal::{Front, Owner};
use termd_proto::{ErrorKind, code};

use super::context::ConnectionContext;
use super::error::error_object;

/// The connection that a call came on.
pub(super) fn connection(ext: &Extensions) -> Result<Arc<ConnectionContext>, ErrorObjectOwned> {
    // The dispatcher puts it there; a call without one did not come from a socket.
    ext.get::<Arc<ConnectionContext>>().cloned().ok_or_else(|| {
        error_object(
            code::INTERNAL,
            ErrorKind::Internal,
            "a call without a connection",
            Map::new(),
        )
    })
}

/// Who asks through the native API.
pub(super) fn native_owner(context: &ConnectionContext) -> Owner {
    let introduction = context.introduction();
    owner(context, introduction.front.unwrap_or(Front::Cli), None)
}

/// Who asks through ACP, for this ACP session.
pub(super) fn acp_owner(context: &ConnectionContext, session: &str) -> Owner {
    owner(context, Front::Acp, Some(session.to_owned()))
}

fn owner(context: &ConnectionContext, front: Front, session: Option<String>) -> Owner {
    Owner {
        front,
        uid: context.peer.uid,
        pid: context.peer.pid.unwrap_or(0),
        exe: context.peer.exe().map(str::to_owned),
        session,
        client: context.introduction().client.clone(),
    }
}
