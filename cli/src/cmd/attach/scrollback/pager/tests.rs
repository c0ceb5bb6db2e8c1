use termd_vt::{Model, Scrollback};

use super::super::block::{Block, Seam};
use super::*;

const SIZE: Size = Size { cols: 20, rows: 6 };

/// Output, cut into blocks.
struct Output {
    bytes: Vec<u8>,
    /// Where blocks begin and end.
    cuts: Vec<usize>,
}

impl Output {
    /// `line 0` and so on; each block has `lines` of them.
    fn lines(blocks: usize, lines: usize) -> Self {
        let (mut bytes, mut cuts) = (Vec::new(), vec![0]);
        for number in 0..blocks * lines {
            bytes.extend(format!("line {number}\r\n").bytes());
            if (number + 1) % lines == 0 {
                cuts.push(bytes.len());
            }
        }
        Self { bytes, cuts }
    }

    fn read(&self, place: Place) -> Block {
        let is_at = |at: Offset| move |cut: &usize| *cut as u64 == at.0;
        let at = match place {
            Place::Before(at) => self.cuts.iter().position(is_at(at)).unwrap() - 1,
            Place::From(at) => self.cuts.iter().position(is_at(at)).unwrap(),
        };
        let (start, end) = (self.cuts[at], self.cuts[at + 1]);
        let mut model = Model::new(
            termd_vt::Size { cols: 20, rows: 3 },
            Scrollback::new(10_000, 1 << 20),
        );
        model.feed(&self.bytes[..start]);
        let above = Seam::of(&model);
        model.feed(&self.bytes[start..end]);
        let range = (Offset(start as u64), Offset(end as u64));
        let (size, is_last) = (model.size(), end == self.bytes.len());
        Block::new(model, range, (above, false), size, is_last)
    }

    fn range(&self) -> (Offset, Offset) {
        (Offset::ZERO, Offset(self.bytes.len() as u64))
    }

    fn open(&self) -> Pager {
        let mut pager = Pager::new(SIZE);
        pager.begin(self.range());
        self.serve(&mut pager);
        pager
    }

    /// Reads and searches until nothing is left to do.
    fn serve(&self, pager: &mut Pager) {
        loop {
            if let Some(need) = pager.need() {
                pager.take(need, self.read(need.place));
            } else if pager.is_searching() {
                pager.step();
            } else {
                break;
            }
        }
    }

    fn press(&self, pager: &mut Pager, keys: &str) {
        for key in keys.chars() {
            pager.input(&typed(key));
            self.serve(pager);
        }
    }
}

fn typed(key: char) -> Input {
    Input::Key(match key {
        '\r' => Key::Enter,
        _ => Key::Char(key),
    })
}

fn shown(pager: &Pager) -> Vec<String> {
    let (from, to) = (pager.top, pager.top + pager.height() - 1);
    let rows = pager.rows.blocks().flat_map(|block| block.rows(from, to));
    let text = |row: termd_proto::screen::ScreenRow| {
        row.runs.iter().map(|run| run.text.as_str()).collect()
    };
    rows.map(text)
        .map(|line: String| line.trim_end().to_owned())
        .collect()
}

fn cursor_line(pager: &Pager) -> String {
    let row = usize::try_from(pager.cursor - pager.top).unwrap();
    shown(pager).swap_remove(row)
}

/// Presses keys without a pause for what they need.
fn type_ahead(pager: &mut Pager, keys: &str) {
    for key in keys.chars() {
        pager.input(&typed(key));
    }
}

#[test]
fn each_key_goes_where_it_says() {
    let output = Output::lines(5, 100);
    for (keys, first, percent) in [
        ("", "line 496", 100),
        ("k", "line 495", 99),
        ("kkkj", "line 493", 99),
        ("b", "line 492", 98),
        ("bbbbbf", "line 480", 96),
        ("g", "line 0", 0),
        ("gf", "line 4", 1),
        ("gG", "line 496", 100),
        ("ggk", "line 0", 0),
    ] {
        let mut pager = output.open();
        output.press(&mut pager, keys);
        assert_eq!(shown(&pager)[0], first, "{keys:?}");
        assert_eq!(pager.percent(), percent, "{keys:?}");
    }
}

#[test]
fn all_rows_are_there_once_and_in_order() {
    let output = Output::lines(7, 50);
    let mut pager = output.open();
    let mut seen = Vec::new();
    loop {
        let top = pager.top;
        let mut page = shown(&pager);
        page.append(&mut seen);
        seen = page;
        output.press(&mut pager, "kkkkk");
        if top - pager.top < 5 {
            let rest = usize::try_from(top - pager.top).unwrap();
            let mut page = shown(&pager);
            page.truncate(rest);
            page.append(&mut seen);
            seen = page;
            break;
        }
    }
    let mut expected: Vec<_> = (0..350).map(|number| format!("line {number}")).collect();
    // The row of the cursor.
    expected.push(String::new());
    assert_eq!(seen, expected);
}

