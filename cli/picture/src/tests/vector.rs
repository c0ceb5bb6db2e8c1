//! What an SVG has in it, and what never.

use termd_proto::cells::Cell;

use super::*;

#[test]
fn svg_is_text_in_its_columns_and_nothing_else() {
    let mut screen = screen(
        12,
        vec![row(&[
            ("a<b &", 5, plain()),
            ("漢", 2, styled(|style| style.bold = true)),
            ("┐", 1, ink(Color::Indexed(2))),
        ])],
    );
    screen.title = "</title><script>".to_owned();
    let svg = draw(&screen, &LOOK, Format::Svg).unwrap().bytes;
    let svg = String::from_utf8(svg).unwrap();
    let rows = svg.split_once("#000000\"/>\n").unwrap().1;
    assert_eq!(
        rows,
        "<g transform=\"translate(8,8)\">\
         <text x=\"0\" textLength=\"50\" y=\"15\" fill=\"#e5e5e5\">a&lt;b &amp;</text>\
         <text x=\"60.18\" text-anchor=\"middle\" y=\"15\" fill=\"#e5e5e5\" font-weight=\"bold\">漢</text>\
         <rect x=\"70\" y=\"9\" width=\"5\" height=\"1\" fill=\"#00cd00\"/>\
         <rect x=\"74\" y=\"9\" width=\"1\" height=\"10\" fill=\"#00cd00\"/></g>\n</svg>\n"
    );
    let page = String::from_utf8(draw(&screen, &LOOK, Format::Html).unwrap().bytes).unwrap();
    assert!(
        page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"),
        "{page}"
    );
}

#[test]
fn control_characters_are_in_no_picture() {
    let text = "a\u{1b}\u{9b}\u{0}\u{7f}\u{ffff}b";
    let run = StyleRun {
        column: 0,
        width: 7,
        text: text.to_owned(),
        style: plain(),
    };
    let safe: Vec<String> = run
        .cells()
        .map(|cell: Cell<'_>| cell.chars().collect())
        .collect();
    assert_eq!(safe[1], "\u{fffd}");
    let screen = screen(8, vec![vec![(0, 7, text.to_owned(), plain())]]);
    let svg = String::from_utf8(draw(&screen, &LOOK, Format::Svg).unwrap().bytes).unwrap();
    assert!(!svg.contains(|c: char| c.is_control() && c != '\n'));
    assert!(!svg.contains('\u{ffff}'));
    Pixels::of(&screen);
}
