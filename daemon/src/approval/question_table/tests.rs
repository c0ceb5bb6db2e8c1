//! The questions' life, with a clock in hand.

use std::time::{Duration, Instant};

use termd_policy::secrets::redact::RedactionKey;
use termd_proto::TerminalId;
use termd_proto::approval::{AnswerWay, ApprovalId, ApprovalState, Decision};
use termd_proto::policy::Verdict;
use termd_proto::terminal::{Front, Owner};

use super::{
    Always, Doubt, MAX_ASKED_BYTES, MAX_OF_AGENT, MAX_QUESTIONS, NotAnswered, PastDenial,
    QuestionTable, Standing, Subject, USE_WITHIN,
};
use crate::clock::Moment;

const ANSWER_WITHIN: Duration = Duration::from_mins(5);

fn owner(client: &str) -> Owner {
    Owner {
        front: Front::Mcp,
        uid: 1000,
        pid: 1,
        exe: None,
        session: None,
        client: Some(client.to_owned()),
        agent: None,
        terminal: None,
    }
}

fn subject(command: &str) -> Subject {
    Subject {
        front: Front::Mcp,
        uid: 1000,
        client: Some("an agent".to_owned()),
        session: None,
        agent: Some((1, 2)),
        terminal: None,
        program: None,
        cwd: "/project".to_owned(),
        command: command.to_owned(),
        parts: Vec::new(),
        values: Vec::new(),
        env_sha256: None,
        earlier_sha256: None,
        earlier_text: String::new(),
        agent_line: None,
    }
}

struct Story {
    table: QuestionTable,
    start: Instant,
    now: Duration,
    ids: u64,
}

impl Story {
    fn begin() -> Self {
        Self {
            table: QuestionTable::new(ANSWER_WITHIN, RedactionKey::default()),
            start: Instant::now(),
            now: Duration::ZERO,
            ids: 0,
        }
    }

    fn moment(&self) -> Moment {
        Moment {
            at: self.start + self.now,
            ms: i64::try_from(self.now.as_millis()).unwrap(),
        }
    }

    fn ask(&mut self, subject: Subject) -> Standing {
        self.ask_as(&owner("an agent"), subject)
    }

    fn ask_as(&mut self, asker: &Owner, subject: Subject) -> Standing {
        self.ids += 1;
        let doubt = Doubt {
            verdict: Verdict::Dangerous,
            reason: Some("it is".to_owned()),
            always: Always::ByRule("a rule".to_owned()),
            env: Vec::new(),
        };
        let id = ApprovalId::from_random(self.ids);
        let now = self.moment();
        self.table.ask(subject, asker, doubt, id, now)
    }

