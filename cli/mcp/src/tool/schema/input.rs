//! What a tool takes: the JSON Schema of its argument struct, in the small part of JSON Schema
//! 2020-12 that MCP clients show to models, and the check of arguments against it.
//!
//! Arguments that do not fit the schema are refused with a line that says how to mend the call.
//! Defaults stand in the schema alone (`extend("default" = …)`), since some come from the settings.
//! The check fills them in before serde reads the arguments (decision 0064).

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// Longest unknown name that an error repeats, in characters.
const MAX_SHOWN_CHARS: usize = 40;

/// The schema of a tool's arguments.
#[derive(Debug, Clone)]
pub(crate) struct InputSchema(Map<String, Value>);

/// Why arguments do not fit a schema, and how to mend them.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum ArgumentError {
    #[error("there is no parameter '{given}': did you mean '{nearest}'?")]
    Misspelt { given: String, nearest: String },
    #[error("there is no parameter '{given}'; {known}")]
    Unknown { given: String, known: String },
    #[error("'{0}' is required")]
    Missing(String),
    #[error("'{name}' has to be of type {wanted}, not {given}")]
    Type {
        name: String,
        wanted: String,
        given: &'static str,
    },
    #[error("'{name}' has to be one of: {words}")]
    Word { name: String, words: String },
    #[error("'{name}' has to be from {least} to {most}")]
    Range {
        name: String,
        least: String,
        most: String,
    },
    #[error("'{name}' has to have {least} to {most} items")]
    Items { name: String, least: u64, most: u64 },
    #[error("'{name}' is {length} characters long, {most} are the most")]
    TooLong {
        name: String,
        length: u64,
        most: u64,
    },
    #[error("'{0}' may not be empty")]
    Empty(String),
}

impl InputSchema {
    /// The schema of a struct: its field docs are the descriptions, and no other field is taken.
    pub(crate) fn of<A: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        });
        let generator = settings
            .with_transform(RecursiveTransform(simplify))
            .into_generator();
        let mut schema = generator.into_root_schema_for::<A>();
        let object = schema.ensure_object();
        object.remove("description");
        object.insert("additionalProperties".to_owned(), false.into());
        object.entry("properties").or_insert_with(|| json!({}));
        let mut schema = Self(std::mem::take(object));
        schema.release_defaulted();
        schema
    }

    /// Sets a default that the settings say.
    pub(crate) fn set_default(&mut self, name: &str, value: Value) {
        if let Some(Value::Object(properties)) = self.0.get_mut("properties")
            && let Some(Value::Object(field)) = properties.get_mut(name)
        {
            field.insert("default".to_owned(), value);
        }
        self.release_defaulted();
    }

    /// The schema as models get it: without bounds, which an error tells when they are met, and without
    /// defaults that go without saying. A model pays for each word of it in every conversation.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut schema = self.0.clone();
        schema.remove("additionalProperties");
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.values_mut().for_each(shorten);
        }
        schema
    }

    /// Takes fields with a default from those that are required.
    fn release_defaulted(&mut self) {
        let Some(Value::Array(mut required)) = self.0.remove("required") else {
            return;
        };
        required.retain(|name| {
            let field = name.as_str().and_then(|name| self.field(name));
            field.is_none_or(|field| !field.0.contains_key("default"))
        });
        if !required.is_empty() {
            self.0.insert("required".to_owned(), required.into());
        }
    }

    fn field(&self, name: &str) -> Option<Field<'_>> {
        let field = self.0.get("properties")?.get(name)?;
        field.as_object().map(Field)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let properties = self.0.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.0.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Checks arguments, fills in defaults, and removes those that are null: they are not given.
    pub(crate) fn check(&self, arguments: &mut Map<String, Value>) -> Result<(), ArgumentError> {
        arguments.retain(|name, value| {
            !value.is_null() || self.field(name).is_some_and(|field| field.takes_null())
        });
        if let Some(name) = arguments.keys().find(|name| self.field(name).is_none()) {
            return Err(self.unknown(name));
        }
        if let Some(name) = self.required().find(|name| !arguments.contains_key(*name)) {
            return Err(ArgumentError::Missing(name.to_owned()));
        }
        for (name, value) in &mut *arguments {
            if let Some(field) = self.field(name) {
                field.check(name, value)?;
            }
        }
        for name in self.names() {
            if let Some(default) = self.field(name).and_then(|field| field.0.get("default"))
                && !arguments.contains_key(name)
            {
                arguments.insert(name.to_owned(), default.clone());
            }
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> ArgumentError {
        let given: String = name.chars().take(MAX_SHOWN_CHARS).collect();
        let nearest = self
            .names()
            .map(|known| (strsim::levenshtein(known, &given), known))
            .min();
        if let Some((distance, nearest)) = nearest
            && distance <= 1 + nearest.len() / 3
        {
            let nearest = nearest.to_owned();
            return ArgumentError::Misspelt { given, nearest };
        }
        let optional = self
            .names()
            .filter(|name| !self.required().any(|it| it == *name));
        let known: Vec<_> = self.required().chain(optional).collect();
        let known = if known.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("there are: {}", known.join(", "))
        };
        ArgumentError::Unknown { given, known }
    }
}

