"""The four agents: how each calls its shell, what it says of a command's end, and how it is given another
shell than its own."""

import json
import os
import re
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

import coding_agents


@dataclass
class TermdShell:
    """The directory whose `bash` runs commands in termd."""

    folder: Path

    @property
    def bash(self):
        return self.folder / "bash"


class Sandbox(Enum):
    """The agent's own sandbox."""

    DEFAULT = auto()
    # Commands can reach Unix sockets, and so the daemon's.
    WITH_SOCKETS = auto()


class Agent:
    # Whether a child that a command leaves behind lives on into the next call.
    keeps_children = True
    # Whether a call begins in the directory in which the one before it has ended.
    keeps_cwd = False
    # Whether both streams are one file, so that their order is known.
    joins_streams = False
    # Whether a call has a time limit.
    has_limit = True
    # Whether a call may ask for a tty.
    has_tty = False
    # Whether its calls have the aliases and functions of the person's interactive shell.
    reads_start_up_file = False
    # Why a check of its own sandbox cannot be made, where it has none.
    lacks_sandbox = None

    # Whether the agent tells its model of exit codes. Opencode has them in what it prints alone.
    tells_exit_code = True

    def exit_code(self, text):
        """The exit code that the text of a result tells of, or None where the command still runs."""
        raise NotImplementedError

    def is_ended_by_sigterm(self, answer):
        return answer.exit_code == 143


class Claude(Agent):
    client = "claude-code"
    tool = "Bash"
    keeps_cwd = True
    reads_start_up_file = True
    joins_streams = True

    def launch(self, home, url, termd_shell, sandbox):
        settings = {}
        if sandbox:
            network = {"allowAllUnixSockets": True} if sandbox is Sandbox.WITH_SOCKETS else {}
            settings["sandbox"] = {"enabled": True, "network": network}
        if termd_shell:
            settings["env"] = {"CLAUDE_CODE_SHELL": str(termd_shell.bash)}
        return coding_agents.claude(home, url, settings)

    def call(self, command, seconds):
        return self.tool, {"command": command, "description": "run", "timeout": int(seconds * 1000)}

    def exit_code(self, text):
        # Behind it stand notes of the agent's own, also on other commands.
        text = text.split("<system-reminder>")[0]
        found = re.match(r"Exit code (\d+)", text)
        if not found and "in the background" in text:
            return None
        return int(found[1]) if found else 0

    def is_ended_by_sigterm(self, answer):
        # 144 is what it makes of a shell that the signal has ended.
        return answer.exit_code in (143, 144)


class Codex(Agent):
    tool = "exec_command"
    keeps_children = False
    has_tty = True

    def launch(self, home, url, termd_shell, sandbox):
        has_network = ["[sandbox_workspace_write]", "network_access = true"]
        extra = has_network if sandbox is Sandbox.WITH_SOCKETS else []
        mode = "workspace-write" if sandbox else "danger-full-access"
        arguments, variables = coding_agents.codex(home, url, extra, mode)
        if termd_shell:
            # `termctl codex-exec-server` runs the `codex` that it finds.
            variables["PATH"] = f"{Path(os.environ['AGENT']).parent}:{os.environ['PATH']}"
            lines = [
                'default = "termd"',
                "include_local = false",
                "[[environments]]",
                'id = "termd"',
                f"program = {json.dumps(os.environ['TERMCTL'])}",
                'args = ["codex-exec-server"]',
            ]
            (home / "codex" / "environments.toml").write_text("\n".join(lines))
        return arguments, variables

    def call(self, command, seconds):
        return self.tool, {"cmd": command, "yield_time_ms": int(seconds * 1000)}

    def tty_call(self, command):
        return self.tool, {"cmd": command, "tty": True, "yield_time_ms": 1000}

    def typing_call(self, text, keys):
        """Types into the process that the text of a result names."""
        process = int(re.search(r"running with session ID (\d+)", text)[1])
        return "write_stdin", {"session_id": process, "chars": keys, "yield_time_ms": 5000}

    def exit_code(self, text):
        found = re.search(r"Process exited with code (-?\d+)", text)
        return int(found[1]) if found else None


class Opencode(Agent):
    tool = "bash"
    lacks_sandbox = "opencode has no sandbox"

    def launch(self, home, url, termd_shell, sandbox):
        return coding_agents.opencode(home, url, {"shell": str(termd_shell.bash)} if termd_shell else {})

    def call(self, command, seconds):
        return self.tool, {"command": command, "timeout": int(seconds * 1000), "description": "run"}

    tells_exit_code = False

    def printed_exit_code(self, printed, number):
        """The exit code in what it prints, one JSON object a line; None where the call is not there yet."""
        for line in printed.splitlines():
            if f'"callID":"call_{number}"' in line and '"type":"tool_use"' in line:
                return {"exit_code": json.loads(line)["part"]["state"].get("metadata", {}).get("exit")}
        return None


class Gemini(Agent):
    client = "gemini"
    tool = "run_shell_command"
    has_limit = False
    lacks_sandbox = "Gemini CLI's sandbox is a container of Docker or Podman"

    def launch(self, home, url, termd_shell, sandbox):
        arguments, variables = coding_agents.gemini(home, url)
        if termd_shell:
            variables["PATH"] = f"{termd_shell.folder}:{os.environ['PATH']}"
        return arguments, variables

    def call(self, command, seconds):
        return self.tool, {"command": command, "description": "run"}

    def exit_code(self, text):
        found = re.search(r"Exit Code: (\d+)", text)
        return int(found[1]) if found else 0

    def is_ended_by_sigterm(self, answer):
        return answer.exit_code == 143 or "Signal: 15" in answer.text


AGENTS = {"claude": Claude(), "codex": Codex(), "opencode": Opencode(), "gemini": Gemini()}
