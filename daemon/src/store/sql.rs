//! What the queries share: values in columns, statements, and pages.

use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde::de::value::{Error as WordError, StrDeserializer};
use sqlx::sqlite::SqliteRow;

/// An unsigned number as SQLite's signed integers hold it. No terminal prints eight exbibytes.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The error of a column that does not hold what termd writes into it.
pub(super) fn decode_error(error: impl Display) -> sqlx::Error {
    sqlx::Error::Decode(error.to_string().into())
}

/// Reads an enum from its word, which is the same in the database and on the wire.
pub(super) fn from_word<T: DeserializeOwned>(word: &str) -> Result<T, sqlx::Error> {
    T::deserialize(StrDeserializer::<WordError>::new(word)).map_err(decode_error)
}

/// Reads a value from a column of JSON.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(decode_error)
}

/// A statement that inserts a row of these columns, or replaces the row with the same key. The columns
/// of `kept` stay as they were first written.
pub(super) fn upsert(table: &str, key: &str, columns: &str, kept: &[&str]) -> String {
    let keys: Vec<&str> = key.split(", ").collect();
    let mut values = Vec::new();
    let mut replaced = Vec::new();
    for column in columns.split(", ") {
        values.push("?");
        if !keys.contains(&column) && !kept.contains(&column) {
            replaced.push(format!("{column} = excluded.{column}"));
        }
    }
    format!(
        "INSERT INTO {table} ({columns}) VALUES ({}) ON CONFLICT ({key}) DO UPDATE SET {}",
        values.join(", "),
        replaced.join(", ")
    )
}

/// How many rows a query fetches for a page of `limit`: one more shows that there is a next page.
pub(super) fn fetch_limit(limit: u32) -> i64 {
    i64::from(limit) + 1
}

/// Cuts the rows to a page. The last row, where there is a next page.
pub(super) fn cut_page(rows: &mut Vec<SqliteRow>, limit: u32) -> Option<&SqliteRow> {
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    rows.last().filter(|_| has_more)
}
