"""An agent's shell, as its model uses it: one command after another, and what the model is told of each."""

import os
import subprocess
import tempfile
import time
import uuid
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Condition

import coding_agents
import processes
import scripted_model

# How long an agent may take to start and to ask its model for the first time.
MAX_START = 60
# How much longer than its command an answer may take.
MAX_OVERHEAD = 10
# How long an agent may take to end, by itself or by SIGTERM.
MAX_END = 15
# How much of what an agent prints is looked at.
MAX_PRINTED = 10_000_000


@dataclass
class Answer:
    text: str
    exit_code: int | None
    # From the model's call to its result.
    seconds: float


class AgentEnded(AssertionError):
    """The agent has not answered. It is started anew for the next check."""


class Shell:
    """A running agent."""

    def __init__(self, agent, setting, sandbox=None):
        self.agent = agent
        self.setting = setting
        self.changed = Condition()
        self.calls = []
        self.results = []
        # When the last call went to the agent, and when its result came.
        self.called_at = self.answered_at = None
        self.is_over = False
        self.is_waiting = False
        self.marker = f"TERMD_TEST_AGENT={uuid.uuid4()}"
        self.output = tempfile.TemporaryFile()
        self.stack = ExitStack()
        self.stack.callback(processes.kill, lambda: processes.with_variable(self.marker))
        model = self.stack.enter_context(scripted_model.serve(self.next_call, agent.tool))
        arguments, variables = agent.launch(setting.home, model.url, setting.termd_shell, sandbox)
        if setting.has_hooks:
            setting.enter_hooks()
        name, value = self.marker.split("=")
        environment = coding_agents.environment(setting.home, setting.work, {**variables, **setting.variables})
        self.process = subprocess.Popen(
            [os.environ["AGENT"], *arguments],
            cwd=setting.work,
            env={**environment, name: value},
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.wait(lambda: self.is_waiting, MAX_START, "it did not ask its model for anything")

    def next_call(self, results):
        """What the model answers. A request that comes again has the same answer again."""
        with self.changed:
            if len(results) > len(self.results):
                self.results = results
                self.answered_at = time.monotonic()
            self.is_waiting = len(results) == len(self.calls)
            self.changed.notify_all()
            self.changed.wait_for(lambda: len(self.calls) > len(results) or self.is_over)
            self.is_waiting = False
            if len(self.calls) <= len(results):
                return None
            self.called_at = time.monotonic()
            return self.calls[len(results)]

    def wait(self, holds, seconds, what):
        """Waits for something of the agent. Its end, and too much time, are failures."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not holds():
                if self.process.poll() is not None:
                    raise AgentEnded(f"{what}: it has ended with {self.process.returncode}: {self.printed()[-800:]}")
                if time.monotonic() > deadline:
                    raise AgentEnded(f"{what} within {seconds} s: {self.printed()[-800:]}")
                self.changed.wait(processes.POLL_SECONDS)

    def start(self, command, seconds=20):
        """Has the agent run a command. It may take so many seconds, by the agent's own limit if it has one."""
        self.call(self.agent.call(command, seconds))

    def call(self, call):
        with self.changed:
            self.calls.append(call)
            self.changed.notify_all()

    def run(self, command, seconds=20):
        """Has the agent run a command, and waits for what its model is told."""
        self.start(command, seconds)
        answer = self.answer(command, seconds)
        self.setting.answered.append((command, answer.exit_code))
        return answer

    def type_into(self, command, keys):
        """Has the agent run a command on a tty and type these keys: what both calls have answered."""
        self.call(self.agent.tty_call(command))
        first = self.answer(command, 1)
        self.call(self.agent.typing_call(first.text, keys))
        second = self.answer(command, 5)
        self.setting.answered.append((command, second.exit_code))
        second.text = first.text + second.text
        return second

    def answer(self, command, seconds):
        """What the model is told of the last call."""
        number = len(self.calls)
        self.wait(lambda: len(self.results) >= number, seconds + MAX_OVERHEAD, f"no answer to {command[:80]!r}")
        answer = Answer(self.results[number - 1], None, self.answered_at - self.called_at)
        answer.exit_code = self.exit_code(number - 1, answer.text)
        return answer

    def exit_code(self, number, text):
        if self.agent.tells_exit_code:
            return self.agent.exit_code(text)
        printed = processes.wait_until(lambda: self.agent.printed_exit_code(self.printed(), number), MAX_OVERHEAD)
        return printed["exit_code"] if printed else None

    def signal(self, number):
        """Signals the agent's process alone, and waits for its end."""
        self.process.send_signal(number)
        self.wait_end(f"it did not end by signal {int(number)}")

    def end(self):
        """Lets the agent end by itself: its model has no more calls."""
        self.release()
        self.wait_end("it did not end by itself")

    def wait_end(self, what):
        try:
            self.process.wait(MAX_END)
        except subprocess.TimeoutExpired:
            raise AgentEnded(f"{what} within {MAX_END} s") from None

    def release(self):
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def is_idle(self):
        """Whether it can take another command: it runs, and has answered the last one."""
        return self.process.poll() is None and not self.is_over and len(self.results) == len(self.calls)

    def printed(self):
        # Not by `read`: the agent writes where this descriptor stands.
        return os.pread(self.output.fileno(), MAX_PRINTED, 0).decode(errors="replace")

    def close(self):
        """Ends the agent and all that has its environment, at once."""
        self.release()
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self.stack.close()
        self.output.close()
