//! What keys do where a line is typed, and what becomes of the line.

use termd_proto::secret::Secret;
use termd_proto::tag::{InvalidTag, Tag, TooManyTags};
use termd_proto::{Tags, TerminalId};

use crate::input::Key;
use crate::top::effect::{Call, Effect};
use crate::top::mode::{Hits, Mode};
use crate::top::model::Model;
use crate::top::prompt::{Prompt, PromptKind};

/// Why a line cannot be a terminal's tags.
#[derive(Debug, thiserror::Error)]
enum TagsError {
    #[error(transparent)]
    Tag(#[from] InvalidTag),
    #[error(transparent)]
    Count(#[from] TooManyTags),
}

impl Model {
    pub(super) fn press_in_prompt(&mut self, mut prompt: Prompt, key: Key) -> Vec<Effect> {
        match key {
            Key::Enter => return self.submit(prompt),
            Key::Escape | Key::Ctrl('c') => {
                if prompt.kind == PromptKind::Filter {
                    self.list.filter.clear();
                }
            }
            Key::Up | Key::Down if prompt.kind == PromptKind::Filter => {
                self.step(if key == Key::Up { -1 } else { 1 });
                self.mode = Mode::Prompt(prompt);
            }
            key => {
                prompt.field.press(key);
                self.mode = Mode::Prompt(prompt);
                self.filter_by_prompt();
            }
        }
        Vec::new()
    }

    pub(super) fn filter_by_prompt(&mut self) {
        if let Mode::Prompt(prompt) = &self.mode
            && prompt.kind == PromptKind::Filter
        {
            self.list.filter = prompt.field.text().to_owned();
            self.list.top = 0;
            // The best match is at hand.
            self.arrange();
            self.step(isize::MIN);
        }
    }

    fn submit(&mut self, prompt: Prompt) -> Vec<Effect> {
        let text = prompt.field.text().to_owned();
        let call = match prompt.kind {
            PromptKind::Filter => {
                self.list.show_at_hand(self.list_area());
                return Vec::new();
            }
            PromptKind::Line(id) => Call::TypeLine(id, text),
            PromptKind::Secret(id) => Call::TypeSecret(id, Secret::new(text)),
            // An empty one is a no, as of `termctl approvals --watch`.
            PromptKind::AskedSecret(id) => {
                let secret = (!text.is_empty()).then(|| Secret::new(text));
                Call::AnswerSecret(id, secret)
            }
            PromptKind::New => Call::Create {
                line: text,
                cwd: self.surroundings.cwd.clone(),
            },
            PromptKind::Tags(id) => match self.tag(id, &text) {
                Ok(call) => call,
                Err(error) => {
                    self.say(&error.to_string());
                    return Vec::new();
                }
            },
            PromptKind::Search if text.is_empty() => return Vec::new(),
            PromptKind::Search => {
                self.mode = Mode::Hits(Hits {
                    pattern: text.clone(),
                    found: None,
                    is_cut: false,
                    at: 0,
                });
                Call::Search(text)
            }
        };
        vec![Effect::Call(call)]
    }

    /// The tags that a terminal gets and loses, so that it has these.
    fn tag(&self, id: TerminalId, text: &str) -> Result<Call, TagsError> {
        let wanted = text.split_whitespace().map(str::parse::<Tag>);
        let wanted = Tags::of(wanted.collect::<Result<Vec<_>, _>>()?)?;
        let had = self
            .list
            .rows
            .get(&id)
            .map(|row| row.info.tags.clone())
            .unwrap_or_default();
        let without = |tags: &Tags, others: &Tags| {
            let left = tags
                .iter()
                .filter(|tag| !others.iter().any(|other| other == *tag));
            Tags::of(left.cloned())
        };
        Ok(Call::Tag {
            add: without(&wanted, &had)?,
            remove: without(&had, &wanted)?,
            id,
        })
    }
}
