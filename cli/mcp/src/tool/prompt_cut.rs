//! The end of a command's output, without the prompt that the program prints next.

use termd_client::ClientError;
use termd_proto::Offset;
use termd_proto::interact::{LineOutput, WaitForResult};

use super::pages::Pages;
use super::standing::Standing;
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
    /// The outputs of lines that were given one after the other, where those make up the output. Their
    /// echoes lie between them.
    lines: Vec<LineOutput>,
}

impl PromptCut {
    /// Of the output from `begin` on that a wait saw.
    pub(crate) fn of(wait: &WaitForResult, begin: Offset, place: PromptPlace) -> Self {
        let seen = wait.end.max(wait.activity.end).max(begin);
        let (until, prompt) = match (place, wait.output_end) {
            (PromptPlace::Apart, Some(end)) => (end.clamp(begin, seen), None),
            // What a program prints may look like its prompt while it runs.
            (PromptPlace::Apart, None) if Standing::of_wait(wait).takes_a_line() => {
                (seen, wait.activity.prompt_text.clone())
            }
            (PromptPlace::Apart, None) | (PromptPlace::Output, _) => (seen, None),
        };
        let mut lines = wait.line_outputs.clone();
        // A reader who begins elsewhere has not read what lies before.
        if begin < wait.start || lines.first().is_some_and(|first| first.start < begin) {
            lines.clear();
        }
        if let Some(last) = lines.last_mut() {
            last.end = until.max(last.start);
            last.prompt.clone_from(&prompt);
        }
        Self {
            until,
            seen,
            prompt,
            lines,
        }
    }

    /// The parts of the output and the prompt at the end of each, where it is read in parts.
    pub(crate) fn lines(&self) -> &[LineOutput] {
        &self.lines
    }

    /// Takes the prompt from the end of a text.
    pub(crate) fn cut(&self, text: &mut String) {
        cut(text, self.prompt.as_deref());
    }

    /// The text of the parts, each without its prompt.
    pub(crate) async fn text_of_lines(&self, pages: &Pages<'_>) -> Result<String, ClientError> {
        let mut whole = String::new();
        for line in &self.lines {
            let bytes = line.end.since(line.start);
            let read = pages.read((line.start, line.end), bytes, None).await?;
            let mut text = read.text.unwrap_or_default();
            cut(&mut text, line.prompt.as_deref());
            whole.push_str(&text);
        }
        Ok(whole)
    }
}

fn cut(text: &mut String, prompt: Option<&str>) {
    let shown = text.trim_end();
    let before = prompt.and_then(|prompt| shown.strip_suffix(prompt.trim_end()));
    if let Some(before) = before {
        text.truncate(before.len());
    }
}
