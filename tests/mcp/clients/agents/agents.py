"""The three agents: how each is told of `termctl mcp`, and run once without a person."""

import json
import os
import subprocess
from pathlib import Path

import coding_agents

# How long one run may take.
MAX_SECONDS = 120
# The variables that a server needs to find the test's daemon. Codex and Gemini CLI hand on few.
HANDED_ON = ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "PATH", "HOME"]


def server():
    return os.environ["TERMCTL"], ["mcp", "--tools", "session,terminal"], {it: os.environ[it] for it in HANDED_ON}


def opencode(home, url):
    command, arguments, env = server()
    entry = {"type": "local", "command": [command, *arguments], "environment": env}
    return coding_agents.opencode(home, url, {"mcp": {"termd": entry}})


def codex(home, url):
    """It answers by itself what a server asks."""
    command, arguments, env = server()
    tables = [
        "[mcp_servers.termd]",
        f"command = {json.dumps(command)}",
        f"args = {json.dumps(arguments)}",
        "[mcp_servers.termd.env]",
        *(f"{name} = {json.dumps(value)}" for name, value in env.items()),
    ]
    return coding_agents.codex(home, url, tables)


def gemini(home, url):
    command, arguments, env = server()
    entry = {"command": command, "args": arguments, "env": env, "trust": True}
    return coding_agents.gemini(home, url, {"mcpServers": {"termd": entry}})


AGENTS = {"opencode": opencode, "codex": codex, "gemini": gemini}


def run(name, work, url):
    """Runs an agent to its end, in a folder: what it printed."""
    home = Path(os.environ["HOME"])
    arguments, variables = AGENTS[name](home, url)
    done = subprocess.run(
        [os.environ["AGENT"], *arguments],
        cwd=work,
        env=coding_agents.environment(home, work, variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=MAX_SECONDS,
    )
    return done.stdout.decode(errors="replace")