    #[track_caller]
    fn asked(&mut self, subject: Subject) -> ApprovalId {
        match self.ask(subject) {
            Standing::Asked(info) => info.id,
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, id: &ApprovalId, decision: Decision) -> Result<(), NotAnswered> {
        self.answer_by(id, decision, AnswerWay::Command)
    }

    fn answer_by(
        &mut self,
        id: &ApprovalId,
        decision: Decision,
        way: AnswerWay,
    ) -> Result<(), NotAnswered> {
        let now = self.moment();
        let by = Owner {
            front: Front::Cli,
            ..owner("a person")
        };
        let answered = self.table.answer(id, decision, (&by, way), now);
        answered.map(|_| ())
    }

    fn pass(&mut self, time: Duration) -> Vec<(ApprovalId, ApprovalState)> {
        self.now += time;
        let now = self.moment();
        let lapsed = self.table.expire(now);
        lapsed
            .into_iter()
            .map(|info| (info.id, info.state))
            .collect()
    }
}

#[test]
fn an_approval_is_used_once_and_only_for_what_was_asked() {
    let mut story = Story::begin();
    let id = story.asked(subject("rm -r a"));
    assert_eq!(
        story.asked(subject("rm -r a")),
        id,
        "one question for one subject"
    );
    story.answer(&id, Decision::Approve).unwrap();
    let others = [
        Subject {
            cwd: "/".to_owned(),
            ..subject("rm -r a")
        },
        Subject {
            client: None,
            ..subject("rm -r a")
        },
        Subject {
            front: Front::Cli,
            ..subject("rm -r a")
        },
        Subject {
            session: Some("s".to_owned()),
            ..subject("rm -r a")
        },
        Subject {
            terminal: Some("term_aaaaaaaaaaaa".parse().unwrap()),
            ..subject("rm -r a")
        },
        Subject {
            env_sha256: Some("00".to_owned()),
            ..subject("rm -r a")
        },
        Subject {
            earlier_sha256: Some("00".to_owned()),
            ..subject("rm -r a")
        },
        subject("rm -r a "),
        subject("rm -r /"),
    ];
    for other in others {
        let standing = story.ask(other.clone());
        assert!(
            matches!(standing, Standing::Asked(_)),
            "{other:?}: {standing:?}"
        );
    }
    let Standing::Granted(info) = story.ask(subject("rm -r a")) else {
        panic!("it was approved");
    };
    assert_eq!(
        (info.state, info.answered_by.unwrap().client.as_deref()),
        (ApprovalState::Used, Some("a person"))
    );
    assert_ne!(story.asked(subject("rm -r a")), id, "used up: asked anew");
}

#[test]
fn the_first_answer_holds() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    story.answer(&id, Decision::Deny).unwrap();
    for (decision, way) in [
        (Decision::Approve, AnswerWay::Prompt),
        (Decision::Always, AnswerWay::Notification),
        (Decision::Approve, AnswerWay::Elicitation),
        (Decision::Deny, AnswerWay::Command),
    ] {
        assert!(matches!(
            story.answer_by(&id, decision, way),
            Err(NotAnswered::Over(info)) if info.state == ApprovalState::Denied
        ));
    }
    assert!(matches!(story.ask(subject("x")), Standing::Denied(_)));
    let nobody = ApprovalId::from_random(9_999);
    assert_eq!(
        story.answer(&nobody, Decision::Approve),
        Err(NotAnswered::NotFound)
    );
}

#[test]
fn a_person_lifts_a_denial_by_a_command() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    story.answer(&id, Decision::Deny).unwrap();
    let (agents, now) = (owner("an agent"), story.moment());
    let by_agent = (&agents, AnswerWay::Command);
    let refused = story.table.answer(&id, Decision::Approve, by_agent, now);
    assert!(matches!(refused, Err(NotAnswered::Over(_))));
    story.answer(&id, Decision::Approve).unwrap();
    assert!(matches!(story.ask(subject("x")), Standing::Granted(_)));
    assert!(matches!(story.ask(subject("x")), Standing::Asked(_)));
}

#[test]
fn a_denial_of_an_earlier_server_holds_for_the_rest_of_its_time() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    let subject_of = story.table.hashes_of(&id).unwrap().clone();
    story.answer(&id, Decision::Deny).unwrap();
    let info = story.table.get(&id).unwrap().clone();
    let mut next = Story::begin();
    next.now = Duration::from_mins(4);
    let now = next.moment();
    let denial = |denied_at_ms| PastDenial {
        subject: subject_of.clone(),
        info: info.clone(),
        denied_at_ms,
    };
    next.table.restore(denial(-360_000), now);
    assert_eq!(next.table.list().len(), 0, "ten minutes are over");
    next.table.restore(denial(0), now);
    let renamed = Subject {
        client: Some("another agent".to_owned()),
        env_sha256: Some("00".to_owned()),
        ..subject("x")
    };
    assert!(matches!(next.ask(renamed), Standing::Denied(_)));
    next.pass(Duration::from_secs(359));
    assert!(matches!(next.ask(subject("x")), Standing::Denied(_)));
    next.pass(Duration::from_secs(1));
    assert!(matches!(next.ask(subject("x")), Standing::Asked(_)));
}

