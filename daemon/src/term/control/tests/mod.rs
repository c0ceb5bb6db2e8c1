//! Each control function by what xterm's documentation says it does.
