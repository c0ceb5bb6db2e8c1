//! The few instructions of classic BPF that a filter of system calls needs (seccomp(2)).
//!
//! A program is a list of rules, each of which ends in a verdict or lets the call pass on to the
//! next; so no jump is longer than its rule.

use nix::libc::{self, sock_filter};

/// `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JEQ | BPF_K`, `| BPF_JGE`, `| BPF_JSET`,
/// `BPF_RET | BPF_K` (`linux/bpf_common.h`).
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Where `struct seccomp_data` has them.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// It fails with this errno.
    Fail(i32),
    /// The process ends, by SIGSYS.
    Kill,
}

impl Verdict {
    fn value(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Fail(errno) => libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(),
            Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// A condition on the lower half of an argument. The upper half is not looked at: for those calls
/// that are judged by one the kernel does not either (a `int` or `unsigned int` parameter), and a
/// filter that compares 64 bits is passed by setting one of them (CVE-2019-10063).
#[derive(Debug, Clone, Copy)]
pub(super) enum If {
    Is(u32),
    IsNot(u32),
    HasAnyOf(u32),
}

/// A program in the making.
#[derive(Debug)]
pub(super) struct Program(Vec<sock_filter>);

fn instruction(code: u16, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter {
        code,
        jt: if_true,
        jf: if_false,
        k: value,
    }
}

impl Program {
    /// Begins with the check without which numbers mean nothing: another architecture's call ends
    /// the process.
    pub(super) fn for_architecture(architecture: u32) -> Self {
        Self(vec![
            instruction(LOAD, ARCHITECTURE, 0, 0),
            instruction(EQUAL, architecture, 1, 0),
            instruction(RETURN, Verdict::Kill.value(), 0, 0),
            instruction(LOAD, NUMBER, 0, 0),
        ])
    }

    /// All numbers from this one on.
    pub(super) fn from(mut self, number: u32, verdict: Verdict) -> Self {
        self.0.push(instruction(AT_LEAST, number, 0, 1));
        self.0.push(instruction(RETURN, verdict.value(), 0, 0));
        self
    }

    /// This call, whatever its arguments.
    pub(super) fn call(mut self, number: libc::c_long, verdict: Verdict) -> Self {
        let Ok(number) = u32::try_from(number) else {
            return self;
        };
        self.0.push(instruction(EQUAL, number, 0, 1));
        self.0.push(instruction(RETURN, verdict.value(), 0, 0));
        self
    }

    /// This call, where one of these is so of that argument (0 to 5); it passes otherwise. A call
    /// has one such rule.
    pub(super) fn call_if(
        mut self,
        number: libc::c_long,
        argument: u32,
        conditions: &[If],
        verdict: Verdict,
    ) -> Self {
        let Ok(number) = u32::try_from(number) else {
            return self;
        };
        // The load, two instructions a condition, and the verdict of the rest.
        let length = u8::try_from(2 + 2 * conditions.len()).unwrap_or(u8::MAX);
        self.0.push(instruction(EQUAL, number, 0, length));
        self.0.push(instruction(LOAD, low_half_of(argument), 0, 0));
        for condition in conditions {
            self.0.push(match *condition {
                If::Is(value) => instruction(EQUAL, value, 0, 1),
                If::IsNot(value) => instruction(EQUAL, value, 1, 0),
                If::HasAnyOf(bits) => instruction(ANY_BIT, bits, 0, 1),
            });
            self.0.push(instruction(RETURN, verdict.value(), 0, 0));
        }
        self.0
            .push(instruction(RETURN, Verdict::Allow.value(), 0, 0));
        self
    }

    /// Everything else may pass.
    pub(super) fn finish(mut self) -> Vec<sock_filter> {
        self.0
            .push(instruction(RETURN, Verdict::Allow.value(), 0, 0));
        self.0
    }
}

const fn low_half_of(argument: u32) -> u32 {
    let at = ARGUMENTS + 8 * argument;
    if cfg!(target_endian = "little") {
        at
    } else {
        at + 4
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// What the kernel's interpreter would return.
    pub(in super::super) fn run(
        program: &[sock_filter],
        architecture: u32,
        number: u32,
        arguments: [u64; 6],
    ) -> u32 {
        let mut accumulator = 0;
        let mut at = 0;
        loop {
            let step = &program[at];
            at += 1;
            let jump = |is_so: bool| usize::from(if is_so { step.jt } else { step.jf });
            match step.code {
                LOAD if step.k == NUMBER => accumulator = number,
                LOAD if step.k == ARCHITECTURE => accumulator = architecture,
                LOAD => {
                    let offset = step.k - ARGUMENTS;
                    let argument = arguments[usize::try_from(offset / 8).unwrap()];
                    let bytes = argument.to_ne_bytes();
                    let half = usize::try_from(offset % 8).unwrap();
                    accumulator = u32::from_ne_bytes(bytes[half..half + 4].try_into().unwrap());
                }
                EQUAL => at += jump(accumulator == step.k),
                AT_LEAST => at += jump(accumulator >= step.k),
                ANY_BIT => at += jump(accumulator & step.k != 0),
                RETURN => return step.k,
                other => panic!("no such instruction: {other:#x}"),
            }
        }
    }
}
