"""The end of a command by the shell's marks, and waits for text that ignore the echo."""

import shutil
import time

import anyio
from link import connect
from report import Skip, expect

# Shells with termd's integration, and programs without it.
MARKED = [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")]
UNMARKED = [
    ("sh", "sh", "sleep 1; echo done-$((40+2))"),
    ("python", "python3 -q", "import time; time.sleep(1); print('done-' + str(40+2))"),
    ("node", "node", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000); 'done-' + (40+2)"),
    ("sqlite3", "sqlite3", "select 'done-' || (40+2) from (with recursive c(n) as (select 1 union all select n+1 from c where n<3000000) select max(n) from c);"),
]


def there(program):
    if not shutil.which(program):
        raise Skip(f"no {program} here")


async def scenario(world, report):
    async with connect(world) as link:
        for name, command in MARKED:
            async with report.check(f"done by marks, with the exit code: {name}"):
                there(name)
                session = await link.create(command)
                began = time.monotonic()
                result = await link.ok(
                    "session_interact", session_id=session, input="sleep 1; echo done-$(math 40+2 2>/dev/null || expr 40 + 2)", timeout=15,
                )
                expect(time.monotonic() - began > 0.9, "before the command was done")
                expect("done-42" in result["output"], result)
                expect(result["completed_by"] == "marks", result)
                expect(result["exit_code"] == 0 and result["command_complete"], result)
                result = await link.ok("session_interact", session_id=session, input="sh -c 'exit 3'", timeout=10)
                expect(result["exit_code"] == 3, result)
                await link.ok("session_close", session_id=session)
        for name, command, line in UNMARKED:
            async with report.check(f"done without marks, and said so: {name}"):
                there(command.split()[0])
                session = await link.create(command)
                await link.ok("session_read", session_id=session, timeout=1)
                result = await link.ok("session_interact", session_id=session, input=line, timeout=20)
                expect("done-42" in result["output"], result)
                expect(result.get("completed_by") not in (None, "marks"), result)
                await link.ok("session_close", session_id=session)
        await patterns(link, report)


async def patterns(link, report):
    session = await link.create("bash")

    async def wait(pattern, timeout=10):
        return await link.ok("session_wait_for", session_id=session, pattern=pattern, timeout=timeout)

    async with report.check("the echo of the own input is no match"):
        began = time.monotonic()
        result = await link.ok(
            "session_interact", session_id=session, input="sleep 1; echo READY", wait_for="READY", timeout=10
        )
        expect(result["matched"] and time.monotonic() - began > 0.9, result)
    async with report.check("nor is it where it was wrapped and edited"):
        await link.ok("session_resize", session_id=session, rows=24, cols=20)
        began = time.monotonic()
        result = await link.ok(
            "session_interact", session_id=session,
            input="sleep 1; echo a-longer-line-that-wraps WRAPPED", wait_for="WRAPPED", timeout=10,
        )
        expect(result["matched"] and time.monotonic() - began > 0.9, result)
        await link.ok("session_resize", session_id=session, rows=24, cols=80)
    async with report.check("output that came before the call is found"):
        await link.ok("session_send", session_id=session, input="echo EARLY-$((40+2))")
        await anyio.sleep(1)
        began = time.monotonic()
        result = await wait("EARLY-42")
        expect(result["matched"] and time.monotonic() - began < 2, result)
        expect(result.get("matched_text") == "EARLY-42", result)
    async with report.check("what was read before is not found again"):
        await link.ok("session_read", session_id=session, timeout=0.3)
        result = await wait("EARLY-42", timeout=0.5)
        expect(not result["matched"], result)
    async with report.check("a match across chunks"):
        await link.ok("session_send", session_id=session, input="printf 'SPL'; sleep 0.3; printf 'IT-%s\\n' here")
        expect((await wait("SPLIT-here"))["matched"], "no match")
    async with report.check("at the timeout there is what came, and where to go on"):
        await link.ok("session_send", session_id=session, input="echo PART-$((40+2)); sleep 30")
        result = await wait("never-ever", timeout=1.5)
        expect(not result["matched"] and "PART-42" in result["output"], result)
        expect(isinstance(result["offset"], int), result)
        await link.ok("session_send", session_id=session, control_char="c")
    async with report.check("a pattern that cannot be compiled, or is too large, is refused"):
        for pattern in ["(", "((a{1000}){1000}){1000}"]:
            result = await link.call("session_wait_for", session_id=session, pattern=pattern, timeout=1)
            expect(result.is_error or result.get("success") is False, result)
    async with report.check("a prompt is told from what only looks like one"):
        for text in ["100%%", "<html>", "see $HOME"]:
            result = await link.ok("session_interact", session_id=session, input=f"printf '%s' '{text}'; sleep 30", timeout=1.5)
            expect(not result["prompt_detected"], f"{text}: {result}")
            expect(result["command_state"] == "running", result)
            await link.ok("session_send", session_id=session, control_char="c")
        asking = await link.create("bash -c 'read -p \"Really delete? [y/N] \" x'")
        result = await link.ok("session_read", session_id=asking, timeout=1)
        expect(result["prompt_detected"] and result["prompt_confidence"] < 1, result)
        await link.ok("session_close", session_id=asking)
        result = await link.ok("session_interact", session_id=session, input="true", timeout=10)
        expect(result["prompt_detected"] and result["command_state"] == "prompt", result)
    await link.ok("session_close", session_id=session)
    async with report.check("an exit ends the wait at once"):
        ending = await link.create("bash -c 'sleep 0.7; exit 7'")
        began = time.monotonic()
        result = await link.ok("session_wait_for", session_id=ending, pattern="never-ever", timeout=50)
        expect(time.monotonic() - began < 5, "too late")
        expect(not result["is_alive"] and result["exit_code"] == 7, result)
    async with report.check("death by a signal says which"):
        ending = await link.create("bash -c 'kill -TERM $$'")
        result = await link.ok("session_wait_for", session_id=ending, pattern="never-ever", timeout=10)
        expect("TERM" in str(result["signal"]), result)
