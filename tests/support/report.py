"""Named checks and their results.

A scenario is a file with an async function `scenario(world)`; it makes checks by `check`. A failed
check does not end its scenario, because the next one may show why. A check that cannot be made here is
skipped with a reason.
"""

import sys
import time
import traceback
from contextlib import asynccontextmanager


class Skip(Exception):
    """This machine lacks what a check needs."""


def cause(error):
    """The first error of a check. The SDKs' task groups wrap it together with later errors."""
    causes = [error]
    while groups := [one for one in causes if isinstance(one, BaseExceptionGroup)]:
        causes = [one for one in causes if one not in groups]
        causes += [one for group in groups for one in group.exceptions]
    own = [one for one in causes if isinstance(one, (AssertionError, Skip))]
    return (own or causes)[0]


class Report:
    """Lines of `ok`, `FAIL` and `SKIP`, written as they come."""

    def __init__(self):
        self.failed = 0
        self.made = 0

    def line(self, word, name, text=""):
        print(f"{word:4} {name}" + (f": {text}" if text else ""), flush=True)

    @asynccontextmanager
    async def check(self, name):
        """Makes one check. An exception inside is its failure."""
        began = time.monotonic()
        self.made += 1
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the check has failed
            error = cause(error)
            if isinstance(error, Skip):
                self.line("SKIP", name, str(error))
                return
            self.failed += 1
            where = traceback.extract_tb(error.__traceback__)
            own = [frame for frame in where if "/clients/" in frame.filename]
            place = f"{own[-1].filename.rsplit('/', 1)[-1]}:{own[-1].lineno}" if own else "?"
            self.line("FAIL", name, f"{place}: {type(error).__name__}: {str(error)[:1500]}")
        else:
            self.line("ok", name, f"{time.monotonic() - began:.2f} s")

    def end(self):
        """Exits 1 if a check has failed, or none was made."""
        print(f"{self.made} checks, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed or not self.made else 0)


def expect(condition, what):
    """Fails with `what` unless the condition holds."""
    if not condition:
        raise AssertionError(what)
