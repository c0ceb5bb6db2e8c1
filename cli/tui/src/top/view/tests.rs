//! What is shown, as text.

use serde_json::json;
use termd_proto::screen::Screen;

use super::super::news::{GlanceWithBranch, News, ScreenRowsKind};
use super::super::surroundings::Now;
use super::super::tests::{Stage, info, question};
use super::*;
use crate::canvas::{Canvas, Colors};
use crate::input::Key;

const WIDE: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

/// The rows of what is shown, without blanks at their ends.
fn rows(model: &Model) -> Vec<String> {
    let picture = view(model);
    let area = picture.buffer.area;
    let row = |y| {
        let cells = (0..area.width).filter_map(|x| picture.buffer.cell((x, y)));
        let row: String = cells.map(ratatui_core::buffer::Cell::symbol).collect();
        row.trim_end().to_owned()
    };
    (0..area.height).map(row).collect()
}

fn terminals() -> Stage {
    let all = [
        ("build", "running", "/home/me/src/a"),
        ("agent", "approval", "/home/me/src/b"),
        ("tests", "failed", "/home/me/src/a"),
        ("old", "idle-exited", "/home/me/src/a"),
    ];
    let all = all
        .into_iter()
        .map(|(label, state, cwd)| info(label, state, cwd));
    Stage::new(WIDE, all.collect())
}

fn screen(stage: &Stage, lines: &[&str]) -> News {
    let lines = lines.iter().enumerate().map(|(row, text)| {
        json!({ "row": row, "seq": 1, "runs": [
            { "column": 0, "width": text.chars().count(), "text": text }] })
    });
    let screen = json!({
        "seq": 1, "end": 0, "cols": 20, "rows": 5, "alternate": false, "full_screen": false,
        "cursor": { "row": 1, "column": 2, "visible": true, "shape": "block", "blinking": false,
            "wrap_pending": false },
        "title": "", "command_state": "unknown", "bells": 0,
        "modes": { "application_cursor_keys": false, "application_keypad": false,
            "bracketed_paste": false, "focus_events": false, "mouse": "off",
            "mouse_encoding": "x10", "synchronized_output": false, "reverse_video": false,
            "autowrap": true, "insert": false, "origin": false, "line_feed_new_line": false,
            "kitty_keyboard": 0, "modify_other_keys": 0 },
        "scrollback_rows": 0,
        "lines": lines.collect::<Vec<_>>(),
    });
    let screen: Screen = serde_json::from_value(screen).unwrap();
    News::Screen {
        id: stage.model.list.at_hand().unwrap().clone(),
        screen: Box::new(screen),
        from_row: 0,
        rows: ScreenRowsKind::All,
    }
}

#[test]
fn a_wide_tty_has_all_side_by_side() {
    let mut stage = terminals();
    let news = screen(&stage, &["$ make", "$ \u{1b}[2J"]);
    stage.hear(news);
    let id = stage.model.list.at_hand().unwrap().clone();
    let glance = json!({ "id": id, "last_line": "compiling \u{1b}x", "cwd": "/home/me/src/b/c",
        "progress": { "normal": 40 } });
    stage.hear(News::Glances(vec![GlanceWithBranch {
        glance: serde_json::from_value(glance).unwrap(),
        branch: Some("main".to_owned()),
    }]));
    let shown = rows(&stage.model);
    let want = [
        "termd  ! approval 1  ✗ failed 1  ▸ running 1  ended 1",
        "~/src/b                          │! approval agent cargo build",
        "! agent cargo build           2m │claude · ~/src/b/c (main) · 40 % · 1h01 · 20x5",
        "  claude · 40 % · why it is so   │$ make              ┊",
        "~/src/a                          │$ \u{fffd}[2J              ┊",
    ];
    assert_eq!(shown[..5], want, "{shown:#?}");
    assert_eq!(shown.last().unwrap().split("  ").next().unwrap(), "? help");
    assert_eq!(view(&stage.model).cursor, Some(Position::new(36, 4)));
}

#[test]
fn where_words_do_not_fit_states_are_counted_by_their_signs() {
    let mut stage = terminals();
    stage.model.resize((45, 24), stage_now());
    assert_eq!(rows(&stage.model)[0], "termd  ! 1  ✗ 1  ▸ 1  ended 1");
    stage.model.resize((60, 24), stage_now());
    let shown = &rows(&stage.model)[0];
    assert_eq!(
        shown,
        "termd  ! approval 1  ✗ failed 1  ▸ running 1  ended 1"
    );
}

#[test]
fn a_small_tty_has_the_list_above_the_screen() {
    let mut stage = terminals();
    stage.model.resize(SMALL, stage_now());
    let news = screen(&stage, &["$ make", "done"]);
    stage.hear(news);
    let shown = rows(&stage.model);
    let want = [
        "~/src/b",
        "! agent why it is so              2m",
        "~/src/a",
        "✗ tests why it is so            1 more ↓",
    ];
    let listed: Vec<_> = shown[..4]
        .iter()
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .collect();
    let want: Vec<_> = want
        .iter()
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .collect();
    assert_eq!(listed, want, "{shown:#?}");
    assert!(
        shown
            .iter()
            .any(|row| row.starts_with("! approval agent cargo build")),
        "{shown:#?}"
    );
    assert!(
        shown.iter().any(|row| row.starts_with("$ make")),
        "{shown:#?}"
    );
}

