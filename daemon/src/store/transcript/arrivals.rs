//! When output came: kept with each block, as pairs of varints (`migrations/0011_times.sql`).

use futures_util::TryStreamExt;
use integer_encoding::VarInt;
use sqlx::Row;
use sqlx::sqlite::SqliteConnection;
use termd_proto::{Offset, TerminalId};

use super::blocks::BLOCK_BYTES;
use super::encoding::unpack_tagged;
use crate::store::error::StoreError;
use crate::store::sql::integer;

/// Two varints at their longest, for each byte of a block.
const MAX_TIMES_BYTES: usize = BLOCK_BYTES * 12;

/// How it is known when output came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalClock {
    /// It was read then.
    Read,
    /// A server that took over found it then: it came before, and the last server did not live to say
    /// when.
    TakenOver,
}

/// Output that came at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The offset after its last byte. It begins where the one before ends.
    pub end: Offset,
    /// When, in milliseconds since the terminal's start.
    pub at_ms: u64,
    /// How that is known.
    pub clock: ArrivalClock,
}

/// The arrivals of output from `start` on, as a block has them before packing.
pub(crate) fn encode(start: Offset, arrivals: &[Arrival]) -> Vec<u8> {
    let mut encoded = Vec::new();
    let (mut from, mut before_ms) = (start, 0);
    for arrival in arrivals {
        let later = arrival.at_ms.saturating_sub(before_ms);
        let clock = match arrival.clock {
            ArrivalClock::Read => 0,
            ArrivalClock::TakenOver => 1,
        };
        encoded.extend(arrival.end.since(from).encode_var_vec());
        encoded.extend(((later << 1) | clock).encode_var_vec());
        (from, before_ms) = (arrival.end, arrival.at_ms);
    }
    encoded
}

/// What [`encode`] made; `None` where the bytes are something else.
fn decode(start: Offset, mut encoded: &[u8]) -> Option<Vec<Arrival>> {
    let mut arrivals = Vec::new();
    let (mut end, mut at_ms) = (start, 0_u64);
    while !encoded.is_empty() {
        let bytes: u64 = take(&mut encoded)?;
        let later: u64 = take(&mut encoded)?;
        end = Offset(end.0.checked_add(bytes)?);
        at_ms = at_ms.checked_add(later >> 1)?;
        let clock = if later & 1 == 0 {
            ArrivalClock::Read
        } else {
            ArrivalClock::TakenOver
        };
        arrivals.push(Arrival { end, at_ms, clock });
    }
    Some(arrivals)
}

fn take(encoded: &mut &[u8]) -> Option<u64> {
    let (number, length) = u64::decode_var(encoded)?;
    *encoded = encoded.get(length..)?;
    Some(number)
}

/// When the output in a range came, as far as it is stored: parts in order, each with the offset of its
/// first byte. What lies between them was not kept, or nobody noted it.
pub(crate) async fn arrivals(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    (from, to): (Offset, Offset),
) -> Result<Vec<(Offset, Vec<Arrival>)>, StoreError> {
    let mut rows = sqlx::query(
        "SELECT start_offset, times FROM transcript_blocks WHERE terminal = ?1 \
         AND start_offset > ?2 AND start_offset < ?3 AND start_offset + length > ?4 \
         AND times IS NOT NULL ORDER BY start_offset",
    )
    .bind(id.as_str())
    .bind(integer(from.0).saturating_sub_unsigned(BLOCK_BYTES as u64))
    .bind(integer(to.0))
    .bind(integer(from.0))
    .fetch(connection);
    let mut parts = Vec::new();
    while let Some(row) = rows.try_next().await? {
        let start = Offset(row.try_get(0)?);
        let times = unpack_tagged(row.try_get(1)?, MAX_TIMES_BYTES);
        let arrivals = times.and_then(|times| decode(start, &times));
        parts.push((
            start,
            arrivals.ok_or_else(|| StoreError::DamagedBlock {
                terminal: id.clone(),
                offset: start,
            })?,
        ));
    }
    Ok(parts)
}

/// The end of the stored output in a range that had come by a time; `None`: of none is known when it came.
pub(crate) async fn arrived_by(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    (from, to): (Offset, Offset),
    at_ms: u64,
) -> Result<Option<Offset>, StoreError> {
    let (mut low, mut high) = (from.back(BLOCK_BYTES as u64), to);
    let mut found = None;
    // Times grow with offsets, so the block is searched for by halves.
    while low < high {
        let middle = low + high.since(low) / 2;
        let Some((start, arrivals)) = first_times(connection, id, (middle, high)).await? else {
            high = middle;
            continue;
        };
        let came = arrivals.iter().take_while(|arrival| arrival.at_ms <= at_ms);
        if let Some(last) = came.last() {
            found = Some(last.end);
            low = start + 1;
        } else {
            found = found.or(Some(from));
            high = middle;
        }
    }
    Ok(found.map(|end| end.max(from).min(to)))
}

/// The first block that begins in a range and has times.
async fn first_times(
    connection: &mut SqliteConnection,
    id: &TerminalId,
    (from, to): (Offset, Offset),
) -> Result<Option<(Offset, Vec<Arrival>)>, StoreError> {
    let row: Option<(u64, Vec<u8>)> = sqlx::query_as(
        "SELECT start_offset, times FROM transcript_blocks WHERE terminal = ?1 \
         AND start_offset >= ?2 AND start_offset < ?3 AND times IS NOT NULL \
         ORDER BY start_offset LIMIT 1",
    )
    .bind(id.as_str())
    .bind(integer(from.0))
    .bind(integer(to.0))
    .fetch_optional(connection)
    .await?;
    let Some((start, times)) = row else {
        return Ok(None);
    };
    let start = Offset(start);
    let times = unpack_tagged(&times, MAX_TIMES_BYTES);
    let arrivals = times.and_then(|times| decode(start, &times));
    let arrivals = arrivals.ok_or_else(|| StoreError::DamagedBlock {
        terminal: id.clone(),
        offset: start,
    })?;
    Ok(Some((start, arrivals)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(end: u64, at_ms: u64) -> Arrival {
        let clock = ArrivalClock::Read;
        Arrival {
            end: Offset(end),
            at_ms,
            clock,
        }
    }

    #[test]
    fn arrivals_are_decoded_as_they_were_encoded() {
        let late = Arrival {
            clock: ArrivalClock::TakenOver,
            ..arrival(70_001, 90_000)
        };
        let year_ms = 366 * 24 * 3_600_000;
        for arrivals in [
            vec![],
            vec![arrival(65_537, 0)],
            vec![arrival(65_540, 7), arrival(65_541, 7), late],
            vec![arrival(131_072, year_ms)],
        ] {
            let encoded = encode(Offset(65_536), &arrivals);
            assert_eq!(decode(Offset(65_536), &encoded), Some(arrivals));
        }
    }

    #[test]
    fn a_key_with_its_echo_takes_three_bytes() {
        let keys: Vec<_> = (1..=100).map(|key| arrival(key * 40, key * 200)).collect();
        let length = encode(Offset::ZERO, &keys).len();
        assert!(length <= 300, "{length}");
    }

    #[test]
    fn noise_is_none() {
        for noise in [&[1][..], &[0x80], &[1, 0x80], &[0xff; 30]] {
            assert_eq!(decode(Offset::ZERO, noise), None, "{noise:?}");
        }
    }
}
