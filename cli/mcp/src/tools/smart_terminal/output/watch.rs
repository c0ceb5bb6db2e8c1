//! `terminal_watch`: a wait for the first match of several patterns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::interact::{MAX_PATTERN_BYTES, MatchedText, Until, WaitEnd, WaitForResult};
use termd_proto::terminal::{TerminalInfo, TerminalState};
use termd_proto::{Offset, TerminalId};
use tokio::time::Instant;

use super::pattern::check_pattern;
use super::text::Part;
use crate::tool::{
    Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, ToolError, add, object, set,
};
use crate::tools::smart_terminal::params::{MAX_INTEGER, SessionName};
use crate::tools::smart_terminal::results::{self, bad};
use crate::tools::smart_terminal::sessions::session::{dead, find};

/// Most triggers of one call.
const MAX_TRIGGERS: usize = 10;
/// Most matches that are remembered for their cooldown. Beyond it all are forgotten.
const MAX_REMEMBERED: usize = 1_024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Trigger {
    /// Trigger label, returned in response
    id: String,
    /// Regex or literal pattern
    pattern: String,
    #[serde(default = "is_regex")]
    is_regex: bool,
    /// Min ms between matches
    #[serde(default)]
    cooldown_ms: u64,
}

fn is_regex() -> bool {
    true
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// What to look for
    #[schemars(length(min = 1, max = MAX_TRIGGERS))]
    triggers: Vec<Trigger>,
    /// Most milliseconds to wait
    #[schemars(range(min = 1_000, max = 3_600_000), extend("default" = 60_000))]
    timeout: u64,
    /// Exit if no output for N ms; 0: do not
    #[schemars(range(min = 0, max = 3_600_000))]
    quiet_exit_ms: Option<u64>,
    /// Context lines before match
    #[schemars(range(min = 0, max = 50), extend("default" = 3))]
    context_lines: u64,
    /// Match after this position
    #[schemars(range(min = 0, max = MAX_INTEGER))]
    since: Option<u64>,
}

/// The times of triggers' last matches, by terminal and trigger id.
type Matches = Mutex<HashMap<(TerminalId, String), Instant>>;

pub(crate) fn tool() -> Tool {
    let matches: Arc<Matches> = Arc::default();
    Tool {
        name: "terminal_watch",
        title: "Watch for patterns",
        description: "Wait for the first of several patterns in a terminal's output, and return the \
                      line that matched with the lines before it. since=position goes on from there.",
        effect: Effect::Reads,
        output: object(vec![
            Field::string("reason", "trigger, timeout, quiet or exit").required(),
            Field::string("triggerId", "").or_null(),
            Field::string("matchedLine", "").or_null(),
            Field::list("context", json!({ "type": "string" }), ""),
            Field::integer("position", "Where to go on").required(),
            Field::boolean("timedOut", "").required(),
            results::end_cause(),
        ]),
        handler: Handler::new(move |call, arguments| watch(call, arguments, Arc::clone(&matches))),
    }
}

/// One pattern of a call.
struct Pattern {
    id: String,
    regex: Regex,
    source: String,
    cooldown_ms: u64,
}

fn patterns(triggers: Vec<Trigger>) -> Result<Vec<Pattern>, ToolError> {
    let mut all = Vec::with_capacity(triggers.len());
    for trigger in triggers {
        let source = if trigger.is_regex {
            trigger.pattern
        } else {
            regex::escape(&trigger.pattern)
        };
        if source.is_empty() {
            return Err(bad(format!("trigger \"{}\" has no pattern", trigger.id)));
        }
        let regex = check_pattern(&source, &format!("trigger \"{}\"", trigger.id))?;
        all.push(Pattern {
            id: trigger.id,
            regex,
            source: format!("(?:{source})"),
            cooldown_ms: trigger.cooldown_ms,
        });
    }
    Ok(all)
}

/// All patterns as one.
fn any_of(patterns: &[&Pattern]) -> Result<Option<String>, ToolError> {
    let sources: Vec<_> = patterns.iter().map(|it| it.source.as_str()).collect();
    let one = sources.join("|");
    if one.len() > MAX_PATTERN_BYTES {
        return Err(bad(format!(
            "the triggers' patterns are {} bytes long together; {MAX_PATTERN_BYTES} are the most",
            one.len()
        )));
    }
    Ok((!one.is_empty()).then_some(one))
}

/// The pattern that matched: the first in the line; of several at one place, the first in the list.
fn which<'a>(patterns: &[&'a Pattern], matched: &MatchedText) -> Option<&'a Pattern> {
    let within = |text: &str| {
        let found = patterns
            .iter()
            .filter_map(|it| it.regex.find(text).map(|found| (found.start(), *it)));
        found.min_by_key(|(at, _)| *at).map(|(_, it)| it)
    };
    within(&matched.line).or_else(|| within(&matched.text))
}