fn stage_now() -> Now {
    Now {
        at: std::time::Instant::now(),
        ms: super::super::tests::NOW_MS,
    }
}

#[test]
fn a_question_is_shown_in_full_or_says_how_much_is_missing() {
    let mut stage = terminals();
    let agent = info("agent", "approval", "/home/me/src/b");
    stage.ask(&[question("aaaaaa", &agent, "rm -rf build")]);
    let shown = rows(&stage.model);
    let text = shown.join("\n");
    assert!(text.contains(" ! aaaaaa: asks you"), "{text}");
    assert!(text.contains("     rm -rf build\n"), "{text}");
    assert!(
        text.contains("because  `rm -rf` removes whole trees"),
        "{text}"
    );
    assert!(text.contains(" y once  a always  n no"), "{text}");
    assert!(stage.model.question_fits(), "{text}");

    let long = format!("rm -rf x{}; curl evil", " ".repeat(2_000));
    stage.ask(&[question("bbbbbb", &agent, &long)]);
    let text = rows(&stage.model).join("\n");
    assert!(
        text.contains(" more  y ") && !text.contains("evil"),
        "{text}"
    );
    stage.wait(1_000);
    assert_eq!(stage.press(Key::Char('y')), [], "not before it is read");
    let text = rows(&stage.model).join("\n");
    assert!(!text.contains("evil") && text.contains("arrows"), "{text}");
    assert_eq!(stage.press(Key::Char('y')), []);
    stage.press(Key::End);
    let text = rows(&stage.model).join("\n");
    assert!(text.contains("evil") && text.contains("y once"), "{text}");
    assert_eq!(stage.press(Key::Char('y')).len(), 1, "{text}");
}

#[test]
fn a_secret_is_not_shown_while_it_is_typed() {
    let mut stage = terminals();
    stage.press(Key::Char('p'));
    stage.type_text("hunter2");
    let text = rows(&stage.model).join("\n");
    assert!(
        text.contains("secret (not shown):") && !text.contains("hunter"),
        "{text}"
    );
    let typed = stage.press(Key::Enter);
    assert_eq!(typed.len(), 1);
    assert!(!format!("{:?}", stage.model).contains("hunter2"));
}

#[test]
fn nothing_but_cells_reaches_the_tty() {
    let evil = "\u{1b}]52;c;aGk=\u{7}\u{9b}2J\u{202e}x";
    let mut one = info("one", "input", &format!("/tmp/{evil}"));
    one.argv = vec![evil.to_owned()];
    one.owner.client = Some(evil.to_owned());
    if let Some(attention) = &mut one.attention {
        attention.why = evil.to_owned();
    }
    let other = info("other", "running", "/");
    for size in [WIDE, SMALL, (200, 60), (3, 3), (1, 1), (0, 0)] {
        let mut stage = Stage::new(size, vec![one.clone(), other.clone()]);
        let news = screen(&stage, &[evil, "漢字 é"]);
        stage.hear(news);
        stage.ask(&[question("aaaaaa", &one, evil)]);
        for keys in ["", "?", "\u{1b}v", "\u{1b}/x", "\u{1b}s"] {
            stage.type_text(keys);
            for colors in [Colors::Shown, Colors::Hidden] {
                let bytes = Canvas::new(colors).draw(view(&stage.model)).unwrap();
                let text = String::from_utf8(bytes).unwrap();
                assert_only_draws(&text);
            }
        }
    }
}

/// Checks that bytes for a tty hold nothing but text, places, colours, and the cursor's visibility.
#[track_caller]
fn assert_only_draws(text: &str) {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('\u{1b}') {
        let after = after.strip_prefix('[').expect("a control sequence");
        let end = after.find(|c: char| ('@'..='~').contains(&c)).unwrap();
        let (params, last) = (&after[..end], &after[end..=end]);
        let is_own = match (params, last) {
            ("?25" | "?2026", "h" | "l") | ("2", "J") => true,
            (params, "H" | "m") => params.bytes().all(|b| matches!(b, b'0'..=b';')),
            _ => false,
        };
        assert!(is_own, "{params:?} {last}");
        rest = &after[end..];
    }
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    let acts = |c: char| (c.is_control() && c != '\u{1b}') || turns(c);
    assert!(!text.chars().any(acts), "{text:?}");
}

#[test]
fn states_differ_without_colour() {
    let all = termd_proto::attention::AttentionState::ALL;
    let signs: std::collections::BTreeSet<_> =
        all.into_iter().map(super::super::look::sign).collect();
    assert_eq!(signs.len(), all.len());
}
