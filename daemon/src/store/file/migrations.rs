//! The migrations: `migrations/` in the binary.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

macro_rules! migration {
    ($file:literal) => {
        include_str!(concat!("../../../../migrations/", $file))
    };
}

/// The schema that this binary writes.
pub(crate) const SCHEMA_VERSION: i64 = 17;
/// Names and statements, oldest first. The number of each, from 1, is the `user_version` that it sets.
const MIGRATIONS: [(&str, &str); 17] = [
    ("init", migration!("0001_init.sql")),
    ("command_search", migration!("0002_command_search.sql")),
    ("screens", migration!("0003_screens.sql")),
    ("life", migration!("0004_life.sql")),
    ("pipes", migration!("0005_pipes.sql")),
    ("audit_search", migration!("0006_audit_search.sql")),
    ("limits", migration!("0007_limits.sql")),
    ("gaps", migration!("0008_gaps.sql")),
    ("agent_line", migration!("0009_agent_line.sql")),
    ("output_hash", migration!("0010_output_hash.sql")),
    ("times", migration!("0011_times.sql")),
    ("keyframes", migration!("0012_keyframes.sql")),
    ("imports", migration!("0013_imports.sql")),
    ("size_times", migration!("0014_size_times.sql")),
    ("attention", migration!("0015_attention.sql")),
    ("tags", migration!("0016_tags.sql")),
    ("owner_agent", migration!("0017_owner_agent.sql")),
];

/// The statements of each migration, oldest first.
pub(super) fn statements() -> impl Iterator<Item = &'static str> {
    MIGRATIONS.iter().map(|(_, sql)| *sql)
}

pub(super) fn migrator() -> Migrator {
    let migrations = (1..=SCHEMA_VERSION)
        .zip(MIGRATIONS)
        .map(|(version, (name, sql))| {
            let kind = MigrationType::Simple;
            Migration::new(version, name.into(), kind, sql.into_sql_str(), false)
        });
    Migrator::with_migrations(migrations.collect())
}
