"""Runs one scenario: `python run.py SCENARIO`. The Rust test beside this file calls it. The environment
names the home of the test's daemon."""

import asyncio
import importlib
import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), os.environ["TERMD_TEST_SUPPORT"]]

from link import World  # noqa: E402 - the path comes first
from report import Report  # noqa: E402


async def main(name):
    report = Report()
    await importlib.import_module(name).scenario(World(), report)
    report.end()


asyncio.run(main(sys.argv[1]))
