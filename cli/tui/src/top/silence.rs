//! Whether the daemon answers while something waits for its answer.
//!
//! A call may take its time, as a search does. Where it takes long, the daemon is asked something that it
//! answers at once.

use std::convert::Infallible;
use std::time::Duration;

use termd_client::Link;
use termd_proto::daemon::GetDaemonInfo;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::news::News;

/// How long an answer may take before it is asked about, and before a person is told.
const PATIENCE: Duration = Duration::from_secs(1);

/// Waits for an answer, and says where the daemon gives none, and when it has.
pub(super) async fn watched<T>(
    link: &Link,
    news: &mpsc::Sender<News>,
    answer: impl Future<Output = T>,
) -> T {
    tokio::pin!(answer);
    if let Ok(answer) = timeout(PATIENCE, &mut answer).await {
        return answer;
    }
    let probe = async {
        let info = GetDaemonInfo {};
        if timeout(PATIENCE, link.repeat(&info)).await.is_err() {
            let _ = news.send(News::Silent).await;
            let _ = link.repeat(&info).await;
            let _ = news.send(News::Answered).await;
        }
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        answer = &mut answer => {
            let _ = news.send(News::Answered).await;
            answer
        }
        never = probe => match never {},
    }
}
