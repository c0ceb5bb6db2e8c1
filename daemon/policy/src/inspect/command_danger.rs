//! Why a command is not safe: by the table of programs, by termd's own files, by what the text has linked and
//! fetched, and because nothing is known of it.

use termd_proto::policy::{Span, Verdict};
use termd_proto::terminal::Front;

use super::cwd::own_directories;
use super::fetched::runs_directory;
use super::finding::InspectedCommand;
use super::harmless_code::runs_harmless_code;
use super::inspection::Inspection;
use super::inspector::FETCHED;
use super::stdin::Stdin;
use crate::danger::{self, Danger};
use crate::program::kind::{ProgramKind, base_name, program_kind};
use crate::program::table::ProgramTable;
use crate::shell::state::place::Place;
use crate::shell::word::Word;

/// Whether a command so far may have told which process is termd. Each is looked at once: a pattern is
/// compiled for it.
#[derive(Debug, Default)]
pub(super) struct DaemonSearch {
    looked_at: usize,
    is_found: bool,
}

impl DaemonSearch {
    fn has_found(&mut self, commands: &[InspectedCommand]) -> bool {
        let mut new = commands.iter().skip(self.looked_at);
        let finds =
            |command: &InspectedCommand| danger::daemon::finds(&command.program, &command.args);
        self.is_found = self.is_found || new.any(finds);
        self.looked_at = commands.len();
        self.is_found
    }
}

impl Inspection {
    /// Why a command is not safe. `path` is its first word. Learns of what it fetches.
    pub(super) fn danger_of(
        &mut self,
        path: &str,
        program: &str,
        args: &[Word],
        stdin: &Stdin,
    ) -> Option<Danger> {
        let programs = self.programs.clone();
        let mut place = self.state.place.clone();
        for directory in own_directories(program, args) {
            place.enter(directory);
        }
        let is_found =
            danger::daemon::takes_numbers(program) && self.daemon_search.has_found(&self.commands);
        // Of prose a word may be a verb, and names no program by that.
        let may_be_prose = self.reader == Some(ProgramKind::Other);
        let is_prose = may_be_prose && programs.row(program).is_none();
        let of_daemon = danger::daemon::of_command(programs.daemon(), program, args, is_found);
        self.for_front(of_daemon)
            .or_else(|| {
                let danger = || danger::own_files::of_command(&programs, &place, program, args);
                if is_prose {
                    None
                } else {
                    self.for_front(danger())
                }
            })
            .or_else(|| danger::of_init_script(path, args).map(Danger::from))
            .or_else(|| {
                let danger = || danger::of_command(&programs, &place, program, args);
                if is_prose { None } else { danger() }
            })
            .or_else(|| self.danger_through_links(&place, program, args))
            .or_else(|| self.danger_of_fetched(path, program, args))
            .or_else(|| self.unlisted(program, args, stdin))
    }

    /// A danger, unless it is none to who asks: what only a person agrees to, a person does not have to be asked about.
    /// The same command may be dangerous for another reason.
    fn for_front(&self, danger: Option<Danger>) -> Option<Danger> {
        let is_persons = self.front == Some(Front::Cli);
        danger.filter(|danger| !is_persons || !danger.needs_person)
    }

    /// Why a command is dangerous by what its links lead to, which the text has made.
    fn danger_through_links(
        &mut self,
        place: &Place,
        program: &str,
        args: &[Word],
    ) -> Option<Danger> {
        let args = self.written.links().followed(program, args)?;
        let programs = self.programs.clone();
        let span = args
            .first()
            .map_or(Span { start: 0, end: 0 }, |word| word.span);
        self.learn_flow(program, &args, span);
        self.for_front(danger::own_files::of_command(
            &programs, place, program, &args,
        ))
        .or_else(|| danger::of_command(&programs, place, program, &args))
    }

    /// Why a command is dangerous that runs a file which the text has fetched. Learns of such files.
    fn danger_of_fetched(&mut self, path: &str, program: &str, args: &[Word]) -> Option<Danger> {
        let programs = self.programs.clone();
        let fetched = &mut self.fetched;
        let files = danger::fetched_files(&programs, program, args);
        fetched.files.extend(files);
        if program == "mkfifo" {
            // Whatever is written to it runs.
            let names = args.iter().map(|word| base_name(&word.text).to_owned());
            fetched.files.extend(names);
        }
        let is_fetched = |path: &str| fetched.has(path);
        let works_here = runs_directory(program);
        let runs_files = matches!(
            program_kind(program),
            ProgramKind::Shell | ProgramKind::Code
        ) || matches!(program, "source" | ".");
        let script = args.iter().find(|word| !word.text.starts_with('-'));
        let run_files = danger::run_files(&programs, program, args);
        let runs = (path.contains('/') && is_fetched(path))
            || run_files.iter().any(|file| is_fetched(file))
            || (works_here && fetched.is_inside)
            || (works_here
                && args
                    .iter()
                    .any(|word| is_fetched(&format!("{}/x", word.text))))
            || ((runs_files || works_here) && script.is_some_and(|word| is_fetched(&word.text)));
        runs.then(|| Danger::unread(Verdict::Dangerous, FETCHED.to_owned()))
    }

    /// Why a command is unknown that is in no table, where such commands are asked about.
    fn unlisted(&self, program: &str, args: &[Word], stdin: &Stdin) -> Option<Danger> {
        // What a function of the text does is judged by its body.
        if !self.asks_unlisted || self.state.function(program).is_some() {
            return None;
        }
        let programs = &self.programs;
        let is_harmless = danger::is_harmless(programs, program, args)
            || runs_harmless_code(programs, program, args, stdin.text());
        (!is_harmless).then(|| Danger {
            verdict: Verdict::Unknown,
            ..unlisted_reason(programs, program, args).into()
        })
    }
}

/// Why a command is not harmless that nothing is known against.
fn unlisted_reason(programs: &ProgramTable, program: &str, args: &[Word]) -> String {
    match programs.row(program) {
        Some(_) => format!(
            "`{}` is not known to do no harm",
            danger::beginning(program, args)
        ),
        None => format!("nothing is known of `{program}`"),
    }
}
