//! The `session` set: terminal-mcp's nine tools, same names, parameters, defaults and result fields,
//! and what costs nothing on top. One file a tool.

mod fields;
mod resize;

use super::tool::Tool;

/// The tools, in the order in which a model should meet them.
pub(super) fn tools() -> Vec<Tool> {
    vec![resize::tool()]
}
