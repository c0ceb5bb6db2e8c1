"""Clients that get terminals as text, have their own, or are asked for permission."""

import asyncio

from link import connect, expect, python_agent


async def scenario(world, report):
    await meta(world, report)
    await off(world, report)
    await own_terminals(world, report)
    await permission(world, report)


async def meta(world, report):
    async with connect(
        world, python_agent("agent.py"), capabilities={"_meta": {"terminal_output": True}}
    ) as link:
        session = await link.session()
        said = []
        playing = asyncio.create_task(link.prompt(session, "embedded"))

        def printed():
            said[:] = [
                update["update"]["_meta"]
                for _, update in link.person.updates
                if update["update"].get("_meta")
            ]
            return "".join(
                meta["terminal_output"]["data"] for meta in said if "terminal_output" in meta
            )

        async with report.check("_meta.terminal_output is a live stream"):
            for step in (1, 2, 3):
                await link.person.until(f"step {step}", lambda step=step: f"step {step}" in printed())
                (world.project / f"go{step}").touch()
            await playing
            whole = printed()
            expect(whole.count("step 2") == 1 and "finished" in whole, whole)
        async with report.check("with terminal_info before it and terminal_exit after it"):
            info = [n for n, meta in enumerate(said) if "terminal_info" in meta]
            output = [n for n, meta in enumerate(said) if "terminal_output" in meta]
            ended = [n for n, meta in enumerate(said) if "terminal_exit" in meta]
            expect(info and ended and info[0] <= output[0] and output[-1] <= ended[-1], said)
            expect(said[ended[-1]]["terminal_exit"]["exit_code"] == 2, said[ended[-1]])
            ids = {
                value["terminal_id"]
                for meta in said
                for name, value in meta.items()
                if name.startswith("terminal_")
            }
            expect(len(ids) == 1, ids)
    for step in (1, 2, 3):
        (world.project / f"go{step}").unlink(missing_ok=True)


async def off(world, report):
    async with connect(world, python_agent("agent.py"), "--display", "off") as link:
        async with report.check("--display off: tool calls pass as they are"):
            for step in (1, 2, 3):
                (world.project / f"go{step}").touch()
            await link.prompt(await link.session(), "embedded")
            states = link.person.tool_call("call_1")
            expect([status for _, status, _ in states] == ["in_progress", "failed"], states)
            expect(states[0][2][0]["type"] == "terminal", states)


async def own_terminals(world, report):
    async with connect(world, python_agent("agent.py"), capabilities={"terminal": True}) as link:
        async with report.check("a client with terminals is asked for them"):
            try:
                await link.prompt(await link.session(), "exits")
            except AssertionError as error:
                expect("the client's own terminal/create" in str(error), error)
            else:
                raise AssertionError("it was not asked")
            expect(link.person.terminal_requests == ["terminal/create"], "one request")
    async with connect(
        world, python_agent("agent.py"), "--take-over", capabilities={"terminal": True}
    ) as link:
        async with report.check("and is not with --take-over"):
            session = await link.session()
            await link.prompt(session, "every_method")
            await link.prompt(session, "exits")
            expect(link.person.terminal_requests == [], link.person.terminal_requests)


async def permission(world, report):
    # A denial holds for ten minutes, so each answer is about a folder of its own.
    for folder, answer in [("kept", "reject_once"), ("left", "none of them")]:
        async with connect(world, python_agent("agent.py"), answer=answer) as link:
            async with report.check(f"the gate asks the person: {answer}"):
                session = await link.session()
                await link.prompt(session, f"dangerous refused {folder}")
                expect(len(link.person.questions) == 1, link.person.questions)
                tool_call, options = link.person.questions[0]
                expect("rm -rf" in str(tool_call.get("title")), tool_call)
                kinds = [option.kind for option in options]
                expect(kinds == ["allow_once", "allow_always", "reject_once"], kinds)
                (said,) = link.person.said(session)
                expect("reject" in said.lower() or "cancel" in said.lower(), said)
    async with connect(world, python_agent("agent.py"), answer="allow_once") as link:
        async with report.check("allowed once, it is done once and asked again"):
            session = await link.session()
            await link.prompt(session, "dangerous allowed once")
            await link.prompt(session, "dangerous allowed once")
            expect(len(link.person.questions) == 2, link.person.questions)
    async with connect(world, python_agent("agent.py"), answer="allow_always") as link:
        async with report.check("allowed for the session, it is asked once, and again in another"):
            session = await link.session()
            await link.prompt(session, "dangerous allowed always")
            await link.prompt(session, "dangerous allowed always")
            expect(len(link.person.questions) == 1, link.person.questions)
            await link.prompt(await link.session(), "dangerous allowed always")
            expect(len(link.person.questions) == 2, link.person.questions)
