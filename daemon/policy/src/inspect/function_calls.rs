//! The calls of functions that a text has defined, which are read as far as a bound.

/// Calls of functions that are read for one text.
const MAX_CALLS: usize = 64;

/// How a call of a function is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallReading {
    /// With the arguments of the call.
    WithArguments,
    /// The function calls itself: its body is read once more, with nothing known.
    Recursion,
    /// The recursion has been read.
    Skip,
    /// There were too many calls.
    TooMany,
}

/// The calls that were read, and those that are being read.
#[derive(Debug, Default)]
pub(crate) struct FunctionCalls {
    count: usize,
    active: Vec<String>,
}

impl FunctionCalls {
    /// Counts a call of a function.
    pub(super) fn count(&mut self, name: &str) -> CallReading {
        let within = self.active.iter().filter(|active| *active == name).count();
        self.count += 1;
        match within {
            2.. => CallReading::Skip,
            _ if self.count > MAX_CALLS => CallReading::TooMany,
            1 => CallReading::Recursion,
            0 => CallReading::WithArguments,
        }
    }

    /// Begins to read a function's body.
    pub(super) fn enter(&mut self, name: &str) {
        self.active.push(name.to_owned());
    }

    /// Ends what [`FunctionCalls::enter`] has begun.
    pub(super) fn leave(&mut self) {
        self.active.pop();
    }
}
