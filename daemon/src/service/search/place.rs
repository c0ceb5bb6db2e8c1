//! The place where the next page of a search goes on, as its cursor says it. Pure.

use termd_proto::Offset;

/// A place in the order of the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the commands: the cursor of their list.
    Commands(Option<String>),
    /// In the output: at this terminal, before this offset of it, then the terminals before it.
    Output(i64, Offset),
}

impl Place {
    pub(super) const NEWEST_OUTPUT: Self = Self::Output(i64::MAX, Offset(u64::MAX));

    pub(super) fn parse(cursor: &str) -> Option<Self> {
        let (kind, rest) = cursor.split_once(':')?;
        match kind {
            "c" => Some(Self::Commands(Some(rest.to_owned()))),
            "o" => {
                let (terminal, offset) = rest.split_once(':')?;
                Some(Self::Output(
                    terminal.parse().ok()?,
                    Offset(offset.parse().ok()?),
                ))
            }
            _ => None,
        }
    }

    pub(super) fn cursor(&self) -> String {
        match self {
            Self::Commands(cursor) => format!("c:{}", cursor.as_deref().unwrap_or_default()),
            Self::Output(terminal, offset) => format!("o:{terminal}:{offset}"),
        }
    }
}
