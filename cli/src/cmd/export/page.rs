//! All that a terminal has printed as a page of HTML, with its colours.

use termd_client::Link;
use termd_client::escape::terminal_command;
use termd_proto::screen::{MAX_SCREEN_ROWS, Screen, ScreenRows};
use termd_proto::terminal::{Stdio, TerminalInfo};
use termd_vt::render::html;
use termd_vt::{Model, Scrollback};

use super::cast::Event;
use super::playback::Playback;
use crate::error::CliError;
use crate::output_file::OutputFile;

/// Most lines of a page. A browser shows more only slowly.
const MAX_LINES: usize = 100_000;
/// Bytes of memory for them: long coloured lines.
const MAX_LINES_BYTES: usize = 64 << 20;

pub(super) async fn write(
    link: &Link,
    info: &TerminalInfo,
    sink: &mut OutputFile,
) -> Result<(), CliError> {
    let playback = Playback::open(link, info, &[], info.start).await?;
    let (cols, rows) = playback.size();
    let scrollback = Scrollback::new(MAX_LINES, MAX_LINES_BYTES);
    let model = Model::new(size(cols, rows), scrollback);
    let mut model = match info.stdio {
        Stdio::Pty => model,
        Stdio::Pipes => model.with_new_lines(),
    };
    let played = playback.run(|_, event| {
        match event {
            Event::Output(bytes) => drop(model.feed(&bytes)),
            Event::Resize { cols, rows } => drop(model.resize(size(cols, rows))),
            Event::Marker(_) | Event::Exit(_) => {}
        }
        Ok(())
    });
    played.await?;
    sink.write(page(&model, &title(info)).as_bytes())
}

/// What ran in the terminal, or where that is not known its name.
fn title(info: &TerminalInfo) -> String {
    let command = terminal_command(info);
    if command.is_empty() {
        let label = info.label.as_ref().map(ToString::to_string);
        return label.unwrap_or_else(|| info.id.to_string());
    }
    command
}

fn size(cols: u16, rows: u16) -> termd_vt::Size {
    termd_vt::Size {
        cols: cols.into(),
        rows: rows.into(),
    }
}

fn page(model: &Model, title: &str) -> String {
    let screen = all_rows(model);
    let left_out = model.rows_printed().saturating_sub(screen.scrollback_rows);
    let note = if left_out == 0 {
        String::new()
    } else {
        format!("<p style=\"color:#aaa\">{left_out} lines before this are left out.</p>\n")
    };
    let mut escaped = String::new();
    for c in title.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            c => escaped.push(c),
        }
    }
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{escaped}</title>\n</head>\n\
         <body style=\"margin:0;background:#000\">\n{note}{}</body>\n</html>\n",
        html(&screen)
    )
}

/// The scrollback and the screen, without the empty rows at its end and without the cursor.
fn all_rows(model: &Model) -> Screen {
    let mut all = model.screen(ScreenRows::default());
    let rows_a_look = i64::try_from(MAX_SCREEN_ROWS).unwrap_or(i64::MAX);
    let kept = i64::try_from(all.scrollback_rows).unwrap_or(i64::MAX);
    let mut lines = Vec::new();
    let mut from = -kept;
    while from < 0 {
        let to = from.saturating_add(rows_a_look).min(0) - 1;
        let rows = ScreenRows {
            from_row: Some(from),
            to_row: Some(to),
            ..ScreenRows::default()
        };
        lines.extend(model.screen(rows).lines);
        from = to + 1;
    }
    lines.append(&mut all.lines);
    while lines.last().is_some_and(|row| row.runs.is_empty()) {
        lines.pop();
    }
    all.cursor.visible = false;
    Screen { lines, ..all }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_all_lines_and_runs_nothing() {
        let mut model = Model::new(size(20, 3), Scrollback::new(100_000, 64 << 20));
        for line in 0..25_000 {
            model.feed(format!("{line}\r\n").as_bytes());
        }
        model.feed(b"\x1b[31m<script>alert(1)</script>\x1b[0m\r\n");
        let page = page(&model, "sh -c '<b>&'");
        let from = page.find("<pre").unwrap();
        let text = &page[from..];
        for line in ["\">0\n", "\n9999\n", "\n10000\n", "\n24999\n"] {
            assert!(text.contains(line), "{line}");
        }
        assert_eq!(text.matches("\n777\n").count(), 1);
        assert!(page.contains("<title>sh -c '&lt;b>&amp;'</title>"));
        assert!(!page.contains("<script>") && !page.contains("left out"));
    }
}
