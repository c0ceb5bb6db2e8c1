//! Whether the daemon answers, which an attached person sees.

use std::time::Duration;

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use tokio::time::{sleep, timeout};

use crate::attach::notice::Notices;
use crate::cmd::show::show;

/// The pause between two questions.
const PAUSE: Duration = Duration::from_millis(500);
/// How long an answer may take before a person is told.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longer than a daemon is waited for: until it answers, or is given up.
const UNTIL_IT_ANSWERS: Duration = Duration::from_hours(24);

/// Shows a line while the daemon does not answer. Ends when the daemon is given up.
pub(super) async fn watch_daemon(
    link: &Link,
    id: &TerminalRef,
    notices: &Notices,
    line: &str,
) -> ClientError {
    loop {
        let asking = show(link, id);
        tokio::pin!(asking);
        let answer = if let Ok(answer) = timeout(PATIENCE, &mut asking).await {
            answer
        } else {
            notices.show(line.to_owned(), UNTIL_IT_ANSWERS);
            let answer = asking.await;
            notices.take(line);
            answer
        };
        match answer {
            Err(error) if error.is_unreachable() => return error,
            // What has become of the terminal shows in its output.
            Ok(_) | Err(_) => sleep(PAUSE).await,
        }
    }
}
