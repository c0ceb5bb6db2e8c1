//! Any bytes, then every rendering: no panic, and no control character in what a person or a
//! browser is given.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termd_vt::plain::{PlainSize, PlainText};
use termd_vt::render::{View, render};
use termd_fuzz::sized;
use termd_proto::screen::{ScreenFormat, ScreenRows};

fuzz_target!(|data: &[u8]| {
    let Some((mut model, bytes)) = sized(data) else {
        return;
    };
    model.feed(bytes);
    let options = ScreenRows {
        from_row: Some(-100),
        ..ScreenRows::default()
    };
    let screen = model.screen(options);
    for format in [
        ScreenFormat::Text,
        ScreenFormat::TextJoined,
        ScreenFormat::Html,
    ] {
        let text = render(&screen, format).unwrap_or_default();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
    assert!(render(&screen, ScreenFormat::Ansi).is_some());
    let view = |cols, rows| View { cols, rows };
    assert!(!model.redraw(view(screen.cols, screen.rows)).is_empty());
    assert!(!model.redraw(view(3, 2)).is_empty());
    let size = PlainSize {
        cols: screen.cols,
        rows: screen.rows,
    };
    let mut whole = String::new();
    let mut resolver = PlainText::new(size);
    resolver.feed(bytes, &mut |text| whole.push_str(text));
    whole.push_str(&resolver.finish());
    let mut split = String::new();
    let mut resolver = PlainText::new(size);
    for byte in bytes {
        resolver.feed(&[*byte], &mut |text| split.push_str(text));
    }
    split.push_str(&resolver.finish());
    assert_eq!(whole, split);
});
