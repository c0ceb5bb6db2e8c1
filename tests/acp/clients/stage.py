"""The agents' common part: an agent on the Python SDK, each of whose prompts names a scene.

A scene is an async function of a `Turn`. A failed expectation is the error of the prompt, and fails
the scenario that sent the prompt.
"""

import asyncio
import os
import sys
import time
import traceback

import acp
from acp.helpers import start_tool_call, tool_terminal_ref, update_agent_message_text, update_tool_call
from acp.schema import (
    AgentCapabilities,
    EnvVariable,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
)

sys.path.insert(0, os.environ["TERMD_TEST_SUPPORT"])

from report import expect  # noqa: E402 - the path comes first

# How long to wait for what should take milliseconds, in seconds. Builds may run beside the test.
PATIENCE = 20
# The pause between two looks at a condition without an event, in seconds.
GLANCE = 0.02

NOT_FOUND = -32002
CANNOT_START = -32003
INVALID_PARAMS = -32602
CANCELLED = -32800
OVERLOADED = -32009

SCENES = {}


def scene(function):
    """Registers a function as the scene of its name."""
    SCENES[function.__name__] = function
    return function


class Terminal:
    """A terminal by its id, with the five methods of the SDK."""

    def __init__(self, turn, terminal_id):
        self.turn = turn
        self.id = terminal_id

    async def output(self):
        return await self.turn.client.terminal_output(self.turn.session, self.id)

    async def wait(self):
        """The exit code and the signal, of which exactly one is set."""
        ended = await self.turn.client.wait_for_terminal_exit(self.turn.session, self.id)
        expect((ended.exit_code is None) != (ended.signal is None), f"an exit of {ended}")
        return ended.exit_code, ended.signal

    async def kill(self):
        await self.turn.client.kill_terminal(self.turn.session, self.id)

    async def release(self):
        await self.turn.client.release_terminal(self.turn.session, self.id)

    async def prints(self, text):
        """Polls until the terminal has printed this text."""
        deadline = time.monotonic() + PATIENCE
        while True:
            output = await self.output()
            if text in output.output:
                return output
            expect(time.monotonic() < deadline, f"never printed {text!r}: {output}")
            await asyncio.sleep(GLANCE)


class Turn:
    """A prompt: the client to call, and the prompt's session."""

    def __init__(self, client, session, cwd, words, sessions):
        self.client = client
        self.session = session
        self.cwd = cwd
        self.words = words
        self.sessions = sessions

    @property
    def rpc(self):
        """The SDK's connection, for messages that its methods cannot send."""
        return self.client._conn

    async def create(self, command, args=None, env=None, cwd=None, limit=None):
        variables = env and [EnvVariable(name=name, value=value) for name, value in env.items()]
        made = await self.client.create_terminal(
            self.session, command, args=args, env=variables, cwd=cwd, output_byte_limit=limit
        )
        return Terminal(self, made.terminal_id)

    async def script(self, script, **how):
        return await self.create("/bin/sh", ["-c", script], **how)

    async def run(self, script, **how):
        """Runs a script and releases it: code, signal and output."""
        terminal = await self.script(script, **how)
        code, signal = await terminal.wait()
        output = await terminal.output()
        await terminal.release()
        return code, signal, output

    async def raw(self, method, params):
        """Sends any request."""
        return await self.rpc.send_request(method, params)

    async def say(self, text):
        await self.client.session_update(self.session, update_agent_message_text(text))

    async def tool_call(self, name, title, *terminals):
        content = [tool_terminal_ref(terminal.id) for terminal in terminals]
        await self.client.session_update(
            self.session,
            start_tool_call(name, title, kind="execute", status="in_progress", content=content),
        )

    async def tool_call_ends(self, name, status="completed"):
        await self.client.session_update(self.session, update_tool_call(name, status=status))

    def touch(self, name):
        open(os.path.join(self.cwd, name), "w").close()


async def refused(codes, awaitable):
    """The error of a call, which must have one of these codes and name its subject."""
    codes = codes if isinstance(codes, tuple) else (codes,)
    try:
        result = await asyncio.wait_for(awaitable, PATIENCE)
    except acp.RequestError as error:
        expect(error.code in codes, f"{error.code} {error}, not one of {codes}")
        expect(len(str(error)) > 3, f"an error {error.code} without words")
        return error
    raise AssertionError(f"not refused: {result}")


class StageAgent(acp.Agent):
    """An agent whose prompts play scenes."""

    def __init__(self):
        self.sessions = {}
        self.servers = {}

    def on_connect(self, client):
        self.client = client

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        self.capabilities = client_capabilities
        return InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=AgentCapabilities(),
            agent_info=Implementation(name="stage", version="1"),
        )

    async def new_session(self, cwd, mcp_servers=None, **_):
        session = f"session-{os.getpid()}-{len(self.sessions)}"
        self.sessions[session] = cwd
        self.servers[session] = mcp_servers or []
        return NewSessionResponse(session_id=session)

    async def cancel(self, session_id, **_):
        pass

    async def prompt(self, session_id, prompt, **_):
        name, *words = prompt[0].text.split()
        turn = Turn(self.client, session_id, self.sessions[session_id], words, self.sessions)
        turn.agent = self
        try:
            await SCENES[name](turn)
        except Exception as error:  # noqa: BLE001 - whatever it is, the scene has failed
            trace = "".join(traceback.format_exception(error)[-3:])
            raise acp.RequestError(-32603, f"the scene {name} failed: {error}\n{trace}") from error
        return PromptResponse(stop_reason="end_turn")


def serve():
    asyncio.run(acp.run_agent(StageAgent()))
