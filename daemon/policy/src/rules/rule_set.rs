//! Rules of config.toml: what a person has decided about commands, before anybody asks.
//!
//! The first rule that fits a command decides. A command of which not everything is known may fit a
//! rule: one that forbids or asks is then never skipped, and one that allows is. It must not know
//! files, or where a rule was read.

use termd_proto::policy::{Effect, Verdict};
use termd_proto::terminal::Front;

use crate::glob::Case;
use crate::inspect::cwd::Whereabouts;
use crate::inspect::inspector::{Finding, Seen};
use crate::profile::ProfileName;
use crate::program::options::{Options, Order, Valued, options};
use crate::rules::spec::{Flag, FlagName, RuleSpec};
use crate::shell::word::{UNKNOWN, Word};
use crate::{Known, What};

/// Most rules: more are a fault, and would be tried for each command.
pub(crate) const MAX_RULES: usize = 256;

/// Whether a rule fits. Of several conditions the least holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    No,
    /// What is known of the command does not say.
    Maybe,
    Yes,
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

/// One rule, ready.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) spec: RuleSpec,
    /// Where it stands in the file, from 1.
    pub(crate) line: usize,
    /// Its directory with links resolved, where that is another.
    pub(crate) real_cwd: Option<String>,
}

/// All rules, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) rules: Vec<Rule>,
}

/// Who asks, and from where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    pub(crate) front: Front,
    pub(crate) client: Option<&'a str>,
    pub(crate) uid: Option<u32>,
    pub(crate) whereabouts: &'a Whereabouts,
    /// The whole text, and how much of it is known.
    pub(crate) text: (What<'a>, Known),
}

/// What rules are asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// A command.
    Command(&'a Seen),
    /// Something about the text that is no command's.
    Finding(&'a Finding),
    /// A text in which there is nothing.
    Nothing,
}

/// What the rules say of one subject.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ruled {
    /// The rule that fits: its number from 1.
    pub(crate) fits: Option<usize>,
    /// What it says is done.
    pub(crate) effect: Option<Effect>,
    /// A rule before it that forbids or asks, and may fit.
    pub(crate) may_fit: Option<usize>,
    /// What it is to be run under.
    pub(crate) profiles: Vec<ProfileName>,
}

impl Rules {
    /// The line of a rule in the file, both from 1.
    pub(crate) fn line(&self, number: usize) -> Option<usize> {
        let rule = self.rules.get(number.checked_sub(1)?)?;
        Some(rule.line)
    }

    /// What they say.
    pub(crate) fn ask(&self, subject: Subject<'_>, circumstances: Circumstances<'_>) -> Ruled {
        let mut ruled = Ruled::default();
        for (rule, number) in self.rules.iter().zip(1..) {
            let fit = rule.fits(subject, circumstances);
            let allows = rule.spec.effect == Some(Effect::Allow);
            let profile = rule
                .spec
                .profile
                .as_ref()
                .map(|name| name.get_ref().clone());
            match fit {
                Fit::No => {}
                Fit::Maybe => {
                    ruled.profiles.extend(profile);
                    if !allows && rule.spec.effect.is_some() && ruled.may_fit.is_none() {
                        ruled.may_fit = Some(number);
                    }
                }
                Fit::Yes => {
                    ruled.fits = Some(number);
                    ruled.effect = rule.spec.effect;
                    ruled.profiles.extend(profile);
                    break;
                }
            }
        }
        ruled
    }
}

impl Rule {
    fn fits(&self, subject: Subject<'_>, circumstances: Circumstances<'_>) -> Fit {
        let spec = &self.spec;
        let by_front = spec.front.as_ref();
        let by_front = by_front.is_none_or(|fronts| fronts.0.contains(&circumstances.front));
        let by_client = spec.client.as_ref().is_none_or(|glob| {
            let client = circumstances.client;
            client.is_some_and(|client| glob.fits(client, Case::Ignored))
        });
        let by_uid = spec.uid.is_none_or(|uid| circumstances.uid == Some(uid));
        if !(by_front && by_client && by_uid) {
            return Fit::No;
        }
        self.fits_directory(circumstances.whereabouts)
            .min(self.fits_text(circumstances.text))
            .min(self.fits_subject(subject))
    }