#[test]
fn what_nobody_answers_or_uses_is_over_in_time() {
    let mut story = Story::begin();
    let unanswered = story.asked(subject("x"));
    let unused = story.asked(subject("y"));
    story.answer(&unused, Decision::Approve).unwrap();
    assert_eq!(
        story.pass(ANSWER_WITHIN.saturating_sub(Duration::from_millis(1))),
        []
    );
    let lapsed = story.pass(Duration::from_millis(1));
    assert_eq!(lapsed, [(unanswered.clone(), ApprovalState::Expired)]);
    assert!(matches!(
        story.answer(&unanswered, Decision::Approve),
        Err(NotAnswered::Over(_))
    ));
    assert_ne!(
        story.asked(subject("x")),
        unanswered,
        "it may be asked again"
    );
    let lapsed = story.pass(USE_WITHIN.saturating_sub(ANSWER_WITHIN));
    assert!(
        lapsed.contains(&(unused, ApprovalState::Expired)),
        "{lapsed:?}"
    );
    assert!(matches!(story.ask(subject("y")), Standing::Asked(_)));
}

#[test]
fn a_question_is_over_when_the_last_caller_that_waits_has_gone() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    let now = story.moment();
    for _ in 0..2 {
        story.table.add_asker(&id);
    }
    story.table.remove_asker(&id, now);
    assert_eq!(story.pass(Duration::ZERO), []);
    story.table.remove_asker(&id, now);
    let lapsed = story.pass(Duration::ZERO);
    assert_eq!(lapsed, [(id.clone(), ApprovalState::Expired)]);
    // An answer that was given is not taken back.
    let answered = story.asked(subject("y"));
    story.table.add_asker(&answered);
    story.answer(&answered, Decision::Approve).unwrap();
    story.table.remove_asker(&answered, now);
    assert_eq!(story.pass(Duration::ZERO), []);
}

#[test]
fn a_denial_holds_for_ten_minutes_each_time() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    story.answer(&id, Decision::Deny).unwrap();
    for _ in 0..9 {
        story.pass(Duration::from_mins(1));
        assert!(matches!(story.ask(subject("x")), Standing::Denied(_)));
        let now = story.moment();
        let confirmed = story.table.confirm(&subject("x"), &owner("an agent"), now);
        assert_eq!(confirmed.unwrap_err().id, id);
    }
    story.pass(Duration::from_mins(1));
    assert!(matches!(story.ask(subject("x")), Standing::Asked(_)));
}

#[test]
fn a_denial_holds_under_another_name_and_front_of_an_agent() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    story.answer(&id, Decision::Deny).unwrap();
    let others = [
        Subject {
            client: Some("another agent".to_owned()),
            ..subject("x")
        },
        Subject {
            front: Front::Cli,
            client: None,
            ..subject("x")
        },
        Subject {
            agent: Some((3, 4)),
            ..subject("x")
        },
        Subject {
            session: Some("another".to_owned()),
            ..subject("x")
        },
        Subject {
            env_sha256: Some("00".to_owned()),
            ..subject("x")
        },
        Subject {
            earlier_sha256: Some("00".to_owned()),
            ..subject("x")
        },
    ];
    for other in others {
        let now = story.moment();
        assert!(matches!(story.ask(other.clone()), Standing::Denied(_)));
        let confirmed = story.table.confirm(&other, &owner("an agent"), now);
        assert!(confirmed.is_err(), "{other:?}");
    }
    // A person may still do the same thing.
    let persons = Subject {
        front: Front::Cli,
        agent: None,
        ..subject("x")
    };
    assert!(matches!(story.ask(persons), Standing::Asked(_)));
}

#[test]
fn the_front_that_asked_may_answer_by_confirming() {
    let mut story = Story::begin();
    let id = story.asked(subject("x"));
    let now = story.moment();
    let itself = owner("an agent");
    assert_eq!(story.table.confirm(&subject("x"), &itself, now), Ok(()));
    assert_eq!(
        story.table.get(&id).map(|info| info.state),
        Some(ApprovalState::Used)
    );
    assert!(matches!(
        story.answer(&id, Decision::Deny),
        Err(NotAnswered::Over(_))
    ));
}

