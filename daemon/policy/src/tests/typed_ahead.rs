//! What is typed before the program that reads it has begun.

use termd_proto::policy::Verdict;

use super::typed::typed;
use crate::TypedLines;

#[test]
fn what_is_typed_ahead_is_judged_for_what_may_read_it() {
    use Verdict::{Dangerous, Safe};
    for (pushes, verdict) in [
        (&["sqlite3 t.db\rDROP TABLE t;\r"][..], Dangerous),
        (&["sqlite3 t.db\r", "DROP TABLE t;\r"], Dangerous),
        (&["sleep 1; sqlite3 t.db\r", "DROP TABLE t;\r"], Dangerous),
        (
            &["python3 -q\rimport shutil\rshutil.rmtree('bait')\r"],
            Dangerous,
        ),
        (&["ed\r!rm -rf bait\r"], Dangerous),
        (&["gdb -q ./x\rshell rm -rf bait\r"], Dangerous),
        (&["python3 x.py\rshutil.rmtree('bait')\r"], Safe),
        (&["sqlite3 t.db 'select 1'\rls\r"], Safe),
        (&["python3 -q\rprint(1)\r"], Safe),
        (&["sqlite3 t.db\r\u{3}DROP TABLE t;\r"], Safe),
    ] {
        let (judged, _) = typed(pushes, Some("dash"));
        if verdict == Dangerous {
            assert_eq!(judged, verdict, "{pushes:?}");
        } else {
            assert_ne!(judged, Dangerous, "{pushes:?}");
        }
    }
    let mut lines = TypedLines::default();
    assert_eq!(lines.feed(b"sqlite3 t.db\r", None).len(), 1);
    assert_eq!(lines.feed(b"ls\r", None).len(), 2);
    lines.at_prompt(0);
    assert_eq!(lines.feed(b"ls\r", None).len(), 1, "it has ended");
}
