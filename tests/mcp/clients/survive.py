"""MCP servers and the daemon's server die. The session goes on, and the next client finds it by its label."""

import os
import signal
import subprocess
import time
from pathlib import Path

import anyio
from link import connect
from report import expect


def shims():
    """The `termctl mcp` processes that this process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            words = (stat.parent / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == os.getpid() and b"mcp" in words:
            found.append(int(stat.parent.name))
    return found


async def end(pid):
    """Kills a process and waits for its end."""
    os.kill(pid, signal.SIGKILL)
    with anyio.fail_after(10):
        while True:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                return
            if state == "Z":
                return
            await anyio.sleep(0.02)


async def server_pid(world):
    status = await world.termctl_json("status")
    return status["daemon"]["server_pid"]


async def scenario(world, report):
    async with report.check("kill -9 of the shim: the next client finds the session by its label"):
        try:
            async with connect(world) as link:
                session = await link.create("bash", label="survivor")
                await link.ok("session_interact", session_id=session, input="kept=$((40+2))", timeout=10)
                for pid in shims():
                    await end(pid)
        except Exception as error:  # noqa: BLE001 - the SDK may say that its server is gone
            expect("survivor" not in str(error), error)
        async with connect(world) as link:
            listed = (await link.ok("session_list"))["sessions"]
            mine = [entry for entry in listed if entry["label"] == "survivor"]
            expect(len(mine) == 1 and mine[0]["is_alive"], listed)
            result = await link.ok("session_interact", session_id="survivor", input="echo kept-$kept", wait_for="kept-42", timeout=10)
            expect(result["matched"], result)
    async with connect(world) as link:
        async with report.check("kill -9 of the daemon's server: the same client goes on"):
            await end(await server_pid(world))
            result = await link.ok("session_interact", session_id="survivor", input="echo after-$kept", wait_for="after-42", timeout=20)
            expect(result["matched"], result)
        async with report.check("a wait that pends while the server dies is answered"):
            async with anyio.create_task_group() as group:
                answers = []

                async def wait():
                    answers.append(
                        await link.call("session_wait_for", session_id="survivor", pattern="late-[0-9]+", timeout=30)
                    )

                group.start_soon(wait)
                await anyio.sleep(0.5)
                await end(await server_pid(world))
                await link.ok("session_send", session_id="survivor", input="echo late-$kept")
            expect(answers[0].get("matched"), answers)
    async with report.check("both restarted: the session goes on"):
        try:
            async with connect(world) as link:
                pids = [await server_pid(world), *shims()]
                for pid in pids:
                    await end(pid)
        except Exception:  # noqa: BLE001 - its server was killed
            pass
        async with connect(world) as link:
            result = await link.ok("session_interact", session_id="survivor", input="echo both-$kept", wait_for="both-42", timeout=20)
            expect(result["matched"], result)
            await link.ok("session_close", session_id="survivor")
            result = await link.ok("session_read", session_id=session, mode="snapshot")
            expect("both-42" in result["output"] and not result["is_alive"], result)
    async with report.check("end of file ends the shim at once, with ten sessions open"):
        async with connect(world) as link:
            sessions = [await link.create("cat") for _ in range(10)]
            shim = subprocess.Popen([world.termctl, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=world.env)
            shim.stdin.write(
                b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
                b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
            )
            shim.stdin.flush()
            expect(b'"id":1' in shim.stdout.readline(), "no answer")
            began = time.monotonic()
            shim.stdin.close()
            code = shim.wait(10)
            took = time.monotonic() - began
            # Clients signal its whole process group 2 s after end of file.
            expect(code == 0 and took < 2, f"exit {code} after {took:.2f} s")
            for session in sessions:
                await link.ok("session_close", session_id=session)
