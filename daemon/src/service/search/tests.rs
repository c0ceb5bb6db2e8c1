//! The hits of a search are those of a plain scan of the text, whatever is indexed.

use std::collections::BTreeMap;
use std::task::Poll;

use termd_policy::Policy;
use termd_policy::secrets::redact::Redactor;
use termd_proto::search::{OutputHit, PatternKind, SearchHit};
use termd_proto::{Offset, Tags};
use termd_test_support::{LogShape, log};
use termd_vt::plain::{PlainSize, PlainText};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::config::MaxRunning;
use crate::service::PolicyInForce;
use crate::store::{BLOCK_BYTES, Block, TerminalRow, own_actor};
use crate::terminal::output::flood_turn::{FloodTurn, FloodTurns};

const SIZE: PlainSize = PlainSize { cols: 80, rows: 24 };

struct Fixture {
    directory: tempfile::TempDir,
    store: Store,
    registry: Arc<Registry>,
    /// What each terminal has printed, by its number.
    outputs: BTreeMap<i64, (TerminalId, Vec<u8>)>,
}

impl Fixture {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("termd.db"))
            .await
            .unwrap();
        let limits = MaxRunning {
            of_all: 9,
            of_client: 9,
            of_front: 9,
        };
        let registry = Registry::new(limits, broadcast::Sender::new(8), CancellationToken::new());
        Self {
            directory,
            store,
            registry: Arc::new(registry),
            outputs: BTreeMap::new(),
        }
    }

    /// A terminal that has printed this, and has ended or not.
    async fn add(&mut self, output: Vec<u8>, exited_at_ms: Option<i64>) -> i64 {
        let number = i64::try_from(self.outputs.len()).unwrap() + 1;
        let id = TerminalId::from_random(number.unsigned_abs());
        let row = TerminalRow {
            exited_at_ms,
            ..row(&id)
        };
        self.store.put_terminal(row).await.unwrap();
        for (at, bytes) in output.chunks(BLOCK_BYTES).enumerate() {
            let permit = self.store.reserve_block().await.unwrap();
            permit.send(Block {
                terminal: id.clone(),
                start: Offset((at * BLOCK_BYTES) as u64),
                bytes: bytes.to_vec(),
                origins: None,
                arrivals: Vec::new(),
                committed: watch::Sender::new(Offset::ZERO),
            });
        }
        self.store.flush().await.unwrap();
        self.outputs.insert(number, (id, output));
        number
    }

    async fn index(&self) -> Arc<SearchIndex> {
        Arc::new(SearchIndex::open(self.store.path()).await.unwrap())
    }

    fn indexer(&self, index: &Arc<SearchIndex>) -> Indexer {
        self.indexer_beside(index, FloodTurns::default())
    }

    fn indexer_beside(&self, index: &Arc<SearchIndex>, flood_turns: FloodTurns) -> Indexer {
        Indexer::new(
            self.store.clone(),
            Arc::clone(&self.registry),
            Arc::clone(index),
            broadcast::Sender::new(1).subscribe(),
            CancellationToken::new(),
            flood_turns,
        )
    }

    fn searcher(&self, index: Option<Arc<SearchIndex>>) -> Searcher {
        let secrets = OutputSecrets {
            redactor: Redactor::default(),
            policy: Arc::new(PolicyInForce::new(Arc::new(Policy::default()))),
            hidden_in_shells: false,
        };
        Searcher::new(
            self.store.clone(),
            Arc::clone(&self.registry),
            index,
            secrets,
        )
    }

    /// The lines of a plain scan, newest first.
    fn scan(&self, pattern: &Pattern) -> Vec<(TerminalId, String)> {
        let mut found = Vec::new();
        for (id, output) in self.outputs.values().rev() {
            let mut plain = PlainText::new(SIZE);
            plain.advance(output);
            let text = plain.finish();
            let lines = text.lines().filter(|line| pattern.find(line).is_some());
            let mut lines: Vec<_> = lines.map(|line| (id.clone(), line.to_owned())).collect();
            lines.reverse();
            found.append(&mut lines);
        }
        found
    }
}

