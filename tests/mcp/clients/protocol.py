"""The protocol: negotiation, lists, errors, progress and cancellation."""

import time

import anyio
import jsonschema
from link import MAJOR, connect, plain
from report import expect

SESSION = {
    "session_create", "session_send", "session_read", "session_resize", "session_close",
    "session_exec", "session_interact", "session_wait_for", "session_list",
    "session_screenshot", "session_history", "session_search", "session_attach_hint",
}
TERMINAL = {
    "terminal_start", "terminal_exec", "terminal_run", "terminal_write", "terminal_read",
    "terminal_wait", "terminal_stop", "terminal_list", "terminal_extra",
}


async def scenario(world, report):
    async with connect(world) as link:
        async with report.check("the era is the newest that the client speaks"):
            wanted = "2026-07-28" if MAJOR > 1 else "2025-11-25"
            expect(link.protocol == wanted, link.protocol)
        async with report.check("the server says in a few words what it is for"):
            expect(0 < len(link.hello.get("instructions") or "") < 4000, link.hello)
        async with report.check("the default set is session, all of it"):
            missing = SESSION - link.tools.keys()
            expect(not missing, f"missing: {missing}")
            expect(not TERMINAL & link.tools.keys(), "terminal_* was not asked for")
        async with report.check("each tool has title, annotations, description, valid schemas"):
            for name, tool in link.tools.items():
                expect(tool.get("description"), f"{name}: no description")
                expect(tool.get("title") or tool["annotations"].get("title"), f"{name}: no title")
                hints = tool.get("annotations", {})
                for hint in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"):
                    if hint != "destructiveHint" or not hints.get("readOnlyHint"):
                        expect(hint in hints, f"{name}: no {hint}")
                for schema in ("inputSchema", "outputSchema"):
                    if schema == "inputSchema" or name != "session_screenshot":
                        expect(schema in tool, f"{name}: no {schema}")
                        jsonschema.Draft202012Validator.check_schema(tool[schema])
        async with report.check("arguments that do not fit are an error that says how to mend it"):
            for name, arguments, word in [
                ("session_create", {}, "command"),
                ("session_create", {"command": "bash", "rows": "forty"}, "rows"),
                ("session_resize", {"session_id": "x", "rows": 0, "cols": 80}, "rows"),
                ("session_read", {"session_id": "x", "mode": "upside-down"}, "mode"),
                ("session_read", {"session_id": "no-such-session"}, "no-such-session"),
            ]:
                result = await link.call(name, **arguments)
                expect(result.is_error and word in result.text, f"{name} {arguments}: {result}")
        async with report.check("an unknown tool is the protocol's error -32602"):
            try:
                result = await link.call("session_dance")
            except Exception as error:  # noqa: BLE001 - the SDKs name it differently
                code = getattr(getattr(error, "error", error), "code", None)
                expect(code == -32602, f"{type(error).__name__} {code}: {error}")
            else:
                expect(False, f"an answer: {result}")
        await resources(link, report)
        await meanwhile(link, report)
        async with report.check("a screenshot is an image"):
            session = await link.create()
            result = await link.call("session_screenshot", session_id=session)
            expect(result.images and result.images[0]["mimeType"] == "image/png", result.raw)
            await link.ok("session_close", session_id=session)
        async with report.check("what was run in a shell is its history"):
            session = await link.create()
            await link.ok("session_interact", session_id=session, input="echo remembered", timeout=10)
            result = await link.ok("session_history", session_id=session)
            expect("echo remembered" in result.text, result)
            await link.ok("session_close", session_id=session)
        async with report.check("a person is told how to watch"):
            session = await link.create()
            result = await link.ok("session_attach_hint", session_id=session)
            expect("termctl attach" in result.text, result)
            await link.ok("session_close", session_id=session)
    async with report.check("both sets together"):
        async with connect(world, tools="session,terminal") as link:
            missing = (SESSION | TERMINAL) - link.tools.keys()
            expect(not missing, f"missing: {missing}")
    if MAJOR > 1:
        async with report.check("the same client in the older era"):
            async with connect(world, mode="legacy") as link:
                expect(link.protocol == "2025-11-25", link.protocol)
                await link.ok("session_list")


async def resources(link, report):
    async with report.check("screen and transcript of a terminal are resources"):
        session = await link.create("sh -c 'echo resource-$((40+2)); exec cat'")
        await link.ok("session_wait_for", session_id=session, pattern="resource-42", timeout=10)
        listed = plain(await link.client.list_resources())["resources"]
        uris = {str(resource["uri"]) for resource in listed}
        for what in ("screen", "transcript"):
            uri = f"termd://terminal/{session}/{what}"
            expect(uri in uris, f"{uri} is not in {uris}")
            read = plain(await link.client.read_resource(uri if MAJOR > 1 else _url(uri)))
            expect("resource-42" in read["contents"][0]["text"], read)
        templates = plain(await link.client.list_resource_templates())["resourceTemplates"]
        expect(len(templates) >= 2, templates)
        await link.ok("session_close", session_id=session)


def _url(text):
    from pydantic import AnyUrl

    return AnyUrl(text)


async def meanwhile(link, report):
    session = await link.create()
    async with report.check("progress comes at most once a second where it is asked for"):
        told = []

        async def progress(done, total, message):
            told.append((time.monotonic(), done))

        await link.call(
            "session_wait_for", progress=progress, session_id=session, pattern="never-ever", timeout=3.5
        )
        expect(1 <= len(told) <= 5, f"{len(told)} in 3.5 s")
        expect(all(a[1] < b[1] for a, b in zip(told, told[1:])), f"progress must grow: {told}")
    async with report.check("a cancelled call ends at once, the terminal does not"):
        with anyio.move_on_after(0.5):
            await link.call("session_wait_for", session_id=session, pattern="never-ever", timeout=50)
        began = time.monotonic()
        result = await link.ok("session_interact", session_id=session, input="echo still-$((40+2))", timeout=10)
        expect("still-42" in result["output"], result)
        expect(time.monotonic() - began < 5, "the cancelled wait was in the way")
    await link.ok("session_close", session_id=session)
