//! The gate, by tables.
