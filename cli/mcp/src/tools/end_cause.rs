//! The limit that ended a terminal's program, as a result's schema describes it.

use termd_proto::terminal::EndCause;

use super::schema::Field;

/// The field under its set's name. The schema names every word that there is.
pub(crate) fn field(name: &'static str) -> Field {
    let words = EndCause::ALL.map(EndCause::as_str);
    Field::string(
        name,
        &format!("The limit that ended it: {}", words.join(", ")),
    )
}
