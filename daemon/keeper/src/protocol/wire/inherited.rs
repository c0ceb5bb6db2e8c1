//! The encoding of what a command takes over from the process that requests it.

use termd_proto::terminal::{Inherited, ResourceLimit, Stderr};

use super::fields::{Malformed, Reader, Writer};

/// Stands for a limit that is none, and is the kernel's `RLIM64_INFINITY`.
const NO_LIMIT: u64 = u64::MAX;

impl Writer {
    pub(super) fn stderr(&mut self, stderr: Stderr) {
        self.u8(match stderr {
            Stderr::Pipe => 0,
            Stderr::Stdout => 1,
        });
    }

    pub(super) fn inherited(&mut self, inherited: &Inherited) {
        self.u8(inherited.umask.is_some().into());
        self.u32(inherited.umask.unwrap_or_default());
        self.u8(inherited.nice.is_some().into());
        self.i32(inherited.nice.unwrap_or_default());
        self.length(inherited.limits.len());
        for limit in &inherited.limits {
            self.u32(limit.resource);
            self.u64(limit.soft.unwrap_or(NO_LIMIT));
            self.u64(limit.hard.unwrap_or(NO_LIMIT));
        }
        for numbers in [
            &inherited.ignored_signals,
            &inherited.blocked_signals,
            &inherited.fds,
        ] {
            self.length(numbers.len());
            for number in numbers {
                self.i32(*number);
            }
        }
    }
}

impl Reader<'_> {
    /// Added later: an older server sends nothing here.
    pub(super) fn stderr(&mut self) -> Result<Stderr, Malformed> {
        if self.0.is_empty() {
            return Ok(Stderr::Pipe);
        }
        match self.u8()? {
            0 => Ok(Stderr::Pipe),
            1 => Ok(Stderr::Stdout),
            _ => Err(Malformed),
        }
    }

    /// Added later: an older server sends nothing here.
    pub(super) fn inherited(&mut self) -> Result<Inherited, Malformed> {
        if self.0.is_empty() {
            return Ok(Inherited::default());
        }
        let (has_umask, umask) = (self.flag()?, self.u32()?);
        let (has_nice, nice) = (self.flag()?, self.i32()?);
        let limits = self.many(|input| {
            let (resource, soft, hard) = (input.u32()?, input.u64()?, input.u64()?);
            let limit = |value| (value != NO_LIMIT).then_some(value);
            Ok(ResourceLimit {
                resource,
                soft: limit(soft),
                hard: limit(hard),
            })
        })?;
        Ok(Inherited {
            umask: has_umask.then_some(umask),
            nice: has_nice.then_some(nice),
            limits,
            ignored_signals: self.many(Self::i32)?,
            blocked_signals: self.many(Self::i32)?,
            fds: self.many(Self::i32)?,
        })
    }

    /// A list. Its length is not believed before its items are there.
    fn many<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32()?;
        (0..count).map(|_| item(self)).collect()
    }
}
