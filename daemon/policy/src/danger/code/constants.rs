//! Texts that code puts together out of constants: `'re' + 'boot'`, `['rm', 'x'].join(' ')`, `chr(114)`.

use super::calls::aliases;
use super::tokens::{Token, tokens};
use super::values::Values;
use crate::word_list::is_listed;

/// How often the tokens are read anew: each time, one more operation of an expression is done.
const MAX_PASSES: usize = 12;
/// The names whose values are known.
const MAX_NAMES: usize = 32;
/// Encodings that leave the characters of a text as they are.
const ENCODINGS: &str = "utf8 utf-8 ascii latin1 latin-1 iso-8859-1";
/// The bytes of a text in which values are put.
const MAX_TEXT: usize = 4_096;
/// The elements of a list that are put together.
const MAX_ELEMENTS: usize = 512;

/// The code for a program with each of these texts in one piece. `None`: it puts none together.
pub(crate) fn folded(program: &str, code: &str) -> Option<String> {
    let read = tokens(code);
    let constants = passes(&read);
    let known = constants.as_deref().unwrap_or(&read);
    let named = with_values(program, known).map(|named| passes(&named).unwrap_or(named));
    named.or(constants).map(|tokens| written(&tokens))
}

/// Folds until nothing is left to fold.
fn passes(tokens: &[Token]) -> Option<Vec<Token>> {
    let mut folded = pass(tokens)?;
    for _ in 1..MAX_PASSES {
        let Some(next) = pass(&folded) else {
            break;
        };
        folded = next;
    }
    Some(folded)
}

/// The tokens with each name of a constant as the constant: `a = 're'; f(a + b)`.
fn with_values(program: &str, tokens: &[Token]) -> Option<Vec<Token>> {
    let names = aliases(tokens);
    let mut changes = Values::of(program);
    for at in 0..=tokens.len() {
        changes.read(tokens, at);
    }
    let texts: Vec<(&str, &String)> = names
        .iter()
        .filter_map(|(name, text)| Some((name.strip_prefix('=')?, text)))
        .filter(|(name, text)| !name.is_empty() && !changes.is_other(name, text))
        .take(MAX_NAMES)
        .collect();
    let lists: Vec<(&str, &[Token])> = tokens
        .iter()
        .enumerate()
        .filter_map(|(at, token)| match (token, tokens.get(at + 1)) {
            (Token::Word(name), Some(Token::Sign('='))) if !changes.is_changed(name) => {
                let rest = tokens.get(at + 2..)?;
                let begins = matches!(rest.first(), Some(Token::Sign('[')));
                let (_, length) = list(rest).filter(|_| begins)?;
                Some((name.as_str(), rest.get(..length)?))
            }
            _ => None,
        })
        .take(MAX_NAMES)
        .collect();
    if texts.is_empty() && lists.is_empty() && !changes.are_any() {
        return None;
    }
    let mut values = Values::of(program);
    let mut named = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let is_target = values.read(tokens, at);
        // In `a = a + x` it tells that a text is added to.
        let is_added_to = at >= 2
            && matches!(before, Some(Token::Sign('=')))
            && tokens.get(at - 2) == Some(token);
        let is_own = is_target
            || is_added_to
            || matches!(tokens.get(at + 1), Some(Token::Sign('=' | '(' | ':')))
            || matches!(before, Some(Token::Sign('.' | ':')))
            // `x->f`, and not awk's `print > f`.
            || at >= 2
                && matches!(
                    tokens.get(at - 2..at),
                    Some([Token::Sign('-' | '='), Token::Sign('>')])
                );
        let in_text = |text: &str| {
            if !text.contains(['$', '{', '@']) {
                return text.to_owned();
            }
            let changed = changes
                .changed()
                .filter_map(|name| Some((name, values.text(name)?)));
            let all: Vec<(&str, &String)> = texts.iter().copied().chain(changed).collect();
            interpolated(text, &all)
        };
        match token {
            Token::Word(word) if !is_own && changes.is_changed(word) => {
                let text = values.text(word).cloned();
                named.push(text.map_or_else(|| token.clone(), Token::Text));
            }
            Token::Word(word) if !is_own => {
                let text = texts.iter().find(|(name, _)| name == word);
                let values = lists.iter().find(|(name, _)| name == word);
                match (text, values) {
                    (Some((_, text)), _) => named.push(Token::Text((*text).clone())),
                    (None, Some((_, values))) => named.extend_from_slice(values),
                    (None, None) => named.push(token.clone()),
                }
            }
            Token::Text(text) => named.push(Token::Text(in_text(text))),
            Token::Shell(text) => named.push(Token::Shell(in_text(text))),
            Token::Word(_) | Token::Sign(_) => named.push(token.clone()),
        }
    }
    (named != tokens).then_some(named)
}

