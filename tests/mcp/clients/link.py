"""One way to call `termctl mcp` through either SDK: mcp 1 (`initialize`) and mcp 2 (2026-07-28).

Every result is looked at here, whatever the check is about: it has text, what its `outputSchema`
promises is there and valid, and text and structured content tell the same.
"""

import json
import os
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio
import jsonschema
from report import expect

MAJOR = int(version("mcp").split(".")[0])
# How long a call of a check may take. The limits of a check itself are shorter.
CALL_SECONDS = 90


class Result:
    """The result of a tool: its members by name, and whether it is an error."""

    def __init__(self, raw, facts):
        self.raw = raw
        self.facts = facts
        self.is_error = bool(raw.get("isError"))
        parts = raw.get("content", [])
        self.text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        self.images = [part for part in parts if part["type"] == "image"]

    def __getitem__(self, name):
        expect(name in self.facts, f"no {name} in {self}")
        return self.facts[name]

    def get(self, name, otherwise=None):
        return self.facts.get(name, otherwise)

    def __repr__(self):
        return json.dumps(self.facts or self.text)[:1200] + (" (isError)" if self.is_error else "")


def plain(model):
    """A pydantic model as the JSON on the wire."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class Link:
    """A connected client."""

    def __init__(self, client, listed):
        self.client = client
        self.tools = {tool["name"]: tool for tool in listed}

    async def call(self, tool, /, progress=None, within=CALL_SECONDS, **arguments):
        """Calls a tool. A protocol error is raised."""
        with anyio.fail_after(within):
            result = await self.client.call_tool(tool, arguments, progress_callback=progress)
        raw = plain(result)
        structured = raw.get("structuredContent")
        schema = self.tools.get(tool, {}).get("outputSchema")
        if schema and not raw.get("isError"):
            expect(structured is not None, f"{tool} has an outputSchema and no structuredContent")
        if schema and structured is not None:
            jsonschema.Draft202012Validator(schema).validate(structured)
        facts = structured
        if isinstance(structured, dict) and schema:
            # What is at its default is left out.
            fields = schema.get("properties", {}).items()
            defaults = {name: field["default"] for name, field in fields if "default" in field}
            facts = {**defaults, **structured}
        parts = [part for part in raw.get("content", []) if part["type"] == "text"]
        if structured is not None and not any(
            part["type"] == "image" for part in raw.get("content", [])
        ):
            expect(parts, f"{tool} has no text for clients that read only that")
        if facts is None:
            try:
                facts = json.loads(parts[0]["text"]) if parts else {}
            except ValueError:
                facts = {}
        return Result(raw, facts if isinstance(facts, dict) else {})

    async def ok(self, tool, /, **arguments):
        """Calls a tool, which must succeed."""
        result = await self.call(tool, **arguments)
        expect(not result.is_error, f"{tool}: {result}")
        expect(result.get("success") is not False, f"{tool}: {result}")
        return result

    async def create(self, command="bash", **arguments):
        """Creates a session: its id."""
        return (await self.ok("session_create", command=command, **arguments))["session_id"]


async def _listed(client):
    tools, cursor = [], None
    while True:
        page = plain(await (client.list_tools(cursor=cursor) if MAJOR > 1 or cursor else client.list_tools()))
        tools += page["tools"]
        cursor = page.get("nextCursor")
        if not cursor:
            return tools


@asynccontextmanager
async def connect(world, tools="session", env=None, mode="auto"):
    """A client with a server process of its own in the test's home."""
    variables = {**world.env, **(env or {})}
    if MAJOR == 1:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        params = StdioServerParameters(
            command=world.termctl, args=["mcp", "--tools", tools], env=variables, cwd=world.home
        )
        is_leaving = False
        try:
            async with stdio_client(params) as (reading, writing):
                async with ClientSession(reading, writing) as session:
                    hello = await session.initialize()
                    link = Link(session, await _listed(session))
                    link.hello = plain(hello)
                    link.protocol = hello.protocolVersion
                    yield link
                    is_leaving = True
        except* anyio.BrokenResourceError:
            # The SDK passes a notification on to the session that it has just closed.
            if not is_leaving:
                raise
    else:
        from mcp import Client
        from mcp.client.stdio import StdioServerParameters

        params = StdioServerParameters(
            command=world.termctl, args=["mcp", "--tools", tools], env=variables, cwd=world.home
        )
        async with Client(params, mode=mode) as client:
            link = Link(client, await _listed(client))
            link.protocol = client.protocol_version
            link.hello = {"instructions": client.instructions}
            yield link


class World:
    """The paths of the test's home and binaries."""

    def __init__(self):
        self.termctl = os.environ["TERMCTL"]
        self.home = os.environ["HOME"]
        names = ["PATH", "HOME", "SHELL", "LANG", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]
        self.env = {name: os.environ[name] for name in names}

    async def termctl_json(self, *arguments):
        """What `termctl --json …` prints."""
        done = await anyio.run_process([self.termctl, "--json", *arguments])
        return json.loads(done.stdout)
