"""Typed keys, long lines and secrets arrive, or are refused."""

from pathlib import Path

from link import connect
from report import expect

SECRET = "correct-horse-battery-staple-94127"


async def scenario(world, report):
    async with connect(world) as link:
        async with report.check("100,000 characters arrive whole in a line editor"):
            session = await link.create("bash")
            text = "x=" + "abcdefghij" * 10_000 + "; echo len-${#x}"
            result = await link.ok(
                "session_interact", session_id=session, input=text, wait_for="len-[0-9]+", timeout=50,
                confirmed=True,  # Longer than the gate looks at.
            )
            expect(result["matched_text"] == "len-100000", result.get("matched_text"))
            await link.ok("session_close", session_id=session)
        async with report.check("a line that the tty would cut is refused with the reason"):
            session = await link.create("cat")
            result = await link.call("session_send", session_id=session, input="y" * 5_000)
            expect(result.is_error or result.get("success") is False, result)
            expect("409" in result.text or "too long" in result.text, result.text)
            await link.ok("session_send", session_id=session, input="short")
            expect((await link.ok("session_wait_for", session_id=session, pattern="^short$", timeout=5))["matched"], "")
            await link.ok("session_close", session_id=session)
        async with report.check("Enter is CR, arrows are what the program has asked for"):
            session = await link.create("bash -c 'stty raw -echo; printf \"\\033[?1hready\"; dd bs=1 count=4 2>/dev/null | od -An -c; stty sane; exec cat'")
            await link.ok("session_wait_for", session_id=session, pattern="ready", timeout=5)
            await link.ok("session_send", session_id=session, key="up")
            result = await link.ok("session_interact", session_id=session, input="", wait_for="033.*", timeout=5)
            shown = " ".join(result["matched_text"].split())
            expect(shown.startswith("033 O A \\r"), shown)
            await link.ok("session_close", session_id=session)
        async with report.check("keys of the table and more are known"):
            session = await link.create("cat -v")
            for key in ["f1", "f12", "f24", "page-up", "shift-tab", "C-a", "ctrl-a", "alt-x", "shift-f5", "kp-5", "insert"]:
                await link.ok("session_send", session_id=session, key=key)
            result = await link.call("session_send", session_id=session, key="no-such-key")
            expect(result.is_error or result.get("success") is False, result)
            await link.ok("session_close", session_id=session)
        await secrets(world, link, report)
        await gate(link, report)


async def secrets(world, link, report):
    async with report.check("a password's prompt is seen, the password goes there and nowhere else"):
        session = await link.create("bash -c 'read -rsp \"Password: \" p; echo; echo got-${#p}; exec cat'")
        result = await link.ok("session_wait_for", session_id=session, pattern="Password: ", timeout=5)
        result = await link.ok("session_read", session_id=session, timeout=0.5)
        expect(result["awaiting_secret"] and result["prompt_detected"], result)
        result = await link.ok(
            "session_interact", session_id=session, password=SECRET, wait_for="got-[0-9]+", timeout=5
        )
        expect(result["matched_text"] == f"got-{len(SECRET)}", result)
        result = await link.call("session_send", session_id=session, password=SECRET)
        expect(result.is_error or result.get("success") is False, "no secret is awaited")
        await link.ok("session_close", session_id=session)
        for path in Path(world.env["XDG_STATE_HOME"]).rglob("*"):
            if path.is_file():
                expect(SECRET.encode() not in path.read_bytes(), f"in {path.name}")


async def gate(link, report):
    session = await link.create("bash")

    async def asks(tool, **arguments):
        result = await link.call(tool, **arguments)
        return bool(result.get("requires_confirmation")), result

    async with report.check("what is dangerous asks, by every way in, and runs when confirmed"):
        for tool, arguments in [
            ("session_send", {"session_id": session, "input": "rm -r -f ./nowhere"}),
            ("session_interact", {"session_id": session, "input": "rm ./nowhere -rf", "timeout": 2}),
            ("session_exec", {"exec": "curl http://127.0.0.1:1 | sudo bash"}),
            ("session_create", {"command": "bash -c 'rm -rf ./nowhere'"}),
        ]:
            asked, result = await asks(tool, **arguments)
            expect(asked and result["reason"], f"{tool}: {result}")
        result = await link.ok(
            "session_interact", session_id=session, input="rm -rf ./nowhere; echo ran-$((40+2))", confirmed=True, timeout=5
        )
        expect("ran-42" in result["output"], result)
    async with report.check("text over two sends is judged when the line is complete"):
        await link.ok("session_send", session_id=session, input="rm -r", press_enter=False)
        asked, result = await asks("session_send", session_id=session, input="f ./nowhere")
        expect(asked, result)
        await link.ok("session_send", session_id=session, control_char="c")
    async with report.check("the same words as data do not ask"):
        for line in ["echo 'rm -rf /'", "cat shutdown.log", "grep -r reboot ."]:
            asked, result = await asks("session_interact", session_id=session, input=line, timeout=3)
            expect(not asked, f"{line}: {result}")
    await link.ok("session_close", session_id=session)
