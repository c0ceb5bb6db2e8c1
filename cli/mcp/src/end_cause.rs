//! The limit that ended a terminal's program, as both sets' results tell it.
//!
//! It promises that the schema names every word that there is. Must not know what a limit is.

use termd_proto::terminal::EndCause;

use super::schema::Field;

/// The member that tells it, under the set's own name.
pub(crate) fn field(name: &'static str) -> Field {
    let words = EndCause::ALL.map(EndCause::as_str);
    Field::string(
        name,
        &format!("The limit that ended it: {}", words.join(", ")),
    )
}
