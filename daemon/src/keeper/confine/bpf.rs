//! The few instructions of classic BPF that a filter of system calls needs (seccomp(2)).
//!
//! A program is a list of rules, one a call, each of which ends in a verdict. Which one it is is found
//! by halves.

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
pub(super) struct Program {
    /// What every call goes through.
    head: Vec<sock_filter>,
    rules: Vec<Rule>,
}

/// What becomes of one call: its number is known where its instructions begin, and each way through
/// them ends in a verdict.
#[derive(Debug)]
struct Rule {
    number: u32,
    body: Vec<sock_filter>,
}

/// So many numbers are compared one after the other; more are halved first. To install a filter the
/// kernel goes through it once for every call that there is.
const MOST_IN_A_ROW: usize = 3;

fn instruction(code: u16, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    sock_filter {
        code,
        jt: if_true,
        jf: if_false,
        k: value,
    }
}

/// Ends the program with this.
fn giving(verdict: Verdict) -> sock_filter {
    instruction(RETURN, verdict.value(), 0, 0)
}

impl Program {
    /// Begins with the check without which numbers mean nothing: another architecture's call ends
    /// the process.
    pub(super) fn for_architecture(architecture: u32) -> Self {
        let head = vec![
            instruction(LOAD, ARCHITECTURE, 0, 0),
            instruction(EQUAL, architecture, 1, 0),
            giving(Verdict::Kill),
            instruction(LOAD, NUMBER, 0, 0),
        ];
        let rules = Vec::new();
        Self { head, rules }
    }

    /// All numbers from this one on.
    pub(super) fn from(mut self, number: u32, verdict: Verdict) -> Self {
        self.head.push(instruction(AT_LEAST, number, 0, 1));
        self.head.push(giving(verdict));
        self
    }

    /// This call, whatever its arguments.
    pub(super) fn call(self, number: libc::c_long, verdict: Verdict) -> Self {
        self.rule(number, vec![giving(verdict)])
    }

    /// This call, where one of these is so of that argument (0 to 5); it passes otherwise. A call
    /// has one such rule.
    pub(super) fn call_if(
        self,
        number: libc::c_long,
        argument: u32,
        conditions: &[If],
        verdict: Verdict,
    ) -> Self {
        let mut body = vec![instruction(LOAD, low_half_of(argument), 0, 0)];
        for condition in conditions {
            body.push(match *condition {
                If::Is(value) => instruction(EQUAL, value, 0, 1),
                If::IsNot(value) => instruction(EQUAL, value, 1, 0),
                If::HasAnyOf(bits) => instruction(ANY_BIT, bits, 0, 1),
            });
            body.push(giving(verdict));
        }
        body.push(giving(Verdict::Allow));
        self.rule(number, body)
    }

    /// Numbers that are none name no call.
    fn rule(mut self, number: libc::c_long, body: Vec<sock_filter>) -> Self {
        if let Ok(number) = u32::try_from(number) {
            self.rules.push(Rule { number, body });
        }
        self
    }

    /// Everything else may pass.
    pub(super) fn finish(mut self) -> Vec<sock_filter> {
        self.rules.sort_by_key(|rule| rule.number);
        let mut program = self.head;
        program.extend(chosen_among(&self.rules));
        program
    }
}

/// The rule of a number among these, which ascend.
fn chosen_among(rules: &[Rule]) -> Vec<sock_filter> {
    if let [lower @ .., _] = rules
        && lower.len() >= MOST_IN_A_ROW
    {
        let (lower, upper) = rules.split_at(rules.len() / 2);
        let below = chosen_among(lower);
        // A jump is a byte long.
        if let (Some(first), Ok(over)) = (upper.first(), u8::try_from(below.len())) {
            let halved = instruction(AT_LEAST, first.number, over, 0);
            return [vec![halved], below, chosen_among(upper)].concat();
        }
    }
    let mut row = Vec::new();
    for Rule { number, body } in rules {
        let over = u8::try_from(body.len()).unwrap_or(u8::MAX);
        row.push(instruction(EQUAL, *number, 0, over));
        row.extend_from_slice(body);
    }
    row.push(giving(Verdict::Allow));
    row
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
        walk(program, architecture, number, arguments).0
    }

    /// The same, and how many instructions it took.
    pub(in super::super) fn walk(
        program: &[sock_filter],
        architecture: u32,
        number: u32,
        arguments: [u64; 6],
    ) -> (u32, usize) {
        let mut accumulator = 0;
        let mut at = 0;
        let mut steps = 0;
        loop {
            let step = &program[at];
            at += 1;
            steps += 1;
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
                RETURN => return (step.k, steps),
                other => panic!("no such instruction: {other:#x}"),
            }
        }
    }
}
