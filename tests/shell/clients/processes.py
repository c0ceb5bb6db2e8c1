"""Processes that a check starts through an agent, and how they are found again: by a number in their
command line, or by a variable in their environment."""

import os
import signal
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

# The pause between two looks at what has no event.
POLL_SECONDS = 0.02
NUMBERS = count(1)


def wait_until(holds, seconds):
    """Whether it holds before so many seconds are over."""
    deadline = time.monotonic() + seconds
    while not (result := holds()):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return result


def read(pid, file):
    """A file of /proc. A process that is gone, or a zombie, has nothing in it."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/{file}").read_bytes()
    return b""


def pids():
    return [int(it) for it in os.listdir("/proc") if it.isdigit() and int(it) != os.getpid()]


def kill(found):
    """Kills what `found` finds, until it finds nothing."""

    def are_gone():
        left = found()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not left

    wait_until(are_gone, 10)


def with_variable(marker):
    """The processes that have this `NAME=value` in their environment."""
    return [pid for pid in pids() if marker.encode() in read(pid, "environ").split(b"\0")]


class Sleepers:
    """Sleeping processes with a number that nothing else has, and whatever has it in its command line."""

    # None outlives a test for long, whatever becomes of the test.
    SECONDS = 90

    def __init__(self):
        self.number = f"{self.SECONDS}.{os.getpid():07}{next(NUMBERS):03}"
        self.command = f"sleep {self.number}"

    def asleep(self):
        argv = f"sleep\0{self.number}\0".encode()
        return [pid for pid in pids() if read(pid, "cmdline") == argv]

    def alive(self):
        return [pid for pid in pids() if self.number.encode() in read(pid, "cmdline")]

    def names(self):
        lines = {pid: read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace") for pid in self.alive()}
        return [f"{pid} {line[-60:].strip()}" for pid, line in lines.items() if line]

    def kill(self):
        kill(self.alive)
