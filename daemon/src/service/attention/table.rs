//! Which attention a terminal wants, by what is known of it. Pure.

use termd_proto::attention::{Attention, AttentionState, ReportedState};

use crate::terminal::lifecycle::attention_log::Said;

/// Something that is so: what it is about, and since when, in milliseconds since the epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) why: String,
    pub(super) since_ms: i64,
}

/// What goes on in a terminal's foreground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Foreground {
    /// A command runs.
    Runs(Fact),
    /// A program reads from the tty, with this prompt or of this name.
    AwaitsInput(Fact),
    /// The tty reads a line and does not show it.
    AwaitsSecret(Fact),
    /// A shell, or a program that takes commands like one, is at its prompt.
    AtPrompt(Fact),
    /// The command has exited.
    Exited(Fact),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Well,
    Failed,
}

/// All that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// The oldest question of the gate that waits.
    pub(super) question: Option<Fact>,
    /// The oldest question of a program for a secret.
    pub(super) secret_question: Option<Fact>,
    /// What a program has said of itself, until a person has seen it.
    pub(super) said: Option<Said>,
    pub(super) foreground: Foreground,
    /// The end of the command, or of the last one in the shell, until a person has seen it.
    pub(super) unseen_end: Option<(Outcome, Fact)>,
}

/// The most urgent of them, whether or not a person has seen it. A program's word goes before the look of it:
/// an agent that is done waits for its next task. What has exited waits for nothing, and has failed or not,
/// whatever it has said.
pub(super) fn judge(facts: Facts) -> Attention {
    use AttentionState::{Approval, Done, Failed, Idle, Input, Running, Secret};
    let Facts {
        question,
        secret_question,
        said,
        foreground,
        unseen_end,
    } = facts;
    let has_exited = matches!(foreground, Foreground::Exited(_));
    let has_failed = matches!(unseen_end, Some((Outcome::Failed, _)));
    let said = said.filter(|said| match said.state {
        ReportedState::Input => !has_exited,
        ReportedState::Done => !(has_exited && has_failed),
        ReportedState::Failed => true,
    });
    let (state, fact) = match (question, secret_question, foreground, said, unseen_end) {
        (Some(question), ..) => (Approval, question),
        (_, Some(question), ..) => (Secret, question),
        (_, _, Foreground::AwaitsSecret(fact), ..) => (Secret, fact),
        (_, _, _, Some(said), _) => return Attention::from(said),
        (_, _, Foreground::AwaitsInput(fact), ..) => (Input, fact),
        (_, _, Foreground::Runs(fact), ..) => (Running, fact),
        (.., Some((Outcome::Failed, fact))) => (Failed, fact),
        (.., Some((Outcome::Well, fact))) => (Done, fact),
        (_, _, Foreground::AtPrompt(fact) | Foreground::Exited(fact), ..) => (Idle, fact),
    };
    Attention {
        state,
        why: fact.why,
        since_ms: fact.since_ms,
        said: false,
        seen: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(why: &str) -> Fact {
        Fact {
            why: why.to_owned(),
            since_ms: 1,
        }
    }

    fn said(state: ReportedState) -> Said {
        let text = "said".to_owned();
        Said {
            state,
            text,
            at_ms: 2,
        }
    }

    #[test]
    fn the_most_urgent_goes_first() {
        use AttentionState::{Approval, Done, Failed, Idle, Input, Running, Secret};
        let at_prompt = Facts {
            question: None,
            secret_question: None,
            said: None,
            foreground: Foreground::AtPrompt(fact("prompt")),
            unseen_end: None,
        };
        let with_end = |outcome| Facts {
            unseen_end: Some((outcome, fact("end"))),
            ..at_prompt.clone()
        };
        let doing = |foreground| Facts {
            foreground,
            ..with_end(Outcome::Failed)
        };
        let saying = |state, facts: &Facts| Facts {
            said: Some(said(state)),
            ..facts.clone()
        };
        let runs = doing(Foreground::Runs(fact("make")));
        let reads = doing(Foreground::AwaitsInput(fact("name?")));
        let hides = doing(Foreground::AwaitsSecret(fact("Password:")));
        let exited = Facts {
            foreground: Foreground::Exited(fact("x")),
            ..with_end(Outcome::Well)
        };
        let asked = Facts {
            secret_question: Some(fact("ssh")),
            ..saying(ReportedState::Done, &runs)
        };
        let gated = Facts {
            question: Some(fact("rm -rf x")),
            ..hides.clone()
        };
        for (facts, state, why) in [
            (at_prompt.clone(), Idle, "prompt"),
            (doing(Foreground::Exited(fact("x"))), Failed, "end"),
            (with_end(Outcome::Failed), Failed, "end"),
            (with_end(Outcome::Well), Done, "end"),
            (runs.clone(), Running, "make"),
            (reads.clone(), Input, "name?"),
            (hides.clone(), Secret, "Password:"),
            (saying(ReportedState::Done, &reads), Done, "said"),
            (saying(ReportedState::Input, &runs), Input, "said"),
            (
                saying(ReportedState::Failed, &with_end(Outcome::Well)),
                Failed,
                "said",
            ),
            (saying(ReportedState::Done, &hides), Secret, "Password:"),
            (saying(ReportedState::Input, &exited), Done, "end"),
            (saying(ReportedState::Failed, &exited), Failed, "said"),
            (saying(ReportedState::Done, &exited), Done, "said"),
            (
                saying(ReportedState::Done, &doing(Foreground::Exited(fact("x")))),
                Failed,
                "end",
            ),
            (asked, Secret, "ssh"),
            (gated, Approval, "rm -rf x"),
        ] {
            let got = judge(facts.clone());
            assert_eq!((got.state, got.why.as_str()), (state, why), "{facts:?}");
            assert_eq!(got.said, why == "said", "{facts:?}");
        }
    }
}
