//! Any bytes and any sizes: a byte 0xfe is followed by columns and rows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termd_fuzz::{MOST_BYTES, Size, sized};

const RESIZE: u8 = 0xfe;

fuzz_target!(|data: &[u8]| {
    let Some((mut model, mut bytes)) = sized(data) else {
        return;
    };
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == RESIZE);
        let (text, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        model.feed(text);
        let Some(([_, cols, rows], rest)) = rest.split_first_chunk() else {
            break;
        };
        model.resize(Size {
            cols: usize::from(*cols),
            rows: usize::from(*rows) / 4,
        });
        let (size, (col, row)) = (model.size(), model.cursor());
        assert!(col < size.cols && row < size.rows);
        bytes = rest;
    }
    model.snapshot();
    assert!(model.memory() < MOST_BYTES);
});
