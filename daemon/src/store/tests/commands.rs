//! Commands: their rows, their lists and the search through them.

use termd_proto::command::{CommandInfo, CommandSource};

use super::*;
use crate::store::{
    CommandChange, CommandEnded, CommandQuery, CommandStarted, CommandWrite, StoreError,
};

/// A command line begins at a time of 10 times its number and an offset of 100 times it.
fn started(terminal: u64, number: u64, text: &str) -> CommandWrite {
    CommandWrite {
        terminal: id(terminal),
        change: CommandChange::Started(CommandStarted {
            number,
            text: text.to_owned(),
            cwd: Some("/src".to_owned()),
            at_ms: 2_000 + 10 * i64::try_from(number).unwrap(),
            start_offset: Offset(100 * number),
        }),
    }
}

fn finished(terminal: u64, number: u64, exit_code: Option<i32>) -> CommandWrite {
    CommandWrite {
        terminal: id(terminal),
        change: CommandChange::Ended(CommandEnded {
            number,
            exit_code,
            at_ms: 2_005 + 10 * i64::try_from(number).unwrap(),
            end_offset: Offset(100 * number + 50),
        }),
    }
}

async fn with_commands(place: &Place) -> Store {
    let store = place.open().await;
    for terminal in [1, 2] {
        store.put_terminal(running(terminal)).await.unwrap();
    }
    for (terminal, number, text, exit_code) in [
        (1, 1, "git push --force", Some(0)),
        (1, 2, "Cargo test \"a b\" && ls *.rs", Some(101)),
        (2, 3, "cd ü; MAKE", Some(0)),
        (1, 4, "", None),
        (2, 5, "git commit -m 'ls'", Some(1)),
    ] {
        store
            .put_command(started(terminal, number, text))
            .await
            .unwrap();
        store
            .put_command(finished(terminal, number, exit_code))
            .await
            .unwrap();
    }
    let permit = store.reserve_block().await.unwrap();
    permit.send_command(started(1, 6, "sleep 1000"));
    store.flush().await.unwrap();
    store
}

/// `terminal-independent` numbers of the shells' commands that a query finds, newest first.
async fn found(store: &Store, query: CommandQuery) -> Vec<u64> {
    let page = store.list_commands(&query, None, 100).await.unwrap();
    assert_eq!(page.next_cursor, None);
    let shells = page
        .commands
        .into_iter()
        .filter(|command| command.number > 0);
    shells.map(|command| command.number).collect()
}

#[tokio::test]
async fn a_command_reads_back_and_is_written_once() {
    let place = Place::new();
    let store = with_commands(&place).await;
    let pushed = CommandInfo {
        terminal: id(1),
        number: 1,
        source: CommandSource::Shell,
        text: "git push --force".to_owned(),
        agent_line: None,
        cwd: Some("/src".to_owned()),
        started_at_ms: 2_010,
        ended_at_ms: Some(2_015),
        exit_code: Some(0),
        signal: None,
        start: Offset(100),
        end: Some(Offset(150)),
        output_sha256: None,
        imported: false,
    };
    assert_eq!(
        store.command(&id(1), 1).await.unwrap(),
        Some(pushed.clone())
    );
    // Output that is read a second time reports it again.
    store.put_command(started(1, 1, "again")).await.unwrap();
    store.put_command(finished(1, 1, Some(9))).await.unwrap();
    // Neither for an unknown terminal, nor for a command that has not begun.
    store.put_command(started(9, 1, "nowhere")).await.unwrap();
    store.put_command(finished(1, 77, Some(9))).await.unwrap();
    // A terminal's own command is written with the terminal's row.
    store.put_command(finished(1, 0, Some(9))).await.unwrap();
    store.flush().await.unwrap();
    assert_eq!(store.command(&id(1), 1).await.unwrap(), Some(pushed));
    let own = store.command(&id(1), 0).await.unwrap().unwrap();
    assert_eq!((own.source, own.exit_code), (CommandSource::Argv, None));
    assert_eq!(place.number("SELECT count(*) FROM commands").await, 8);

    for (number, expected) in [
        (-1, Some(6)),
        (-2, Some(4)),
        (-5, Some(0)),
        (-6, None),
        (5, None),
        (i64::MIN, None),
        (i64::MAX, None),
    ] {
        let command = store.command(&id(1), number).await.unwrap();
        assert_eq!(command.map(|command| command.number), expected, "{number}");
    }
}

