//! The map against a plain list of what each byte is.

use rustix::fs::MemfdFlags;

use super::OutputStream::{Stderr, Stdout};
use super::*;

fn file() -> OwnedFd {
    rustix::fs::memfd_create("origins", MemfdFlags::CLOEXEC).unwrap()
}

fn each(map: &StreamBits, from: u64, to: u64) -> Vec<OutputStream> {
    let runs: Vec<StreamRun> = map.runs(Offset(from), Offset(to)).collect();
    for pair in runs.windows(2) {
        assert!(pair[0].end == pair[1].start && pair[0].stream != pair[1].stream);
    }
    runs.iter()
        .flat_map(|run| (run.start.0..run.end.0).map(|_| run.stream))
        .collect()
}

/// A small generator: the test needs spread, not quality.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Pieces of every length, of which some come only in part, as when a server dies; and a new server
/// now and then.
#[test]
fn every_byte_is_what_it_was_declared_last() {
    for seed in 1..40 {
        let mut random = seed * 0x9e37_79b9;
        let keepers = file();
        let mut origins = StreamMap::adopt(keepers.try_clone().unwrap()).unwrap();
        let mut expected = Vec::new();
        for _ in 0..200 {
            let stream = [Stdout, Stderr][usize::from(next(&mut random).is_multiple_of(3))];
            let declared = next(&mut random) % 40 + 1;
            let came = if next(&mut random).is_multiple_of(4) {
                next(&mut random) % declared
            } else {
                declared
            };
            let from = Offset(expected.len() as u64);
            origins.declare(stream, from, from + declared).unwrap();
            expected.extend((0..came).map(|_| stream));
            if next(&mut random).is_multiple_of(16) {
                origins = StreamMap::adopt(keepers.try_clone().unwrap()).unwrap();
            }
        }
        let end = expected.len() as u64;
        for from in [0, 1, 7, 8, 9, end / 2, end - 1] {
            let length = usize::try_from(end - from).unwrap();
            let map = origins.read(Offset(from), length).unwrap();
            let at = usize::try_from(from).unwrap();
            assert_eq!(
                each(&map, from, end),
                expected[at..],
                "seed {seed} from {from}"
            );
        }
    }
}

#[test]
fn without_errors_it_takes_no_memory() {
    let keepers = file();
    let origins = StreamMap::adopt(keepers.try_clone().unwrap()).unwrap();
    origins.declare(Stdout, Offset(0), Offset(1 << 30)).unwrap();
    assert_eq!(rustix::fs::fstat(&keepers).unwrap().st_size, 0);
    assert_eq!(
        each(&origins.read(Offset(5), 20).unwrap(), 5, 25),
        [Stdout; 20]
    );
}

#[test]
fn what_is_stored_comes_back() {
    let origins = StreamMap::adopt(file()).unwrap();
    origins
        .declare(Stderr, Offset(65_530), Offset(65_600))
        .unwrap();
    origins
        .declare(Stdout, Offset(65_600), Offset(131_100))
        .unwrap();
    let block = |start: u64, length: usize| {
        let map = origins.read(Offset(start), length).unwrap();
        map.into_block(length).map(|map| (Offset(start), map))
    };
    let blocks: Vec<_> = [block(0, 65_536), block(65_536, 65_536), block(131_072, 28)]
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(blocks.len(), 2, "a block of standard output has none");
    for from in [0, 65_529, 65_536, 65_599, 70_000] {
        let map = StreamBits::of_blocks(Offset(from), blocks.clone());
        let live = origins.read(Offset(from), usize::try_from(131_100 - from).unwrap());
        assert_eq!(
            each(&map, from, 131_100),
            each(&live.unwrap(), from, 131_100),
            "{from}"
        );
    }
    let later = StreamBits::of_blocks(Offset(65_590), vec![blocks[1].clone()]);
    assert_eq!(each(&later, 65_590, 65_602)[..10], [Stderr; 10]);
}

#[test]
fn a_map_cut_inside_a_byte_says_nothing_of_what_follows() {
    let origins = StreamMap::adopt(file()).unwrap();
    origins.declare(Stderr, Offset(0), Offset(16)).unwrap();
    let map = origins.read(Offset(0), 11).unwrap();
    assert_eq!(map.into_block(11), Some(vec![0xff, 0b111]));
}

#[test]
fn what_is_punched_out_leaves_the_rest() {
    let keepers = file();
    let origins = StreamMap::adopt(keepers.try_clone().unwrap()).unwrap();
    let end = 4 << 20;
    origins.declare(Stderr, Offset(0), Offset(end)).unwrap();
    let before = rustix::fs::fstat(&keepers).unwrap().st_blocks;
    origins.punch_before(Offset(2 << 20)).unwrap();
    assert!(rustix::fs::fstat(&keepers).unwrap().st_blocks <= before / 2);
    let rest = origins.read(Offset(2 << 20), 2 << 20).unwrap();
    assert_eq!(rest.runs(Offset(2 << 20), Offset(end)).count(), 1);
    origins.discard().unwrap();
    assert_eq!(rustix::fs::fstat(&keepers).unwrap().st_blocks, 0);
}
