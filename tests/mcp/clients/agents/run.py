"""Runs one agent: `python run.py AGENT`. The Rust test of that name calls it. The environment names the
home of the test's daemon, and the agent's program."""

import asyncio
import json
import os
import re
import sys
from collections import namedtuple
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), os.environ["TERMD_TEST_SUPPORT"]]

import agents  # noqa: E402 - the path comes first
import scripted_model  # noqa: E402
from report import Report, expect  # noqa: E402

# A build of 3,000 lines that fails, with five errors spread over it.
BUILD = """
import sys
for n in range(3000):
    print(f"   Compiling crate-{n} v1.2.{n} (/src/workspace/crate-{n})")
    if n % 600 == 300:
        print(f"error[E0{n}]: mismatched types\\n   --> src/part{n}.rs:{n}:9")
        print(f"    |\\n{n} |     let x: u32 = name;\\n    |                  ^^^^ expected `u32`")
print("error: could not compile `crate-9` (lib) due to 5 previous errors")
sys.exit(101)
"""

# One call, and what a model has to see of its result, as regular expressions.
Step = namedtuple("Step", "what tool arguments wanted")

# The exit code stands in the text's header, or in the structure.
BUILD_SEEN = [
    *(rf"error\[E0{n}\]: mismatched types" for n in range(300, 3000, 600)),
    "due to 5 previous errors",
    r"exit_?[cC]ode\W+101\b",
]
SCREEN_SEEN = ["full_screen", "import sys", r"for n in range\(3000\):"]

SCRIPT = [
    Step("a failing build", "session_exec", {"exec": "python3 build.py"}, BUILD_SEEN),
    Step("a session", "session_create", {"command": "bash"}, []),
    Step("the build in it", "session_interact", {"session_id": "$1", "input": "python3 build.py"}, BUILD_SEEN),
    Step(
        "a program that waits",
        "session_interact",
        {"session_id": "$1", "input": "read -p 'Go on? [y/N] ' x; echo got-$x"},
        ["awaiting_input", r"Go on\? \[y/N\]"],
    ),
    Step(
        "its answer",
        "session_interact",
        {"session_id": "$1", "input": "y"},
        ["got-y", "done", r"exit_code\W+0\b"],
    ),
    Step("a full-screen program", "session_interact", {"session_id": "$1", "input": "less build.py"}, SCREEN_SEEN),
    Step("the build on pipes", "terminal_run", {"cmd": "python3", "args": ["build.py"]}, BUILD_SEEN),
    Step("a terminal", "terminal_start", {}, []),
    Step("the build in that", "terminal_exec", {"sessionId": "$7", "command": "python3 build.py"}, BUILD_SEEN),
    Step("a full-screen program there", "terminal_exec", {"sessionId": "$7", "command": "less build.py"}, SCREEN_SEEN),
    Step("what the gate stops", "session_exec", {"exec": "rm -rf precious"}, ["[Nn]othing was run"]),
]


def terminal_in(result):
    return re.search(r"term_\w{12}", result)[0]


def next_call(results):
    """The step after these results. `$1` is the terminal that the second step has named."""
    if len(results) >= len(SCRIPT):
        return None
    step = SCRIPT[len(results)]
    arguments = re.sub(r"\$(\d)", lambda it: terminal_in(results[int(it[1])]), json.dumps(step.arguments))
    return step.tool, json.loads(arguments)


async def main(name):
    report = Report()
    work = Path(os.environ["HOME"]) / "work"
    (work / "precious").mkdir(parents=True)
    (work / "build.py").write_text(BUILD)
    with scripted_model.serve(next_call, "session_exec") as scripted:
        printed = agents.run(name, work, scripted.url)
    async with report.check("each call has a result"):
        expect(len(scripted.seen) == len(SCRIPT), f"{len(scripted.seen)} have; it printed {printed[-1000:]}")
    for step, text in zip(SCRIPT, scripted.seen):
        async with report.check(f"{step.what} ({step.tool}) is seen in {len(text.encode())} bytes"):
            missing = [it for it in step.wanted if not re.search(it, text)]
            expect(not missing, f"no {missing} in {text}")
    async with report.check("nothing dangerous runs without a person"):
        expect((work / "precious").is_dir(), "it was run")
    report.end()


asyncio.run(main(sys.argv[1]))
