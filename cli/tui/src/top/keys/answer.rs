//! What keys do to a question of the gate, or for a secret.

use std::time::Instant;

use termd_client::escape::escaped;
use termd_client::waiting_question::WaitingQuestion;
use termd_proto::approval::Decision;

use super::scrolled;
use crate::input::Key;
use crate::top::effect::{Call, Effect};
use crate::top::mode::Mode;
use crate::top::model::Model;

impl Model {
    pub(super) fn answer(&mut self, key: char, now: Instant) -> Vec<Effect> {
        let Some(question) = self.questions.shown() else {
            self.say("nothing asks");
            return Vec::new();
        };
        let is_no = key == 'n';
        let id = question.id().clone();
        let effect = match question {
            WaitingQuestion::Secret(_) if is_no => Call::AnswerSecret(id, None),
            WaitingQuestion::Secret(_) => {
                self.say("it asks for a secret: p types it, n says no");
                return Vec::new();
            }
            WaitingQuestion::Gate(info) => {
                let decision = match key {
                    'a' if info.only_once.is_some() => {
                        let why = info.only_once.clone().unwrap_or_default();
                        self.say(&format!("only once: {}", escaped(&why)));
                        return Vec::new();
                    }
                    'a' => Decision::Always,
                    'y' => Decision::Approve,
                    _ => Decision::Deny,
                };
                Call::Answer(id, decision)
            }
        };
        if self.questions.readable(now).is_none() {
            self.say("a question has just come: read it, and answer again");
            return Vec::new();
        }
        // A person agrees only to what was shown whole.
        if !is_no && !self.question_fits() {
            self.mode = Mode::Question(0);
            return Vec::new();
        }
        vec![Effect::Call(effect)]
    }

    pub(super) fn press_in_question(&mut self, from: u16, key: Key, now: Instant) -> Vec<Effect> {
        let (page, last) = (self.question_page(), self.last_question_line());
        match key {
            Key::Char(key @ ('y' | 'a' | 'n')) => {
                let is_seen = from >= last || key == 'n';
                let question = self.questions.readable(now);
                match question {
                    Some(WaitingQuestion::Gate(info)) if is_seen => {
                        let decision = match key {
                            'a' if info.only_once.is_none() => Decision::Always,
                            'n' => Decision::Deny,
                            _ => Decision::Approve,
                        };
                        return vec![Effect::Call(Call::Answer(info.id.clone(), decision))];
                    }
                    Some(WaitingQuestion::Secret(asked)) if key == 'n' => {
                        return vec![Effect::Call(Call::AnswerSecret(asked.id.clone(), None))];
                    }
                    _ => {
                        if !is_seen {
                            self.say("read it to its end first");
                        }
                        self.mode = Mode::Question(from);
                    }
                }
            }
            key => {
                if let Some(from) = scrolled(from, key, page) {
                    self.mode = Mode::Question(from.min(last));
                }
            }
        }
        Vec::new()
    }

    /// Lines of the question that are in sight where it is shown alone: a title, and the keys that answer
    /// it, stand around them.
    fn question_page(&self) -> u16 {
        self.size.1.saturating_sub(2)
    }

    /// The first line in sight where the last one is, too.
    pub(in crate::top) fn last_question_line(&self) -> u16 {
        let lines = self.question_lines().map_or(0, |lines| lines.len());
        let lines = u16::try_from(lines).unwrap_or(u16::MAX);
        lines.saturating_sub(self.question_page())
    }
}
