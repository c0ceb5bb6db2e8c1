//! Compiles rules about system calls to classic BPF (seccomp(2)).
//!
//! A program finds a call's rule by binary search over ranges of numbers. The kernel runs a new filter
//! once for each system call that exists, so the number of steps is the cost of installing it. Why this
//! is not a library: `docs/decisions/0063-seccomp-compiler.md`.

use nix::libc::{self, sock_filter};

/// `BPF_LD | BPF_W | BPF_ABS`, `BPF_JMP | BPF_JEQ | BPF_K`, `| BPF_JGE`, `| BPF_JSET`,
/// `BPF_RET | BPF_K` (`linux/bpf_common.h`).
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// It fails with this errno.
    Fail(i32),
    /// It ends the process by SIGSYS.
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

/// A condition on the lower half of an argument. The judged parameters are `int` or `unsigned int`, of
/// which the kernel ignores the upper half too. A filter that compared 64 bits would be passed by
/// setting one of the upper ones (CVE-2019-10063).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum If {
    Is(u32),
    IsNot(u32),
    HasAnyOf(u32),
}

/// The rules of a program.
#[derive(Debug)]
pub(super) struct Program {
    architecture: u32,
    rules: Vec<(u32, Rule)>,
    /// The verdict on all numbers from this one on.
    last: Option<(u32, Verdict)>,
}

/// The rule of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Always this verdict.
    Always(Verdict),
    /// This verdict where any condition is true of the argument; it passes otherwise.
    AnyOf(u32, Vec<If>, Verdict),
}

/// A position in a program, counted from its end.
#[derive(Debug, Clone, Copy)]
struct Place(usize);

/// A program, last instruction first: a jump leads only forward, to what is there already.
#[derive(Debug, Default)]
struct Backwards {
    instructions: Vec<sock_filter>,
    endings: Vec<(Verdict, Place)>,
}

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
    /// A program in which another architecture's call, whose number means another call, ends the
    /// process.
    pub(super) fn for_architecture(architecture: u32) -> Self {
        Self {
            architecture,
            rules: Vec::new(),
            last: None,
        }
    }

    /// Adds a rule for all numbers from this one on, which is above every other.
    pub(super) fn from(self, number: u32, verdict: Verdict) -> Self {
        let last = Some((number, verdict));
        Self { last, ..self }
    }

    /// Adds a rule for a call, whatever its arguments.
    pub(super) fn call(self, number: libc::c_long, verdict: Verdict) -> Self {
        self.add(number, Rule::Always(verdict))
    }

    /// Adds a rule for a call of which any condition is true of an argument (0 to 5). A call has one
    /// rule.
    pub(super) fn call_if(
        self,
        number: libc::c_long,
        argument: u32,
        conditions: &[If],
        verdict: Verdict,
    ) -> Self {
        self.add(number, Rule::AnyOf(argument, conditions.to_vec(), verdict))
    }

    /// A negative number names no call.
    fn add(mut self, number: libc::c_long, rule: Rule) -> Self {
        if let Ok(number) = u32::try_from(number) {
            self.rules.push((number, rule));
        }
        self
    }

    /// The program; all other calls pass. `None` where a jump would be too long.
    pub(super) fn finish(self) -> Option<Vec<sock_filter>> {
        let architecture = self.architecture;
        let mut backwards = Backwards::default();
        backwards.choice(&self.ranges())?;
        let head = [
            instruction(LOAD, ARCHITECTURE, 0, 0),
            instruction(EQUAL, architecture, 1, 0),
            giving(Verdict::Kill),
            instruction(LOAD, NUMBER, 0, 0),
        ];
        let choice = backwards.instructions.into_iter().rev();
        Some(head.into_iter().chain(choice).collect())
    }

    /// The first number of each range, from 0 on, with its rule. Neighbours of one rule are one range.
    fn ranges(mut self) -> Vec<(u32, Rule)> {
        let passes = Rule::Always(Verdict::Allow);
        self.rules.sort_by_key(|(number, _)| *number);
        let mut ranges = vec![(0, passes.clone())];
        for (number, rule) in self.rules {
            ranges.pop_if(|(start, _)| *start == number);
            ranges.push((number, rule));
            ranges.push((number.saturating_add(1), passes.clone()));
        }
        if let Some((number, verdict)) = self.last {
            ranges.push((number, Rule::Always(verdict)));
        }
        ranges.dedup_by(|(_, rule), (_, before)| rule == before);
        ranges
    }
}

impl Backwards {
    /// Emits the binary search over these ranges.
    fn choice(&mut self, ranges: &[(u32, Rule)]) -> Option<Place> {
        let (lower, upper) = ranges.split_at(ranges.len() / 2);
        match (lower, upper) {
            ([], [(_, rule)]) => self.rule(rule),
            (_, [(first, _), ..]) => {
                let above = self.choice(upper)?;
                let below = self.choice(lower)?;
                self.branch(AT_LEAST, *first, above, below)
            }
            (_, []) => None,
        }
    }

    fn rule(&mut self, rule: &Rule) -> Option<Place> {
        let (argument, conditions, verdict) = match rule {
            Rule::Always(verdict) => return Some(self.ending(*verdict)),
            Rule::AnyOf(argument, conditions, verdict) => (*argument, conditions, *verdict),
        };
        let held = self.ending(verdict);
        let mut otherwise = self.ending(Verdict::Allow);
        for condition in conditions.iter().rev() {
            otherwise = match *condition {
                If::Is(value) => self.branch(EQUAL, value, held, otherwise),
                If::IsNot(value) => self.branch(EQUAL, value, otherwise, held),
                If::HasAnyOf(bits) => self.branch(ANY_BIT, bits, held, otherwise),
            }?;
        }
        Some(self.push(instruction(LOAD, low_half_of(argument), 0, 0)))
    }

    /// One for all that end so.
    fn ending(&mut self, verdict: Verdict) -> Place {
        let known = self.endings.iter().find(|(known, _)| *known == verdict);
        if let Some((_, place)) = known {
            return *place;
        }
        let place = self.push(giving(verdict));
        self.endings.push((verdict, place));
        place
    }

    fn branch(&mut self, code: u16, value: u32, if_so: Place, if_not: Place) -> Option<Place> {
        // A jump is a byte long, and counts from the instruction after it.
        let here = self.instructions.len();
        let over = |to: Place| u8::try_from(here.checked_sub(to.0 + 1)?).ok();
        let branch = instruction(code, value, over(if_so)?, over(if_not)?);
        Some(self.push(branch))
    }

    fn push(&mut self, instruction: sock_filter) -> Place {
        self.instructions.push(instruction);
        Place(self.instructions.len() - 1)
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
