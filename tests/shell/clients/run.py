"""Makes the checks of one agent in one mode: `python run.py AGENT-MODE`. The Rust test of that name calls it.

In the mode `plain` the agent has its own shell. What is wrong is then reported, and fails nothing. In the
mode `termd` its shell is `termd-shell`. In the mode `hooks` it has its own shell, and asks the gate by a hook of
its own. The environment names the test's daemon, the agent's program (AGENT),
that shell (TERMD_SHELL), and a directory for the agent's home (SCRATCH). It is not below /tmp, which sandboxes
leave writable, and where Codex makes none.
"""

import json
import os
import subprocess
import sys
import time
import traceback
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), os.environ["TERMD_TEST_SUPPORT"]]

import agents  # noqa: E402 - the path comes first
import checks  # noqa: E402
from report import Skip  # noqa: E402
from shell import Shell  # noqa: E402

# A token that redaction knows by its class, in a variable that the environment's filter knows by its name.
SECRET = ("GITHUB_TOKEN", "ghp_" + "a1B2c3D4e5F6" * 3)
SHELLS = ["bash", "zsh", "sh"]


class Setting:
    """An agent in a mode, with its home, its project, and the shell that its checks share."""

    def __init__(self, agent, mode):
        self.agent = agent
        self.has_hooks = mode == "hooks"
        self.home = Path(os.environ["SCRATCH"])
        self.work = self.home / "work"
        self.work.mkdir()
        self.termd_shell = self.make_termd_shell() if mode == "termd" else None
        self.bash = self.termd_shell.bash if self.termd_shell else "/bin/bash"
        self.secret = SECRET
        self.variables = dict([SECRET])
        # The commands that the agent was asked for and has answered, with their exit codes.
        self.answered = []
        self.shared = None

    def make_termd_shell(self):
        """The directory that `termctl setup --shell` makes."""
        folder = self.home / ".local/share/termd/shells"
        folder.mkdir(parents=True)
        for name in SHELLS:
            (folder / name).symlink_to(os.environ["TERMD_SHELL"])
        return agents.TermdShell(folder)

    def enter_hooks(self):
        """Behind the agent's own settings."""
        command = [os.environ["TERMCTL"], "setup", "--hooks", "--client", self.agent.client]
        subprocess.run(command, env={**os.environ, "HOME": str(self.home)}, check=True)

    @property
    def shell(self):
        """The shell that checks share. It is started anew where one has ended it."""
        if self.shared and not self.shared.is_idle():
            self.close()
        if not self.shared:
            self.shared = Shell(self.agent, self)
        return self.shared

    @contextmanager
    def fresh_shell(self, sandbox=None):
        """A shell of an agent of its own. Two agents do not run at the same time."""
        self.close()
        shell = Shell(self.agent, self, sandbox)
        try:
            yield shell
        finally:
            shell.close()

    def close(self):
        if self.shared:
            self.shared.close()
        self.shared = None

    def termctl(self, *arguments):
        command = [os.environ["TERMCTL"], "--json", "--no-start", *arguments]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    def history(self):
        return self.termctl("history", "--limit", "1000")

    def escapes(self):
        """Files that the user can make, and that a sandbox around the project must not."""
        name = f"termd-test-{os.getpid()}"
        return [self.home / name, *([Path("/usr") / name] if os.getuid() == 0 else [])]


class Outcomes:
    """A line for each check, and how many are right."""

    def __init__(self, mode):
        self.mode = mode
        self.right = self.wrong = 0

    def make(self, name, function, setting):
        began = time.monotonic()
        try:
            figure = function(setting)
        except Skip as reason:
            print(f"SKIP  {name}: {reason}", flush=True)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the check has failed
            self.wrong += 1
            frames = [it for it in traceback.extract_tb(error.__traceback__) if "/clients/" in it.filename]
            where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
            print(f"wrong {name}: {where}: {type(error).__name__}: {str(error)[:1000]}", flush=True)
            return
        self.right += 1
        took = f"{time.monotonic() - began:.1f} s"
        print(f"right {name}: {figure or took}", flush=True)


def main(scenario):
    name, mode = scenario.split("-")
    outcomes = Outcomes(mode)
    setting = Setting(agents.AGENTS[name], mode)
    try:
        for what, function in checks.HOOK_CHECKS if setting.has_hooks else checks.CHECKS:
            outcomes.make(what, function, setting)
    finally:
        setting.close()
    print(f"total {outcomes.right} of {outcomes.right + outcomes.wrong}", flush=True)
    sys.exit(1 if mode != "plain" and outcomes.wrong else 0)


main(sys.argv[1])