    fn fits_text(&self, (what, known): (What<'_>, Known)) -> Fit {
        match (&self.spec.command, known) {
            (None, _) => Fit::Yes,
            (Some(command), Known::Whole) => Fit::from(command.is(what)),
            // What was typed into a recalled line may have made it this one.
            (Some(_), Known::Recalled) => Fit::Maybe,
            // It is more than this, or is judged again when it is whole.
            (Some(_), Known::Begun | Known::TooLong) => Fit::No,
        }
    }

    fn fits_directory(&self, whereabouts: &Whereabouts) -> Fit {
        let Some(cwd) = &self.spec.cwd else {
            return Fit::Yes;
        };
        let by_name = whereabouts.within(&cwd.0);
        let real = self.real_cwd.as_deref();
        by_name.max(real.map_or(Fit::No, |real| whereabouts.within(real)))
    }

    /// Whether it says anything of a command.
    fn asks_for_a_command(&self) -> bool {
        let spec = &self.spec;
        spec.program.is_some()
            || spec.arguments.is_some()
            || !spec.has.is_empty()
            || !spec.lacks.is_empty()
            || !spec.operands.is_empty()
    }

    fn fits_subject(&self, subject: Subject<'_>) -> Fit {
        if !self.asks_for_a_command() {
            return Fit::Yes;
        }
        match subject {
            Subject::Command(seen) => self.fits_command(seen),
            // A cap, or a text that cannot be read: what is behind it may be anything.
            Subject::Finding(finding) if finding.verdict == Verdict::Unknown => Fit::Maybe,
            Subject::Finding(_) | Subject::Nothing => Fit::No,
        }
    }

    fn fits_command(&self, seen: &Seen) -> Fit {
        let by_program = match &self.spec.program {
            None => Fit::Yes,
            Some(_) if seen.computed => Fit::Maybe,
            Some(name) => Fit::from(seen.program == name.0),
        };
        if by_program == Fit::No {
            return Fit::No;
        }
        by_program.min(self.fits_arguments(seen))
    }

    fn fits_arguments(&self, seen: &Seen) -> Fit {
        let spec = &self.spec;
        let unclear = seen.args.iter().any(|word| !word.is_known());
        // What does not fit as far as it is known may do so once it runs.
        let or_maybe = |fits: bool| match fits {
            true => Fit::Yes,
            false if unclear => Fit::Maybe,
            false => Fit::No,
        };
        let pattern = spec.arguments.as_ref();
        let by_pattern = or_maybe(pattern.is_none_or(|regex| regex.0.is_match(&seen.arguments)));
        if spec.has.is_empty() && spec.lacks.is_empty() && spec.operands.is_empty() {
            return by_pattern;
        }
        let valued: Vec<&str> = names_of(&spec.valued);
        let taken = options(&seen.args, Valued::These(&valued), Order::Permuted);
        let given = |flag: &Flag| is_given(flag, &taken, &seen.args);
        let by_has = or_maybe(spec.has.iter().all(given));
        let by_lacks = match (spec.lacks.iter().any(given), unclear) {
            (true, _) => Fit::No,
            (false, true) if !spec.lacks.is_empty() => Fit::Maybe,
            (false, _) => Fit::Yes,
        };
        let operands = spec.operands.iter().enumerate();
        let by_operands = operands.map(|(at, glob)| match taken.operand(at) {
            // A word that is not known may be several, none, or an option.
            Some(text) if text.contains(UNKNOWN) && !glob.is_any() => Fit::Maybe,
            Some(text) => or_maybe(glob.fits(text, Case::Counts)),
            None => or_maybe(false),
        });
        let by_operands = by_operands.min().unwrap_or(Fit::Yes);
        by_pattern.min(by_has).min(by_lacks).min(by_operands)
    }
}

/// The names of options, as [`options`] takes them.
fn names_of(flags: &[Flag]) -> Vec<&str> {
    let names = flags.iter().flat_map(|flag| &flag.0);
    let names = names.flat_map(|name| match name {
        FlagName::Long(name) => std::slice::from_ref(name),
        FlagName::Short(letters) => letters.as_slice(),
    });
    names.map(String::as_str).collect()
}

fn is_given(flag: &Flag, taken: &Options<'_>, args: &[Word]) -> bool {
    flag.0.iter().any(|name| match name {
        FlagName::Long(name) => taken.has(&[name]),
        FlagName::Short(letters) => {
            let each = letters.iter().all(|letter| taken.has_exactly(letter));
            each || (letters.len() > 1 && stands_as_word(&letters.concat(), args))
        }
    })
}

/// Whether `-delete` is there as it is, perhaps with a value.
fn stands_as_word(name: &str, args: &[Word]) -> bool {
    let options = args.iter().take_while(|word| word.text != "--");
    options
        .filter_map(|word| word.text.strip_prefix('-'))
        .any(|given| {
            given
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
}
