//! The variables of a request as one short text, to compare them by.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// SHA-256, in hexadecimal, of the variables that a request sets: of `NAME=VALUE` and a NUL for each,
/// sorted. `None`: it sets none.
pub fn env_sha256(env: &[(String, String)]) -> Option<String> {
    if env.is_empty() {
        return None;
    }
    let mut sorted: Vec<&(String, String)> = env.iter().collect();
    sorted.sort();
    let mut hasher = Sha256::new();
    for (name, value) in sorted {
        // Neither a name nor a value holds a NUL, and a name holds no `=`.
        for part in [name.as_str(), "=", value.as_str(), "\0"] {
            hasher.update(part.as_bytes());
        }
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(pairs: &[(&str, &str)]) -> Option<String> {
        let pair = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        env_sha256(&pairs.iter().map(pair).collect::<Vec<_>>())
    }

    #[test]
    fn the_hash_is_of_the_whole_environment_in_any_order() {
        assert_eq!(hash(&[]), None);
        assert_eq!(
            hash(&[("A", "1"), ("B", "2")]),
            hash(&[("B", "2"), ("A", "1")])
        );
        let all = [
            hash(&[("A", "1")]),
            hash(&[("A", "")]),
            hash(&[("A", "1"), ("B", "")]),
            hash(&[("AB", "")]),
            hash(&[("A", "1\nB=2")]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(one.is_some() && !all[..at].contains(one), "{one:?}");
        }
        // printf 'A=1\0' | sha256sum
        let known = "1c178ab3ab63ba251a35067882c993e31f69f025176a759458a9159f16eb1a88";
        assert_eq!(all[0].as_deref(), Some(known));
    }
}
