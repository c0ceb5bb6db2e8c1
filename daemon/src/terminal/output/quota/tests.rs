use termd_proto::terminal::GapCause;

use super::*;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// xorshift64*: the same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }
}

fn gap(start: u64, end: u64) -> Gap {
    Gap {
        start: Offset(start),
        end: Offset(end),
        cause: GapCause::FreeFloor,
    }
}

fn quota(bytes: u64) -> Quota {
    Quota {
        bytes,
        limit: DiskLimit::TerminalQuota,
    }
}

fn are_apart(gaps: &Gaps) {
    assert!(gaps.all().len() <= MAX_GAPS);
    for gap in gaps.all() {
        assert!(gap.start < gap.end, "{gap:?}");
    }
    for pair in gaps.all().windows(2) {
        assert!(pair[0].end < pair[1].start, "{pair:?}");
    }
}

#[test]
fn the_middle_goes_once_the_quota_is_full() {
    let quota = quota(4 * MIB);
    assert_eq!((quota.head(), quota.tail()), (MIB, 3 * MIB));
    let none = Gaps::default();
    assert_eq!(quota.middle(Offset(4 * MIB), &none), None);
    let first = quota.middle(Offset(4 * MIB + 1), &none).unwrap();
    // Of the tail of 3 MiB an eighth more than is needed, and whole blocks.
    assert_eq!((first.start.0, first.end.0), (MIB, MIB + 384 * KIB));
    let gaps = Gaps::of([first]);
    assert_eq!(quota.middle(first.end + 3 * MIB, &gaps), None);
    let next = quota.middle(first.end + 3 * MIB + 1, &gaps).unwrap();
    assert!(next.end > first.end);
    // Tightened: of the head, too.
    let tight = Quota {
        bytes: MIB,
        limit: DiskLimit::TotalQuota,
    };
    let mut gaps = gaps;
    let less = tight.middle(Offset(5 * MIB), &gaps).unwrap();
    assert_eq!(less.start.0, 256 * KIB);
    assert_eq!(gaps.add(less).cause, GapCause::TotalQuota);
    assert_eq!(gaps.all().len(), 1);
}

/// Whatever grows by how much, with the disk short of room now and then and the quota changing.
#[test]
fn head_and_tail_are_kept_and_never_more_than_the_quota() {
    for seed in 1..=200 {
        let mut random = Random(seed * 7_919);
        let mut quota = quota(256 * KIB + random.below(8 * MIB));
        let (mut stored, mut gaps) = (Offset::ZERO, Gaps::default());
        for _ in 0..300 {
            stored = stored + random.below(700 * KIB);
            if random.below(20) == 0 {
                let skipped = stored.0 - stored.0 % BLOCK + BLOCK * random.below(40);
                gaps.add(gap(stored.0, skipped));
                stored = stored.max(Offset(skipped));
            }
            if random.below(50) == 0 {
                quota.bytes = (quota.bytes / 2).max(256 * KIB);
            }
            let before = gaps.clone();
            let Some(middle) = quota.middle(stored, &gaps) else {
                let kept = stored.0 - gaps.bytes();
                assert!(kept <= quota.bytes, "seed {seed}: {kept} {quota:?}");
                continue;
            };
            assert!(middle.start.0.is_multiple_of(BLOCK) && middle.end.0.is_multiple_of(BLOCK));
            assert!(middle.start.0 >= quota.head());
            let newest = quota.tail() - quota.grain();
            assert!(stored.since(middle.end) >= newest, "the newest stays");
            gaps.add(middle);
            are_apart(&gaps);
            assert!(gaps.bytes() > before.bytes(), "it goes on");
            let kept = stored.0 - gaps.bytes();
            assert!(kept <= quota.bytes, "seed {seed}: {kept} {quota:?}");
            assert_eq!(quota.middle(stored, &gaps), None, "once is enough");
        }
    }
}

#[test]
fn gaps_are_joined_where_they_touch_and_where_there_are_too_many() {
    let mut gaps = Gaps::default();
    assert_eq!(gaps.add(gap(10, 20)), gap(10, 20));
    assert_eq!(gaps.add(gap(30, 40)), gap(30, 40));
    assert_eq!(gaps.add(gap(20, 25)), gap(10, 25));
    assert_eq!(gaps.add(gap(5, 5)), gap(5, 5));
    assert_eq!(gaps.all(), [gap(10, 25), gap(30, 40)]);
    let within = |from, to| gaps.first_within(Offset(from), Offset(to));
    for (from, to) in [(24, 25), (0, 11), (9, 50)] {
        assert_eq!(within(from, to), Some(gap(10, 25)), "{from} {to}");
    }
    for (from, to) in [(25, 30), (9, 10), (40, 50), (12, 12)] {
        assert_eq!(within(from, to), None, "{from} {to}");
    }
    assert_eq!(gaps.add(gap(24, 31)), gap(10, 40));
    let mut random = Random(42);
    let mut many = Gaps::default();
    let mut all = vec![false; 4_000];
    for _ in 0..2_000 {
        let start = random.below(3_900);
        let new = gap(start, start + random.below(9));
        let whole = many.add(new);
        assert!(new.end == new.start || many.all().contains(&whole));
        are_apart(&many);
        for byte in
            &mut all[usize::try_from(new.start.0).unwrap()..usize::try_from(new.end.0).unwrap()]
        {
            *byte = true;
        }
        let told = |at: u64| many.first_within(Offset(at), Offset(at + 1)).is_some();
        let holds = |(at, gone): (usize, &bool)| !gone || told(at as u64);
        assert!(all.iter().enumerate().all(holds), "what is gone stays told");
    }
}

#[test]
fn the_largest_are_cut_first() {
    let table: [(&[u64], u64, Option<u64>); 6] = [
        (&[], 0, None),
        (&[5, 5], 10, None),
        (&[10, 10], 10, Some(5)),
        (&[1, 2, 100], 33, Some(30)),
        (&[1, 50, 100], 61, Some(30)),
        (&[7, 7, 7], 0, Some(0)),
    ];
    for (sizes, total, expected) in table {
        assert_eq!(level(sizes, total), expected, "{sizes:?} {total}");
        let level = expected.unwrap_or(u64::MAX);
        let left: u64 = sizes.iter().map(|size| (*size).min(level)).sum();
        assert!(left <= total, "{sizes:?} {total}");
    }
}
