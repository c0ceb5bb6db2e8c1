//! Which part of the tty shows what. Pure.

use ratatui_core::layout::Rect;

/// From this number of columns on the list stands beside the screen, and not above it.
const MIN_COLS_BESIDE: u16 = 70;
/// The list has two fifths of a wide tty, between these.
const LIST_COLS: (u16, u16) = (31, 64);
/// A blank, and the line between the list and the screen.
const LINE_COLS: u16 = 2;
/// From this number of rows on there is a line with counts at the top.
const MIN_ROWS_WITH_HEAD: u16 = 16;
/// From this number of rows on the terminal at hand is told in two lines.
const MIN_ROWS_WITH_DETAILS: u16 = 20;

/// How much there is to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wants {
    /// Terminals in the list.
    pub(super) terminals: u16,
    /// Names of groups in the list.
    pub(super) groups: u16,
    /// Lines of the question, and its answers; 0: there is none.
    pub(super) question: u16,
}

/// Areas of the tty, some perhaps empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) head: Rect,
    pub(super) list: Rect,
    /// Rows of a terminal in the list, 1 or 2.
    pub(super) row_height: u16,
    /// Between the list and the screen, where they stand side by side.
    pub(super) line: Rect,
    /// What is known of the terminal at hand.
    pub(super) details: Rect,
    pub(super) screen: Rect,
    pub(super) question: Rect,
    /// Keys, a prompt, or a message.
    pub(super) foot: Rect,
}

impl Layout {
    pub(super) fn of((cols, rows): (u16, u16), wants: Wants) -> Self {
        let head_rows = u16::from(rows >= MIN_ROWS_WITH_HEAD);
        let foot_rows = 1.min(rows);
        let body_rows = rows.saturating_sub(head_rows + foot_rows);
        // Half of the body at the most: what it is asked of stays in sight.
        let question_rows = wants.question.min(body_rows / 2);
        let main_rows = body_rows - question_rows;
        let details_rows = if rows >= MIN_ROWS_WITH_DETAILS { 2 } else { 1 };
        let main = Rect::new(0, head_rows, cols, main_rows);
        let (list, line, pane) = if cols >= MIN_COLS_BESIDE {
            let list_cols = (cols * 2 / 5).clamp(LIST_COLS.0, LIST_COLS.1);
            let (list, rest) = beside(main, list_cols);
            let (line, pane) = beside(rest, LINE_COLS);
            (list, line, pane)
        } else {
            let wanted = wants.terminals + wants.groups;
            let most = (main_rows * 2 / 5).max(2);
            let (list, pane) = above(main, wanted.clamp(1, most));
            (list, Rect::default(), pane)
        };
        let (details, screen) = above(pane, details_rows);
        let two_each = wants
            .terminals
            .saturating_mul(2)
            .saturating_add(wants.groups);
        let is_beside = line.width > 0;
        Self {
            head: Rect::new(0, 0, cols, head_rows),
            list,
            row_height: if is_beside && two_each <= list.height {
                2
            } else {
                1
            },
            line,
            details,
            screen,
            question: Rect::new(0, main.bottom(), cols, question_rows),
            foot: Rect::new(0, rows - foot_rows, cols, foot_rows),
        }
    }
}

fn beside(area: Rect, cols: u16) -> (Rect, Rect) {
    let cols = cols.min(area.width);
    let left = Rect {
        width: cols,
        ..area
    };
    let right = Rect {
        x: area.x + cols,
        width: area.width - cols,
        ..area
    };
    (left, right)
}

fn above(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let upper = Rect {
        height: rows,
        ..area
    };
    let lower = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    (upper, lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_a_layout_within_it() {
        for cols in 0..130 {
            for rows in 0..60 {
                for question in [0, 5, 100] {
                    let wants = Wants {
                        terminals: 7,
                        groups: 2,
                        question,
                    };
                    let layout = Layout::of((cols, rows), wants);
                    let parts = [
                        layout.head,
                        layout.list,
                        layout.line,
                        layout.details,
                        layout.screen,
                        layout.question,
                        layout.foot,
                    ];
                    let all = Rect::new(0, 0, cols, rows);
                    let cells: u32 = parts.iter().map(|part| part.area()).sum();
                    assert!(
                        parts
                            .iter()
                            .all(|part| part.intersection(all) == *part || part.is_empty())
                    );
                    assert_eq!(cells, all.area(), "{cols}x{rows}: {layout:?}");
                }
            }
        }
    }

    #[test]
    fn a_small_tty_has_the_list_above_the_screen() {
        let wants = Wants {
            terminals: 3,
            ..Wants::default()
        };
        let small = Layout::of((40, 12), wants);
        assert_eq!((small.list.height, small.screen.height), (3, 7));
        let wide = Layout::of((80, 24), wants);
        assert_eq!((wide.list.width, wide.screen.width), (32, 46));
        assert_eq!((wide.row_height, small.row_height), (2, 1));
    }
}