#[tokio::test]
async fn commands_are_searched() {
    let place = Place::new();
    let store = with_commands(&place).await;
    for (text, expected) in [
        ("git", vec![5, 1]),
        ("GIT PUSH", vec![1]),
        ("push git", vec![1]),
        ("argo", vec![2]),
        ("ls", vec![5, 2]),
        ("--force", vec![1]),
        ("\"a", vec![2]),
        ("*.rs", vec![2]),
        ("make", vec![3]),
        ("ü;", vec![3]),
        ("git NOT push", vec![]),
        ("text:git", vec![]),
        ("\" OR 1 --", vec![]),
        ("%", vec![]),
        ("", vec![6, 5, 4, 3, 2, 1]),
        ("nothing", vec![]),
    ] {
        let query = CommandQuery {
            text: Some(text.to_owned()),
            ..CommandQuery::default()
        };
        assert_eq!(found(&store, query).await, expected, "{text:?}");
    }
    let all = CommandQuery::default();
    for (query, expected) in [
        (
            CommandQuery {
                terminal: Some(id(2)),
                ..all.clone()
            },
            vec![5, 3],
        ),
        (
            CommandQuery {
                exit_code: Some(101),
                ..all.clone()
            },
            vec![2],
        ),
        (
            CommandQuery {
                failed: Some(true),
                ..all.clone()
            },
            vec![5, 2],
        ),
        (
            CommandQuery {
                failed: Some(false),
                ..all.clone()
            },
            vec![3, 1],
        ),
        (
            CommandQuery {
                since_ms: Some(2_050),
                ..all.clone()
            },
            vec![6, 5],
        ),
        (
            CommandQuery {
                until_ms: Some(2_020),
                ..all.clone()
            },
            vec![1],
        ),
        (
            CommandQuery {
                text: Some("git".to_owned()),
                failed: Some(true),
                ..all.clone()
            },
            vec![5],
        ),
    ] {
        assert_eq!(found(&store, query.clone()).await, expected, "{query:?}");
    }
}

#[tokio::test]
async fn commands_are_listed_in_pages_newest_first() {
    let place = Place::new();
    let store = with_commands(&place).await;
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let page = store
            .list_commands(&CommandQuery::default(), cursor.as_deref(), 3)
            .await
            .unwrap();
        assert!(page.commands.len() <= 3);
        listed.extend(page.commands.into_iter().map(|command| command.number));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, [6, 5, 4, 3, 2, 1, 0, 0]);
    for cursor in ["", "x", "1", "1:x", ":", "1:2:3"] {
        let bad = store
            .list_commands(&CommandQuery::default(), Some(cursor), 3)
            .await;
        assert!(matches!(bad, Err(StoreError::BadCursor)), "{cursor:?}");
    }
}

