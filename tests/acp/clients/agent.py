"""An agent that uses every method of ACP's terminals by the specification."""

import asyncio
import os

from stage import NOT_FOUND, expect, refused, scene, serve

# Prints, waits for a file, and prints more.
GATED = 'echo one; while [ ! -e "$1" ]; do sleep 0.02; done; echo two; exit 3'


@scene
async def every_method(turn):
    below = os.path.join(turn.cwd, "a folder")
    os.makedirs(below, exist_ok=True)
    show = 'printf "%s|%s|%s\\n" "$GREETING" "$1" "$PWD"; exec sh -c "$2" sh go'
    terminal = await turn.create(
        "/bin/sh",
        ["-c", show, "sh", "two words", GATED],
        env={"GREETING": "grüß dich", "EMPTY": ""},
        cwd=below,
        limit=1 << 20,
    )
    output = await terminal.prints("one")
    expect(f"grüß dich|two words|{below}" in output.output, output)
    expect(output.exit_status is None and output.truncated is False, output)
    open(os.path.join(below, "go"), "w").close()
    expect(await terminal.wait() == (3, None), "exit 3")
    # The output is complete at once.
    output = await terminal.output()
    expect(output.output.split() [-2:] == ["one", "two"], output)
    expect(output.exit_status and output.exit_status.exit_code == 3, output)
    # An exited terminal can be killed and queried again.
    await terminal.kill()
    expect(await terminal.wait() == (3, None), "the exit stays")
    await terminal.release()
    for method in (terminal.output, terminal.wait, terminal.kill, terminal.release):
        await refused(NOT_FOUND, method())


@scene
async def where_and_how(turn):
    code, _, output = await turn.run("pwd; test -t 0 -a -t 1 -a -t 2 && echo a tty; echo e >&2")
    expect(code == 0, output)
    expect(output.output.split("\n")[:3] == [turn.cwd, "a tty", "e"], output.output)
    # A shell line, as many agents send it, and a login shell, as fast-agent does.
    line = await turn.create("echo $((40+2)) | tr 4 F && exit 5")
    expect(await line.wait() == (5, None), "the line's exit")
    expect("F2" in (await line.output()).output, "the line's output")
    await line.release()
    login = await turn.create("/bin/sh", ["-lc", "echo from a login shell"])
    expect(await login.wait() == (0, None), "the login shell's exit")
    expect("from a login shell" in (await login.output()).output, "its output")
    await login.release()
    # No program waits for a person.
    code, _, output = await turn.run("echo pager=$PAGER git=$GIT_PAGER")
    expect("pager=cat" in output.output, output.output)


@scene
async def output_limits(turn):
    _, _, output = await turn.run("seq 1 20000", limit=100)
    expect(output.truncated and output.output.rstrip().endswith("20000"), output)
    expect(0 < len(output.output.encode()) <= 100, len(output.output.encode()))
    # Output is cut between characters.
    _, _, output = await turn.run("for i in $(seq 100); do printf é; done", limit=99)
    expect(output.truncated and set(output.output) == {"é"}, output)
    expect(len(output.output) == 49, len(output.output))
    _, _, output = await turn.run("echo nothing of this", limit=0)
    expect(output.truncated and output.output == "", output)
    _, _, output = await turn.run("seq 1 100000")
    expect(output.output.rstrip().endswith("100000"), output.output[-100:])
    expect(output.truncated or output.output.startswith("1\n2\n"), output.output[:100])


@scene
async def exits(turn):
    for script, expected in [
        ("exit 0", (0, None)),
        ("exit 255", (255, None)),
        ("kill -TERM $$", (None, "SIGTERM")),
        ("kill -HUP $$", (None, "SIGHUP")),
        # The wait ends although a background child keeps the terminal open.
        ("sleep 1000 & exit 4", (4, None)),
    ]:
        code, signal, _ = await turn.run(script)
        expect((code, signal) == expected, f"{script}: {code} {signal}")


