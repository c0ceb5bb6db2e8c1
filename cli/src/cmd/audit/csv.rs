//! Audit records as CSV (RFC 4180), for spreadsheets. Pure.
//!
//! A record is one line. No cell can be taken for a formula (OWASP, "CSV Injection"), and no control
//! character gets through. Cells with either are therefore not exact; JSON is.

use termd_client::escape::escaped;
use termd_client::timestamp::utc;
use termd_proto::audit::AuditRecord;

const COLUMNS: [&str; 17] = [
    "seq",
    "time",
    "at_ms",
    "action",
    "outcome",
    "front",
    "uid",
    "pid",
    "exe",
    "session",
    "client",
    "terminal",
    "verdict",
    "program",
    "detail",
    "previous_hash",
    "hash",
];

pub(super) fn header() -> String {
    format!("{}\r\n", COLUMNS.join(","))
}

pub(super) fn line(record: &AuditRecord) -> String {
    let actor = &record.actor;
    let of_detail = |name: &str| {
        let text = record.detail.get(name).and_then(|value| value.as_str());
        text.unwrap_or_default().to_owned()
    };
    let detail = serde_json::to_string(&record.detail).unwrap_or_default();
    let cells: [String; COLUMNS.len()] = [
        record.seq.to_string(),
        utc(record.at_ms),
        record.at_ms.to_string(),
        record.action.clone(),
        record.outcome.clone(),
        actor.front.as_str().to_owned(),
        actor.uid.to_string(),
        actor.pid.to_string(),
        actor.exe.clone().unwrap_or_default(),
        actor.session.clone().unwrap_or_default(),
        actor.client.clone().unwrap_or_default(),
        (record.terminal.as_ref()).map_or_else(String::new, ToString::to_string),
        of_detail("verdict"),
        of_detail("program"),
        detail,
        record.previous_hash.clone(),
        record.hash.clone(),
    ];
    format!("{}\r\n", cells.map(|cell| quoted(&cell)).join(","))
}

/// A cell that every spreadsheet reads as text.
fn quoted(cell: &str) -> String {
    // JSON in a cell is already escaped, and its backslashes stay.
    let shown = if cell.chars().any(escaped_differs) {
        escaped(cell)
    } else {
        cell.to_owned()
    };
    let safe = if shown.starts_with([
        '=', '+', '-', '@', '|', '%', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ]) {
        format!("'{shown}")
    } else {
        shown
    };
    if safe.contains(['"', ',', '\'', ';', ' ']) {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

fn escaped_differs(c: char) -> bool {
    c != '\\' && {
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        escaped(text) != text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_and_is_no_formula() {
        for (cell, wanted) in [
            ("", ""),
            ("ok", "ok"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\\t=1"),
            ("a\r\nb", "a\\r\\nb"),
            ("\x1b[31m", "\\x1b[31m"),
            ("{\"a\":\"\\n\"}", "\"{\"\"a\"\":\"\"\\n\"\"}\""),
        ] {
            assert_eq!(quoted(cell), wanted, "{cell:?}");
        }
    }

    #[test]
    fn a_record_is_one_line_with_all_columns() {
        let record: AuditRecord = serde_json::from_value(serde_json::json!({
            "seq": 1, "at_ms": 0, "action": "terminal.create", "outcome": "ok",
            "actor": { "front": "cli", "uid": 1, "pid": 2, "exe": null, "session": null,
                       "client": "=cmd|' /C calc'!A0\n" },
            "terminal": null,
            "detail": { "argv": ["a\nb", "=1"], "verdict": "safe" },
            "previous_hash": "0", "hash": "1",
        }))
        .unwrap();
        let line = line(&record);
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with("\r\n"));
        assert!(line.contains("\"'=cmd|' /C calc'!A0\\n\""), "{line}");
        assert!(line.contains(",safe,"), "{line}");
    }
}