fn row(id: &TerminalId) -> TerminalRow {
    TerminalRow {
        id: id.clone(),
        label: None,
        argv: vec!["make".to_owned()],
        agent_line: None,
        cwd: "/tmp".to_owned(),
        pid: 77,
        cols: SIZE.cols,
        rows: SIZE.rows,
        owner: own_actor(),
        created_at_ms: 0,
        exited_at_ms: None,
        exit_status: None,
        released_at_ms: None,
        closed_at_ms: None,
        close_cause: None,
        end_cause: None,
        held_to: None,
        idle_timeout_ms: None,
        last_activity_ms: None,
        scrollback_lines: None,
        first_cols: None,
        first_rows: None,
        imported_at_ms: None,
        seen_at_ms: None,
        tags: Tags::default(),
        output_byte_limit: 1 << 20,
        start: Offset::ZERO,
        end: Offset::ZERO,
        stdio: termd_proto::terminal::Stdio::Pty,
        meta: None,
    }
}

fn of(pattern: &str, kind: PatternKind) -> Search {
    Search {
        pattern: Pattern::compile(pattern, kind, false).unwrap(),
        within: SearchIn::Output,
        is_raw: false,
        context: 0,
        terminal: None,
        filter: SearchFilter::default(),
        cursor: None,
        limit: 1_000,
        timeout: Duration::from_mins(1),
    }
}

/// All hits, by pages.
async fn found(searcher: &Searcher, mut search: Search) -> Vec<OutputHit> {
    let mut hits = Vec::new();
    loop {
        let page = searcher.search(&search, Front::Cli).await.unwrap();
        hits.extend(page.hits.into_iter().filter_map(|hit| match hit {
            SearchHit::Output(hit) => Some(*hit),
            SearchHit::Command(_) => None,
        }));
        match page.next_cursor {
            Some(next) => search.cursor = Some(next),
            None => return hits,
        }
    }
}

const PATTERNS: [(&str, PatternKind); 18] = [
    ("234567", PatternKind::Fixed),
    ("n=1234567 wide", PatternKind::Words),
    ("f00dcafe", PatternKind::Words),
    ("F00DCAFE", PatternKind::Fixed),
    ("77fa35b2", PatternKind::Fixed),
    ("(?i)n=1234567|c0ffee", PatternKind::Regex),
    ("7654321 in the last", PatternKind::Fixed),
    ("99999", PatternKind::Fixed),
    ("error e05", PatternKind::Words),
    ("COMPILING käse", PatternKind::Words),
    ("AssertionError: assert", PatternKind::Fixed),
    ("deprecated 日本語@", PatternKind::Fixed),
    (r"^error\[E0\d{2}[37]\]", PatternKind::Regex),
    (r"id=[0-9a-f]{3}abc", PatternKind::Regex),
    (r"(?i)unpacking (redis|NGINX) \(f", PatternKind::Regex),
    (r"[45]9 kB\]$", PatternKind::Regex),
    ("up 1", PatternKind::Fixed),
    ("in redis of vim", PatternKind::Fixed),
];

/// Numbers in each place that a number may have, with others between them.
fn numbers() -> Vec<u8> {
    let lines = (0..20_000).map(|line| match line % 5_000 {
        0 => "n=1234567 F00DCAFE0\r\n".to_owned(),
        // Over the edge of a row.
        1_000 => format!("{}n=1234567 wide\r\n", " ".repeat(75)),
        2_000 => format!("sha {}77fa35b2\r\n", "1d".repeat(28)),
        // A dump is not indexed by parts.
        3_000 => format!("dump {}77fa35b2{}\r\n", "0a".repeat(40), "1b".repeat(9)),
        4_000 => "9999\x1b[m9 c0ffee\r\n".to_owned(),
        _ => format!("{0} {0:x}\r\n", line * 7_919),
    });
    let mut text: String = lines.collect();
    text.push_str("7654321 in the last line");
    text.into_bytes()
}

