//! Who may give which answer.

use termd_proto::approval::ApprovalState;
use termd_proto::policy::Verdict;
use termd_proto::terminal::Agent;
use termd_proto::terminal::Front;

use super::*;

fn agent(pid: i32) -> Agent {
    Agent {
        front: Front::Mcp,
        client: None,
        pid,
        started: 1,
        aliases: Vec::new(),
    }
}

fn owner(front: Front, pid: i32, agent: Option<Agent>) -> Owner {
    Owner {
        front,
        uid: 1000,
        pid,
        exe: None,
        session: None,
        client: None,
        agent: agent.map(Box::new),
        terminal: None,
    }
}

fn question(asked_by: Owner) -> ApprovalInfo {
    ApprovalInfo {
        id: ApprovalId::from_random(1),
        state: ApprovalState::Pending,
        command: "rm -r x".to_owned(),
        agent_line: None,
        after: String::new(),
        cwd: "/".to_owned(),
        env: Vec::new(),
        terminal: None,
        program: None,
        asked_by,
        verdict: Verdict::Dangerous,
        reason: None,
        asked_at_ms: 0,
        expires_at_ms: 1,
        answered_by: None,
        answered_way: None,
        answered_at_ms: None,
        only_once: None,
        rule_at: None,
    }
}

#[test]
fn only_a_person_answers_and_each_front_for_its_own() {
    use AnswerWay::{Command, Elicitation, Permission, Prompt};
    use Decision::{Always, Approve, Deny};
    let of_mcp = || owner(Front::Mcp, 7, Some(agent(6)));
    let of_cli = || owner(Front::Cli, 8, None);
    let of_agents_cli = || owner(Front::Cli, 9, Some(agent(6)));
    let table = [
        // A person's answer to another's question.
        (of_cli(), of_mcp(), Command, true, [true, true, true]),
        // A front's, of what it has asked: as its person says, and never for always.
        (of_mcp(), of_mcp(), Elicitation, true, [true, false, true]),
        (of_mcp(), of_mcp(), Permission, true, [true, false, true]),
        (of_mcp(), of_mcp(), Command, true, [false, false, true]),
        (of_mcp(), of_mcp(), Prompt, true, [false, false, true]),
        // Below another agent nobody is believed.
        (of_mcp(), of_mcp(), Elicitation, false, [false, false, true]),
        // Another's question.
        (of_mcp(), of_cli(), Elicitation, true, [false, false, false]),
        // An agent's process with the front of a person.
        (
            of_agents_cli(),
            of_mcp(),
            Command,
            false,
            [false, false, false],
        ),
        (
            of_agents_cli(),
            of_agents_cli(),
            Prompt,
            false,
            [false, false, false],
        ),
        // What has asked answers only at its prompt.
        (of_cli(), of_cli(), Command, true, [false, false, true]),
        (of_cli(), of_cli(), Prompt, true, [true, true, true]),
    ];
    for (by, asked_by, way, speaks_for_person, expected) in table {
        let info = question(asked_by);
        let answerer = Answerer {
            owner: by,
            way,
            speaks_for_person,
        };
        let may = [Approve, Always, Deny]
            .map(|decision| check_answerer(&answerer, decision, &info).is_ok());
        assert_eq!(may, expected, "{answerer:?} of {:?}", info.asked_by);
    }
}
