"""A scripted model on loopback, in the four ways in which agents speak with theirs.

A script is a function: of the results of all calls so far it makes the next call, a tool with its
arguments, or None at its end. Each request of an agent has all results. What the agent hands over as a
result is what a model would see.
"""

import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def event(data, name=None):
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def text_of(output):
    """The text of a result: as it is, or that of its parts."""
    if isinstance(output, str):
        return output
    parts = output if isinstance(output, list) else [output]
    return "\n".join(part.get("text") or part.get("output") or json.dumps(part) for part in parts)


def named(tool, names):
    """The tool's whole name. Agents put that of its server before it."""
    return next((name for name in names if name.endswith(tool)), None)


class Messages:
    """Anthropic's messages: Claude Code."""

    path = "v1/messages"

    @staticmethod
    def results(body):
        parts = [part for it in body["messages"] if isinstance(it["content"], list) for part in it["content"]]
        return [text_of(part.get("content", "")) for part in parts if part["type"] == "tool_result"]

    @staticmethod
    def name_of(body, tool):
        return named(tool, [it["name"] for it in body["tools"]])

    @staticmethod
    def answer(text=None, call=None):
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage}
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
        if call:
            number, name, arguments = call
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        return "".join(
            event(data, data["type"])
            for data in (
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": end, "usage": usage},
                {"type": "message_stop"},
            )
        )


class Chat:
    """OpenAI's chat completions: opencode."""

    path = "chat/completions"

    @staticmethod
    def results(body):
        return [text_of(it["content"]) for it in body["messages"] if it["role"] == "tool"]

    @staticmethod
    def name_of(body, tool):
        return named(tool, [it["function"]["name"] for it in body["tools"]])

    @staticmethod
    def answer(text=None, call=None):
        delta = {"role": "assistant", "content": text}
        if call:
            number, name, arguments = call
            function = {"name": name, "arguments": json.dumps(arguments)}
            delta["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        first = {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        reason = "tool_calls" if call else "stop"
        last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": USAGE}
        return event(first) + event(last) + "data: [DONE]\n\n"


class Responses:
    """OpenAI's responses: Codex. The tools of an MCP server are a namespace."""

    path = "responses"

    @staticmethod
    def results(body):
        outputs = [it for it in body["input"] if it["type"] == "function_call_output"]
        return [text_of(it["output"]) for it in outputs]

    @staticmethod
    def name_of(body, tool):
        spaces = [it for it in body["tools"] if it["type"] == "namespace"]
        names = [(space["name"], it["name"]) for space in spaces for it in space["tools"]]
        names += [(None, it["name"]) for it in body["tools"] if it["type"] == "function"]
        return next((name for name in names if name[1] == tool), None)

    @staticmethod
    def answer(text=None, call=None):
        item = {"type": "message", "role": "assistant", "id": "m", "content": []}
        if call:
            number, (space, name), arguments = call
            item = {"type": "function_call", "call_id": f"call_{number}", "name": name}
            item["arguments"] = json.dumps(arguments)
            if space:
                item["namespace"] = space
        else:
            item["content"] = [{"type": "output_text", "text": text}]
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return "".join(
            event(data, data["type"])
            for data in (
                {"type": "response.created", "response": {"id": "r"}},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": {"id": "r", "usage": usage}},
            )
        )


class Gemini:
    """Google's generateContent, as a stream: Gemini CLI."""

    path = "GenerateContent"

    @staticmethod
    def results(body):
        parts = [part for content in body["contents"] for part in content["parts"]]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return [text_of(it["response"]) for it in answers]

    @staticmethod
    def name_of(body, tool):
        return named(tool, [it["name"] for group in body["tools"] for it in group.get("functionDeclarations", [])])

    @staticmethod
    def answer(text=None, call=None):
        part = {"text": text}
        if call:
            part = {"functionCall": {"name": call[1], "args": call[2]}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return event({"candidates": [candidate], "usageMetadata": usage})


class Model:
    """The model, and what it has seen of each call of its script."""

    def __init__(self, script, tool):
        self.script = script
        # A tool that requests of the conversation have. Others are for a title, a summary and the like.
        self.tool = tool
        self.seen = []
        self.url = None

    def answer(self, path, body):
        way = next(way for way in (Messages, Chat, Responses, Gemini) if way.path in path)
        if not body.get("tools") or way.name_of(body, self.tool) is None:
            return way.answer(text="a title")
        results = way.results(body)
        if len(results) >= len(self.seen):
            self.seen = results
        call = self.script(results)
        if call is None:
            return way.answer(text="done")
        tool, arguments = call
        return way.answer(call=(len(results), way.name_of(body, tool), arguments))


@contextmanager
def serve(script, tool):
    """The model, at an address of its own. `tool` is one that each request of the conversation offers."""
    model = Model(script, tool)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def handle(self):
            # An agent may be killed at any time.
            with suppress(ConnectionError):
                super().handle()

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = model.answer(self.path, body).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
