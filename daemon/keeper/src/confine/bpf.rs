//! The few instructions of classic BPF that a filter of system calls needs (seccomp(2)).
//!
//! A program is a list of rules, one a call, each of which ends in a verdict. Which one it is is found
//! by halves, and neighbours are one: what a filter costs to install is its instructions, and the
//! kernel going through it once for every call that there is.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum If {
    Is(u32),
    IsNot(u32),
    HasAnyOf(u32),
}

/// A program in the making.
#[derive(Debug)]
pub(super) struct Program {
    architecture: u32,
    rules: Vec<(u32, Way)>,
    /// All numbers from this one on.
    last: Option<(u32, Verdict)>,
}

/// What a call whose number is known goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// It ends at once.
    Ends(Verdict),
    /// It ends so where one of these holds of that argument, and passes otherwise.
    Depends(u32, Vec<If>, Verdict),
}

/// A place in a program that is written from its end, counted from there.
#[derive(Debug, Clone, Copy)]
struct Place(usize);

/// A program, its last instruction first: a jump leads forward only, to what is written already.
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
    /// Begins with the check without which numbers mean nothing: another architecture's call ends
    /// the process.
    pub(super) fn for_architecture(architecture: u32) -> Self {
        Self {
            architecture,
            rules: Vec::new(),
            last: None,
        }
    }

    /// All numbers from this one on, which is above every other.
    pub(super) fn from(self, number: u32, verdict: Verdict) -> Self {
        let last = Some((number, verdict));
        Self { last, ..self }
    }

    /// This call, whatever its arguments.
    pub(super) fn call(self, number: libc::c_long, verdict: Verdict) -> Self {
        self.rule(number, Way::Ends(verdict))
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
        self.rule(number, Way::Depends(argument, conditions.to_vec(), verdict))
    }

    /// Numbers that are none name no call.
    fn rule(mut self, number: libc::c_long, way: Way) -> Self {
        if let Ok(number) = u32::try_from(number) {
            self.rules.push((number, way));
        }
        self
    }

    /// Everything else may pass. `None` where a jump would be longer than one can be.
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

    /// Where each way begins to be that of the numbers that follow: the first at 0, neighbours of
    /// one way together.
    fn ranges(mut self) -> Vec<(u32, Way)> {
        let passes = Way::Ends(Verdict::Allow);
        self.rules.sort_by_key(|(number, _)| *number);
        let mut ranges = vec![(0, passes.clone())];
        for (number, way) in self.rules {
            ranges.pop_if(|(start, _)| *start == number);
            ranges.push((number, way));
            ranges.push((number.saturating_add(1), passes.clone()));
        }
        if let Some((number, verdict)) = self.last {
            ranges.push((number, Way::Ends(verdict)));
        }
        ranges.dedup_by(|(_, way), (_, before)| way == before);
        ranges
    }
}

impl Backwards {
    /// The way of a number among these, found by halves.
    fn choice(&mut self, ranges: &[(u32, Way)]) -> Option<Place> {
        let (lower, upper) = ranges.split_at(ranges.len() / 2);
        match (lower, upper) {
            ([], [(_, way)]) => self.way(way),
            (_, [(first, _), ..]) => {
                let above = self.choice(upper)?;
                let below = self.choice(lower)?;
                self.branch(AT_LEAST, *first, above, below)
            }
            (_, []) => None,
        }
    }

    fn way(&mut self, way: &Way) -> Option<Place> {
        let (argument, conditions, verdict) = match way {
            Way::Ends(verdict) => return Some(self.ending(*verdict)),
            Way::Depends(argument, conditions, verdict) => (*argument, conditions, *verdict),
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
