//! A command by its program's row.

use super::form::{Form, Match};
use super::row::ProgramRow;
use crate::program::options::{Options, Order, options_of};
use crate::shell::word::Word;

/// A command by its program's row. Its options are taken apart once for each way in which they end.
#[derive(Debug)]
pub(crate) struct Call<'r, 'a> {
    row: &'r ProgramRow,
    args: &'a [Word],
    verb: Option<&'a str>,
    parsed: Vec<(Order, std::rc::Rc<Options<'a>>)>,
}

impl<'r, 'a> Call<'r, 'a> {
    pub(crate) fn new(row: &'r ProgramRow, args: &'a [Word]) -> Self {
        let mut call = Self {
            row,
            args,
            verb: None,
            parsed: Vec::new(),
        };
        // `docker compose run` has the options of `run` behind those of `compose`.
        for number in 0..row.max_verbs() {
            let verb = call.options(Some(Order::Permuted)).operand(number);
            call.parsed.clear();
            match verb.filter(|verb| row.is_verb(verb)) {
                Some(verb) => call.verb = Some(verb),
                None => break,
            }
        }
        call
    }

    pub(crate) fn row(&self) -> &'r ProgramRow {
        self.row
    }

    pub(crate) fn args(&self) -> &'a [Word] {
        self.args
    }

    /// The options, which end as given, or else as the row says.
    pub(crate) fn options(&mut self, order: Option<Order>) -> std::rc::Rc<Options<'a>> {
        let of_row = if self.row.options_first {
            Order::OptionsFirst
        } else {
            Order::Permuted
        };
        let order = order.unwrap_or(of_row);
        if let Some((_, options)) = self.parsed.iter().find(|(known, _)| *known == order) {
            return options.clone();
        }
        let (valued, long) = (self.row.valued(self.verb), self.row.long_options());
        let options = std::rc::Rc::new(options_of(self.args, valued, order, long));
        self.parsed.push((order, options.clone()));
        options
    }

    /// What fits the first of these forms that the command is of.
    pub(crate) fn first(&mut self, forms: &[Form]) -> Option<Match<'a>> {
        forms.iter().find_map(|form| form.fits(self))
    }

    /// What fits each of these forms.
    pub(crate) fn all(&mut self, forms: &[Form]) -> Vec<Match<'a>> {
        forms.iter().filter_map(|form| form.fits(self)).collect()
    }

    /// Whether the program only tells how it is used.
    pub(crate) fn asks_for_help(&mut self) -> bool {
        let options = self.options(None);
        let asks = |name: &str| options.given(&[name.to_owned()], &|_| true).is_some();
        let is_alone = options.operands.is_empty();
        self.row.help != Some(false) && (asks("help") || (is_alone && asks("version")))
    }
}
