"""The client: the Python SDK's, which starts `termctl acp OPTIONS -- AGENT` as its agent.

It has no terminals unless it is told to, and notes all that it is sent.
"""

import asyncio
import json
import os
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import acp
from acp.schema import ClientCapabilities, Implementation, RequestPermissionResponse
from report import expect

HERE = Path(__file__).parent
# How long a prompt may take. Most take a fraction of a second.
PROMPT_SECONDS = 90
# How long a client waits for an update.
SHOWN_SECONDS = 20


class World:
    """The paths of the test's home and binaries."""

    def __init__(self):
        self.termctl = os.environ["TERMCTL"]
        self.home = Path(os.environ["HOME"])
        self.project = self.home / "project"
        self.project.mkdir(exist_ok=True)

    async def termctl_json(self, *arguments):
        """What `termctl --json …` prints."""
        process = await asyncio.create_subprocess_exec(
            self.termctl, "--json", *arguments, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await process.communicate()
        return json.loads(out)

    async def open_terminals(self):
        """The number of the daemon's open terminals."""
        return len(list(items(await self.termctl_json("list"))))


def items(listed):
    """The entries of a list, by whichever name."""
    if isinstance(listed, list):
        return listed
    return next((value for value in listed.values() if isinstance(value, list)), [])


def python_agent(script):
    return [sys.executable, str(HERE / script)]


class Person(acp.Client):
    """What a client's person would see; and their answers: the kind of option that they choose, or
    a function from the question's tool call to it."""

    def __init__(self, answer="reject_once"):
        self.updates = []
        self.answer = answer
        self.questions = []
        self.terminal_requests = []
        self.news = asyncio.Event()

    def on_connect(self, agent):
        pass

    def saw(self, event):
        """Takes a message."""
        message = event.message
        if event.direction.value != "incoming":
            return
        method = message.get("method") or ""
        if method == "session/update":
            self.updates.append((time.monotonic(), message["params"]))
        if method.startswith("terminal/"):
            self.terminal_requests.append(method)
        self.news.set()

    async def session_update(self, session_id, update, **_):
        pass

    async def request_permission(self, session_id, tool_call, options, **_):
        question = tool_call.model_dump(by_alias=True, mode="json")
        self.questions.append((question, options))
        wanted = self.answer(question) if callable(self.answer) else self.answer
        chosen = [option for option in options if option.kind == wanted]
        outcome = {"outcome": "cancelled"}
        if chosen:
            outcome = {"outcome": "selected", "optionId": chosen[0].option_id}
        return RequestPermissionResponse.model_validate({"outcome": outcome})

    async def create_terminal(self, session_id, command, **_):
        raise acp.RequestError(-32000, "the client's own terminal/create")

    def said(self, session=None):
        """The agent's words, a list of its messages."""
        return [
            update["content"]["text"]
            for _, params in self.updates
            for update in [params["update"]]
            if update["sessionUpdate"] == "agent_message_chunk"
            and session in (None, params["sessionId"])
        ]

    def tool_call(self, tool_call_id):
        """The updates of one tool call: time, status and content."""
        states, status, content = [], None, []
        for at, params in self.updates:
            update = params["update"]
            if not update["sessionUpdate"].startswith("tool_call"):
                continue
            if update["toolCallId"] != tool_call_id:
                continue
            status = update.get("status") or status
            content = update["content"] if update.get("content") is not None else content
            states.append((at, status, content))
        return states

    def shown(self, tool_call_id):
        """The texts of the tool call as a client shows them now."""
        states = self.tool_call(tool_call_id)
        return texts(states[-1][2]) if states else ""

    async def until(self, what, is_so):
        """Waits for updates until a condition holds."""
        try:
            async with asyncio.timeout(SHOWN_SECONDS):
                while not is_so():
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            last = [params["update"] for _, params in self.updates[-3:]]
            raise AssertionError(f"never came: {what}; the last updates: {last}") from None

    async def is_shown(self, tool_call_id, text):
        await self.until(f"{text!r} of {tool_call_id}", lambda: text in self.shown(tool_call_id))


def texts(content):
    return "\n".join(entry["content"]["text"] for entry in content if entry["type"] == "content")


class Link:
    """A connected client."""

    def __init__(self, world, agent, process, person):
        self.world = world
        self.agent = agent
        self.process = process
        self.person = person

    async def session(self, cwd=None, servers=()):
        cwd = str(cwd or self.world.project)
        made = await self.agent.new_session(cwd=cwd, mcp_servers=list(servers))
        return made.session_id

    async def prompt(self, session, text, within=PROMPT_SECONDS):
        """Plays a scene to its end. An error of the agent is raised."""
        try:
            async with asyncio.timeout(within):
                answer = await self.agent.prompt(
                    session_id=session, prompt=[acp.text_block(text)]
                )
        except acp.RequestError as error:
            raise AssertionError(f"{error}: {error.data}") from None
        expect(answer.stop_reason == "end_turn", answer)
        return answer

    async def ended(self, within=10):
        """The proxy's exit code."""
        async with asyncio.timeout(within):
            return await self.process.wait()


@asynccontextmanager
async def connect(world, agent, *options, answer="reject_once", stderr=None, capabilities=None):
    """An initialized client with a proxy of its own, which must end by itself afterwards."""
    person = Person(answer)
    argv = [world.termctl, "acp", *options, "--", *agent]
    async with acp.spawn_agent_process(
        person,
        *argv,
        env=dict(os.environ),
        cwd=world.home,
        transport_kwargs={"stderr": stderr, "limit": 64 << 20, "shutdown_timeout": 10},
        observers=[person.saw],
    ) as (connection, process):
        connection.initialized = await connection.initialize(
            protocol_version=1,
            client_capabilities=ClientCapabilities.model_validate(capabilities or {}),
            client_info=Implementation(name="scenario", version="1"),
        )
        yield Link(world, connection, process, person)
    expect(process.returncode is not None and process.returncode >= 0, "it had to be killed")
