//! Shows the screen that bytes make: `ls --color=always | cargo run --example screen -- 80 24`

use std::io::{self, Read, Write};

use termd_vt::{Model, Scrollback, Size};

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse().ok());
    let mut next = |default| args.next().flatten().unwrap_or(default);
    let size = Size {
        cols: next(80),
        rows: next(24),
    };
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;

    // At most 1,000 rows and a megabyte of scrollback. LF alone begins a new line, as on a tty.
    let mut model = Model::new(size, Scrollback::new(1_000, 1 << 20)).with_new_lines();
    let fed = model.feed(&bytes);

    let mut out = io::stdout();
    for y in 0..size.clamped().rows {
        writeln!(out, "{}", model.row_text(y))?;
    }
    let (col, row) = model.cursor();
    writeln!(
        out,
        "cursor: column {col}, row {row}; {} events",
        fed.events.len()
    )
}
