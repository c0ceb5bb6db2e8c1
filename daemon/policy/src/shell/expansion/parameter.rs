//! What stands between the braces of `${…}` (bash(1), Parameter Expansion).

/// Directories that the environment names. By custom their names hold no blank.
pub(super) const CUSTOMARY_DIRECTORIES: [&str; 16] = [
    "HOME",
    "PWD",
    "OLDPWD",
    "TMPDIR",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "JAVA_HOME",
    "CARGO_HOME",
    "GOPATH",
    "GOROOT",
    "GITHUB_WORKSPACE",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
];

/// A parameter, and what is to be made of its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference<'a> {
    /// Empty for a name in a name (`${!x}`).
    pub(super) name: &'a str,
    pub(super) subscript: Option<&'a str>,
    pub(super) operator: ParameterOperator<'a>,
    /// Whether an empty value counts as none: `${x:-word}`, not `${x-word}`.
    pub(super) tests_emptiness: bool,
}

/// What is made of the value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterOperator<'a> {
    None,
    /// `${x:-word}`, `${x-word}`, `${x:=word}`, `${x=word}`.
    Default(&'a str),
    /// `${x:+word}`, `${x+word}`.
    Alternative(&'a str),
    /// `${x:?word}`, `${x?word}`.
    Required,
    /// `${#x}`.
    Number,
    /// `${x:offset}`, `${x:offset:length}`, by numbers.
    Slice(i64, Option<i64>),
    /// Anything else: a part of the value, or another form of it.
    Other,
}

impl Reference<'_> {
    /// Whether it may stand for several words in quotes: it names all elements, or is a name in a name.
    pub(super) fn may_be_list(&self) -> bool {
        self.is_list() || self.name.is_empty()
    }

    /// Whether it names all elements of an array, or all positional parameters.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.subscript, Some("@" | "*")) || matches!(self.name, "@" | "*")
    }

    /// Whether it names positional parameters or a parameter that the shell sets.
    pub(super) fn is_positional(&self) -> bool {
        self.name
            .starts_with(|c: char| c.is_ascii_digit() || "@*#?-$!".contains(c))
    }
}

/// Reads what stands between the braces.
pub(super) fn reference(inner: &str) -> Reference<'_> {
    let unknown = |operator| Reference {
        name: "",
        subscript: None,
        operator,
        tests_emptiness: true,
    };
    if inner.len() > 1 && inner.starts_with('#') {
        return unknown(ParameterOperator::Number);
    }
    if inner.len() > 1 && inner.starts_with('!') {
        return unknown(ParameterOperator::Other);
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = match inner.chars().next() {
        Some(c) if c.is_ascii_digit() => inner.find(|c: char| !c.is_ascii_digit()),
        Some(c) if is_part(c) => inner.find(|c| !is_part(c)),
        Some(c) if "@*#?-$!".contains(c) => Some(1),
        _ => return unknown(ParameterOperator::Other),
    };
    let (name, rest) = inner.split_at(end.unwrap_or(inner.len()));
    let (subscript, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((subscript, rest)) => (Some(subscript), rest),
        None => (None, rest),
    };
    Reference {
        name,
        subscript,
        operator: operator(rest),
        tests_emptiness: rest.starts_with(':'),
    }
}

fn operator(rest: &str) -> ParameterOperator<'_> {
    let behind_colon = rest.strip_prefix(':').unwrap_or(rest);
    let mut chars = behind_colon.chars();
    let first = chars.next();
    let word = chars.as_str();
    match first {
        None if rest.is_empty() => ParameterOperator::None,
        Some('-' | '=') => ParameterOperator::Default(word),
        Some('+') => ParameterOperator::Alternative(word),
        Some('?') => ParameterOperator::Required,
        _ if rest.starts_with(':') => slice(behind_colon).unwrap_or(ParameterOperator::Other),
        _ => ParameterOperator::Other,
    }
}

/// `offset` and `offset:length`. `None`: they are no plain numbers.
fn slice(text: &str) -> Option<ParameterOperator<'_>> {
    let (offset, length) = match text.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (text, None),
    };
    let length = match length {
        Some(length) => Some(number(length)?),
        None => None,
    };
    Some(ParameterOperator::Slice(number(offset)?, length))
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim();
    // To the shell `010` is eight.
    let is_octal = text.len() > 1 && text.starts_with('0');
    text.parse().ok().filter(|_| !is_octal)
}
