//! A terminal's output by lines.

use std::collections::VecDeque;

use termd_client::ClientError;
use termd_proto::Offset;
use termd_proto::terminal::{Encoding, TerminalInfo};

use crate::backend::Backend;
use crate::settings::MAX_OUTPUT_BYTES;
use crate::tool::Pages;

/// The most output that one call reads: some seconds' work. Earlier lines are not counted.
const MAX_BYTES: u64 = 64 << 20;

/// The last lines of a terminal's output, and the number of all lines.
#[derive(Debug, Default)]
pub(crate) struct LineHistory {
    /// The number of all lines.
    pub(crate) total: u64,
    /// The last lines, oldest first.
    pub(crate) lines: VecDeque<String>,
    kept: u64,
    first: Option<Offset>,
    /// The end of the older output that was not read.
    pub(crate) omitted: Option<Offset>,
    /// Whether the last line is not ended yet.
    is_open: bool,
}

impl LineHistory {
    /// An empty history that keeps at most `kept` lines.
    pub(crate) fn new(kept: u64) -> Self {
        Self {
            kept,
            ..Self::default()
        }
    }

    /// The offset from which on one call can read the whole output.
    pub(crate) fn begin(info: &TerminalInfo) -> Offset {
        Offset(info.end.0.saturating_sub(MAX_BYTES)).max(info.start)
    }

    /// Reads the output and keeps at most `kept` lines.
    pub(crate) async fn read(
        backend: &Backend,
        info: &TerminalInfo,
        kept: u64,
    ) -> Result<Self, ClientError> {
        let mut past = Self::new(kept);
        let begin = Self::begin(info);
        pages(backend, info, begin, |start, text| past.take(start, text)).await?;
        past.finish();
        Ok(past)
    }

    /// Adds the next page.
    pub(crate) fn take(&mut self, start: Offset, text: &str) {
        self.first.get_or_insert(start);
        for line in text.split_inclusive('\n') {
            let words = line.strip_suffix('\n').unwrap_or(line);
            if self.is_open {
                if let Some(last) = self.lines.back_mut() {
                    last.push_str(words);
                }
            } else {
                self.total += 1;
                self.lines.push_back(words.to_owned());
                if self.lines.len() as u64 > self.kept {
                    self.lines.pop_front();
                }
            }
            self.is_open = words.len() == line.len();
        }
    }

    /// Ends the history. Empty lines at the end do not count.
    pub(crate) fn finish(&mut self) {
        self.omitted = self.first.filter(|first| *first > Offset::ZERO);
        while self.lines.back().is_some_and(|line| line.trim().is_empty()) {
            self.lines.pop_back();
            self.total -= 1;
        }
    }
}

/// A terminal's output as plain text, page by page with its offset.
pub(crate) async fn pages(
    backend: &Backend,
    info: &TerminalInfo,
    begin: Offset,
    mut each: impl FnMut(Offset, &str),
) -> Result<(), ClientError> {
    let pages = Pages {
        backend,
        id: &info.id,
        encoding: Encoding::Text,
        stream: None,
    };
    let mut from = begin;
    while from < info.end {
        let page = pages.read((from, info.end), MAX_OUTPUT_BYTES, None).await?;
        each(page.start, &page.text.unwrap_or_default());
        if page.end <= from {
            break;
        }
        from = page.end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_pages_cut_are_one_and_the_last_are_kept() {
        let mut past = LineHistory::new(3);
        for (start, text) in [(7, "a\nb"), (10, "c\nd\n"), (15, "e\n \n")] {
            past.take(Offset(start), text);
        }
        past.finish();
        assert_eq!(past.lines, ["d", "e"]);
        assert_eq!(past.total, 4);
        assert_eq!(past.omitted, Some(Offset(7)));
    }
}
