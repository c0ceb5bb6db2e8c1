//! One rule, and whether it fits a command.
//!
//! Of some commands not everything is known before they run. Such a command may fit.

use termd_proto::policy::Verdict;
use termd_proto::terminal::Front;

use super::flag::{Flag, names_of};
use super::rule_spec::RuleSpec;
use crate::fit::Fit;
use crate::glob::{Case, Glob};
use crate::inspect::cwd::PossibleCwd;
use crate::inspect::finding::{Finding, InspectedCommand};
use crate::program::options::{Options, Order, Valued, options};
use crate::request::{Completeness, Invocation};
use crate::shell::word::{UNKNOWN, Word};

/// One rule, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) spec: RuleSpec,
    /// The line of the file that the rule stands in, from 1.
    pub(crate) line: usize,
    /// The rule's directory with links resolved, where that is another path.
    pub(crate) real_cwd: Option<String>,
}

/// Who asks, from where, and with which text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleContext<'a> {
    pub(crate) front: Front,
    pub(crate) client: Option<&'a str>,
    pub(crate) uid: Option<u32>,
    pub(crate) cwd: &'a PossibleCwd,
    /// The whole text that the subject stands in.
    pub(crate) invocation: Invocation<'a>,
    pub(crate) completeness: Completeness,
}

/// What a rule is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    Command(&'a InspectedCommand),
    /// Something that is wrong with the text and with no one command of it.
    Finding(&'a Finding),
    /// A text without commands and findings.
    Empty,
}

impl Rule {
    /// Whether the rule fits a subject.
    pub(super) fn fits(&self, subject: Subject<'_>, context: RuleContext<'_>) -> Fit {
        let spec = &self.spec;
        let by_front = spec.front.as_ref();
        let by_front = by_front.is_none_or(|fronts| fronts.0.contains(&context.front));
        let by_client = spec.client.as_ref().is_none_or(|glob| {
            let client = context.client;
            client.is_some_and(|client| glob.fits(client, Case::Ignored))
        });
        let by_uid = spec.uid.is_none_or(|uid| context.uid == Some(uid));
        if !(by_front && by_client && by_uid) {
            return Fit::No;
        }
        self.fits_directory(context.cwd)
            .min(self.fits_text(context.invocation, context.completeness))
            .min(self.fits_subject(subject))
    }

    fn fits_text(&self, invocation: Invocation<'_>, completeness: Completeness) -> Fit {
        match (&self.spec.command, completeness) {
            (None, _) => Fit::Yes,
            (Some(command), Completeness::Whole) => Fit::from(command.is(invocation)),
            // The line of the history may be this command, or become it.
            (Some(_), Completeness::Recalled | Completeness::Edited) => Fit::Maybe,
            // The text is more than this, or is judged again once it is whole.
            (Some(_), Completeness::Begun | Completeness::TooLong) => Fit::No,
        }
    }

    fn fits_directory(&self, cwd: &PossibleCwd) -> Fit {
        let Some(own) = &self.spec.cwd else {
            return Fit::Yes;
        };
        let real = self.real_cwd.as_deref();
        let by_real_path = real.map_or(Fit::No, |real| cwd.is_within(real));
        cwd.is_within(&own.0).max(by_real_path)
    }

    /// Whether the rule is about single commands.
    fn is_about_commands(&self) -> bool {
        let spec = &self.spec;
        spec.program.is_some()
            || spec.arguments.is_some()
            || !spec.has.is_empty()
            || !spec.lacks.is_empty()
            || !spec.operands.is_empty()
    }

    fn fits_subject(&self, subject: Subject<'_>) -> Fit {
        if !self.is_about_commands() {
            return Fit::Yes;
        }
        match subject {
            Subject::Command(command) => self.fits_command(command),
            // Text that is not read may hold any command.
            Subject::Finding(finding)
                if finding.verdict == Verdict::Unknown && !finding.is_read =>
            {
                Fit::Maybe
            }
            Subject::Finding(_) | Subject::Empty => Fit::No,
        }
    }

    fn fits_command(&self, command: &InspectedCommand) -> Fit {
        let by_program = match (&self.spec.program, &command.name_end) {
            (None, _) => Fit::Yes,
            (Some(name), Some(end)) if name.0.ends_with(end.as_str()) => Fit::Maybe,
            (Some(_), Some(_)) => Fit::No,
            (Some(name), None) => Fit::from(command.program == name.0),
        };
        if by_program == Fit::No {
            return Fit::No;
        }
        // What gets another profile by its name may not be another file of that name.
        let is_other = self.spec.profile.is_some() && !command.is_installed;
        let by_certainty = if command.is_certain && !is_other {
            Fit::Yes
        } else {
            Fit::Maybe
        };
        by_program
            .min(by_certainty)
            .min(self.fits_arguments(command))
    }

