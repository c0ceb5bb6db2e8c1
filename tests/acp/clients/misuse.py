"""An agent that misuses terminals: nothing hangs or leaks, and others are not disturbed."""

import asyncio

from link import connect, expect, items, python_agent

# More terminals than agents have, and fewer than the daemon allows.
TRIES = 80


async def scenario(world, report):
    async with connect(world, python_agent("agent.py")) as good:
        held = await good.session()
        holding = asyncio.create_task(good.prompt(held, "held", within=200))
        await good.person.until("holding", lambda: good.person.said(held) == ["holding"])
        await misuse(world, report, held)
        async with report.check("a terminal of another connection lived through all of it"):
            expect(not holding.done(), "it has ended")
            (world.project / "let-go").touch()
            await holding
            await good.prompt(held, "exits")
    async with report.check("no terminal is left"):
        expect(await world.open_terminals() == 0, await world.termctl_json("list"))


async def misuse(world, report, held):
    others = [terminal["id"] for terminal in items(await world.termctl_json("list"))]
    expect(len(others) == 1, others)
    async with connect(world, python_agent("misuser.py")) as bad:
        first, second = await bad.session(), await bad.session(world.home)
        holding = asyncio.create_task(bad.prompt(second, "hold", within=200))
        await bad.person.until("an id", lambda: bad.person.said(second))
        (terminal,) = bad.person.said(second)
        for scene in [
            "unknown_ids",
            "released_ids",
            f"other_sessions_ids {terminal} {others[0]} {held}",
            "bad_types",
            "create_nothing",
            "cancelled_waits",
            "many_waits",
            f"too_many {TRIES}",
        ]:
            async with report.check(scene.split()[0]):
                await bad.prompt(first, scene)
        for line in bad.person.said(first):
            report.line("note", "misuser", line)
        async with report.check("another session of the same connection lived through it"):
            expect(not holding.done(), "it has ended")
            (world.home / "let-go").touch()
            await holding
    await ends(world, report)


async def ends(world, report):
    before = await world.open_terminals()
    async with connect(world, python_agent("misuser.py")) as link:
        async with report.check("what was never released lasts as long as the client"):
            await link.prompt(await link.session(), "never_releasing")
            expect(await world.open_terminals() == before + 5, await world.termctl_json("list"))
    async with report.check("and is released with it"):
        expect(await world.open_terminals() == before, await world.termctl_json("list"))

    async with connect(world, python_agent("misuser.py")) as link:
        async with report.check("an agent that dies: the end of the connection, and its exit code"):
            session = await link.session()
            try:
                await link.prompt(session, "dying", within=20)
            except ConnectionError:
                pass
            else:
                raise AssertionError("the prompt was answered")
            expect(await link.ended() == 7, link.process.returncode)
    async with report.check("its terminals are gone"):
        expect(await world.open_terminals() == before, await world.termctl_json("list"))

    log = world.home / "proxy.log"
    with log.open("wb") as stderr:
        async with connect(world, python_agent("misuser.py"), stderr=stderr) as link:
            async with report.check("a flood of what is no message: the messages come, in order"):
                await link.prompt(await link.session(), "flooding")
                said = link.person.said()
                expect(said == [f"message {n}" for n in range(200)], said)
    async with report.check("it went to the log, escaped and cut"):
        logged = log.read_bytes()
        expect(b"Traceback (most recent call last)" in logged, logged[:500])
        expect(b"\x1b" not in logged and b"\x07" not in logged and b"\0" not in logged, "controls")
        expect(max(map(len, logged.split(b"\n"))) < 8_192, "a long line")
