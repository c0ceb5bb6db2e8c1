"""The `terminal` tool set: all seventeen tools, and the known faults of smart-terminal-mcp."""

import subprocess
import time
from pathlib import Path

import anyio
from link import connect
from report import expect
from waits import there


async def scenario(world, report):
    async with connect(world, tools="terminal") as link:
        started = await link.call("terminal_start", shell="/bin/bash", name="demo", env={"FOO": "1"})
        async with report.check("terminal_start: id, shell, type, directory, banner"):
            expect(not started.is_error, started)
            expect(started["shellType"] == "bash" and started["cwd"], started)
            expect("banner" in started.facts, started)
        session = started["sessionId"]

        async def extra(tool, **args):
            return await link.call("terminal_extra", tool=tool, args=args)

        async with report.check("terminal_exec: 10 of 10 echoes, with their exit codes"):
            for number in range(10):
                result = await link.call("terminal_exec", sessionId=session, command=f"echo n-{number}; (exit {number})")
                expect(result["output"].strip() == f"n-{number}", result)
                expect(result["exitCode"] == number and result["timedOut"] is False, result)
        async with report.check("terminal_exec: waits for the command, follows cd, has the environment"):
            began = time.monotonic()
            result = await link.call("terminal_exec", sessionId=session, command="sleep 0.5; echo done-$FOO; cd /")
            expect(time.monotonic() - began > 0.45 and result["output"].strip() == "done-1", result)
            expect(result["cwd"] == "/", result)
        async with report.check("terminal_exec: several lines, comments, a job behind"):
            result = await link.call("terminal_exec", sessionId=session, command="echo a # b\nfor i in 1 2; do\n  echo i$i\ndone")
            expect(result["output"].split() == ["a", "i1", "i2"], result)
            result = await link.call("terminal_exec", sessionId=session, command="sleep 0.2 & echo front")
            expect("front" in result["output"], result)
        async with report.check("terminal_exec: what maxLines leaves out is named"):
            result = await link.call("terminal_exec", sessionId=session, command="seq 1 5000", maxLines=50)
            expect(result.get("omitted"), result)
        async with report.check("terminal_exec: a timeout says so, the key ends it"):
            result = await link.call("terminal_exec", sessionId=session, command="sleep 30", timeout=1000)
            expect(result["timedOut"], result)
            result = await extra("terminal_send_key", sessionId=session, key="ctrl+c")
            expect(result["success"] and result["key"] == "ctrl+c", result)
        async with report.check("terminal_write, terminal_read, terminal_wait"):
            result = await link.call("terminal_write", sessionId=session, data="echo W$((40+2))\\r")
            expect(result["success"] is True, result)
            result = await link.call("terminal_wait", sessionId=session, pattern="W42", returnMode="match-only", timeout=5000)
            expect(result["matched"] is True, result)
            result = await link.call("terminal_wait", sessionId=session, pattern="NOPE", timeout=1000)
            expect(result["matched"] is False and result["timedOut"], result)
            result = await link.call("terminal_read", sessionId=session, since=0, maxLines=10_000, timeout=1000, idleTimeout=200)
            expect("W42" in result["output"] and result["position"] > 0, result)
            result = await link.call("terminal_read", sessionId=session, timeout=500, idleTimeout=500)
            expect(result.is_error, result)
        await running(world, link, report)
        await others(world, link, report, session, extra)
        async with report.check("terminal_list, short and long"):
            result = await link.call("terminal_list", verbose=False)
            mine = [entry for entry in result["sessions"] if entry["id"] == session]
            expect(mine and mine[0]["alive"] and "shell" not in mine[0], result)
            result = await link.call("terminal_list")
            mine = [entry for entry in result["sessions"] if entry["id"] == session]
            expect(mine[0]["cols"] and mine[0]["shellType"] == "bash", result)
        async with report.check("terminal_stop: snapshot and transcript"):
            path = Path(world.home, "transcript.txt")
            result = await link.call("terminal_stop", sessionId=session, snapshotLines=3, transcriptPath=str(path))
            expect(result["success"] and result["snapshot"]["lineCount"] <= 3, result)
            expect("W42" in path.read_text(), "the transcript")
            result = await link.call("terminal_stop", sessionId=session)
            expect(result.is_error and session in result.text, result)


