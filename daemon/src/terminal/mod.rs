//! One terminal's life.
