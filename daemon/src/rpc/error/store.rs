//! The errors that a peer gets for a database that failed.

use termd_proto::{ErrorKind, code};

use super::RpcError;
use crate::store::StoreError;

impl From<StoreError> for RpcError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::BadCursor => {
                Self::invalid_params("cursor", "is none that an earlier page gave")
            }
            StoreError::Closed => Self::new(
                code::UNAVAILABLE,
                ErrorKind::Unavailable,
                "the daemon is stopping",
            ),
            cause => {
                tracing::error!(%cause, "the database failed");
                Self::new(
                    code::INTERNAL,
                    ErrorKind::StoreUnavailable,
                    "the database failed; the log has the cause",
                )
            }
        }
    }
}