    fn fits_arguments(&self, command: &InspectedCommand) -> Fit {
        let spec = &self.spec;
        // Arguments that do not fit as far as they are known may fit once the command runs.
        let may = |fits: bool, unclear: bool| match fits {
            true => Fit::Yes,
            false if unclear => Fit::Maybe,
            false => Fit::No,
        };
        let is_unclear = |word: &Word| word.splits || word.possible().contains(UNKNOWN);
        let pattern = spec.arguments.as_ref();
        let by_pattern = may(
            pattern.is_none_or(|regex| regex.0.is_match(&command.arguments)),
            command.args.iter().any(is_unclear),
        );
        if spec.has.is_empty() && spec.lacks.is_empty() && spec.operands.is_empty() {
            return by_pattern;
        }
        let shifts = command.args.iter().position(Word::may_shift);
        let valued = names_of(&spec.valued);
        let taken = options(&command.args, Valued::These(&valued), Order::Permuted);
        let given = |flag: &Flag| flag.is_given(&taken, &command.args);
        let by_has = may(spec.has.iter().all(given), shifts.is_some());
        let by_lacks = match (spec.lacks.iter().any(given), shifts.is_some()) {
            (true, _) => Fit::No,
            (false, true) if !spec.lacks.is_empty() => Fit::Maybe,
            (false, _) => Fit::Yes,
        };
        let by_operands = fits_operands(&spec.operands, &taken, &command.args, shifts);
        by_pattern.min(by_has).min(by_lacks).min(by_operands)
    }
}

/// Whether a command's first operands fit these patterns. From the argument `shifts` on, words may become
/// several or none. An operand behind an option may be the option's value, and is then none.
fn fits_operands(globs: &[Glob], taken: &Options<'_>, args: &[Word], shifts: Option<usize>) -> Fit {
    // For each number of patterns, how well the operands so far fit just these.
    let mut fits = vec![Fit::No; globs.len() + 1];
    fits[0] = Fit::Yes;
    let mut best = if globs.is_empty() { Fit::Yes } else { Fit::No };
    for (at, text) in &taken.operands {
        let by_skipping = if may_be_no_operand(args, *at, text) {
            Fit::Maybe
        } else {
            Fit::No
        };
        for number in (0..globs.len()).rev() {
            let fit = fits_operand(&globs[number], *at, args, shifts);
            let with_it = fits[number].min(fit);
            fits[number + 1] = with_it.max(fits[number + 1].min(by_skipping));
            fits[number] = fits[number].min(by_skipping);
        }
        best = best.max(fits[globs.len()]);
        if fits.iter().all(|fit| *fit == Fit::No) {
            break;
        }
    }
    // What shifts may become the operands that are missing.
    if best == Fit::No && shifts.is_some() && fits.iter().any(|fit| *fit != Fit::No) {
        return Fit::Maybe;
    }
    best
}

fn fits_operand(glob: &Glob, at: usize, args: &[Word], shifts: Option<usize>) -> Fit {
    let text = args.get(at).map_or("", Word::possible);
    let fit = match (glob.is_any(), text.contains(UNKNOWN)) {
        (true, _) => Fit::Yes,
        (false, true) if glob.may_fit(text, UNKNOWN) => Fit::Maybe,
        (false, true) => Fit::No,
        (false, false) => Fit::from(glob.fits(text, Case::Counts)),
    };
    // A word before it may become several words, none, or an option.
    let is_shifted = shifts.is_some_and(|shifts| shifts <= at);
    if is_shifted { Fit::Maybe } else { fit }
}

/// Whether an operand may be the value of the option before it (`git -C DIR push`), or a setting of its
/// own (`cargo +nightly publish`).
fn may_be_no_operand(args: &[Word], at: usize, text: &str) -> bool {
    let option = at.checked_sub(1).and_then(|before| args.get(before));
    let option = option.map_or("", |word| word.text.as_str());
    let takes_a_value = option.len() > 1 && option.starts_with('-') && !option.contains('=');
    text.starts_with('+') || (takes_a_value && option != "--")
}
