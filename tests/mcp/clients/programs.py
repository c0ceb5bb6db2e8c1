"""Real programs as an agent drives them: editors, pagers, monitors, REPLs, a database, ssh."""

from pathlib import Path

import anyio
import sshd
from link import connect
from report import expect
from waits import there


async def scenario(world, report):
    async with connect(world) as link:

        async def send(session, **what):
            await link.ok("session_send", session_id=session, **what)

        async def screen(session, text, timeout=10):
            """Waits until the screen shows a text: the screen."""
            # A full-screen program's screen is given at once, whatever it shows.
            deadline = anyio.current_time() + timeout
            while anyio.current_time() < deadline:
                result = await link.ok("session_read", session_id=session, timeout=0.5)
                if text in result["output"]:
                    return result
            raise AssertionError(f"no {text!r} on {result}")

        async with report.check("vim: writes a file, and is a screen meanwhile"):
            there("vim")
            path = Path(world.home, "written-by-vim")
            session = await link.create(f"vim -u NONE -N {path}", rows=24, cols=80)
            result = await screen(session, "~")
            expect(result["tui_active"] and result["mode_used"] == "snapshot", result)
            await send(session, input="i", press_enter=False)
            await send(session, input="first line", press_enter=True)
            await send(session, input="secnd", press_enter=False)
            for _ in range(2):
                await send(session, key="left")
            await send(session, input="o", press_enter=False)
            result = await screen(session, "second")
            diff = await link.ok("session_read", session_id=session, mode="diff")
            expect(diff["mode_used"] == "diff", diff)
            await send(session, key="escape")
            await send(session, input=":wq")
            await link.ok("session_wait_for", session_id=session, pattern="never-ever", timeout=10)
            expect(path.read_text() == "first line\nsecond\n", repr(path.read_text()))
            await link.ok("session_close", session_id=session)
        async with report.check("less: pages and leaves"):
            there("less")
            path = Path(world.home, "long")
            path.write_text("".join(f"row {n}\n" for n in range(1, 501)))
            session = await link.create("bash")
            await send(session, input=f"less {path}")
            await screen(session, "row 1\n")
            await send(session, key="page-down")
            await screen(session, "row 24\n")
            await send(session, input="G", press_enter=False)
            await screen(session, "row 500")
            await send(session, input="q", press_enter=False)
            result = await link.ok("session_interact", session_id=session, input="echo back-$((40+2))", timeout=10)
            expect("back-42" in result["output"] and not result["tui_active"], result)
            await link.ok("session_close", session_id=session)
        for name, command, text, leave in [
            ("top", "top -d 1", "load average", {"input": "q", "press_enter": False}),
            ("htop", "htop", "Load average", {"key": "f10"}),
        ]:
            async with report.check(f"{name}: shows itself and leaves by its key"):
                there(name)
                session = await link.create(command, rows=40, cols=120)
                await screen(session, text)
                await send(session, **leave)
                result = await link.ok("session_wait_for", session_id=session, pattern="never-ever", timeout=10)
                expect(not result["is_alive"], result)
                await link.ok("session_close", session_id=session)
        async with report.check("python: several lines at once, a traceback, input()"):
            there("python3")
            session = await link.create("python3 -q")
            await screen(session, ">>>")
            result = await link.ok(
                "session_interact", session_id=session, timeout=10, wait_for="answer-[0-9]+",
                input="def f(x):\n    y = x + 1\n    return y\n\nprint('answer-' + str(f(41)))",
            )
            expect(result["matched_text"] == "answer-42", result)
            result = await link.ok("session_interact", session_id=session, input="1/0", timeout=10)
            expect("ZeroDivisionError" in result["output"], result)
            await send(session, input="name = input('who? ')")
            await screen(session, "who?")
            await send(session, input="me")
            result = await link.ok("session_interact", session_id=session, input="print(name * 2)", wait_for="meme", timeout=10)
            expect(result["matched"], result)
            await send(session, control_char="d")
            await link.ok("session_close", session_id=session)
        async with report.check("sqlite3: rows, and what drops a table asks"):
            there("sqlite3")
            session = await link.create("sqlite3")
            await screen(session, "sqlite>")
            result = await link.ok(
                "session_interact", session_id=session, timeout=10, wait_for="row-42",
                input="create table t(a); insert into t values (42); select 'row-' || a from t;",
            )
            expect(result["matched"], result)
            result = await link.call("session_send", session_id=session, input="drop table t;")
            expect(result.get("requires_confirmation"), result)
            await send(session, input=".quit")
            await link.ok("session_close", session_id=session)
        async with report.check("ssh: a shell on a host without integration"):
            async with sshd.server() as command:
                session = await link.create(command)
                result = await link.ok(
                    "session_interact", session_id=session, timeout=20, wait_for="far-42",
                    input="sleep 1; echo far-$((40+2)) $SSH_CONNECTION",
                )
                expect(result["matched"] and "127.0.0.1" in result["output"], result)
                result = await link.ok("session_interact", session_id=session, input="sleep 1; echo again-$((40+2))", timeout=15)
                expect("again-42" in result["output"] and result.get("completed_by") != "marks", result)
                await send(session, input="exit 3")
                result = await link.ok("session_wait_for", session_id=session, pattern="never-ever", timeout=10)
                expect(result["exit_code"] == 3, result)
                await link.ok("session_close", session_id=session)
