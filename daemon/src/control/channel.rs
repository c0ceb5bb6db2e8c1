//! One packet with its file descriptors, sent and received.
