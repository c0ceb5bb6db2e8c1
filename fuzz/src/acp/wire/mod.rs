//! Messages, their heads, and changes to them, from termctl's own files.

#[path = "../../../../cli/src/acp/wire/edit.rs"]
pub mod edit;
#[path = "../../../../cli/src/acp/wire/head.rs"]
pub mod head;
#[path = "../../../../cli/src/acp/wire/json.rs"]
pub mod json;
#[path = "../../../../cli/src/acp/wire/message.rs"]
pub mod message;

/// What holds for every line that an agent or a client sends.
pub mod property;
