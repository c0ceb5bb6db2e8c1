//! Reading audit records by a filter, and their hashes.

use sqlx::sqlite::SqliteConnection;
use sqlx::{FromRow, QueryBuilder, Sqlite};
use termd_proto::audit::{AuditFilter, AuditOrder, AuditPage};
use termd_proto::policy::Verdict;

use super::chain::{AuditRow, audit_columns, head};
use super::head::Head;
use crate::store::error::StoreError;
use crate::store::sql::{cut_page, fetch_limit};

/// One page of the records that match the filter. The cursor is the number of the last record of the
/// page before. `connection` reads one snapshot.
pub(crate) async fn list(
    connection: &mut SqliteConnection,
    filter: &AuditFilter,
    cursor: Option<&str>,
    limit: u32,
    order: AuditOrder,
) -> Result<AuditPage, StoreError> {
    let newest = head(&mut *connection).await?;
    // Records before the anchor are dropped, even where a row of them is still there.
    let mut query = QueryBuilder::<Sqlite>::new(concat!(
        "SELECT ",
        audit_columns!(),
        " FROM audit WHERE seq > (SELECT seq FROM audit_anchor)"
    ));
    if let Some(cursor) = cursor {
        let last: i64 = cursor.parse().map_err(|_| StoreError::BadCursor)?;
        query.push(match order {
            AuditOrder::Newest => " AND seq < ",
            AuditOrder::Oldest => " AND seq > ",
        });
        query.push_bind(last);
    }
    if let Some(terminal) = &filter.terminal {
        query.push(" AND terminal = ").push_bind(terminal);
    }
    if let Some(action) = &filter.action {
        let group = format!("{action}.");
        query.push(" AND (action = ").push_bind(action);
        query
            .push(" OR substr(action, 1, length(")
            .push_bind(group.clone());
        query.push(")) = ").push_bind(group).push(")");
    }
    if let Some(client) = &filter.client {
        query.push(" AND (client = ").push_bind(client);
        query.push(" OR session = ").push_bind(client).push(")");
    }
    if let Some(front) = filter.front {
        query.push(" AND front = ").push_bind(front.as_str());
    }
    if let Some(program) = &filter.program {
        query.push(" AND program = ").push_bind(program);
    }
    if let Some(verdict) = filter.verdict {
        // The condition of the index, repeated: the planner proves nothing of a bound value.
        if verdict != Verdict::Safe {
            query.push(" AND verdict IS NOT NULL AND verdict <> 'safe'");
        }
        query.push(" AND verdict = ").push_bind(verdict.as_str());
    }
    if let Some(outcome) = &filter.outcome {
        let kind = format!("{outcome}:");
        query.push(" AND (outcome = ").push_bind(outcome);
        query
            .push(" OR substr(outcome, 1, length(")
            .push_bind(kind.clone());
        query.push(")) = ").push_bind(kind).push(")");
    }
    if let Some(since) = filter.since_ms {
        query.push(" AND at_ms >= ").push_bind(since);
    }
    if let Some(until) = filter.until_ms {
        query.push(" AND at_ms < ").push_bind(until);
    }
    query
        .push(match order {
            AuditOrder::Newest => " ORDER BY seq DESC LIMIT ",
            AuditOrder::Oldest => " ORDER BY seq LIMIT ",
        })
        .push_bind(fetch_limit(limit));
    let mut rows = query.build().fetch_all(connection).await?;
    let has_more = cut_page(&mut rows, limit).is_some();
    let mut records = Vec::with_capacity(rows.len());
    for row in &rows {
        records.push(AuditRow::from_row(row)?.into_record()?);
    }
    let last = records.last().map(|record| record.seq.to_string());
    Ok(AuditPage {
        records,
        next_cursor: last.filter(|_| has_more),
        through: newest.seq,
    })
}

/// The hashes of those of these records that exist, in order.
pub(crate) async fn hashes(
    connection: &mut SqliteConnection,
    records: &[i64],
) -> Result<Vec<Head>, sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "SELECT seq, hash FROM audit WHERE seq > (SELECT seq FROM audit_anchor) AND seq IN (",
    );
    let mut numbers = query.separated(", ");
    for record in records {
        numbers.push_bind(*record);
    }
    query.push(") ORDER BY seq");
    query.build_query_as().fetch_all(connection).await
}
