//! What shells and programs say of themselves (OSC): any text makes sound facts or none, whole and
//! byte by byte the same.

use termd_vt::{Event, Model, Scrollback, Size};

/// Longest path: `PATH_MAX`.
const MAX_PATH_BYTES: usize = 4_096;
/// Longest title, as xterm has it.
const MAX_TITLE_BYTES: usize = 1_000;

fn model() -> Model {
    Model::new(Size { cols: 20, rows: 5 }, Scrollback::new(20, 1 << 16))
}

/// Each line of the data is one OSC; they end by BEL and ST in turn. And the data as it is.
pub fn holds(data: &[u8]) {
    let mut said = Vec::new();
    for (number, line) in data.split(|byte| *byte == b'\n').enumerate() {
        said.extend_from_slice(b"$ \x1b]");
        said.extend_from_slice(line);
        said.extend_from_slice(if number % 2 == 0 { b"\x07" } else { b"\x1b\\" });
    }
    for bytes in [&said[..], data] {
        let (mut whole, mut split) = (model(), model());
        let fed = whole.feed(bytes);
        let mut events = Vec::new();
        for byte in bytes {
            events.extend(split.feed(&[*byte]).events);
        }
        events.truncate(fed.events.len().max(4_096));
        assert_eq!(fed.events, events);
        assert_eq!(whole.snapshot(), split.snapshot());
        let mut before = 0;
        for (offset, event) in &fed.events {
            assert!((before..=bytes.len() as u64).contains(offset));
            before = *offset;
            is_sound(event);
        }
    }
}

fn is_sound(event: &Event) {
    match event {
        Event::Cwd(path) => {
            assert!(!path.is_empty() && path.len() <= MAX_PATH_BYTES);
            assert!(!path.contains(char::is_control), "{path:?}");
        }
        Event::Title(title) => {
            assert!(title.len() <= MAX_TITLE_BYTES);
            assert!(!title.contains(char::is_control), "{title:?}");
        }
        _ => {}
    }
}