#[tokio::test]
async fn hits_are_those_of_a_plain_scan_whatever_is_indexed() {
    let mut fixture = Fixture::new().await;
    for (seed, shape) in LogShape::ALL.into_iter().enumerate() {
        let exited = (seed % 3 != 2).then_some(1);
        fixture.add(log(shape, seed as u64, 300_000), exited).await;
    }
    let one_line = [b"start ".as_slice(), &b"abc ".repeat(100_000), b"up 1 end"].concat();
    fixture.add(one_line, Some(1)).await;
    fixture.add(numbers(), Some(1)).await;
    let index = fixture.index().await;
    let nothing_indexed = fixture.searcher(Some(Arc::clone(&index)));
    let without = fixture.searcher(None);
    for round in 0..2 {
        for (pattern, kind) in PATTERNS {
            let scanned = fixture.scan(&of(pattern, kind).pattern);
            if round == 0 {
                let is_shown = pattern != "in redis of vim";
                assert_eq!(!scanned.is_empty(), is_shown, "{pattern}");
            }
            for (searcher, limit) in [
                (&without, 1_000),
                (&nothing_indexed, 1_000),
                (&nothing_indexed, 7),
            ] {
                let search = Search {
                    limit,
                    ..of(pattern, kind)
                };
                let hits = found(searcher, search).await;
                let lines: Vec<_> = hits
                    .iter()
                    .map(|hit| (hit.terminal.clone(), hit.line.clone()))
                    .collect();
                assert_eq!(lines.len(), scanned.len(), "{pattern} {round} {limit}");
                for (line, scanned) in lines.iter().zip(&scanned) {
                    assert_eq!(line.0, scanned.0, "{pattern} {round} {limit}");
                    assert!(scanned.1.contains(&line.1), "{pattern} {round} {limit}");
                }
            }
        }
        fixture.indexer(&index).sweep().await.unwrap();
    }
    let indexed = index.terminals();
    assert_eq!(indexed.len(), fixture.outputs.len());
    let is_done = |number: &i64| index.progress(*number).unwrap().is_done;
    assert_eq!(indexed.iter().filter(|number| is_done(number)).count(), 6);
}

#[tokio::test]
async fn an_offset_leads_to_the_line() {
    let mut fixture = Fixture::new().await;
    let output = log(LogShape::Cargo, 3, 200_000);
    fixture.add(output.clone(), Some(1)).await;
    let index = fixture.index().await;
    fixture.indexer(&index).sweep().await.unwrap();
    let hits = found(
        &fixture.searcher(Some(index)),
        of("mismatched", PatternKind::Words),
    )
    .await;
    assert!(hits.len() > 5);
    for hit in hits {
        let at = usize::try_from(hit.offset.0).unwrap();
        let mut plain = PlainText::new(SIZE);
        plain.advance(&output[at..output.len().min(at + 500)]);
        let text = plain.finish();
        assert_eq!(text.lines().next(), Some(hit.line.as_str()));
    }
}

