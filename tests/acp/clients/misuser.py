"""An agent that misuses ACP's terminals and its standard output."""

import asyncio
import os
import time

import acp
from stage import CANCELLED, CANNOT_START, INVALID_PARAMS, NOT_FOUND, OVERLOADED, expect, refused, scene, serve

METHODS = ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"]


@scene
async def unknown_ids(turn):
    for terminal_id in ["term_000000000000", "", "term_", "../../etc/passwd", "é\n\u001b[2J", "x" * 100_000]:
        for method in METHODS:
            params = {"sessionId": turn.session, "terminalId": terminal_id}
            await refused((NOT_FOUND, INVALID_PARAMS), turn.raw(method, params))


@scene
async def released_ids(turn):
    terminal = await turn.script("sleep 1000")
    await terminal.release()
    for method in METHODS * 2:
        params = {"sessionId": turn.session, "terminalId": terminal.id}
        await refused(NOT_FOUND, turn.raw(method, params))


@scene
async def other_sessions_ids(turn):
    """The prompt names terminals of another session here, and of another agent altogether; and the
    session that the latter is in, which this agent has no business with."""
    *terminals, others = turn.words
    for session in (turn.session, "no-such-session", others):
        for terminal_id in terminals:
            for method in METHODS:
                params = {"sessionId": session, "terminalId": terminal_id}
                await refused(NOT_FOUND, turn.raw(method, params))


@scene
async def bad_types(turn):
    session = turn.session
    good = {"sessionId": session, "command": "true"}
    for wrong in [
        {"command": None},
        {"command": 5},
        {"command": ["true"]},
        {"args": "true"},
        {"args": [1]},
        {"args": ["nul\u0000"]},
        {"env": {"A": "B"}},
        {"env": [{"name": "A"}]},
        {"env": [{"name": "", "value": "x"}]},
        {"env": [{"name": "A=B", "value": "x"}]},
        {"cwd": 7},
        {"cwd": "relative"},
        {"cwd": "/no/such/folder"},
        {"cwd": "/etc/passwd"},
        {"outputByteLimit": -1},
        {"outputByteLimit": "many"},
        {"outputByteLimit": 1.5},
        {"sessionId": None},
        {"sessionId": 1},
    ]:
        codes = (INVALID_PARAMS, NOT_FOUND, CANNOT_START)
        await refused(codes, turn.raw("terminal/create", {**good, **wrong}))
    for params in [None, [], "text", 1, {}, {"sessionId": session}, [session, "true"]]:
        await refused((INVALID_PARAMS, -32600), turn.raw("terminal/create", params))
    for method in METHODS:
        for params in [None, {}, {"sessionId": session}, {"sessionId": session, "terminalId": 4}]:
            await refused((INVALID_PARAMS, -32600), turn.raw(method, params))
    await refused(-32601, turn.raw("terminal/resize", {"sessionId": session, "terminalId": "x"}))


@scene
async def create_nothing(turn):
    for command, args in [("", None), ("", []), (" ", None), ("/no/such/program", ["x"]), ("/etc", ["x"])]:
        params = {"sessionId": turn.session, "command": command}
        if args is not None:
            params["args"] = args
        # An error or an exit, but never a running terminal.
        try:
            made = await turn.raw("terminal/create", params)
        except acp.RequestError as error:
            expect(error.code != -32603, f"{command!r}: {error.code} {error}")
            continue
        named = {"sessionId": turn.session, "terminalId": made["terminalId"]}
        ended = await asyncio.wait_for(turn.raw("terminal/wait_for_exit", named), 10)
        expect(ended["exitCode"] in (0, 126, 127), f"{command!r}: {ended}")
        await turn.raw("terminal/release", named)


