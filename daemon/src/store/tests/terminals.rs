//! Rows of terminals and commands.

use serde_json::json;
use termd_proto::terminal::Agent;

use super::*;
use crate::store::StoreError;
use crate::store::terminals::shell_quoted;

fn tags(words: &[&str]) -> Tags {
    Tags::of(words.iter().map(|word| word.parse().unwrap())).unwrap()
}

#[tokio::test]
async fn a_row_reads_back_as_it_was_put_and_keeps_its_offsets() {
    let place = Place::new();
    let store = place.open().await;
    let mut row = running(1);
    row.meta = json!({"k": [1, null]}).as_object().cloned();
    store.put_terminal(row.clone()).await.unwrap();
    put(&store, 1, 0, b"output".to_vec()).await;
    store.flush().await.unwrap();

    row.label = Some("bau ✓".parse().unwrap());
    row.tags = tags(&["web", "zoë"]);
    row.exited_at_ms = Some(5);
    row.exit_status = Some(ExitStatus {
        exit_code: None,
        signal: Some("SIGTERM".to_owned()),
    });
    row.released_at_ms = Some(6);
    row.closed_at_ms = Some(7);
    row.owner.front = Front::Mcp;
    row.owner.exe = None;
    row.owner.agent = Some(Box::new(Agent {
        front: Front::Acp,
        client: Some("zed".to_owned()),
        pid: 7,
        started: 8,
        aliases: Vec::new(),
    }));
    row.cols = 132;
    // The offsets of the caller's row are not written.
    row.end = Offset(1);
    store.put_terminal(row.clone()).await.unwrap();
    store.flush().await.unwrap();
    row.end = Offset(6);
    assert_eq!(store.terminal(&id(1)).await.unwrap(), Some(row));
    assert_eq!(store.terminal(&id(2)).await.unwrap(), None);

    let mut connection = place.connection().await;
    let command: (i64, String, String, i64, Option<i64>, Option<String>) = sqlx::query_as(
        "SELECT number, source, text, started_at_ms, ended_at_ms, exit_signal FROM commands",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    let text = r"sh -c 'echo it'\''s'".to_owned();
    let signal = Some("SIGTERM".to_owned());
    assert_eq!(
        command,
        (0, "argv".to_owned(), text, 1_000, Some(5), signal)
    );
}

#[tokio::test]
async fn terminals_are_listed_in_pages_and_found_by_prefix() {
    let place = Place::new();
    let store = place.open().await;
    for number in 0..5 {
        let mut row = running(number << 40);
        row.closed_at_ms = (number == 2).then_some(9);
        row.tags = match number {
            1 => tags(&["a", "b"]),
            3 => tags(&["b"]),
            4 => tags(&["c"]),
            _ => Tags::default(),
        };
        store.put_terminal(row).await.unwrap();
    }
    store.flush().await.unwrap();
    let all: Vec<TerminalId> = (0..5).map(|number| id(number << 40)).collect();

    let (any, mut listed, mut cursor) = (Tags::default(), Vec::new(), None);
    loop {
        let page = store.list_terminals(&any, cursor.as_deref(), 2).await;
        let (page, next) = page.unwrap();
        assert!(page.len() <= 2);
        listed.extend(page.into_iter().map(|row| row.id));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, all);
    let bad = store.list_terminals(&any, Some("'"), 2).await;
    assert!(matches!(bad, Err(StoreError::BadCursor)));

    for (wanted, expected) in [
        (&["b"][..], vec![1, 3]),
        (&["c", "a"], vec![1, 4]),
        (&["d"], vec![]),
        (&[], vec![0, 1, 2, 3, 4]),
    ] {
        let (page, next) = store.list_terminals(&tags(wanted), None, 5).await.unwrap();
        let listed: Vec<TerminalId> = page.into_iter().map(|row| row.id).collect();
        let expected: Vec<TerminalId> = expected.iter().map(|at| all[*at].clone()).collect();
        assert_eq!((listed, next), (expected, None), "{wanted:?}");
    }

    let open = store.open_terminals(3).await.unwrap();
    let open: Vec<TerminalId> = open.into_iter().map(|row| row.id).collect();
    assert_eq!(open, [all[4].clone(), all[3].clone(), all[1].clone()]);

    let mut sorted = all.clone();
    sorted.sort();
    for (prefix, limit, expected) in [
        ("term_", 10, sorted.clone()),
        ("term_", 2, sorted[..2].to_vec()),
        (all[3].as_str(), 10, vec![all[3].clone()]),
        ("term_zzz", 10, vec![]),
        ("%", 10, vec![]),
        ("term*", 10, vec![]),
        ("ü", 10, vec![]),
    ] {
        let found = store.ids_with_prefix(prefix, limit).await.unwrap();
        assert_eq!(found, expected, "{prefix}");
    }
}

#[test]
fn an_argv_is_quoted_for_a_posix_shell() {
    for (argv, line) in [
        (vec!["ls", "-la", "/tmp/x.y"], "ls -la /tmp/x.y"),
        (vec!["echo", ""], "echo ''"),
        (
            vec!["echo", "a b", "$HOME", "it's"],
            r"echo 'a b' '$HOME' 'it'\''s'",
        ),
        (vec!["X=1"], "'X=1'"),
        (vec!["~"], "'~'"),
        (vec!["a\nb"], "'a\nb'"),
    ] {
        let argv: Vec<String> = argv.into_iter().map(str::to_owned).collect();
        assert_eq!(shell_quoted(&argv), line);
    }
}
