//! What an answer leaves out of a terminal's output, by offset, so that a client can read it.

use serde_json::{Value, json};
use termd_proto::Offset;

use super::schema::Field;

/// The ranges that are left out, in order, each from its first byte to the one after its last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Omitted(Vec<(Offset, Offset)>);

impl Omitted {
    /// The field in an output schema; `reading` says how to read a range.
    pub(crate) fn field(reading: &str) -> Field {
        let range = json!({
            "type": "object",
            "properties": { "from": { "type": "integer" }, "to": { "type": "integer" } },
            "required": ["from", "to"],
        });
        Field::list("omitted", range, &format!("Output left out, {reading}"))
    }

    /// Adds a range in its place among the others. An empty range is none.
    pub(crate) fn add(&mut self, from: Offset, to: Offset) {
        if from < to {
            let behind = self.0.partition_point(|&(begin, _)| begin <= from);
            self.0.insert(behind, (from, to));
        }
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = (Offset, Offset)> {
        self.0.iter().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The field's value; `None` where nothing was left out.
    pub(crate) fn to_json(&self) -> Option<Value> {
        let ranges: Value = (self.ranges())
            .map(|(from, to)| json!({ "from": from, "to": to }))
            .collect();
        (!self.is_empty()).then_some(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_in_order_and_empty_ones_not_at_all() {
        let mut omitted = Omitted::default();
        omitted.add(Offset(7), Offset(7));
        assert_eq!(omitted.to_json(), None);
        omitted.add(Offset(5), Offset(9));
        omitted.add(Offset(0), Offset(2));
        assert_eq!(
            omitted.to_json(),
            Some(json!([{ "from": 0, "to": 2 }, { "from": 5, "to": 9 }]))
        );
    }
}
