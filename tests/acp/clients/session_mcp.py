"""`--session-mcp`: an agent that has no use for `terminal/*` finds `termctl mcp` among its session's
MCP servers, and uses it by the `mcp` SDK."""

import json

from acp.schema import McpServerStdio
from link import connect, expect, python_agent


async def scenario(world, report):
    own = McpServerStdio(name="own", command="/bin/false", args=["a b"], env=[])
    async with connect(world, python_agent("mcp_agent.py"), "--session-mcp") as link:
        session = await link.session(servers=[own])
        async with report.check("it is there beside the client's own"):
            await link.prompt(session, "servers")
            servers = json.loads(link.person.said(session)[-1])
            expect([server["name"] for server in servers] == ["own", "termd"], servers)
            expect(servers[0]["args"] == ["a b"], servers)
            expect(servers[1]["command"].startswith("/") and servers[1]["args"] == ["mcp"], servers)
        async with report.check("it starts, lists its tools, and runs a command"):
            await link.prompt(session, "use_it")
            said = json.loads(link.person.said(session)[-1])
            expect("session_exec" in said["tools"], said)
            expect("hello-42" in said["output"], said)
        async with report.check("terminal/* is answered too"):
            await link.prompt(session, "terminal_too")
    async with connect(world, python_agent("mcp_agent.py")) as link:
        async with report.check("without the option nothing is added"):
            session = await link.session(servers=[own])
            await link.prompt(session, "servers")
            servers = json.loads(link.person.said(session)[-1])
            expect([server["name"] for server in servers] == ["own"], servers)
