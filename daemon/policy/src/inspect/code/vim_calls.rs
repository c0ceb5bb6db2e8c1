//! What functions of vim run that take a text as keys, as an expression or as the name of a function:
//! <https://vimhelp.org/builtin.txt.html>.

use super::arguments::Arguments;
use super::code_tokens::CodeTokens;
use super::started::Started;
use crate::danger::code::call_effect::CallEffect;
use crate::danger::code::tokens::Token;
use crate::word_list::is_listed;

/// Functions that take keys or commands.
const TAKES_COMMANDS: &str = "feedkeys execute win_execute assert_fails nvim_command nvim_exec nvim_exec2 nvim_input nvim_feedkeys";
/// Functions that take an expression, of vim's or of another language.
const TAKES_EXPRESSIONS: &str = "
    eval map mapnew filter foreach indexof sort uniq substitute timer_start luaeval pyeval py3eval pyxeval perleval rubyeval
    mzeval";
/// Functions that take the name of a function.
const TAKES_NAMES: &str = "call function funcref";
/// Functions of libraries: what they do is not known.
const CALLS_LIBRARIES: &str = "libcall libcallnr";

/// What such calls run.
pub(super) fn started(code: CodeTokens<'_>) -> Started {
    let mut started = Started::default();
    for at in 0..code.all().len() {
        let Some(name) = code.word(at).filter(|_| code.sign(at + 1) == Some('(')) else {
            continue;
        };
        let arguments = Arguments::new(code, at + 1);
        let texts = arguments.tokens().iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        });
        if is_listed(name, CALLS_LIBRARIES) {
            started.may_start = true;
        } else if is_listed(name, TAKES_COMMANDS) {
            started.may_start |= !arguments.are_literal();
            for text in texts {
                started.may_start |= text.contains([':', '@', '!']);
                // `<CR>` ends a line of keys.
                let line = text.split_once('!').map(|(_, line)| line);
                let line = line.and_then(|line| line.split(['<', '\n', '\r']).next());
                started.lines.extend(line.map(str::to_owned));
            }
        } else if is_listed(name, TAKES_NAMES) {
            let is_starter = |name: &str| CallEffect::Starts.is_of(name);
            started.may_start |= !arguments.are_literal() || texts.clone().any(is_starter);
        } else if is_listed(name, TAKES_EXPRESSIONS) {
            let expressions = texts.filter(|text| text.contains('('));
            started.code.extend(expressions.map(str::to_owned));
        }
    }
    started
}