@scene
async def several(turn):
    gates = [await turn.create("/bin/sh", ["-c", GATED, "sh", f"gate{n}"]) for n in range(8)]
    expect(len({gate.id for gate in gates}) == 8, "eight ids")
    # Two waits for each terminal.
    waits = [asyncio.create_task(gate.wait()) for gate in gates * 2]
    await asyncio.gather(*(gate.prints("one") for gate in gates))
    expect(not any(wait.done() for wait in waits), "none has ended")
    for number in reversed(range(8)):
        turn.touch(f"gate{number}")
        expect(await waits[number] == (3, None), f"gate {number}")
    expect(all(ended == (3, None) for ended in await asyncio.gather(*waits)), "all have ended")
    outputs = await asyncio.gather(*(gate.output() for gate in gates))
    expect(all("two" in output.output for output in outputs), outputs)
    await asyncio.gather(*(gate.release() for gate in gates))


async def within(turn, seconds, script):
    """The timeout pattern of ACP's documentation: the output and the exit."""
    terminal = await turn.script(script)
    waiting = asyncio.create_task(terminal.wait())
    done, _ = await asyncio.wait({waiting}, timeout=seconds)
    if not done:
        await terminal.kill()
    ended = await waiting
    output = (await terminal.output()).output
    await terminal.release()
    return bool(done), ended, output


@scene
async def timeout(turn):
    in_time, ended, output = await within(turn, 20, "echo quick")
    expect(in_time and ended == (0, None) and "quick" in output, f"{ended} {output}")
    # It ignores SIGTERM, and has a child.
    stubborn = 'trap "" TERM; echo slow; sleep 1000 & echo "child $!"; wait; sleep 1000'
    in_time, ended, output = await within(turn, 0.5, stubborn)
    expect(not in_time and ended[1] is not None, f"{ended}")
    expect("slow" in output, output)
    child = int(output.split("child ")[1].split()[0])
    expect(not os.path.exists(f"/proc/{child}"), f"the child {child} lives")


@scene
async def release_ends(turn):
    terminal = await turn.script("echo $$; sleep 1000")
    output = await terminal.prints("\n")
    waiting = asyncio.create_task(terminal.wait())
    await asyncio.sleep(0)
    await terminal.release()
    _, signal = await waiting
    expect(signal is not None, "a wait outlives the release")
    expect(not os.path.exists(f"/proc/{int(output.output)}"), "the process lives")


@scene
async def embedded(turn):
    """The client lets the command continue when it has received the output so far."""
    script = (
        "for n in 1 2 3; do "
        "  for p in 10 50 100; do printf '\\rdownloading %s%%' $p; done; "
        '  echo; echo "step $n"; while [ ! -e "go$n" ]; do sleep 0.02; done; '
        "done; echo finished; exit 2"
    )
    terminal = await turn.script(script)
    await turn.tool_call("call_1", "three steps", terminal)
    ended = await terminal.wait()
    expect(ended == (2, None), ended)
    await turn.tool_call_ends("call_1", "failed")
    await terminal.release()
    await turn.say("done")


@scene
async def dangerous(turn):
    """A command that the gate asks about: `dangerous allowed|refused FOLDER`, the test's own."""
    answer, folder = turn.words
    victim = os.path.join(turn.cwd, folder)
    os.makedirs(victim, exist_ok=True)
    if answer == "allowed":
        code, _, output = await turn.run(f"rm -rf {victim}")
        expect(code == 0 and not os.path.exists(victim), output)
    else:
        error = await refused((-32012, -32011), turn.script(f"rm -rf {victim}"))
        expect(os.path.exists(victim), "it was done all the same")
        await turn.say(f"refused: {error}")


@scene
async def shell(turn):
    """Any command, as a tool call of its own: `shell COMMAND…`."""
    terminal = await turn.create(" ".join(turn.words))
    await turn.tool_call(f"call_{terminal.id}", "a command", terminal)
    code, signal = await terminal.wait()
    output = (await terminal.output()).output.rstrip()
    await turn.tool_call_ends(f"call_{terminal.id}", "failed" if code else "completed")
    await terminal.release()
    await turn.say(f"exit {signal or code}, output {output!r}")


@scene
async def held(turn):
    """A command that runs until it is released, whatever others do."""
    terminal = await turn.create("/bin/sh", ["-c", GATED, "sh", "let-go"])
    await terminal.prints("one")
    await turn.say("holding")
    expect(await terminal.wait() == (3, None), "the held command's end")
    expect("two" in (await terminal.output()).output, "its output")
    await terminal.release()


if __name__ == "__main__":
    serve()