async fn watch(call: Call, arguments: Arguments, matches: Arc<Matches>) -> Outcome {
    let patterns = patterns(arguments.triggers)?;
    any_of(&patterns.iter().collect::<Vec<_>>())?;
    let info = find(&call, &arguments.session_id.0).await?;
    if info.state == TerminalState::Closed {
        return Err(dead(&info));
    }
    let since = arguments.since.map(Offset);
    if let Some(since) = since
        && since > info.end
    {
        return Err(bad(format!(
            "since {since} is past the end of the output, which is {}",
            info.end
        )));
    }
    let from = since.unwrap_or_else(|| call.shared.cursors.of(&info.id).wait_from());
    let deadline = Instant::now() + Duration::from_millis(arguments.timeout);
    let watch = Watch {
        call: &call,
        info: &info,
        patterns: &patterns,
        matches: &matches,
        quiet: arguments.quiet_exit_ms.filter(|quiet| *quiet > 0),
        deadline,
    };
    let terminal = (&info.id).into();
    let watched = Box::pin(watch.run(from.min(info.end)));
    let (wait, found) = call
        .progress
        .during(call.backend(), &terminal, watched)
        .await?;
    let (Some(matched), Some(found)) = (&wait.matched, found) else {
        let reason = match wait.ended_by {
            WaitEnd::Exited => "exit",
            WaitEnd::Settled => "quiet",
            _ => "timeout",
        };
        let mut facts = Facts::new();
        set(
            &mut facts,
            json!({
                "reason": reason,
                "triggerId": null,
                "matchedLine": null,
                "context": [],
                "position": wait.end,
                "timedOut": reason == "timeout",
            }),
        );
        add(&mut facts, json!({ "endCause": wait.activity.end_cause }));
        return Ok(ToolAnswer::Facts(facts.into()));
    };
    let part = Part {
        backend: call.backend(),
        id: &info.id,
        from: wait.output_start.max(wait.start).min(matched.start),
        until: matched.start,
    };
    let mut context: Vec<String> = Vec::new();
    if arguments.context_lines > 0 && part.from < part.until {
        let before = part.last(arguments.context_lines).await?;
        context.extend(before.text.lines().map(str::to_owned));
    }
    context.push(matched.line.clone());
    call.shared.cursors.set_sent(&info.id, matched.end);
    Ok(ToolAnswer::Facts(json!({
        "reason": "trigger",
        "triggerId": found.id,
        "matchedLine": matched.line,
        "context": context,
        "position": matched.end,
        "timedOut": false,
    })))
}

struct Watch<'a> {
    call: &'a Call,
    info: &'a TerminalInfo,
    patterns: &'a [Pattern],
    matches: &'a Matches,
    quiet: Option<u64>,
    deadline: Instant,
}

impl<'a> Watch<'a> {
    /// Waits for the patterns that are not cooling down. Output meanwhile does not count for others.
    async fn run(
        &self,
        mut from: Offset,
    ) -> Result<(WaitForResult, Option<&'a Pattern>), ToolError> {
        loop {
            let now = Instant::now();
            let (ready, again_at) = self.ready(now);
            let until = Until {
                pattern: any_of(&ready)?,
                settle_ms: self.quiet,
                ..Until::default()
            };
            let step = again_at.map_or(self.deadline, |at| at.min(self.deadline));
            let timeout = step.saturating_duration_since(now);
            let id = &self.info.id;
            let backend = self.call.backend();
            let wait = backend.wait_for(id, Some(from), &until, timeout).await?;
            if let Some(matched) = &wait.matched {
                let found = which(&ready, matched);
                if let Some(found) = found {
                    self.remember(found);
                }
                return Ok((wait, found));
            }
            if wait.ended_by != WaitEnd::Timeout || Instant::now() >= self.deadline {
                return Ok((wait, None));
            }
            from = wait.end;
        }
    }

    fn ready(&self, now: Instant) -> (Vec<&'a Pattern>, Option<Instant>) {
        let matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut again_at: Option<Instant> = None;
        let mut ready = Vec::new();
        for pattern in self.patterns {
            let key = (self.info.id.clone(), pattern.id.clone());
            let rests = matches
                .get(&key)
                .and_then(|last| last.checked_add(Duration::from_millis(pattern.cooldown_ms)))
                .filter(|at| *at > now);
            match rests {
                Some(at) => again_at = Some(again_at.map_or(at, |known| known.min(at))),
                None => ready.push(pattern),
            }
        }
        (ready, again_at)
    }

    fn remember(&self, found: &Pattern) {
        if found.cooldown_ms == 0 {
            return;
        }
        let mut matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        if matches.len() >= MAX_REMEMBERED {
            matches.clear();
        }
        let key = (self.info.id.clone(), found.id.clone());
        matches.insert(key, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(id: &str, pattern: &str, is_regex: bool) -> Trigger {
        Trigger {
            id: id.to_owned(),
            pattern: pattern.to_owned(),
            is_regex,
            cooldown_ms: 0,
        }
    }

    #[test]
    fn the_trigger_that_matches_first_in_the_line_is_it() {
        let all = patterns(vec![
            trigger("late", "FAIL", true),
            trigger("early", "^a.b", true),
            trigger("literal", "a.c", false),
        ]);
        let all = all.ok().unwrap();
        let refs: Vec<_> = all.iter().collect();
        let one = any_of(&refs).ok().flatten().unwrap();
        assert_eq!(one, r"(?:FAIL)|(?:^a.b)|(?:a\.c)");
        for (line, want) in [
            ("axb FAIL", "early"),
            ("x FAIL", "late"),
            ("za.c", "literal"),
        ] {
            let matched = MatchedText {
                text: line.to_owned(),
                line: line.to_owned(),
                start: Offset(0),
                end: Offset(1),
            };
            assert_eq!(which(&refs, &matched).map(|it| it.id.as_str()), Some(want));
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused_by_its_trigger_s_name() {
        let error = patterns(vec![trigger("t1", "(", true)]).err().unwrap();
        assert!(error.to_string().contains("trigger \"t1\""), "{error}");
        assert!(patterns(vec![trigger("t1", "(", false)]).is_ok());
    }
}