/// A text with the values of the names in it: `"$a$b"`, `"#{a}"`, `f"{a}"`.
fn interpolated(text: &str, values: &[(&str, &String)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        for place in [
            format!("${{{name}}}"),
            format!("#{{{name}}}"),
            format!("{{{name}}}"),
            format!("${name}"),
        ] {
            if text.len() < MAX_TEXT {
                text = text.replace(&place, value);
            }
        }
    }
    text
}

fn pass(tokens: &[Token]) -> Option<Vec<Token>> {
    let mut folded = Vec::with_capacity(tokens.len());
    let mut has_changed = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at..).unwrap_or_default();
        if let Some((text, length)) = fold(rest, folded.last()) {
            folded.push(Token::Text(text));
            at += length;
            has_changed = true;
        } else {
            folded.push(token.clone());
            at += 1;
        }
    }
    has_changed.then_some(folded)
}

/// The text that these tokens begin with, and how many of them it takes.
fn fold(rest: &[Token], before: Option<&Token>) -> Option<(String, usize)> {
    use Token::{Sign, Text, Word};
    let is_argument = matches!(before, Some(Word(_) | Sign(')' | ']')));
    match rest {
        // A method is that of the second text alone.
        [
            Text(_),
            Sign('+' | '.'),
            Text(_),
            Sign('.' | ':'),
            Word(_),
            Sign('('),
            ..,
        ] => None,
        [Text(a), Sign('+' | '.' | '^' | '*' | '~'), Text(b), ..] => Some((a.clone() + b, 3)),
        [
            Text(a),
            Sign('.' | '+' | '<'),
            Sign('.' | '+' | '>'),
            Text(b),
            ..,
        ] => Some((a.clone() + b, 4)),
        [Text(a), Text(b), ..] => Some((a.clone() + b, 2)),
        [Word(word), Text(text), ..] if matches!(&**word, "b" | "rb" | "br" | "u") => {
            Some((text.clone(), 2))
        }
        [Sign('('), Text(text), Sign(')'), ..] if !is_argument => Some((text.clone(), 3)),
        [
            Text(text),
            Sign('['),
            Sign(':'),
            Sign(':'),
            Sign('-'),
            Word(one),
            Sign(']'),
            ..,
        ] if one == "1" => Some((reversed(text), 7)),
        [Text(format), Sign('%'), Text(value), ..] => {
            Some((formatted(format, "%s", std::slice::from_ref(value))?, 3))
        }
        [Text(format), Sign('%'), rest @ ..] => {
            let (values, length) = list(rest)?;
            Some((formatted(format, "%s", &values)?, 2 + length))
        }
        [Text(text), Sign('.' | ':'), Word(name), rest @ ..] => {
            let (changed, length) = of_method(text, name, rest)?;
            Some((changed, 3 + length))
        }
        [Sign('['), ..] => of_list(rest, is_argument),
        [Word(name), rest @ ..] => {
            let (text, length) = of_call(name, rest)?;
            Some((text, 1 + length))
        }
        _ => None,
    }
}

/// A method of a text: `'ab'.replace('a', 'b')`.
fn of_method(text: &str, name: &str, rest: &[Token]) -> Option<(String, usize)> {
    let (values, length) = list(rest).unwrap_or_default();
    let first = values.first().map_or("", String::as_str);
    let second = values.get(1).map_or("", String::as_str);
    let is_number = matches!(rest.get(1), Some(Token::Word(_)));
    let changed = match name {
        "decode" | "encode" if is_listed(&first.to_lowercase(), ENCODINGS) => text.to_owned(),
        "decode" | "encode" | "toString" | "to_s" | "strip" | "trim" | "valueOf"
            if values.is_empty() =>
        {
            text.to_owned()
        }
        "lower" | "toLowerCase" | "downcase" => text.to_lowercase(),
        "upper" | "toUpperCase" | "upcase" => text.to_uppercase(),
        "reverse" => reversed(text),
        "split" | "chars" if first.is_empty() => text.to_owned(),
        // To Lua, `sub` takes a part.
        "sub" if is_number => return None,
        "gsub" | "sub" if first.contains(is_pattern) => return None,
        // To some languages these replace the first one alone, or as often as is said.
        "replace" | "sub" if text.matches(first).count() > 1 => return None,
        "replace" | "replaceAll" | "gsub" | "sub" if !first.is_empty() && values.len() < 3 => {
            text.replace(first, second)
        }
        // A set of characters.
        "tr" | "delete" if first.len() == 1 && second.len() < 2 => text.replace(first, second),
        "concat" if length > 0 => text.to_owned() + &values.concat(),
        "format" if length > 0 => formatted(text, "{}", &values)?,
        // Python joins by the text; what JavaScript has split and turned is one text here.
        "join" if values.len() == 1 && text.is_empty() => first.to_owned(),
        "join" if values.len() == 1 && first.is_empty() => text.to_owned(),
        "join" if values.len() > 1 => values.join(text),
        _ => return None,
    };
    Some((changed, length))
}

