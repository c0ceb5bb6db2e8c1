"""Limits, settings, idle sessions, and many pending waits."""

import time

import anyio
from link import connect
from report import expect


async def scenario(world, report):
    async with report.check("a limit counts the live sessions of this client alone"):
        async with connect(world, env={"TERMINAL_MCP_MAX_SESSIONS": "2"}) as few, connect(world) as many:
            one = await few.create("cat")
            ended = await few.create("true")
            await few.ok("session_wait_for", session_id=ended, pattern="never", timeout=5)
            two = await few.create("cat")
            result = await few.call("session_create", command="cat")
            expect(result.is_error or result.get("success") is False, result)
            expect("2" in result.text, result.text)
            three = await many.create("cat")
            for link, session in [(few, one), (few, two), (many, three)]:
                await link.ok("session_close", session_id=session)
    async with report.check("settings travel with the calls, to a daemon that runs already"):
        env = {"TERMINAL_MCP_DEFAULT_ROWS": "41", "TERMINAL_MCP_DEFAULT_COLS": "103"}
        async with connect(world, env=env) as link:
            session = await link.create("sh -c 'stty size; exec cat'")
            result = await link.ok("session_wait_for", session_id=session, pattern="41 103", timeout=5)
            expect(result["matched"], result)
            await link.ok("session_close", session_id=session)
    async with report.check("the gate can be turned off by its owner"):
        async with connect(world, env={"TERMINAL_MCP_SAFETY_GATE": "off"}) as link:
            result = await link.ok("session_exec", exec="rm -rf ./nowhere; echo ran-$((40+2))", timeout=10)
            expect("ran-42" in result["output"], result)
    async with report.check("an idle session is closed, says so, and can still be read"):
        async with connect(world) as link:
            session = await link.create("sh -c 'echo last-$((40+2)); exec cat'", idle_timeout=1)
            await anyio.sleep(4)
            result = await link.call("session_send", session_id=session, input="x")
            expect(result.is_error or result.get("success") is False, result)
            expect("without activity" in result.text, result.text)
            result = await link.ok("session_read", session_id=session, mode="snapshot")
            expect("last-42" in result["output"] and not result["is_alive"], result)
    async with report.check("800 pending waits delay no other call"):
        await pending(world, 800)
    async with report.check("closing is idempotent, and says how it ended"):
        async with connect(world) as link:
            session = await link.create("bash -c 'exit 5'")
            await link.ok("session_wait_for", session_id=session, pattern="never", timeout=5)
            result = await link.ok("session_close", session_id=session)
            expect(5 in (result.get("exit_status"), result.get("exit_code")), result)
            result = await link.ok("session_close", session_id=session)
            expect(result["already_closed"], result)
    async with report.check("nothing that a session started outlives its close"):
        async with connect(world) as link:
            session = await link.create("bash")
            result = await link.ok(
                "session_interact", session_id=session, input="sleep 987 & echo pid-$!-", wait_for="pid-([0-9]+)-", timeout=5
            )
            pid = result["matched_text"].split("-")[1]
            await link.ok("session_close", session_id=session)
            deadline = time.monotonic() + 5
            while await anyio.Path(f"/proc/{pid}").exists():
                expect(time.monotonic() < deadline, f"sleep {pid} lives")
                await anyio.sleep(0.05)


async def pending(world, count):
    async with connect(world) as link:
        sessions = [await link.create("cat") for _ in range(4)]
        async with anyio.create_task_group() as waits:

            async def wait(session):
                await link.call("session_wait_for", session_id=session, pattern="never-ever", timeout=55)

            for number in range(count):
                waits.start_soon(wait, sessions[number % len(sessions)])
            # After this round trip each of the waits has been sent.
            await link.ok("session_list")
            began = time.monotonic()
            session = await link.create("cat")
            took = time.monotonic() - began
            # The end of the sessions answers each wait.
            for other in [session, *sessions]:
                await link.ok("session_close", session_id=other)
        expect(took < 1, f"{took:.2f} s for a create")
