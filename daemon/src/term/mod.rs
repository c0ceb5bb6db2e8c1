//! What terminal output means: pure, no tokio, no files.

pub mod plain;
