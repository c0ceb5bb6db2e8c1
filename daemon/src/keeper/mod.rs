//! The keeper: the process that holds what must not die.
