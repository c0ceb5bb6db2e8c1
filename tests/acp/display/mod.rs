//! Terminals that tool calls embed, as a client is shown them that has none itself.

mod meta;
mod scene;
mod text;
