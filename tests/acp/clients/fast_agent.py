"""fast-agent, a real agent, with its model "passthrough". It calls the tool that the prompt names
and repeats the result. Its shell tool is `terminal/*`."""

import json
import os

from link import connect, expect

PASSTHROUGH = ["--model", "passthrough", "--shell"]


def execute(command, **arguments):
    return "***CALL_TOOL execute " + json.dumps({"command": command, **arguments})


def allow_all_but_the_gates(tool_call):
    """fast-agent asks about each tool by its name, and the gate about the command."""
    return "reject_once" if "rm -rf" in tool_call["title"] else "allow_once"


async def scenario(world, report):
    agent = [os.environ["FAST_AGENT"], *PASSTHROUGH]
    async with connect(world, agent, answer="allow_once") as link:
        session = await link.session()

        async def says(text):
            before = len(link.person.said(session))
            await link.prompt(session, text)
            return "".join(link.person.said(session)[before:])

        async with report.check("it is told of terminals, and says what it is told"):
            expect(link.agent.initialized.agent_info.name == "fast-agent-acp", link.agent.initialized)
            expect("good day" in await says("good day"), link.person.said(session))
        async with report.check("a shell line: its output and exit code"):
            said = await says(execute("echo hello-$((40+2)) | tr h H; exit 3"))
            expect("Hello-42" in said and "[Exit code: 3]" in said, said)
        async with report.check("a program and its arguments, where the session works"):
            expect(str(world.project) in await says(execute("pwd", args=[])), "the directory")
            said = await says(execute("printf", args=["<%s>", "two words"], env={"A": "B"}))
            expect("<two words>" in said, said)
        async with report.check("output over its limit: the end of it"):
            said = await says(execute("seq 1 100000; true"))
            expect("99999" in said and len(said) < 20_000, said[:200])
        async with report.check("a program that does not exist"):
            said = await says(execute("no-such-program-anywhere"))
            expect("no-such-program-anywhere" in said or "127" in said, said)
        async with report.check("a dangerous command is asked about by the gate, beside its own question"):
            victim = world.project / "victim"
            victim.mkdir()
            asked = len(link.person.questions)
            await says(execute(f"rm -rf {victim}; true"))
            questions = link.person.questions[asked:]
            expect(any("rm -rf" in question["title"] for question, _ in questions), questions)
            expect(not victim.exists(), "it was not done")
        async with report.check("and not done where the person says no"):
            victim.mkdir()
            link.person.answer = allow_all_but_the_gates
            said = await says(execute(f"rm -rf {victim}; true"))
            expect(victim.exists(), "it was done")
            expect("reject" in said.lower(), said)
        async with report.check("both names are in the audit"):
            audit = json.dumps(await world.termctl_json("audit"))
            expect("fast-agent-acp" in audit and "scenario" in audit, audit[:2000])
    async with report.check("no terminal is left"):
        expect(await world.open_terminals() == 0, await world.termctl_json("list"))
