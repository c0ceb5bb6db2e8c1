//! The terminal model as a whole: properties that hold for any bytes, and what other terminals show
//! for the same ones.

mod differential;
mod generate;
mod properties;