#[tokio::test]
async fn the_bundled_sqlite_has_full_text_search_and_lists_use_the_index() {
    let place = Place::new();
    drop(place.open().await);
    assert_eq!(
        place
            .number("SELECT sqlite_compileoption_used('ENABLE_FTS5')")
            .await,
        1
    );
    let mut connection = place.connection().await;
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(
        "EXPLAIN QUERY PLAN SELECT * FROM commands WHERE 1 AND (started_at_ms, seq) < (1, 1) \
         ORDER BY started_at_ms DESC, seq DESC LIMIT 3",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let plan: Vec<String> = plan.into_iter().map(|step| step.3).collect();
    assert_eq!(plan.len(), 1, "no sorting: {plan:?}");
    assert!(plan[0].contains("commands_time"), "{plan:?}");
}

#[tokio::test]
async fn what_was_there_before_the_search_is_found_by_it() {
    let place = Place::new();
    with_commands(&place).await.close().await.unwrap();
    place
        .execute(
            "DROP TABLE commands_text; DROP TRIGGER commands_text_insert; \
             DROP TRIGGER commands_text_delete; DROP TRIGGER commands_text_update; \
             DROP INDEX commands_time; DROP INDEX commands_terminal_time; \
             DELETE FROM _sqlx_migrations WHERE version = 2; PRAGMA user_version = 1;",
        )
        .await;
    let store = place.open().await;
    let push = || CommandQuery {
        text: Some("push".to_owned()),
        ..CommandQuery::default()
    };
    assert_eq!(found(&store, push()).await, [1]);
    // A changed or dropped text is not found any more.
    place
        .execute("UPDATE commands SET text = 'git pull' WHERE number = 1")
        .await;
    assert_eq!(found(&store, push()).await, [0_u64; 0]);
    place.execute("DELETE FROM commands WHERE number = 5").await;
    let git = CommandQuery {
        text: Some("git".to_owned()),
        ..CommandQuery::default()
    };
    assert_eq!(found(&store, git).await, [1]);
    place
        .execute("INSERT INTO commands_text (commands_text, rank) VALUES ('integrity-check', 1)")
        .await;
}

/// A terminal whose argv is what an agent writes around its line.
fn of_agent(number: u64, line: &str) -> TerminalRow {
    let source = "source /home/u/.claude/shell-snapshots/snapshot-bash-1-a.sh";
    let wrapped = format!("{source} && eval '{line}' && pwd -P >| /tmp/claude-1-cwd");
    TerminalRow {
        argv: vec!["/bin/bash".to_owned(), "-c".to_owned(), wrapped],
        agent_line: Some(line.to_owned()),
        ..running(number)
    }
}

#[tokio::test]
async fn an_agents_line_is_found_by_its_words_and_not_by_those_around_it() {
    let place = Place::new();
    let store = place.open().await;
    store.put_terminal(of_agent(1, "cargo TEST")).await.unwrap();
    store.put_terminal(running(2)).await.unwrap();
    store.flush().await.unwrap();
    let row = store.terminal(&id(1)).await.unwrap().unwrap();
    assert_eq!(row, of_agent(1, "cargo TEST"));
    for (text, expected) in [
        ("cargo test", vec![id(1)]),
        ("te", vec![id(1)]),
        ("source", vec![]),
        ("sh", vec![id(2)]),
        ("echo", vec![id(2)]),
    ] {
        let query = CommandQuery {
            text: Some(text.to_owned()),
            ..CommandQuery::default()
        };
        let page = store.list_commands(&query, None, 100).await.unwrap();
        let found: Vec<_> = page.commands.into_iter().map(|it| it.terminal).collect();
        assert_eq!(found, expected, "{text}");
    }
    let own = store.command(&id(1), 0).await.unwrap().unwrap();
    assert_eq!(own.agent_line.as_deref(), Some("cargo TEST"));
    assert!(own.text.starts_with("/bin/bash -c 'source "), "{own:?}");

    // A row that is put once more, and one that is erased.
    let mut again = of_agent(1, "other");
    again.closed_at_ms = Some(2_000);
    store.put_terminal(again).await.unwrap();
    store.flush().await.unwrap();
    let row = store.terminal(&id(1)).await.unwrap().unwrap();
    assert_eq!(row.agent_line.as_deref(), Some("cargo TEST"));
    store.erase_transcript(&id(1), 3_000).await.unwrap();
    let row = store.terminal(&id(1)).await.unwrap().unwrap();
    let own = store.command(&id(1), 0).await.unwrap().unwrap();
    assert_eq!((row.agent_line, own.agent_line), (None, None));
}

#[tokio::test]
async fn rows_from_before_the_lines_of_agents_have_none() {
    let place = Place::new();
    with_commands(&place).await.close().await.unwrap();
    place
        .execute(
            "ALTER TABLE terminals DROP COLUMN agent_line; \
             ALTER TABLE commands DROP COLUMN agent_line; \
             DELETE FROM _sqlx_migrations WHERE version = 9; PRAGMA user_version = 8;",
        )
        .await;
    let store = place.open().await;
    let row = store.terminal(&id(1)).await.unwrap().unwrap();
    assert_eq!(row, running(1));
    let own = store.command(&id(1), 0).await.unwrap().unwrap();
    assert_eq!(own.agent_line, None);
}

#[tokio::test]
async fn the_hash_of_the_output_is_of_the_terminal_s_own_command() {
    let place = Place::new();
    let store = with_commands(&place).await;
    let hash = "c0ffee".to_owned();
    store.put_output_hash(id(1), hash).await.unwrap();
    // The terminal's row is written again without it.
    store.put_terminal(running(1)).await.unwrap();
    store.flush().await.unwrap();
    let hash_of = async |number| {
        let command = store.command(&id(1), number).await.unwrap();
        command.unwrap().output_sha256
    };
    assert_eq!(hash_of(0).await.as_deref(), Some("c0ffee"));
    assert_eq!(hash_of(1).await, None);
}
