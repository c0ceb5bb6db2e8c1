//! What is typed into a program, and where things have to stand then.

/// Some steps in one program.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Step>,
}

/// What is typed, and the answer that is right.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) typed: Typed,
    pub(crate) state: State,
    /// `None`: any, or none.
    pub(crate) exit_code: Option<i64>,
    pub(crate) output: Output,
    /// How long the program works on it, in milliseconds.
    pub(crate) takes_ms: u64,
}

impl Scenario {
    /// Whether several lines are typed at once.
    pub(crate) fn has_lines(&self) -> bool {
        let has_lines =
            |step: &Step| matches!(&step.typed, Typed::Line(line) if line.contains('\n'));
        self.steps.iter().any(has_lines)
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Typed {
    /// A line, and Enter.
    Line(String),
    Secret(&'static str),
    /// A key by its name, such as `ctrl-c`.
    Key(&'static str),
    /// Characters without Enter.
    Keys(&'static str),
    /// The terminal is only read.
    Nothing,
}

/// The word of the sets for where things stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Done,
    /// The caller does not wait for its end.
    Running,
    AwaitingInput,
    AwaitingSecret,
    FullScreen,
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::AwaitingInput => "awaiting_input",
            Self::AwaitingSecret => "awaiting_secret",
            Self::FullScreen => "full_screen",
        }
    }
}

/// The output that is right. The newline that ends it does not count.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    Is(String),
    /// One of these.
    OneOf(&'static [&'static str]),
    /// It holds this: the words are the program's, and differ from version to version.
    Holds(&'static str),
    /// It begins and ends like this, and has something left out.
    Ends(&'static str, &'static str),
    Any,
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::Is(text.to_owned())
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::Is(text)
    }
}

impl Output {
    pub(crate) fn is(&self, output: &str) -> bool {
        let shown = output.strip_suffix('\n').unwrap_or(output);
        let same = |it: &str| it.strip_suffix('\n').unwrap_or(it) == shown;
        match self {
            Self::Is(text) => same(text),
            Self::OneOf(texts) => texts.iter().any(|it| same(it)),
            Self::Holds(text) => output.contains(text),
            Self::Ends(first, last) => shown.starts_with(first) && shown.ends_with(last),
            Self::Any => true,
        }
    }
}

impl Step {
    /// Of a command that ends with this exit code.
    pub(crate) fn exits(self, code: i64) -> Self {
        Self {
            exit_code: Some(code),
            ..self
        }
    }

    /// Whatever its exit code is: the program that is typed to has none for its lines.
    pub(crate) fn exits_somehow(self) -> Self {
        Self {
            exit_code: None,
            ..self
        }
    }

    pub(crate) fn takes(self, milliseconds: u64) -> Self {
        Self {
            takes_ms: milliseconds,
            ..self
        }
    }

    pub(crate) fn typed(self, typed: Typed) -> Self {
        Self { typed, ..self }
    }

    /// The only step of a scenario.
    pub(crate) fn alone(self, name: &'static str) -> Scenario {
        steps(name, vec![self])
    }
}

fn step(line: &str, state: State, output: impl Into<Output>) -> Step {
    Step {
        typed: Typed::Line(line.to_owned()),
        state,
        exit_code: None,
        output: output.into(),
        takes_ms: 0,
    }
}

/// A line whose command ends well.
pub(crate) fn done(line: &str, output: impl Into<Output>) -> Step {
    step(line, State::Done, output).exits(0)
}

/// A line after which another one is read.
pub(crate) fn awaits(line: &str, output: impl Into<Output>) -> Step {
    step(line, State::AwaitingInput, output)
}

/// A line after which a secret is read.
pub(crate) fn awaits_secret(line: &str, output: impl Into<Output>) -> Step {
    step(line, State::AwaitingSecret, output)
}

/// A line whose command the caller does not wait for.
pub(crate) fn runs(line: &str, output: impl Into<Output>) -> Step {
    step(line, State::Running, output)
}

/// A line that brings up a full-screen program, or is typed into one.
pub(crate) fn screen(line: &str, holds: &'static str) -> Step {
    step(line, State::FullScreen, Output::Holds(holds))
}

pub(crate) fn steps(name: &'static str, steps: Vec<Step>) -> Scenario {
    Scenario { name, steps }
}
