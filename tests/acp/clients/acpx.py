"""acpx, a client for the command line without terminals: what it receives and prints of them."""

import asyncio
import json
import os
import shlex

from link import expect, python_agent

# How long one run may take. It starts node, the proxy and the agent.
RUN_SECONDS = 60


class Run:
    """One `acpx exec`: its exit code and output."""

    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def messages(self):
        """The messages on the wire, from `--format json`."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def methods(self):
        return [message["method"] for message in self.messages() if "method" in message]

    def updates(self):
        sent = [message for message in self.messages() if message.get("method") == "session/update"]
        return [message["params"]["update"] for message in sent]

    def __str__(self):
        return f"exit {self.code}\n{self.out[-3000:]}\n{self.err[-2000:]}"


async def acpx(world, agent, text, *options, proxy=()):
    """`acpx OPTIONS --agent 'termctl acp PROXY -- AGENT' exec TEXT`."""
    command = shlex.join([world.termctl, "acp", *proxy, "--", *agent])
    process = await asyncio.create_subprocess_exec(
        "node",
        os.environ["ACPX"],
        *("--cwd", str(world.project)),
        *options,
        *("--agent", command),
        "exec",
        text,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(RUN_SECONDS):
        out, err = await process.communicate()
    return Run(process.returncode, out.decode(), err.decode())


AGENTS = {
    "the Python agent": python_agent("agent.py"),
    "the node agent": ["node", os.environ["NODE_AGENT"]],
}
HELLO = "shell echo hello-$((40+2)); exit 3"


async def scenario(world, report):
    for name, agent in AGENTS.items():
        async with report.check(f"{name}: without terminals it is sent text"):
            run = await acpx(world, agent, HELLO, "--no-terminal", "--approve-all", "--format", "json")
            expect(run.code == 0, run)
            expect(not any(method.startswith("terminal/") for method in run.methods()), run)
            content = [
                entry
                for update in run.updates()
                if update["sessionUpdate"].startswith("tool_call")
                for entry in update.get("content") or []
            ]
            expect(content and all(entry["type"] == "content" for entry in content), run)
            expect("hello-42" in content[-1]["content"]["text"], run)
            (said,) = [u for u in run.updates() if u["sessionUpdate"] == "agent_message_chunk"]
            expect("exit 3" in said["content"]["text"], run)
    agent = AGENTS["the node agent"]
    async with report.check("and prints it"):
        run = await acpx(world, agent, HELLO, "--no-terminal", "--approve-all")
        expect(run.code == 0 and "[terminal]" not in run.out, run)
        before_the_message = run.out.split("exit 3, output")[0]
        expect("hello-42" in before_the_message, run)
    async with report.check("with its own terminals it is asked for them"):
        run = await acpx(world, agent, HELLO, "--approve-all", "--format", "json")
        expect(run.code == 0 and "terminal/create" in run.methods(), run)
    async with report.check("and with --take-over it is not"):
        run = await acpx(
            world, agent, HELLO, "--approve-all", "--format", "json", proxy=["--take-over"]
        )
        expect(run.code == 0 and "terminal/create" not in run.methods(), run)
        expect("hello-42" in json.dumps(run.updates()), run)
    await permission(world, agent, report)
    async with report.check("every scene of the node agent"):
        for scene in ["every_method", "several", "timeout"]:
            run = await acpx(world, agent, scene, "--no-terminal", "--approve-all")
            expect(run.code == 0 and "end_turn" in run.out, run)


async def permission(world, agent, report):
    # A denial holds for ten minutes, so each answer is about a folder of its own.
    def scene(name):
        victim = world.project / name
        victim.mkdir()
        return victim, f"shell rm -rf {shlex.quote(str(victim))}"

    for name, options in [("kept", ["--deny-all"]), ("left", [])]:
        victim, dangerous = scene(name)
        async with report.check(f"a dangerous command is asked about: {options or 'by default'}"):
            run = await acpx(world, agent, dangerous, "--no-terminal", "--format", "json", *options)
            expect("session/request_permission" in run.methods(), run)
            expect(victim.exists(), run)
            expect(run.code != 0, run)
    victim, dangerous = scene("gone")
    async with report.check("and done with --approve-all"):
        run = await acpx(
            world, agent, dangerous, "--no-terminal", "--format", "json", "--approve-all"
        )
        expect("session/request_permission" in run.methods(), run)
        expect(run.code == 0 and not victim.exists(), run)
