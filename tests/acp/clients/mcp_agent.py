"""An agent that runs commands through the MCP servers of its session."""

import json
import os

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from stage import expect, scene, serve


def servers_of(turn):
    return turn.agent.servers[turn.session]


@scene
async def servers(turn):
    await turn.say(json.dumps([server.model_dump(mode="json") for server in servers_of(turn)]))


@scene
async def use_it(turn):
    """Starts the server by its command, arguments and variables, as agents do."""
    (server,) = [server for server in servers_of(turn) if server.name == "termd"]
    variables = {variable.name: variable.value for variable in server.env}
    # Agents pass on their own environment or little of it. Here it is little.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    params = StdioServerParameters(
        command=server.command, args=server.args, env={**kept, **variables}, cwd=turn.cwd
    )
    async with Client(params) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("session_exec", {"exec": "echo hello-$((40+2))"})
        expect(not result.is_error, result)
        output = result.structured_content["output"]
    await turn.say(json.dumps({"tools": tools, "output": output}))


@scene
async def terminal_too(turn):
    code, _, output = await turn.run("echo by terminal/create")
    expect(code == 0 and "by terminal/create" in output.output, output)


if __name__ == "__main__":
    serve()