/// A document that is cut where the output ends leaves its last rows to one of no output.
#[tokio::test]
async fn the_last_line_is_found_however_long_the_output_is() {
    const LINES: usize = 200;
    let mut fixture = Fixture::new().await;
    for before in 0..LINES {
        let mut output = b"a line of thirty-two bytes:   \r\n".repeat(before);
        output.extend(format!("the end of {before:<19}\r\n").into_bytes());
        fixture.add(output, Some(1)).await;
    }
    let index = fixture.index().await;
    fixture.indexer(&index).sweep().await.unwrap();
    let search = of("the end of", PatternKind::Fixed);
    let hits = found(&fixture.searcher(Some(index)), search).await;
    let lines: Vec<&str> = hits.iter().map(|hit| hit.line.trim_end()).collect();
    let expected = (0..LINES)
        .rev()
        .map(|before| format!("the end of {before}"));
    assert_eq!(lines, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn lines_around_a_hit_are_given_over_the_edge_of_a_document() {
    let mut fixture = Fixture::new().await;
    let lines: Vec<String> = (0..8_000).map(|at| format!("line {at} of many")).collect();
    let output = lines
        .iter()
        .flat_map(|line| format!("{line}\r\n").into_bytes());
    let number = fixture.add(output.collect(), Some(1)).await;
    let index = fixture.index().await;
    fixture.indexer(&index).sweep().await.unwrap();
    assert!(index.progress(number).unwrap().documents > 5);
    let search = Search {
        context: 3,
        ..of("many", PatternKind::Words)
    };
    let hits = found(&fixture.searcher(Some(index)), search).await;
    assert_eq!(hits.len(), lines.len());
    for (at, hit) in hits.iter().rev().enumerate() {
        assert_eq!(hit.line, lines[at]);
        assert_eq!(hit.before, lines[at.saturating_sub(3)..at]);
        assert_eq!(hit.after, lines[at + 1..lines.len().min(at + 4)]);
    }
}

#[tokio::test]
async fn what_is_erased_is_found_no_more_and_is_in_no_file() {
    let mut fixture = Fixture::new().await;
    let number = fixture.add(b"the needle\r\n".repeat(20), Some(1)).await;
    let index = fixture.index().await;
    fixture.indexer(&index).sweep().await.unwrap();
    let searcher = fixture.searcher(Some(Arc::clone(&index)));
    assert_eq!(
        found(&searcher, of("needle", PatternKind::Words))
            .await
            .len(),
        20
    );
    let (id, _) = &fixture.outputs[&number];
    fixture.store.erase_transcript(id, 1).await.unwrap();
    index.forget(number).await.unwrap();
    index.purge().await.unwrap();
    assert_eq!(found(&searcher, of("needle", PatternKind::Words)).await, []);
    drop((searcher, index));
    for file in std::fs::read_dir(fixture.directory.path()).unwrap() {
        let path = file.unwrap().path();
        // A log goes with the last connection, which closes behind this.
        let bytes = std::fs::read(&path).unwrap_or_default();
        assert!(
            memchr::memmem::find(&bytes, b"edl").is_none(),
            "{}",
            path.display()
        );
    }
}

#[tokio::test]
async fn a_search_whose_time_is_over_says_so_and_goes_on() {
    let mut fixture = Fixture::new().await;
    for seed in 0..3 {
        fixture
            .add(log(LogShape::Journal, seed, 300_000), Some(1))
            .await;
    }
    let index = fixture.index().await;
    fixture.indexer(&index).sweep().await.unwrap();
    let searcher = fixture.searcher(Some(index));
    let late = Search {
        timeout: Duration::ZERO,
        ..of("redis", PatternKind::Words)
    };
    let page = searcher.search(&late, Front::Cli).await.unwrap();
    assert!(page.timed_out && page.hits.is_empty());
    let search = Search {
        cursor: page.next_cursor,
        ..of("redis", PatternKind::Words)
    };
    let all = found(&searcher, of("redis", PatternKind::Words)).await;
    assert_eq!(found(&searcher, search).await, all);
}

/// Polls once, and gives up.
async fn is_done_at_once<F: Future>(work: F) -> bool {
    tokio::pin!(work);
    let once = std::future::poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
    once.await.is_ready()
}

#[tokio::test]
async fn the_indexer_stands_back_while_a_terminal_prints_without_end() {
    let fixture = Fixture::new().await;
    let index = fixture.index().await;
    let flood_turns = FloodTurns::default();
    let mut indexer = fixture.indexer_beside(&index, flood_turns.clone());
    assert!(is_done_at_once(indexer.stand_back()).await);
    let now = std::time::Instant::now();
    let mut flood = FloodTurn::new(flood_turns, now);
    flood.add(1 << 20, now);
    flood.turn().await;
    // The writer keeps up: nothing waits for it.
    assert!(!fixture.store.is_busy());
    assert!(!is_done_at_once(indexer.stand_back()).await);
    assert!(is_done_at_once(indexer.stand_back()).await, "no turn since");
}

#[tokio::test]
async fn a_search_that_is_given_up_leaves_its_turn_to_others() {
    let mut fixture = Fixture::new().await;
    for seed in 0..3 {
        fixture
            .add(log(LogShape::Journal, seed, 300_000), Some(1))
            .await;
    }
    let searcher = fixture.searcher(None);
    for _ in 0..2 * MAX_SEARCHES {
        let search = of("^.{7}Q$", PatternKind::Regex);
        // Once around: it has its turn and reads.
        let is_done = is_done_at_once(searcher.search(&search, Front::Cli)).await;
        assert!(!is_done, "it was done at once");
    }
    assert_eq!(searcher.turns.available_permits(), MAX_SEARCHES);
    let all = found(&searcher, of("redis", PatternKind::Words)).await;
    assert!(!all.is_empty());
}
