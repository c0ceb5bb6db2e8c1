//! Properties for any bytes and any sizes.

use termd_vt::{Model, Scrollback, Size};

use crate::generate::{Random, anything, lines};

/// Environment variable: the number of cases.
const CASES: &str = "TERMD_TERM_CASES";
/// Environment variable: the first seed.
const SEED: &str = "TERMD_TERM_SEED";

fn from_env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// Runs cases, each with a generator of its own. Prints the seed of a case that fails.
pub(crate) fn for_each_case(usual: u64, case: impl Fn(&mut Random)) {
    struct Says(u64);
    // A panic's message goes there too.
    #[allow(clippy::print_stderr)]
    impl Drop for Says {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("failed: {SEED}={} {CASES}=1", self.0);
            }
        }
    }
    let seed = from_env(SEED, 1);
    for seed in seed..seed + from_env(CASES, usual) {
        let says = Says(seed);
        case(&mut Random::new(seed));
        drop(says);
    }
}

fn any_size(random: &mut Random) -> Size {
    match random.below(12) {
        0 => Size { cols: 2, rows: 1 },
        1 => Size {
            cols: 2 + random.below(400),
            rows: 1 + random.below(200),
        },
        2 => Size { cols: 80, rows: 24 },
        _ => Size {
            cols: 2 + random.below(30),
            rows: 1 + random.below(12),
        },
    }
}

fn any_model(random: &mut Random) -> Model {
    let scrollback = match random.below(4) {
        0 => Scrollback::new(0, 0),
        1 => Scrollback::new(random.below(20), 1 << 20),
        2 => Scrollback::new(10_000, 8 << 10),
        _ => Scrollback::new(1_000, 1 << 20),
    };
    Model::new(any_size(random), scrollback)
}

fn any_bounds(random: &mut Random) -> Scrollback {
    Scrollback::new(1 + random.below(2_000), 1 << 20)
}

/// Feeds in pieces. Returns all replies and events.
fn feed_in_pieces(
    model: &mut Model,
    mut bytes: &[u8],
    random: &mut Random,
) -> (Vec<u8>, Vec<(u64, termd_vt::Event)>) {
    let (mut replies, mut events) = (Vec::new(), Vec::new());
    let most = [1, 2, 5, 40][random.below(4)];
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at((1 + random.below(most)).min(bytes.len()));
        let fed = model.feed(piece);
        replies.extend(fed.replies);
        events.extend(fed.events);
        bytes = rest;
    }
    (replies, events)
}

/// Asserts that two models are equal. Prints the first lines that differ.
fn assert_same(one: &Model, other: &Model) {
    let (one, other) = (one.snapshot(), other.snapshot());
    if one == other {
        return;
    }
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let differ = one.lines().zip(other.lines());
    let differ = differ.filter(|(one, other)| one != other).take(5);
    panic!("these are not equal: {:#?}", differ.collect::<Vec<_>>());
}

#[test]
fn any_split_of_the_bytes_gives_the_same_model_replies_and_events() {
    for_each_case(1_500, |random| {
        let length = 20 + random.below(600);
        let bytes = anything(random, length);
        let size = any_size(random);
        let new = || Model::new(size, Scrollback::new(100, 1 << 20));
        let (mut whole, mut split) = (new(), new());
        let fed = whole.feed(&bytes);
        let (replies, events) = feed_in_pieces(&mut split, &bytes, random);
        assert_same(&whole, &split);
        assert_eq!(fed.replies, replies);
        assert_eq!(fed.events, events);
    });
}

#[test]
fn a_model_restored_from_its_dump_is_equal_and_goes_on_alike() {
    for_each_case(1_500, |random| {
        let mut model = any_model(random);
        for _ in 0..=random.below(4) {
            let length = random.below(500);
            model.feed(&anything(random, length));
            if random.below(3) == 0 {
                model.resize(any_size(random));
            }
        }
        let dump = model.dump();
        let bounds = model.scrollback_bounds();
        let mut restored = Model::restored(bounds, &dump).expect("own dump");
        assert_same(&restored, &model);
        let more = anything(random, 200);
        let size = any_size(random);
        for model in [&mut model, &mut restored] {
            model.feed(&more);
            model.resize(size);
        }
        assert_same(&restored, &model);
    });
}

#[test]
fn a_damaged_dump_gives_a_model_or_none() {
    for_each_case(300, |random| {
        let mut model = any_model(random);
        model.feed(&anything(random, 400));
        let mut dump = model.dump();
        for _ in 0..=random.below(4) {
            let at = random.below(dump.len());
            match random.below(3) {
                0 => dump.truncate(at.max(1)),
                1 => dump[at] ^= 1 << random.below(8),
                _ => dump[at] = u8::try_from(random.below(256)).unwrap(),
            }
        }
        if let Some(mut model) = Model::restored(any_bounds(random), &dump) {
            model.feed(&anything(random, 300));
            model.resize(any_size(random));
            model.snapshot();
        }
    });
}

#[test]
fn any_bytes_and_any_sizes_do_not_panic_and_do_not_grow() {
    // Screens of 200 × 400 cells, graphemes and looks of the cells on them, and strings.
    const MOST_BYTES: usize = 4 << 20;
    for_each_case(1_000, |random| {
        let mut model = any_model(random);
        for _ in 0..8 {
            let length = random.below(300);
            model.feed(&anything(random, length));
            let size = any_size(random);
            model.resize(size);
            assert_eq!(model.size(), size);
            let (col, row) = model.cursor();
            assert!(
                col < size.cols && row < size.rows,
                "{col} {row} in {size:?}"
            );
            assert!(model.memory() < MOST_BYTES, "{} bytes", model.memory());
            model.snapshot();
        }
    });
}

#[test]
fn the_largest_and_the_smallest_size_follow_each_other() {
    let mut model = Model::new(
        Size { cols: 80, rows: 24 },
        Scrollback::new(10_000, 4 << 20),
    );
    let mut random = Random::new(7);
    for (cols, rows) in [
        (4096, 4096),
        (2, 1),
        (0, 0),
        (4096, 1),
        (2, 4096),
        (99_999, 99_999),
        (80, 24),
    ] {
        model.feed(&anything(&mut random, 20_000));
        model.resize(Size { cols, rows });
        let size = model.size();
        assert_eq!(
            (size.cols, size.rows),
            (cols.clamp(2, 4096), rows.clamp(1, 4096))
        );
    }
}

/// All lines, those of the scrollback first; wrapped rows are joined.
fn joined(model: &Model) -> Vec<String> {
    let mut lines = model.lines();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn assert_lines(lines: &[String], expected: &[String], when: &str) {
    for (line, expected) in lines.iter().zip(expected) {
        assert_eq!(line, expected, "{when}");
    }
    assert_eq!(lines.len(), expected.len(), "{when}");
}

#[test]
fn no_width_changes_the_lines() {
    for_each_case(1_000, |random| {
        let size = any_size(random);
        let mut model = Model::new(size, Scrollback::new(100_000, 8 << 20));
        model.feed(&lines(random, 1_500));
        let before = joined(&model);
        for _ in 0..4 {
            let cols = 2 + random.below(120);
            model.resize(Size {
                cols,
                rows: size.rows,
            });
            assert_lines(&joined(&model), &before, &format!("at {cols} columns"));
        }
        for _ in 0..4 {
            model.resize(any_size(random));
            assert_lines(&joined(&model), &before, "at another size");
        }
    });
}
