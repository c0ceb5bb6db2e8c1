//! What agents say of themselves, in a line for a person.

use termd_client::escape::escaped;
use termd_client::question::asker;
use termd_proto::approval::ApprovalList;
use termd_proto::attention::{AttentionReport, ReportedState};

pub(in crate::cmd) fn line(attention: &AttentionReport) -> String {
    let agent = escaped(&asker(&attention.of));
    let what = match attention.state {
        ReportedState::Input => "waits for you",
        ReportedState::Done => "is done",
        ReportedState::Failed => "has failed",
    };
    let place = attention.terminal.as_ref();
    let place = place.map_or_else(String::new, |terminal| format!(" in {terminal}"));
    match attention.text.as_str() {
        "" => format!("{agent} {what}{place}"),
        text => format!("{agent} {what}{place}: {}", escaped(text)),
    }
}

/// The number of the last thing that an agent has said. Another server counts anew.
pub(in crate::cmd) fn last_attention(listed: &ApprovalList) -> u64 {
    listed.attention.last().map_or(0, |last| last.number)
}