#[test]
fn few_blocks_stay_in_memory() {
    let output = Output::lines(30, 50);
    let mut pager = output.open();
    for keys in ["b", "f"] {
        for _ in 0..400 {
            output.press(&mut pager, keys);
            assert!(pager.rows.blocks().count() <= 5);
        }
    }
    assert_eq!(pager.percent(), 100);
}

#[test]
fn a_key_goes_on_when_the_rows_have_been_read() {
    let output = Output::lines(3, 4);
    let mut pager = Pager::new(SIZE);
    pager.begin(output.range());
    pager.page_up();
    output.serve(&mut pager);
    assert_eq!(shown(&pager)[0], "line 4");
}

#[test]
fn a_search_goes_through_blocks_both_ways() {
    let output = Output::lines(5, 100);
    let mut pager = output.open();
    output.press(&mut pager, "?line .7$\r");
    assert_eq!(cursor_line(&pager), "line 97");
    output.press(&mut pager, "n");
    assert_eq!(cursor_line(&pager), "line 87");
    output.press(&mut pager, "N");
    assert_eq!(cursor_line(&pager), "line 97");
    output.press(&mut pager, "g/9$\rnnN");
    assert_eq!(cursor_line(&pager), "line 19");
    output.press(&mut pager, "/line 500\r");
    assert_eq!(pager.said.as_deref(), Some("no match below"));
    assert_eq!(cursor_line(&pager), "line 19");
    output.press(&mut pager, "/(\r");
    assert_eq!(pager.said.as_deref(), Some("( is no regular expression"));
}

#[test]
fn a_search_that_is_typed_ahead_begins_where_one_has_gone() {
    let output = Output::lines(5, 100);
    let mut pager = output.open();
    type_ahead(&mut pager, "g/line 7$\r");
    output.serve(&mut pager);
    assert_eq!(pager.said, None);
    assert_eq!(cursor_line(&pager), "line 7");
    // The next match is looked for from the one before.
    type_ahead(&mut pager, "g/line 7\r");
    type_ahead(&mut pager, "nnN");
    output.serve(&mut pager);
    assert_eq!(cursor_line(&pager), "line 70");
    // It is opened with the keys.
    let mut pager = Pager::new(SIZE);
    type_ahead(&mut pager, "g/line 7\r");
    pager.begin(output.range());
    output.serve(&mut pager);
    assert_eq!(cursor_line(&pager), "line 7");
    let mut pager = Pager::new(SIZE);
    type_ahead(&mut pager, "?line 7$\r");
    pager.begin(output.range());
    output.serve(&mut pager);
    assert_eq!(cursor_line(&pager), "line 7");
}

#[test]
fn a_key_ends_a_search() {
    let output = Output::lines(5, 100);
    let mut pager = output.open();
    output.press(&mut pager, "?");
    type_ahead(&mut pager, "line 3$\r");
    assert!(pager.is_searching());
    assert_eq!(pager.input(&Input::Key(Key::Escape)), Outcome::Stays);
    assert!(!pager.is_searching());
    assert_eq!(pager.input(&Input::Key(Key::Escape)), Outcome::Leaves);
}

#[test]
fn what_is_selected_is_copied() {
    let output = Output::lines(5, 100);
    let mut pager = output.open();
    output.press(&mut pager, "?line 99$\rv/line 101\r");
    assert_eq!(pager.selection().map(|(from, to)| to - from), Some(2));
    let copied = pager.input(&Input::Key(Key::Char('y')));
    let lines = "line 99\nline 100\nline 101\n".to_owned();
    assert_eq!(copied, Outcome::Copies(lines));
    assert_eq!(pager.said.as_deref(), Some("copied 3 lines"));
    assert_eq!(pager.selection(), None);
}

#[test]
fn a_line_of_several_rows_is_copied_as_one() {
    let line = "0123456789".repeat(5);
    let output = Output {
        bytes: format!("a\r\n{line}\r\nb\r\nc\r\nd\r\n").into_bytes(),
        cuts: vec![0, 64],
    };
    let mut pager = output.open();
    output.press(&mut pager, "gjvjj");
    let copied = pager.input(&Input::Key(Key::Enter));
    assert_eq!(copied, Outcome::Copies(format!("{line}\n")));
}

#[test]
fn what_could_not_be_read_is_asked_for_again_at_the_next_key() {
    let output = Output::lines(5, 100);
    let mut pager = output.open();
    pager.input(&Input::Key(Key::Char('g')));
    assert!(pager.need().is_some());
    pager.fail("the daemon is away".to_owned());
    assert_eq!(pager.need(), None);
    assert_eq!(pager.said.as_deref(), Some("the daemon is away"));
    assert_eq!(shown(&pager)[0], "line 496");
    output.press(&mut pager, "g");
    assert_eq!(shown(&pager)[0], "line 0");
}
