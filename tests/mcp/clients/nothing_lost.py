"""Output is read whole, or an omission is named and can be fetched."""

from link import connect
from report import expect

# terminal-mcp's words, which termctl uses too, where the rest comes with the next read.
MARKER = "\n... [output truncated]"


def numbers(text):
    return [int(line) for line in text.replace("\r", "").split("\n") if line.strip().isdigit()]


async def scenario(world, report):
    async with connect(world) as link:
        async with report.check("seq 1 1000000 is read whole by paging"):
            await paged(link, 1_000_000, "none")
        async with report.check("with truncation tail the next read goes on behind"):
            await paged(link, 60_000, "tail")
        for mode in ("head_tail", "tail_only"):
            async with report.check(f"{mode} names what it leaves out, and it can be fetched"):
                await gap(link, mode)
        async with report.check("session_exec keeps to its limit and says so"):
            result = await link.ok("session_exec", exec="seq 1 60000", timeout=30, truncation="tail_only")
            expect(result["truncated"] and result["exit_code"] == 0, result)
            expect("60000" in result["output"][-200:], result["output"][-200:])
        async with report.check("redraws are one line, characters are whole"):
            session = await link.create("sh")
            result = await link.ok(
                "session_interact", session_id=session, timeout=10, wait_for="end-42",
                input="for i in 1 2 3 4 5 6 7 8 9; do printf '\\rbar %s0%%' $i; done; printf '\\nmüßte 日本\\n'; echo end-$((40+2))",
            )
            expect("bar 90%" in result["output"] and "bar 10%" not in result["output"].split("\n")[1:][0], result)
            expect("müßte 日本" in result["output"], result)
            await link.ok("session_close", session_id=session)


async def paged(link, most, truncation):
    session = await link.create(f"sh -c 'seq 1 {most}; exec cat'")
    text, calls = "", 0
    while not text.rstrip().endswith(str(most)):
        result = await link.ok(
            "session_read", session_id=session, mode="stream", timeout=0.2, truncation=truncation
        )
        text += result["output"].removesuffix(MARKER)
        calls += 1
        for left_out in result.get("omitted", []):
            expect(left_out["from"] == result["offset"], f"the next read would leave out {left_out}")
        expect(calls < 400, f"not over after {calls} reads, {len(text)} characters")
    found = numbers(text)
    expect(found == list(range(1, most + 1)), f"{len(found)} of {most} numbers in {calls} reads")
    await link.ok("session_close", session_id=session)


async def gap(link, mode):
    session = await link.create("sh -c 'seq 1 60000; echo end-$((40+2)); exec cat'")
    await link.ok("session_wait_for", session_id=session, pattern="end-42", timeout=20, truncation="tail_only")
    result = await link.ok("session_read", session_id=session, mode="stream", offset=0, timeout=0.2, truncation=mode)
    expect(result["truncated"] and result["omitted"], result)
    left_out = result["omitted"][0]
    text, offset = "", left_out["from"]
    while offset < left_out["to"]:
        part = await link.ok("session_read", session_id=session, mode="stream", offset=offset, timeout=0.2, truncation="none")
        expect(part["offset"] > offset, part)
        text, offset = text + part["output"], part["offset"]
    found = set(numbers(text)) | set(numbers(result["output"]))
    expect(len(found) >= 59_990, f"{len(found)} of 60000 numbers")
    await link.ok("session_close", session_id=session)
