"""Coding agents that speak with a model at an address of ours, without a person: how each is told.

Each function makes the settings in a home, with `extra` ones added. It answers with the agent's arguments
and the variables of its environment.
"""

import json
import os


def claude(home, url, extra=None):
    variables = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Without it the agent asks about each command as root, whatever its arguments say.
        "IS_SANDBOX": "1",
    }
    arguments = ["-p", "go", "--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"]
    return [*arguments, "--settings", json.dumps(extra or {})], variables


def opencode(home, url, extra=None):
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
        **(extra or {}),
    }
    variables = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    return ["run", "--format", "json", "go"], variables


def codex(home, url, extra=(), sandbox="danger-full-access"):
    """With all that lets it run without a person. `extra` are lines of tables."""
    lines = [
        'model = "m"',
        'model_provider = "scripted"',
        'approval_policy = "never"',
        f'sandbox_mode = "{sandbox}"',
        "[model_providers.scripted]",
        'name = "scripted"',
        f'base_url = "{url}/v1"',
        'wire_api = "responses"',
        *extra,
    ]
    folder = home / "codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text("\n".join(lines))
    return ["exec", "--skip-git-repo-check", "go"], {"CODEX_HOME": str(folder)}


def gemini(home, url, extra=None):
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        # Several calls of one script may be alike.
        "model": {"disableLoopDetection": True},
        **(extra or {}),
    }
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    variables = {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        # One process, and not a second one that does the work.
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    return ["--yolo", "-m", "gemini-2.5-pro", "-p", "go"], variables


def environment(home, work, variables):
    """An agent's environment, in a directory."""
    return {**os.environ, "HOME": str(home), "PWD": str(work), **variables}
