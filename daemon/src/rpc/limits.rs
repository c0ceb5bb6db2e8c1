//! Every bound of the socket side, with its reason. Sizes in bytes.

use std::time::Duration;

/// The longest line that a peer may send, its line end not counted. What a person pastes or an
/// agent puts into one `send` fits; a runaway writer does not fill the memory.
pub const MAX_LINE_BYTES: usize = 4 << 20;

/// What is read at once, and what an idle connection's buffer shrinks to.
pub const READ_CHUNK_BYTES: usize = 8 << 10;

/// The longest answer. 64 MiB of output is the most that one call may ask for, and JSON writes a
/// control character as six bytes: 384 MiB at the worst, and the members around it.
pub const MAX_RESPONSE_BYTES: usize = 385 << 20;

/// Bytes answered and not yet taken by the peer above which no call of it begins, and no answer
/// longer than [`LONG_ANSWER_BYTES`]: those of 500 calls for a megabyte must not be made before the
/// first is read. One more answer is always let in up to here, whatever its size: so a connection
/// holds this and one longest answer. A few of the usual big answers (1 MiB), so that a peer that
/// reads never waits for one to be made.
pub const ANSWERS_HIGH_WATER_BYTES: usize = 8 << 20;

/// Bytes answered and not yet taken by the peer over which nothing more is queued. Only errors
/// and the answers of calls that had begun are still added above [`ANSWERS_HIGH_WATER_BYTES`].
pub const MAX_OUT_QUEUE_BYTES: usize = 128 << 20;

/// Answers longer than this take their turn on a connection, in bytes of output: they are made on
/// another thread, each holding its output twice, and that thread does not know that the peer does not
/// read.
pub const LONG_ANSWER_BYTES: u64 = 256 << 10;

/// Messages not yet taken by the peer. A peer that goes on asking past this without reading is
/// closed: not even errors can be sent to it. Twice [`MAX_CALLS_IN_FLIGHT`]: all of them may be
/// answered at once, by one exit, and there is room for as many errors beside them.
pub const MAX_OUT_QUEUE_MESSAGES: usize = 2 * MAX_CALLS_IN_FLIGHT;

/// Bytes waiting for the peer above which events stay in their channel, whose sender then sees it
/// full and can tell the reader that it lags. Small, so that answers do not wait behind events.
pub const EVENTS_HIGH_WATER_BYTES: usize = 256 << 10;

/// The same for messages. Far below [`MAX_CALLS_IN_FLIGHT`] and [`MAX_OUT_QUEUE_MESSAGES`], which
/// count events too: one that leaves its events lying can still call, and no event is lost here.
pub const EVENTS_HIGH_WATER_MESSAGES: usize = 64;

/// Calls of one connection that were taken and whose answer the peer has not taken: eight hundred
/// waits at once are an agent with many terminals, thousands are a loop.
pub const MAX_CALLS_IN_FLIGHT: usize = 1024;

/// Bytes of request lines whose calls are still under way, for one connection: else 1,024 calls
/// of 4 MiB would be 4 GiB.
pub const MAX_CALL_BYTES_IN_FLIGHT: usize = 64 << 20;

/// Live subscriptions of one connection: one for each terminal that a person can look at.
pub const MAX_SUBSCRIPTIONS: usize = 64;

/// Events queued for a connection, over all its subscriptions.
pub const EVENT_CHANNEL_MESSAGES: usize = 64;

/// Connections at once; each costs a descriptor and up to the queues above.
pub const MAX_CONNECTIONS: usize = 1024;

/// Connections of one process. Fronts keep one, and one more for every 200 waits; a quarter of all is
/// what three processes that leak them cannot fill.
pub const MAX_CONNECTIONS_OF_PEER: usize = MAX_CONNECTIONS / 4;

/// One in this many of [`MAX_CONNECTIONS`] is kept for processes that have none: a process that
/// forks to take all others does not keep a person from `termctl kill`.
pub const NEWCOMERS_SHARE: usize = 16;

/// Calls in flight of one process, waits among them, over all its connections: four that are full.
pub const MAX_CALLS_IN_FLIGHT_OF_PEER: usize = 4 * MAX_CALLS_IN_FLIGHT;

/// The same of bytes of request lines: two connections that are full. A process that sends more at
/// once than it has waits for answers.
pub const MAX_CALL_BYTES_IN_FLIGHT_OF_PEER: usize = 2 * MAX_CALL_BYTES_IN_FLIGHT;

/// Commands of one process that are checked at once, over all its connections: to judge a long text takes
/// a processor a tenth of a second, and there is one for others too. More than one, for a check also
/// looks at directories, and a file system may not answer.
pub const MAX_CHECKS_OF_PEER: usize = 4;

/// The longest method name that is repeated in an error, in characters.
pub const METHOD_NAME_SHOWN_CHARS: usize = 100;

/// The longest cause that is repeated in an error, in characters: serde quotes whole values.
pub const DETAIL_SHOWN_CHARS: usize = 300;

/// The longest client name in `daemon.hello`: it stands in every audit row.
pub const MAX_CLIENT_NAME_BYTES: usize = 128;

/// The longest default directory in `daemon.hello` (`PATH_MAX` of linux/limits.h).
pub const MAX_CWD_BYTES: usize = 4096;

/// How long calls under way may go on once the server is stopping.
pub const SHUTDOWN_CALL_GRACE: Duration = Duration::from_millis(300);

/// How long after that the answers may take to be read.
pub const SHUTDOWN_FLUSH_GRACE: Duration = Duration::from_millis(1700);

/// When connections are dropped whatever they do. Longer than the two graces together.
pub const SHUTDOWN_DEADLINE: Duration = Duration::from_secs(3);

/// The first pause after accept(2) failed, doubled up to [`MAX_ACCEPT_BACKOFF`].
pub const MIN_ACCEPT_BACKOFF: Duration = Duration::from_millis(10);

/// The longest pause after accept(2) failed: out of descriptors is out until one is closed.
pub const MAX_ACCEPT_BACKOFF: Duration = Duration::from_secs(1);