/// Keywords of bounds.
const BOUNDS: [&str; 6] = [
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

fn shorten(field: &mut Value) {
    let Value::Object(field) = field else { return };
    field.retain(|keyword, _| !BOUNDS.contains(&keyword.as_str()));
    // A flag that is not given is off, and a list empty.
    if [Some(&json!(false)), Some(&json!([]))].contains(&field.get("default")) {
        field.remove("default");
    }
    if field.contains_key("enum") {
        field.remove("type");
    }
}

/// Makes a derived schema as short as a model reads it: no titles and formats, one line of
/// description, `enum` for words, and `null` only where it says something.
fn simplify(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    // An optional struct or enum: itself, or null.
    if let Some(Value::Array(kinds)) = object.get("anyOf")
        && let [Value::Object(kind), null] = kinds.as_slice()
        && *null == json!({ "type": "null" })
    {
        let kind = kind.clone();
        object.remove("anyOf");
        for (keyword, value) in kind {
            object.entry(keyword).or_insert(value);
        }
    }
    object.remove("title");
    object.remove("format");
    if object.get("additionalProperties") == Some(&json!(true)) {
        object.remove("additionalProperties");
    }
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(words)) = object.get("oneOf") {
        // Words with docs of their own are listed apart.
        let words: Option<Value> = words
            .iter()
            .map(|word| word.get("const").cloned())
            .collect();
        if let Some(words) = words {
            object.remove("oneOf");
            object.insert("type".to_owned(), "string".into());
            object.insert("enum".to_owned(), words);
        }
    }
    // An optional field is left out. Null says something only where nothing stands for a default.
    let default = object.get("default");
    let is_null_said = default.is_some();
    if default.is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(kinds)) = object.get("type")
        && let [kind, Value::String(null)] = kinds.as_slice()
        && null == "null"
        && !is_null_said
    {
        let kind = kind.clone();
        object.insert("type".to_owned(), kind);
        if let Some(Value::Array(words)) = object.get_mut("enum") {
            words.retain(|word| !word.is_null());
        }
    }
}

/// One parameter's schema.
struct Field<'a>(&'a Map<String, Value>);

impl Field<'_> {
    fn takes_null(&self) -> bool {
        matches!(self.0.get("type"), Some(Value::Array(kinds)) if kinds.contains(&json!("null")))
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.0.get(key).and_then(Value::as_u64)
    }

    fn check(&self, name: &str, value: &mut Value) -> Result<(), ArgumentError> {
        if value.is_null() && self.takes_null() {
            return Ok(());
        }
        let kind = match self.0.get("type") {
            Some(Value::Array(kinds)) => kinds.first(),
            kind => kind,
        };
        let kind = kind.and_then(Value::as_str).unwrap_or_default();
        // 5.0 is a whole number in JSON Schema, and not in serde.
        if kind == "integer"
            && let Some(whole) = whole(value)
        {
            *value = whole;
        }
        let fits = match kind {
            "integer" => value.is_i64() || value.is_u64(),
            "" => true,
            kind => kind == kind_of(value),
        };
        if !fits {
            return Err(ArgumentError::Type {
                name: name.to_owned(),
                wanted: kind.to_owned(),
                given: kind_of(value),
            });
        }
        if let Some(Value::Array(words)) = self.0.get("enum")
            && !words.contains(value)
        {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            return Err(ArgumentError::Word {
                name: name.to_owned(),
                words: words.join(" "),
            });
        }
        self.check_bounds(name.to_owned(), value)
    }

    fn check_bounds(&self, name: String, value: &Value) -> Result<(), ArgumentError> {
        if let (Some(number), Some(least), Some(most)) = (
            value.as_f64(),
            self.number("minimum"),
            self.number("maximum"),
        ) && !(least..=most).contains(&number)
        {
            return Err(ArgumentError::Range {
                name,
                least: least.to_string(),
                most: most.to_string(),
            });
        }
        if let (Some(items), Some(least), Some(most)) = (
            value.as_array(),
            self.count("minItems"),
            self.count("maxItems"),
        ) && !(least..=most).contains(&(items.len() as u64))
        {
            return Err(ArgumentError::Items { name, least, most });
        }
        let Some(text) = value.as_str() else {
            return Ok(());
        };
        let length = text.chars().count() as u64;
        match (self.count("minLength"), self.count("maxLength")) {
            (_, Some(most)) if length > most => Err(ArgumentError::TooLong { name, length, most }),
            (Some(least), _) if length < least => Err(ArgumentError::Empty(name)),
            _ => Ok(()),
        }
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

#[cfg(test)]
mod tests;