@scene
async def cancelled_waits(turn):
    """Thousands of waits on one terminal, none of them to its end."""
    terminal = await turn.script("sleep 1000")
    named = {"sessionId": turn.session, "terminalId": terminal.id}
    codes = {}
    began = time.monotonic()
    for _ in range(4):
        first = turn.rpc._next_request_id
        waits = [asyncio.create_task(turn.raw("terminal/wait_for_exit", named)) for _ in range(1000)]
        # The waits take their ids in order when they begin.
        await asyncio.sleep(0)
        expect(turn.rpc._next_request_id == first + 1000, "a thousand ids")
        for request_id in range(first, first + 1000):
            await turn.rpc.send_notification("$/cancel_request", {"requestId": request_id})
        for answer in await asyncio.wait_for(asyncio.gather(*waits, return_exceptions=True), 60):
            code = getattr(answer, "code", repr(answer))
            codes[code] = codes.get(code, 0) + 1
    expect(set(codes) <= {CANCELLED, OVERLOADED}, codes)
    expect(codes.get(CANCELLED, 0) > 0, codes)
    # Cancelling an unknown id, or one of the wrong type, does nothing.
    for request_id in [999_999_999, "no such", None, {"a": 1}]:
        await turn.rpc.send_notification("$/cancel_request", {"requestId": request_id})
    await turn.rpc.send_notification("$/cancel_request", {})
    waiting = asyncio.create_task(terminal.wait())
    await terminal.kill()
    _, signal = await asyncio.wait_for(waiting, 20)
    expect(signal is not None, "the terminal lived until it was killed")
    await terminal.release()
    await turn.say(f"cancelled: {codes} in {time.monotonic() - began:.1f} s")


@scene
async def many_waits(turn):
    """Too many waits at once: each is answered at the exit or refused with a reason."""
    terminal = await turn.script("sleep 1000")
    waits = [asyncio.create_task(terminal.wait()) for _ in range(3000)]
    await asyncio.sleep(0)
    # They do not delay later requests.
    await asyncio.wait_for(terminal.kill(), 20)
    answers = await asyncio.wait_for(asyncio.gather(*waits, return_exceptions=True), 60)
    refusals = [answer for answer in answers if isinstance(answer, acp.RequestError)]
    exits = [answer for answer in answers if not isinstance(answer, Exception)]
    expect(len(refusals) + len(exits) == 3000, "each is answered")
    expect({error.code for error in refusals} <= {OVERLOADED}, refusals[:3])
    expect(exits and len(set(exits)) == 1 and exits[0][1] is not None, exits[:3])
    await terminal.release()
    await turn.say(f"waits: {len(exits)} answered, {len(refusals)} refused")


@scene
async def too_many(turn):
    """Too many terminals: each is created or refused with a reason."""
    made, refusals = [], set()
    for _ in range(int(turn.words[0])):
        try:
            made.append(await turn.create("sleep", ["1000"]))
        except acp.RequestError as error:
            refusals.add(error.code)
    expect(made and refusals <= {OVERLOADED}, f"{len(made)} made; {refusals}")
    await asyncio.gather(*(terminal.release() for terminal in made))
    await turn.say(f"made {len(made)}, refused with {refusals}")


@scene
async def never_releasing(turn):
    for _ in range(5):
        terminal = await turn.script('trap "" TERM HUP; echo $$; setsid sleep 1000 & sleep 1000')
        await terminal.prints("\n")
    await turn.say(f"left: {terminal.id}")


@scene
async def dying(turn):
    """Ends in the middle of a turn, with waits pending and terminals running."""
    terminal = await turn.script("echo up; sleep 1000")
    await terminal.prints("up")
    for _ in range(50):
        asyncio.create_task(terminal.wait())
    await turn.tool_call("call_dying", "dies", terminal)
    os._exit(7)


@scene
async def flooding(turn):
    """Lines that are no messages: the client never sees them."""
    writer = turn.rpc._transport._sender._writer
    junk = [
        b"Traceback (most recent call last):\n",
        b"\x1b]0;title\x07\x1b[2J not json\n",
        b"\xff\xfe\x00 not even text\n",
        b"\n",
        b"{\"jsonrpc\": \"2.0\", \"method\": \n",
        b"x" * 200_000 + b"\n",
    ]
    for number in range(200):
        for line in junk:
            writer.write(line)
        await writer.drain()
        await turn.say(f"message {number}")
    code, _, output = await turn.run("echo still here")
    expect(code == 0 and "still here" in output.output, output)


@scene
async def hold(turn):
    """A terminal for others to try. It prints its id, and ends when it is released."""
    terminal = await turn.create("/bin/sh", ["-c", "while [ ! -e let-go ]; do sleep 0.02; done; exit 9"])
    await turn.say(terminal.id)
    expect(await terminal.wait() == (9, None), "nobody else has ended it")
    await terminal.release()


if __name__ == "__main__":
    serve()
