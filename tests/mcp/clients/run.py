"""Runs one scenario: `python run.py SCENARIO`. The Rust test beside this file calls it. The environment
names the home of the test's daemon."""

import importlib
import os
import sys
from pathlib import Path

import anyio

sys.path[:0] = [str(Path(__file__).parent), os.environ["TERMD_TEST_SUPPORT"]]

from link import World  # noqa: E402 - the path comes first
from report import Report  # noqa: E402


async def main(name):
    report = Report()
    try:
        await importlib.import_module(name).scenario(World(), report)
    except BaseExceptionGroup as group:
        report.failed += 1
        while isinstance(group, BaseExceptionGroup):
            group = group.exceptions[0]
        report.line("FAIL", name, f"the scenario broke off: {type(group).__name__}: {group}")
    report.end()


anyio.run(main, sys.argv[1])