#[test]
fn questions_are_bounded_and_at_the_bound_nothing_is_let_through() {
    let mut story = Story::begin();
    let ids: Vec<_> = (0..MAX_OF_AGENT)
        .map(|number| story.asked(subject(&number.to_string())))
        .collect();
    assert_eq!(story.ask(subject("one more")), Standing::Full);
    // A denial is not forgotten for a question more.
    story.answer(&ids[7], Decision::Deny).unwrap();
    assert_eq!(story.ask(subject("one more")), Standing::Full);
    assert!(matches!(story.ask(subject("7")), Standing::Denied(_)));
    story.answer(&ids[8], Decision::Approve).unwrap();
    assert!(matches!(story.ask(subject("8")), Standing::Granted(_)));
    assert!(matches!(story.ask(subject("one more")), Standing::Asked(_)));
    assert_eq!(story.ask(subject("another")), Standing::Full);
    assert_eq!(story.table.list().len(), MAX_OF_AGENT + 1);
    // Other agents have their share, and persons have one of which no agent takes any.
    let agent = |pid: i32| Owner {
        pid,
        ..owner("another agent")
    };
    for pid in [2, 3] {
        for number in 0..MAX_OF_AGENT {
            let asked = story.ask_as(&agent(pid), subject(&format!("{pid} {number}")));
            assert!(matches!(asked, Standing::Asked(_)), "{pid} {number}");
        }
        assert_eq!(story.ask_as(&agent(pid), subject("more")), Standing::Full);
    }
    assert_eq!(story.ask_as(&agent(4), subject("more")), Standing::Full);
    let person = Owner {
        front: Front::Cli,
        ..owner("termctl")
    };
    for number in 0..MAX_OF_AGENT {
        let asked = story.ask_as(&person, subject(&format!("person {number}")));
        assert!(matches!(asked, Standing::Asked(_)), "{number}");
    }
    assert_eq!(story.ask_as(&person, subject("more")), Standing::Full);
    assert_eq!(story.table.list().len(), MAX_QUESTIONS);
}

#[test]
fn a_question_is_shown_whole_or_not_asked() {
    let mut story = Story::begin();
    let longest = "x".repeat(MAX_ASKED_BYTES);
    let Standing::Asked(info) = story.ask(subject(&longest)) else {
        panic!("it is not asked about");
    };
    assert_eq!(info.command, longest);
    let longer = story.ask(subject(&format!("{longest}x")));
    assert_eq!(longer, Standing::TooLong(MAX_ASKED_BYTES));
}

#[test]
fn a_denial_of_a_typed_line_holds_for_an_agent_in_each_terminal() {
    let typed = |terminal: u64, program: &str, agent| Subject {
        terminal: Some(TerminalId::from_random(terminal)),
        program: Some(program.to_owned()),
        agent,
        ..subject("rm -rf x")
    };
    let mut story = Story::begin();
    let agent = Some((1, 2));
    let id = story.asked(typed(1, "bash", agent));
    story.answer(&id, Decision::Deny).unwrap();
    let is_denied = |story: &mut Story, subject| matches!(story.ask(subject), Standing::Denied(_));
    assert!(is_denied(&mut story, typed(2, "bash", agent)));
    assert!(is_denied(&mut story, typed(2, "zsh", Some((7, 8)))));
    assert!(!is_denied(&mut story, typed(2, "psql", agent)));
    assert!(!is_denied(&mut story, typed(1, "bash", None)));
    assert!(!is_denied(&mut story, subject("rm -rf x")), "as an argv");
    // An approval is for one terminal and one program.
    let id = story.asked(typed(1, "psql", agent));
    story.answer(&id, Decision::Approve).unwrap();
    for other in [typed(2, "psql", agent), typed(1, "mysql", agent)] {
        assert!(matches!(story.ask(other), Standing::Asked(_)));
    }
    assert!(matches!(
        story.ask(typed(1, "psql", agent)),
        Standing::Granted(_)
    ));
}
