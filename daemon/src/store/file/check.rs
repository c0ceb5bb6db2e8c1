//! Whether the database is the one that the migrations make, and its indexes hold every row.
//!
//! An index or a view that leaves rows out hides them from a listing, and the chain of the rows is whole.

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};

use super::migrations::statements;

/// Tables whose rows and indexes are compared. The blocks of transcripts have a checksum each, and reading
/// them all would take minutes.
const CHECKS: [&str; 4] = [
    "PRAGMA integrity_check('audit')",
    "PRAGMA integrity_check('audit_anchor')",
    "PRAGMA integrity_check('terminals')",
    "PRAGMA integrity_check('commands')",
];
/// What the schema holds, without the table of the migrations and the statistics of SQLite.
const SCHEMA: &str = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema \
    WHERE tbl_name NOT IN ('_sqlx_migrations', 'sqlite_stat1', 'sqlite_stat4', 'sqlite_sequence') \
    ORDER BY type, name";

/// One object of a schema: its type, its name, its table and its text.
type Object = (String, String, String, String);

/// What is wrong with the database, if something is. Takes some seconds for each million of records.
pub(crate) async fn fault(
    connection: &mut SqliteConnection,
) -> Result<Option<String>, sqlx::Error> {
    let found: Vec<Object> = sqlx::query_as(SCHEMA).fetch_all(&mut *connection).await?;
    let expected = expected_schema().await?;
    if let Some(other) = found.iter().find(|object| !expected.contains(object)) {
        let (kind, name, ..) = other;
        return Ok(Some(format!("the {kind} {name} is not termd's")));
    }
    if let Some((kind, name, ..)) = expected.iter().find(|object| !found.contains(object)) {
        return Ok(Some(format!("the {kind} {name} is missing")));
    }
    for check in CHECKS {
        let found: String = sqlx::query_scalar(check)
            .fetch_one(&mut *connection)
            .await?;
        if found != "ok" {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The schema of an empty database.
async fn expected_schema() -> Result<Vec<Object>, sqlx::Error> {
    let options = SqliteConnectOptions::new().in_memory(true);
    let mut connection = options.disable_statement_logging().connect().await?;
    for statements in statements() {
        sqlx::raw_sql(statements).execute(&mut connection).await?;
    }
    let schema = sqlx::query_as(SCHEMA).fetch_all(&mut connection).await?;
    connection.close().await?;
    Ok(schema)
}
