//! What a tool gives: an object with at least the required members.

use serde_json::{Map, Value, json};
use termd_proto::terminal::EndCause;

/// One member of a result.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    schema: Value,
    required: bool,
}

/// The structure of a tool's result.
#[derive(Debug)]
pub(crate) enum OutputSchema {
    Object(Map<String, Value>),
    /// A picture has no structure.
    Picture,
}

impl OutputSchema {
    /// A result without the members that are at their default.
    pub(crate) fn without_defaults(&self, facts: Value) -> Value {
        let (Self::Object(schema), Value::Object(mut facts)) = (self, facts) else {
            return Value::Null;
        };
        let default = |name: &str| schema.get("properties")?.get(name)?.get("default");
        facts.retain(|name, value| default(name) != Some(value));
        Value::Object(facts)
    }
}

/// The schema of an object with these members. Others may stand beside them.
pub(crate) fn object(fields: Vec<Field>) -> OutputSchema {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    let required: Value = (fields.iter().filter(|field| field.required))
        .map(|field| field.name)
        .collect();
    if required != json!([]) {
        schema.insert("required".to_owned(), required);
    }
    let properties: Map<_, _> = (fields.into_iter())
        .map(|field| (field.name.to_owned(), field.schema))
        .collect();
    schema.insert("properties".to_owned(), properties.into());
    OutputSchema::Object(schema)
}

impl Field {
    fn new(name: &'static str, kind: &str, description: &str) -> Self {
        let schema = if description.is_empty() {
            json!({ "type": kind })
        } else {
            json!({ "type": kind, "description": description })
        };
        Self {
            name,
            schema,
            required: false,
        }
    }

    pub(crate) fn string(name: &'static str, description: &str) -> Self {
        Self::new(name, "string", description)
    }

    pub(crate) fn boolean(name: &'static str, description: &str) -> Self {
        Self::new(name, "boolean", description)
    }

    pub(crate) fn integer(name: &'static str, description: &str) -> Self {
        Self::new(name, "integer", description)
    }

    pub(crate) fn number(name: &'static str, description: &str) -> Self {
        Self::new(name, "number", description)
    }

    /// The limit that ended a terminal's program, under the set's name for it.
    pub(crate) fn end_cause(name: &'static str) -> Self {
        let words = EndCause::ALL.map(EndCause::as_str).join(", ");
        Self::string(name, &format!("The limit that ended it: {words}"))
    }

    /// An object of any members.
    pub(crate) fn object(name: &'static str, description: &str) -> Self {
        Self::new(name, "object", description)
    }

    /// A list whose items have this schema.
    #[allow(clippy::needless_pass_by_value)]
    pub(crate) fn list(name: &'static str, items: Value, description: &str) -> Self {
        let mut field = Self::new(name, "array", description);
        field.schema["items"] = items;
        field
    }

    /// What its absence means. A result does not repeat it.
    pub(crate) fn default(mut self, value: impl Into<Value>) -> Self {
        self.schema["default"] = value.into();
        self
    }

    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) fn or_null(mut self) -> Self {
        self.schema["type"] = json!([self.schema["type"], "null"]);
        self
    }
}