/// Whether a character means more than itself in a pattern of Lua's.
fn is_pattern(c: char) -> bool {
    "^$()%.[]*+-?".contains(c)
}

/// A method of a list: `['rm', 'x'].join(' ')`, `[114, 109].pack('c*')`.
/// One that may be an index has one text: `x['a'].join`.
fn of_list(tokens: &[Token], may_be_index: bool) -> Option<(String, usize)> {
    let (values, length) = list(tokens)?;
    let [Token::Sign('.'), Token::Word(name), rest @ ..] = tokens.get(length..)? else {
        return None;
    };
    let (given, more) = list(rest).unwrap_or_default();
    let first = given.first().map_or("", String::as_str);
    let text = match &**name {
        "join" if !may_be_index || values.len() > 1 => values.join(first),
        "pack" => packed(first, &values)?,
        _ => return None,
    };
    Some((text, length + 2 + more))
}

/// A call that gives a text: `chr(114)`, `join('', 'a', 'b')`, `sprintf('%s', 'a')`.
fn of_call(name: &str, rest: &[Token]) -> Option<(String, usize)> {
    // `String.fromCharCode(…)`, `string.char(…)`.
    let method = match rest {
        [Token::Sign('.'), Token::Word(method), ..] => Some(method.as_str()),
        _ => None,
    };
    let (name, begin) = match (name, method) {
        ("String", Some("fromCharCode" | "fromCodePoint")) | ("string", Some("char")) => ("chr", 2),
        (_, None) => (name, 0),
        _ => return None,
    };
    let rest = rest.get(begin..)?;
    let (values, length) = list(rest).or_else(|| match rest {
        [Token::Text(text), ..] => Some((vec![text.clone()], 1)),
        _ => None,
    })?;
    let first = values.first()?.as_str();
    let others = values.get(1..).unwrap_or_default();
    let text = match name {
        "chr" | "bytes" | "bytearray" => packed("c*", &values)?,
        "pack" => packed(first, others)?,
        "strrev" | "reverse" | "reversed" => reversed(first),
        "lc" | "strtolower" => first.to_lowercase(),
        "uc" | "strtoupper" => first.to_uppercase(),
        "join" | "implode" if !others.is_empty() => others.join(first),
        "paste" => values.join(" "),
        "paste0" => values.concat(),
        "sprintf" | "format" if !others.is_empty() => formatted(first, "%s", others)?,
        "str_replace" if values.len() == 3 => values
            .get(2)?
            .replace(first, others.first().filter(|_| !first.is_empty())?),
        _ => return None,
    };
    Some((text, begin + length))
}

/// The texts and numbers in brackets, and how many tokens these are. All of them have to be constants.
fn list(tokens: &[Token]) -> Option<(Vec<String>, usize)> {
    let mut values = Vec::new();
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().take(MAX_ELEMENTS * 2) {
        match token {
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign(')' | ']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some((values, at + 1));
                }
            }
            _ if depth == 0 => return None,
            Token::Sign(',' | '\n') => {}
            Token::Text(text) => values.push(text.clone()),
            Token::Word(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                values.push(number.clone());
            }
            Token::Word(_) | Token::Shell(_) | Token::Sign(_) => return None,
        }
    }
    None
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// A format with its places filled.
fn formatted(format: &str, place: &str, values: &[String]) -> Option<String> {
    if !format.contains(place) && !format.contains("{0}") {
        return None;
    }
    let mut text = format.to_owned();
    for (number, value) in values.iter().enumerate() {
        text = text.replace(&format!("{{{number}}}"), value);
        text = text.replacen(place, value, 1);
    }
    Some(text)
}

