"""Every method of `terminal/*`, by agents on the Python SDK and the TypeScript SDK."""

import asyncio
import os

from link import connect, expect, python_agent, texts

SCENES = ["every_method", "where_and_how", "output_limits", "exits", "several", "timeout", "release_ends"]


def agent():
    """The agent's command: from the environment, else the Python agent."""
    node = os.environ.get("NODE_AGENT")
    return ["node", node] if node else python_agent("agent.py")


async def scenario(world, report):
    async with connect(world, agent()) as link:
        session = await link.session()
        for scene in SCENES:
            async with report.check(scene):
                await link.prompt(session, scene)
        async with report.check("the client was asked for no terminal, and shown none"):
            expect(link.person.terminal_requests == [], link.person.terminal_requests)
            expect(link.person.updates == [], link.person.updates)
        async with report.check("all were released"):
            expect(await world.open_terminals() == 0, await world.termctl_json("list"))
        await embedded(link, report)
    async with report.check("the end of input ends it well"):
        expect(link.process.returncode == 0, link.process.returncode)


def printed(content):
    """The shown lines except the command line."""
    return [line for line in texts(content).splitlines() if not line.startswith("$ ")]


async def embedded(link, report):
    """A tool call with an embedded terminal is live text. The command continues when the text was shown."""
    person = link.person
    session = await link.session()
    playing = asyncio.create_task(link.prompt(session, "embedded"))
    async with report.check("a tool call is shown what its terminal prints, as it prints it"):
        for step in (1, 2, 3):
            await person.is_shown("call_1", f"step {step}")
            expect(f"step {step + 1}" not in person.shown("call_1"), "more than was printed")
            (link.world.project / f"go{step}").touch()
        await playing
    async with report.check("the last state is there before the tool call ends, and stays"):
        states = person.tool_call("call_1")
        first_end = next(n for n, (_, status, _) in enumerate(states) if status == "failed")
        expect("finished" in printed(states[first_end][2]), states)
        last = printed(states[-1][2])
        downloads = [line for line in last if "downloading" in line]
        expect(downloads == ["downloading 100%"] * 3, f"progress is not resolved: {last}")
        expect("step 1" in last and "finished" in last, last)
        last = person.shown("call_1")
        expect("2" in last.splitlines()[-1], f"the exit code: {last}")
        expect("\r" not in last and "\x1b" not in last, repr(last))
        expect(all(status == "failed" for _, status, _ in states[first_end:]), states)
    async with report.check("nothing that a client without terminals cannot show"):
        kinds = {entry["type"] for _, _, content in states for entry in content}
        expect(kinds == {"content"}, kinds)
        expect(person.said(session) == ["done"], person.said(session))
    async with report.check("updates are no more than ten a second"):
        times = [at for at, _, _ in states]
        crowded = [n for n in range(len(times) - 14) if times[n + 14] - times[n] < 1]
        expect(not crowded, times)
