//! The random value that shows that a command line comes from the terminal's own shell.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

/// Random bytes in a nonce: 128 bits cannot be guessed.
const RANDOM_BYTES: usize = 16;

/// A random value for one terminal, in hexadecimal. The shell puts it into OSC 633;E, so that a
/// program's output, or a file shown by `cat`, is not taken for a command line. It is no secret from
/// processes of the same user. `Debug` hides it, to keep it out of the log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShellNonce(String);

impl ShellNonce {
    /// A new nonce, by getrandom(2).
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; RANDOM_BYTES];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        Ok(Self::from_bytes(bytes))
    }

    fn from_bytes(bytes: [u8; RANDOM_BYTES]) -> Self {
        Self(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// The text in the environment and in the mark.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ShellNonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShellNonce(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_hexadecimal_and_the_log_does_not_show_it() {
        let nonce = ShellNonce::from_bytes([0xa5; RANDOM_BYTES]);
        assert_eq!(nonce.as_str(), "a5".repeat(16));
        assert!(!format!("{nonce:?}").contains("a5"));
        assert_ne!(ShellNonce::random().unwrap(), ShellNonce::random().unwrap());
    }
}
