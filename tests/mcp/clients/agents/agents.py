"""The three agents: how each is told of the model and of `termctl mcp`, and run once without a person."""

import json
import os
import subprocess
from pathlib import Path

# How long one run may take.
MAX_SECONDS = 120
# The variables that a server needs to find the test's daemon. Codex and Gemini CLI hand on few.
HANDED_ON = ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "PATH", "HOME"]


def server():
    return os.environ["TERMCTL"], ["mcp", "--tools", "session,terminal"], {it: os.environ[it] for it in HANDED_ON}


def opencode(home, url):
    command, arguments, env = server()
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"m": {"tool_call": True, "limit": {"context": 200_000, "output": 8_000}}},
    }
    config = {
        "model": "scripted/m",
        "small_model": "scripted/m",
        "autoupdate": False,
        "share": "disabled",
        "permission": "allow",
        "provider": {"scripted": provider},
        "mcp": {"termd": {"type": "local", "command": [command, *arguments], "environment": env}},
    }
    variables = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    return ["run", "go"], variables


def codex(home, url):
    """With all that lets it run without a person: it then answers what a server asks by itself."""
    command, arguments, env = server()
    lines = [
        'model = "m"',
        'model_provider = "scripted"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        "[mcp_servers.termd]",
        f"command = {json.dumps(command)}",
        f"args = {json.dumps(arguments)}",
        "[mcp_servers.termd.env]",
        *(f"{name} = {json.dumps(value)}" for name, value in env.items()),
    ]
    folder = home / "codex"
    folder.mkdir()
    (folder / "config.toml").write_text("\n".join(lines))
    return ["exec", "--skip-git-repo-check", "go"], {"CODEX_HOME": str(folder)}


def gemini(home, url):
    command, arguments, env = server()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "mcpServers": {"termd": {"command": command, "args": arguments, "env": env, "trust": True}},
    }
    folder = home / ".gemini"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings))
    variables = {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return ["--yolo", "-m", "gemini-2.5-pro", "-p", "go"], variables


AGENTS = {"opencode": opencode, "codex": codex, "gemini": gemini}


def run(name, work, url):
    """Runs an agent to its end, in a folder: what it printed."""
    home = Path(os.environ["HOME"])
    arguments, variables = AGENTS[name](home, url)
    done = subprocess.run(
        [os.environ["AGENT"], *arguments],
        cwd=work,
        env={**os.environ, "PWD": str(work), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=MAX_SECONDS,
    )
    return done.stdout.decode(errors="replace")