/// Characters by their numbers, or by their hexadecimal digits.
fn packed(template: &str, values: &[String]) -> Option<String> {
    if template.starts_with('H') {
        let digits = values.first()?;
        let pairs = digits.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        let bytes: Option<Vec<u8>> = bytes.collect();
        return String::from_utf8(bytes?).ok();
    }
    let number = |text: &String| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let chars = values
        .iter()
        .map(|text| number(text).and_then(char::from_u32));
    let text: Option<String> = chars.collect();
    text.filter(|text| !text.is_empty())
}

/// Tokens as code.
fn written(tokens: &[Token]) -> String {
    let mut code = String::new();
    let mut was_word = false;
    for token in tokens {
        let is_word = !matches!(token, Token::Sign(_));
        if is_word && was_word {
            code.push(' ');
        }
        match token {
            Token::Word(word) => code.push_str(word),
            Token::Sign('#') => code.push_str("# "),
            Token::Sign(sign) => code.push(*sign),
            Token::Shell(text) => {
                code.push('`');
                code.push_str(text);
                code.push('`');
            }
            Token::Text(text) => {
                code.push('\'');
                code.push_str(&text.replace('\\', "\\\\").replace('\'', "\\'"));
                code.push('\'');
            }
        }
        was_word = is_word;
    }
    code
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn constants_are_put_together() {
        let table = [
            ("x('re' + 'boot')", "x('reboot')"),
            ("x(\"re\" . \"boot\")", "x('reboot')"),
            ("x(\"re\" .. \"boot\")", "x('reboot')"),
            ("x('re' 'boot')", "x('reboot')"),
            ("x(('re' + 'bo') + 'ot')", "x('reboot')"),
            ("x('toober'[::-1])", "x('reboot')"),
            ("x('toober'.reverse)", "x('reboot')"),
            ("x(('toober'):reverse())", "x('reboot')"),
            ("x('toober'.split('').reverse().join(''))", "x('reboot')"),
            ("x(''.join(reversed('toober')))", "x('reboot')"),
            ("x(' '.join(['rm', '-rf']))", "x('rm -rf')"),
            ("x(['rm', '-rf'].join(' '))", "x('rm -rf')"),
            ("x(join('', 're', 'boot'))", "x('reboot')"),
            ("x(paste('rm', 'x'))", "x('rm x')"),
            ("x('%s%s' % ('re', 'boot'))", "x('reboot')"),
            ("x('{}{}'.format('re', 'boot'))", "x('reboot')"),
            ("x(sprintf('%sboot', 're'))", "x('reboot')"),
            ("x('reXboot'.replace('X', ''))", "x('reboot')"),
            ("x(chr(114) + chr(109))", "x('rm')"),
            ("x(String.fromCharCode(114, 0x6d))", "x('rm')"),
            ("x([114, 109].pack('c*'))", "x('rm')"),
            ("exec pack('H*', '726d'), 'x'", "exec 'rm','x'"),
            ("x(b'rm'.decode())", "x('rm')"),
            (
                "a = 're'; b = 'boot'; x(a + b)",
                "a='re';b='boot';x('reboot')",
            ),
            ("$c = 're' . 'boot'; x($c)", "c='reboot';x('reboot')"),
            ("a = ['r', 'm']; x(''.join(a))", "a=['r','m'];x('rm')"),
            ("$a = 'rm'; x(\"$a -r\")", "a='rm';x('rm -r')"),
            ("eval ['726d'].pack('H*')", "eval 'rm'"),
            ("a = 'rm'; a += ' -r'; x(a)", "a='rm';a+=' -r';x('rm -r')"),
            (
                "a = 'rm'; x(a); a = 'ls'; x(a)",
                "a='rm';x('rm');a='ls';x('ls')",
            ),
            ("a = 'r'; a << 'm'; x(\"#{a} y\")", "a='r';a<<'m';x('rm y')"),
            ("x(lc('RM'))", "x('rm')"),
            ("os['sys' + 'tem']('x')", "os['system']('x')"),
        ];
        for (code, is) in table {
            assert_eq!(folded("x", code).as_deref(), Some(is), "{code}");
        }
        for code in [
            "x('a', 'b')",
            "x(a + b)",
            "x('a' + b)",
            "a = 'r'.f(); x(a)",
            "a = 'r'; a += b; x(a)",
            "f(1)",
            "[[[[",
            "",
            "x['a']",
        ] {
            assert_eq!(folded("x", code), None, "{code}");
        }
    }
}
