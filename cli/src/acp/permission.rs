//! Asking the client's person: `session/request_permission`, where the gate says confirm.
