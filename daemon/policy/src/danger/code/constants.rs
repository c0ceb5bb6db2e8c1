//! Texts that code puts together out of constants: `'re' + 'boot'`, `['rm', 'x'].join(' ')`, `chr(114)`.

use super::tokens::{Token, tokens};

/// How often the tokens are read anew: each time, one more operation of an expression is done.
const MAX_PASSES: usize = 12;
/// The elements of a list that are put together.
const MAX_ELEMENTS: usize = 512;

/// The code with each of these texts in one piece. `None`: it puts none together.
pub(crate) fn folded(code: &str) -> Option<String> {
    let mut read = tokens(code);
    let mut has_changed = false;
    for _ in 0..MAX_PASSES {
        let Some(next) = pass(&read) else {
            break;
        };
        read = next;
        has_changed = true;
    }
    has_changed.then(|| written(&read))
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
            Some((formatted(format, "%s", &[value.clone()])?, 3))
        }
        [Text(format), Sign('%'), rest @ ..] => {
            let (values, length) = list(rest)?;
            Some((formatted(format, "%s", &values)?, 2 + length))
        }
        [Text(text), Sign('.' | ':'), Word(name), rest @ ..] => {
            let (changed, length) = of_method(text, name, rest)?;
            Some((changed, 3 + length))
        }
        [Sign('['), ..] if !is_argument => of_list(rest),
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
    let changed = match name {
        "decode" | "encode" | "toString" | "to_s" | "strip" | "trim" | "valueOf" => text.to_owned(),
        "lower" | "toLowerCase" | "downcase" => text.to_lowercase(),
        "upper" | "toUpperCase" | "upcase" => text.to_uppercase(),
        "reverse" => reversed(text),
        "split" | "chars" if first.is_empty() => text.to_owned(),
        "replace" | "replaceAll" | "gsub" | "sub" | "tr" | "delete" if !first.is_empty() => {
            text.replace(first, second)
        }
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

/// A method of a list: `['rm', 'x'].join(' ')`, `[114, 109].pack('c*')`.
fn of_list(tokens: &[Token]) -> Option<(String, usize)> {
    let (values, length) = list(tokens)?;
    let [Token::Sign('.'), Token::Word(name), rest @ ..] = tokens.get(length..)? else {
        return None;
    };
    let (given, more) = list(rest).unwrap_or_default();
    let first = given.first().map_or("", String::as_str);
    let text = match &**name {
        "join" => values.join(first),
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
    let first = values.first().map_or("", String::as_str);
    let others = values.get(1..).unwrap_or_default();
    let text = match name {
        "chr" | "bytes" | "bytearray" => packed("c*", &values)?,
        "pack" => packed(first, others)?,
        "strrev" | "reverse" | "reversed" => reversed(first),
        "join" | "implode" if !others.is_empty() => others.join(first),
        "paste" => values.join(" "),
        "paste0" => values.concat(),
        "sprintf" | "format" if !others.is_empty() => formatted(first, "%s", others)?,
        "str_replace" if values.len() == 3 => {
            values.get(2)?.replace(first, others.first().filter(|_| !first.is_empty())?)
        }
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
    let chars = values.iter().map(|text| number(text).and_then(char::from_u32));
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
            ("os['sys' + 'tem']('x')", "os['system']('x')"),
        ];
        for (code, is) in table {
            assert_eq!(folded(code).as_deref(), Some(is), "{code}");
        }
        for code in ["x('a', 'b')", "x(a + b)", "x('a' + b)", "f(1)", "[[[[", "", "x['a']"] {
            assert_eq!(folded(code), None, "{code}");
        }
    }
}
