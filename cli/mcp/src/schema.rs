//! JSON Schemas of what tools take and give, and the check of arguments against them.
//!
//! Pure. A small part of JSON Schema 2020-12: what MCP clients show to models. The check knows the
//! same part, so that what the schema says is what is refused, with a line that says how to mend it.

use serde_json::{Map, Value, json};

/// An object's schema.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    fields: Vec<Field>,
    /// Whether names beside the fields' are refused.
    closed: bool,
}

/// One member of an object.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    name: &'static str,
    schema: Map<String, Value>,
    required: bool,
}

impl Schema {
    /// What a tool takes: nothing beside these.
    pub(crate) fn input(fields: Vec<Field>) -> Self {
        Self {
            fields,
            closed: true,
        }
    }

    /// What a tool gives: at least the required of these.
    pub(crate) fn output(fields: Vec<Field>) -> Self {
        Self {
            fields,
            closed: false,
        }
    }

    /// As JSON Schema.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in &self.fields {
            properties.insert(field.name.to_owned(), Value::Object(field.schema.clone()));
            if field.required {
                required.push(Value::from(field.name));
            }
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
        if self.closed {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        schema
    }

    /// Checks arguments, fills in defaults, and takes out those that are null: they are not given.
    /// The error says in a line what is wrong and how to mend it.
    pub(crate) fn check(&self, arguments: &mut Map<String, Value>) -> Result<(), String> {
        let takes_null =
            |name: &str| (self.fields.iter()).any(|field| field.name == name && field.takes_null());
        arguments.retain(|name, value| !value.is_null() || takes_null(name));
        for name in arguments.keys() {
            if !self.fields.iter().any(|field| field.name == name) {
                return Err(self.unknown(name));
            }
        }
        for field in &self.fields {
            match arguments.get_mut(field.name) {
                Some(value) => field.check(value)?,
                None if field.required => {
                    return Err(format!("'{}' is required", field.name));
                }
                None => {
                    if let Some(default) = field.schema.get("default") {
                        arguments.insert(field.name.to_owned(), default.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> String {
        let shown: String = name.chars().take(40).collect();
        let nearest = self
            .fields
            .iter()
            .map(|field| (distance(field.name, &shown), field.name))
            .min();
        match nearest {
            Some((distance, nearest)) if distance <= 1 + nearest.len() / 3 => {
                format!("there is no parameter '{shown}': did you mean '{nearest}'?")
            }
            _ => {
                let known: Vec<_> = self.fields.iter().map(|field| field.name).collect();
                let known = if known.is_empty() {
                    "it takes none".to_owned()
                } else {
                    format!("there are: {}", known.join(", "))
                };
                format!("there is no parameter '{shown}'; {known}")
            }
        }
    }
}

impl Field {
    fn new(name: &'static str, kind: &str, description: &str) -> Self {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), kind.into());
        if !description.is_empty() {
            schema.insert("description".to_owned(), description.into());
        }
        Self {
            name,
            schema,
            required: false,
        }
    }

    /// Text.
    pub(crate) fn string(name: &'static str, description: &str) -> Self {
        Self::new(name, "string", description)
    }

    /// True or false.
    pub(crate) fn boolean(name: &'static str, description: &str) -> Self {
        Self::new(name, "boolean", description)
    }

    /// A whole number.
    pub(crate) fn integer(name: &'static str, description: &str) -> Self {
        Self::new(name, "integer", description)
    }

    /// A number.
    pub(crate) fn number(name: &'static str, description: &str) -> Self {
        Self::new(name, "number", description)
    }

    /// An object of any members.
    pub(crate) fn object(name: &'static str, description: &str) -> Self {
        Self::new(name, "object", description)
    }

    /// An object whose members are all text.
    pub(crate) fn texts(name: &'static str, description: &str) -> Self {
        Self::new(name, "object", description)
            .with("additionalProperties", json!({ "type": "string" }))
    }

    /// A list whose items have this schema.
    pub(crate) fn list(name: &'static str, items: Value, description: &str) -> Self {
        Self::new(name, "array", description).with("items", items)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// It has to be given.
    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It may also be null, which then says something; else a null is as good as nothing given.
    pub(crate) fn or_null(self) -> Self {
        let kind = self.schema.get("type").cloned().unwrap_or_default();
        self.with("type", json!([kind, "null"]))
    }

    /// What it is where it is not given.
    pub(crate) fn default(self, value: impl Into<Value>) -> Self {
        self.with("default", value.into())
    }

    /// The least and the most that a number may be.
    pub(crate) fn between(self, least: impl Into<Value>, most: impl Into<Value>) -> Self {
        self.with("minimum", least.into())
            .with("maximum", most.into())
    }

    /// The fewest and the most items of a list.
    pub(crate) fn items_between(self, least: usize, most: usize) -> Self {
        self.with("minItems", least.into())
            .with("maxItems", most.into())
    }

    /// The most characters of a text.
    pub(crate) fn at_most(self, characters: usize) -> Self {
        self.with("maxLength", characters.into())
    }

    /// The fewest characters of a text.
    pub(crate) fn at_least(self, characters: usize) -> Self {
        self.with("minLength", characters.into())
    }

    /// All that a text may be.
    pub(crate) fn one_of(self, words: &[&str]) -> Self {
        self.with("enum", json!(words))
    }

    fn takes_null(&self) -> bool {
        matches!(self.schema.get("type"), Some(Value::Array(kinds)) if kinds.iter().any(|it| it == "null"))
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.schema.insert(key.to_owned(), value);
        self
    }

    fn check(&self, value: &mut Value) -> Result<(), String> {
        let name = self.name;
        if value.is_null() && self.takes_null() {
            return Ok(());
        }
        let kind = match self.schema.get("type") {
            Some(Value::Array(kinds)) => kinds.first(),
            kind => kind,
        };
        let kind = kind.and_then(Value::as_str);
        // 5.0 is a whole number in JSON Schema, and not in serde.
        if kind == Some("integer")
            && let Some(whole) = whole(value)
        {
            *value = whole;
        }
        let fits = match kind {
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            _ => true,
        };
        if !fits {
            let kind = kind.unwrap_or_default();
            return Err(format!(
                "'{name}' has to be of type {kind}, not {}",
                kind_of(value)
            ));
        }
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array)
            && !words.contains(value)
        {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            return Err(format!("'{name}' has to be one of: {}", words.join(" ")));
        }
        self.check_bounds(value)
    }

    fn check_bounds(&self, value: &Value) -> Result<(), String> {
        let name = self.name;
        let bound = |key: &str| self.schema.get(key);
        if let (Some(number), Some(least), Some(most)) = (
            value.as_f64(),
            bound("minimum").and_then(Value::as_f64),
            bound("maximum").and_then(Value::as_f64),
        ) && !(least..=most).contains(&number)
        {
            return Err(format!("'{name}' has to be from {least} to {most}"));
        }
        if let (Some(items), Some(least), Some(most)) = (
            value.as_array(),
            bound("minItems").and_then(Value::as_u64),
            bound("maxItems").and_then(Value::as_u64),
        ) && !(least..=most).contains(&(items.len() as u64))
        {
            return Err(format!("'{name}' has to have {least} to {most} items"));
        }
        if let Some(text) = value.as_str() {
            let length = text.chars().count() as u64;
            if bound("maxLength")
                .and_then(Value::as_u64)
                .is_some_and(|most| length > most)
            {
                return Err(format!(
                    "'{name}' is {length} characters long, {} are the most",
                    bound("maxLength").unwrap_or(&Value::Null)
                ));
            }
            if bound("minLength")
                .and_then(Value::as_u64)
                .is_some_and(|least| length < least)
            {
                return Err(format!("'{name}' may not be empty"));
            }
        }
        Ok(())
    }
}

/// The whole number that a float is.
fn whole(value: &Value) -> Option<Value> {
    let float = value.as_f64().filter(|_| value.is_f64())?;
    // Above 2^53 a float does not say which whole number it is.
    let exact = float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation)]
    exact.then(|| Value::from(float as i64))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// How many characters have to be put in, taken out or changed (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (to, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(from != *to);
            diagonal = *cell;
            before = changed.min(before + 1).min(*cell + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
