//! The end of a command's output, without the prompt that the program prints next.

use termd_proto::Offset;
use termd_proto::interact::WaitForResult;

use crate::settings::PromptPlace;

/// Where output ends before the next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PromptCut {
    /// The end of the output, where the shell's marks say so, else of what was seen.
    pub(crate) until: Offset,
    /// The end of what was seen. The next read goes on here.
    pub(crate) seen: Offset,
    /// The prompt that stands at the end of the text before `until`.
    prompt: Option<String>,
}

impl PromptCut {
    /// Of the output from `begin` on that a wait saw.
    pub(crate) fn of(wait: &WaitForResult, begin: Offset, place: PromptPlace) -> Self {
        let seen = wait.end.max(wait.activity.end).max(begin);
        match (place, wait.output_end) {
            (PromptPlace::Apart, Some(end)) => Self {
                until: end.clamp(begin, seen),
                seen,
                prompt: None,
            },
            (PromptPlace::Apart, None) => Self {
                until: seen,
                seen,
                prompt: wait.activity.prompt_text.clone(),
            },
            (PromptPlace::Output, _) => Self {
                until: seen,
                seen,
                prompt: None,
            },
        }
    }

    /// Takes the prompt from the end of a text.
    pub(crate) fn cut(&self, text: &mut String) {
        let prompt = self.prompt.as_deref().map(str::trim_end);
        let shown = text.trim_end();
        if let Some(before) = prompt.and_then(|prompt| shown.strip_suffix(prompt)) {
            text.truncate(before.len());
        }
    }
}
