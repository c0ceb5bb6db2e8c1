//! Any bytes, whole and one by one: no panic, bounded memory, the same model.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termd_fuzz::{MOST_BYTES, sized};

fuzz_target!(|data: &[u8]| {
    let (Some((mut whole, bytes)), Some((mut split, _))) = (sized(data), sized(data)) else {
        return;
    };
    let fed = whole.feed(bytes);
    let mut replies = Vec::new();
    for byte in bytes {
        replies.extend(split.feed(&[*byte]).replies);
    }
    assert_eq!(whole.snapshot(), split.snapshot());
    // Of one long feed answers beyond a bound are left out.
    assert!(replies.starts_with(&fed.replies));
    assert!(whole.memory() < MOST_BYTES);
});
