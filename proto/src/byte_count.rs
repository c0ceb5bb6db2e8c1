//! Numbers of bytes as people read them.

/// A number of bytes: `999 B`, `1.5 KiB`, `12.0 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut tenths = count.saturating_mul(10) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let unit = UNITS.get(unit).unwrap_or(&"");
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit_that_fits() {
        for (count, text) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_536, "1.5 KiB"),
            (43_278_336, "41.2 MiB"),
            (64 << 20, "64.0 MiB"),
            (3 << 30, "3.0 GiB"),
            (3 << 40, "3.0 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }
}