async def running(world, link, report):
    async with report.check("terminal_run: streams apart, exit code, checks"):
        result = await link.call("terminal_run", cmd="sh", args=["-c", "echo out; echo err >&2; exit 3"])
        expect(result["stdout"]["raw"] == "out\n" and result["stderr"]["raw"] == "err\n", result)
        expect(result["exitCode"] == 3 and result["ok"] is False, result)
        result = await link.call("terminal_run", cmd="echo a | wc -c", shell=True)
        expect(result["stdout"]["raw"].strip() == "2" and result["ok"], result)
        path = Path(world.home, "made")
        result = await link.call("terminal_run", cmd="sh", args=["-c", f"echo hi > {path}"], successFile=str(path), successFilePattern="hi")
        expect(result["ok"] and result["checks"]["successFile"], result)
        result = await link.call("terminal_run", cmd="false", successExitCode=None)
        expect(result["ok"] and result["exitCodeIgnored"], result)
    async with report.check("terminal_run: parsed and summed up"):
        result = await link.call("terminal_run", cmd="which", args=["sh"], parseOnly=True)
        expect(result["stdout"]["parsed"]["paths"], result)
        result = await link.call("terminal_run", cmd="which", args=["sh"], summary=True)
        expect(result["stdout"]["summary"]["pathCount"] == 1, result)
    async with report.check("terminal_run: a missing program, one that goes on past its time"):
        result = await link.call("terminal_run", cmd="no_such_bin")
        expect(result.is_error and "ENOENT" in result.text, result)
        result = await link.call("terminal_run", cmd="sh", args=["-c", "sleep 986 & echo pid-$!-; wait"], timeout=1000)
        expect(result["timedOut"] and result["running"] and not result["ok"], result)
        pid = result["stdout"]["raw"].split("-")[1]
        await link.call("terminal_stop", sessionId=result["sessionId"])
        with anyio.fail_after(5):
            while await anyio.Path(f"/proc/{pid}").exists():
                await anyio.sleep(0.05)
    async with report.check("what is dangerous asks here too"):
        for tool, arguments in [
            ("terminal_run", {"cmd": "rm", "args": ["-r", "-f", "./nowhere"]}),
            ("terminal_run", {"cmd": "rm -rf ./nowhere", "shell": True}),
        ]:
            result = await link.call(tool, **arguments)
            expect(result.get("requires_confirmation") or "confirm" in result.text, result)
        result = await link.call("terminal_run", cmd="rm", args=["-rf", "./nowhere"], confirmed=True)
        expect(result["ok"], result)


async def others(world, link, report, session, extra):
    async with report.check("terminal_extra lists the other eight, and says what is wrong"):
        result = await link.call("terminal_extra", list=True)
        for name in ("terminal_run_paged", "terminal_get_history", "terminal_watch", "terminal_retry", "terminal_write_file"):
            expect(name in result.text, name)
        expect((await link.call("terminal_extra", tool="x")).is_error, "an unknown tool")
        result = await extra("terminal_resize", sessionId=session)
        expect(result.is_error and "cols" in result.text, result)
    async with report.check("terminal_run_paged: a page of what only reads, nothing else"):
        there("git")
        repository = Path(world.home, "repository")
        repository.mkdir()
        for number in range(250):
            (repository / f"file-{number:03}").touch()
        for arguments in (["init", "--quiet"], ["add", "."]):
            subprocess.run(["git", "-C", repository, *arguments], check=True)
        result = await extra("terminal_run_paged", cmd="git", args=["ls-files"], cwd=str(repository), page=1, pageSize=100)
        expect("file-100" in result.text and "file-199" in result.text, result)
        expect("file-099" not in result.text and "file-200" not in result.text, result)
        result = await extra("terminal_run_paged", cmd="seq", args=["1", "500"])
        expect(result.is_error, result)
    async with report.check("terminal_resize, terminal_get_history"):
        result = await extra("terminal_resize", sessionId=session, cols=100, rows=40)
        expect(result["cols"] == 100 and result["rows"] == 40, result)
        result = await extra("terminal_get_history", sessionId=session, maxLines=4)
        expect(len(result["lines"]) == 4 and result["totalLines"] > 4, result)
    async with report.check("terminal_watch"):
        await link.call("terminal_write", sessionId=session, data="sleep 0.5; echo line1; echo FAIL here\\r")
        result = await extra("terminal_watch", sessionId=session, triggers=[{"id": "t1", "pattern": "^FAIL"}], timeout=5000)
        expect(result["triggerId"] == "t1" and result["matchedLine"] == "FAIL here", result)
    async with report.check("terminal_retry"):
        result = await extra("terminal_retry", sessionId=session, command="false", maxRetries=1, delayMs=10)
        expect(result["attempts"] == 2 and result["success"] is False, result)
    async with report.check("terminal_diff"):
        result = await extra("terminal_diff", sessionId=session, commandA="printf 'a\\nb\\n'", commandB="printf 'a\\nB\\n'")
        expect("-b" in result["diff"] and "+B" in result["diff"], result)
    async with report.check("terminal_write_file"):
        path = Path(world.home, "written")
        result = await extra("terminal_write_file", sessionId=session, path=str(path), content="aGk=", encoding="base64")
        expect(result["success"] and result["size"] == 2 and path.read_text() == "hi", result)
    async with report.check("a tool of the eight can be called by its name"):
        result = await link.call("terminal_resize", sessionId=session, cols=110, rows=35)
        expect(result["cols"] == 110, result)
