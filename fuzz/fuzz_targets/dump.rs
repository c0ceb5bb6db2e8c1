//! A model and the one restored from its dump are equal, and any bytes at all can be restored from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termd_fuzz::{Model, Scrollback, sized};

fuzz_target!(|data: &[u8]| {
    if let Some(mut model) = Model::restored(Scrollback::new(100, 1 << 18), data) {
        model.feed(b"\r\nmore\x1b[2J\x1b[H");
        model.snapshot();
    }
    let Some((mut model, bytes)) = sized(data) else {
        return;
    };
    let (before, after) = bytes.split_at(bytes.len() / 2);
    model.feed(before);
    let dump = model.dump();
    let restored = Model::restored(model.scrollback_bounds(), &dump);
    let Some(mut restored) = restored else {
        panic!("a model's own dump is refused");
    };
    assert_eq!(restored.snapshot(), model.snapshot());
    model.feed(after);
    restored.feed(after);
    assert_eq!(restored.snapshot(), model.snapshot());
});
