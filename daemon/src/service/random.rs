//! Random bits for ids.

use crate::terminal::TerminalError;

/// 64 bits of getrandom(2).
pub(crate) fn random_bits() -> Result<u64, TerminalError> {
    let mut bits = [0; 8];
    rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)?;
    Ok(u64::from_ne_bytes(bits))
}
