//! The socket side: listener, connections, framing, dispatch, one handler file a namespace.
