//! Erasing one transcript: what it held is overwritten in the database's pages, not only given up.

use sqlx::sqlite::SqliteConnection;
use termd_proto::terminal::GapCause;

use super::prune::Pruned;

/// Blocks erased in one transaction: 4 MiB of output at most.
const BLOCKS_A_STEP: u64 = 64;

/// Erases some blocks of a closed terminal's transcript, and all else that shows what was printed or
/// typed there: its screen, and the texts and directories of its commands, its own among them, with their
/// entries in the index. A gap says that the output was deleted.
pub(super) async fn erase(
    connection: &mut SqliteConnection,
    terminal: &str,
    at_ms: i64,
) -> Result<Pruned, sqlx::Error> {
    // Both are costly for every other delete: they hold for this one alone.
    for statement in [
        "PRAGMA secure_delete = ON",
        "INSERT INTO commands_text (commands_text, rank) VALUES ('secure-delete', 1)",
    ] {
        sqlx::query(statement).fetch_all(&mut *connection).await?;
    }
    let blocks = sqlx::query(
        "DELETE FROM transcript_blocks WHERE id IN (SELECT id FROM transcript_blocks \
         WHERE terminal = ?1 ORDER BY start_offset LIMIT 64)",
    )
    .bind(terminal)
    .execute(&mut *connection)
    .await?
    .rows_affected();
    for statement in [
        "DELETE FROM screens WHERE terminal = ?1",
        "DELETE FROM screen_keyframes WHERE terminal = ?1",
        "UPDATE commands SET text = '', cwd = NULL, agent_line = NULL WHERE terminal = ?1",
        "DELETE FROM transcript_gaps WHERE terminal = ?1",
        "INSERT INTO transcript_gaps (terminal, start_offset, end_offset, cause, at_ms) \
         SELECT id, 0, end_offset, ?2, ?3 FROM terminals WHERE id = ?1 AND end_offset > 0",
        "UPDATE terminals SET start_offset = end_offset, argv = '[]', agent_line = NULL, cwd = '' \
         WHERE id = ?1",
    ] {
        let query = sqlx::query(statement)
            .bind(terminal)
            .bind(GapCause::Deleted.as_str())
            .bind(at_ms);
        query.execute(&mut *connection).await?;
    }
    for statement in [
        "INSERT INTO commands_text (commands_text, rank) VALUES ('secure-delete', 0)",
        "PRAGMA secure_delete = OFF",
    ] {
        sqlx::query(statement).fetch_all(&mut *connection).await?;
    }
    Ok(if blocks >= BLOCKS_A_STEP {
        Pruned::Some
    } else {
        Pruned::All
    })
}
