// The scenes of agent.py on the TypeScript SDK, whose TerminalHandle most agents use.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { setTimeout as pause } from "node:timers/promises";

const acp = await import(pathToFileURL(process.env.ACP_SDK).href);

const NOT_FOUND = -32002;
const CANCELLED = -32800;
// How long to wait for what should take milliseconds.
const PATIENCE = 20_000;
// Prints, waits for a file, and prints more.
const GATED = 'echo one; while [ ! -e "$1" ]; do sleep 0.02; done; echo two; exit 3';

const scenes = {};
const folders = new Map();

class Turn {
  constructor(client, session, words, signal) {
    Object.assign(this, { client, session, words, signal, cwd: folders.get(session) });
  }

  create(command, args, more = {}) {
    return this.client.createTerminal({ sessionId: this.session, command, args, ...more });
  }

  script(script, more) {
    return this.create("/bin/sh", ["-c", script], more);
  }

  /** A script from its beginning to its release, which is the handle's disposal. */
  async run(script, more) {
    const terminal = await this.script(script, more);
    try {
      const { exitCode, signal } = await terminal.waitForExit();
      return { code: exitCode ?? null, signal: signal ?? null, ...(await terminal.currentOutput()) };
    } finally {
      await terminal[Symbol.asyncDispose]();
    }
  }

  update(update) {
    return this.client.notify(acp.methods.client.session.update, { sessionId: this.session, update });
  }

  say(text) {
    return this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  }
}

/** Polls until the terminal has printed this: agents do. */
async function prints(terminal, text) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const output = await terminal.currentOutput();
    if (output.output.includes(text)) return output;
    assert(Date.now() < deadline, `never printed ${text}: ${JSON.stringify(output)}`);
    await pause(20);
  }
}

async function ended(terminal) {
  const { exitCode, signal } = await terminal.waitForExit();
  return exitCode ?? signal;
}

async function refused(code, promise) {
  await assert.rejects(promise, (error) => error.code === code && error.message.length > 3);
}

scenes.every_method = async (turn) => {
  const below = join(turn.cwd, "a folder");
  mkdirSync(below, { recursive: true });
  const show = 'printf "%s|%s|%s\\n" "$GREETING" "$1" "$PWD"; exec sh -c "$2" sh node-go';
  const terminal = await turn.create("/bin/sh", ["-c", show, "sh", "two words", GATED], {
    env: [{ name: "GREETING", value: "grüß dich" }, { name: "EMPTY", value: "" }],
    cwd: below,
    outputByteLimit: 1 << 20,
  });
  const running = await prints(terminal, "one");
  assert(running.output.includes(`grüß dich|two words|${below}`), running.output);
  assert(running.exitStatus == null && running.truncated === false);
  writeFileSync(join(below, "node-go"), "");
  assert.equal(await ended(terminal), 3);
  const whole = await terminal.currentOutput();
  assert.deepEqual(whole.output.split(/\s+/).filter(Boolean).slice(-2), ["one", "two"]);
  assert.equal(whole.exitStatus.exitCode, 3);
  await terminal.kill();
  assert.equal(await ended(terminal), 3);
  await terminal.release();
  await refused(NOT_FOUND, terminal.currentOutput());
  await refused(NOT_FOUND, terminal.waitForExit());
  await refused(NOT_FOUND, terminal.kill());
  await refused(NOT_FOUND, terminal.release());
};

scenes.where_and_how = async (turn) => {
  const { code, output } = await turn.run("pwd; test -t 0 -a -t 1 -a -t 2 && echo a tty; echo e >&2");
  assert.equal(code, 0);
  assert.deepEqual(output.split(/\r?\n/).slice(0, 3), [turn.cwd, "a tty", "e"]);
  const line = await turn.create("echo $((40+2)) | tr 4 F && exit 5");
  assert.equal(await ended(line), 5);
  assert((await line.currentOutput()).output.includes("F2"));
  await line.release();
  assert.match((await turn.run("echo pager=$PAGER")).output, /pager=cat/);
};

scenes.output_limits = async (turn) => {
  const numbers = await turn.run("seq 1 20000", { outputByteLimit: 100 });
  assert(numbers.truncated && numbers.output.trimEnd().endsWith("20000"), numbers.output);
  assert(Buffer.byteLength(numbers.output) <= 100);
  const accents = await turn.run("for i in $(seq 100); do printf é; done", { outputByteLimit: 99 });
  assert.equal(accents.output, "é".repeat(49));
  const nothing = await turn.run("echo nothing of this", { outputByteLimit: 0 });
  assert(nothing.truncated && nothing.output === "");
};

scenes.exits = async (turn) => {
  const table = [
    ["exit 0", 0],
    ["exit 255", 255],
    ["kill -TERM $$", "SIGTERM"],
    ["kill -HUP $$", "SIGHUP"],
    ["sleep 1000 & exit 4", 4],
  ];
  for (const [script, expected] of table) {
    const { code, signal } = await turn.run(script);
    assert.equal(code ?? signal, expected, script);
    assert.notEqual(code === null, signal === null, script);
  }
};

scenes.several = async (turn) => {
  const numbers = [...Array(8).keys()];
  const gates = await Promise.all(numbers.map((n) => turn.create("/bin/sh", ["-c", GATED, "sh", `node-gate${n}`])));
  assert.equal(new Set(gates.map((gate) => gate.id)).size, 8);
  const waits = gates.map(ended);
  await Promise.all(gates.map((gate) => prints(gate, "one")));
  for (const n of numbers.reverse()) {
    writeFileSync(join(turn.cwd, `node-gate${n}`), "");
    assert.equal(await waits[n], 3);
  }
  for (const gate of gates) assert((await gate.currentOutput()).output.includes("two"));
  await Promise.all(gates.map((gate) => gate.release()));
};

scenes.timeout = async (turn) => {
  const stubborn = 'trap "" TERM; echo slow; sleep 1000 & echo "child $!"; wait; sleep 1000';
  const terminal = await turn.script(stubborn);
  const waiting = ended(terminal);
  const first = await Promise.race([waiting, pause(500, "timeout")]);
  assert.equal(first, "timeout");
  await terminal.kill();
  assert.match(String(await waiting), /^SIG/);
  const { output } = await terminal.currentOutput();
  await terminal.release();
  const child = /child (\d+)/.exec(output)[1];
  assert(!existsSync(`/proc/${child}`), `the child ${child} lives`);
  // A cancelled wait leaves the terminal running.
  const other = await turn.script("sleep 1000");
  const giveUp = new AbortController();
  const params = { sessionId: turn.session, terminalId: other.id };
  const given = turn.client.request(acp.methods.client.terminal.waitForExit, params, {
    cancellationSignal: giveUp.signal,
  });
  giveUp.abort();
  await refused(CANCELLED, given);
  assert.equal((await other.currentOutput()).exitStatus ?? null, null);
  await other.release();
};

scenes.release_ends = async (turn) => {
  const terminal = await turn.script("echo $$; sleep 1000");
  const { output } = await prints(terminal, "\n");
  const waiting = ended(terminal);
  await terminal[Symbol.asyncDispose]();
  assert.match(String(await waiting), /^SIG/);
  assert(!existsSync(`/proc/${Number(output)}`), "the process lives");
};

scenes.embedded = async (turn) => {
  const script =
    "for n in 1 2 3; do for p in 10 50 100; do printf '\\rdownloading %s%%' $p; done; " +
    'echo; echo "step $n"; while [ ! -e "go$n" ]; do sleep 0.02; done; done; echo finished; exit 2';
  const terminal = await turn.script(script);
  const content = [{ type: "terminal", terminalId: terminal.id }];
  await turn.update({
    sessionUpdate: "tool_call",
    toolCallId: "call_1",
    title: "three steps",
    kind: "execute",
    status: "in_progress",
    content,
  });
  assert.equal(await ended(terminal), 2);
  await turn.update({ sessionUpdate: "tool_call_update", toolCallId: "call_1", status: "failed" });
  await terminal.release();
  await turn.say("done");
};

/** Any command, as a tool call of its own: `shell COMMAND…`. */
scenes.shell = async (turn) => {
  const terminal = await turn.create(turn.words.join(" "));
  const content = [{ type: "terminal", terminalId: terminal.id }];
  const call = { toolCallId: `call_${terminal.id}`, title: "a command", kind: "execute" };
  await turn.update({ sessionUpdate: "tool_call", status: "in_progress", content, ...call });
  const exit = await ended(terminal);
  const { output } = await terminal.currentOutput();
  const status = exit === 0 ? "completed" : "failed";
  await turn.update({ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status });
  await terminal.release();
  await turn.say(`exit ${exit}, output ${JSON.stringify(output.trimEnd())}`);
};

let sessions = 0;

acp
  .agent({ name: "stage" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: {},
    agentInfo: { name: "node-stage", version: "1" },
  }))
  .onRequest(acp.methods.agent.session.new, ({ params }) => {
    const sessionId = `node-session-${process.pid}-${sessions++}`;
    folders.set(sessionId, params.cwd);
    return { sessionId };
  })
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client, signal }) => {
    const [name, ...words] = params.prompt[0].text.split(" ");
    try {
      await scenes[name](new Turn(client, params.sessionId, words, signal));
    } catch (error) {
      throw new acp.RequestError(-32603, `the scene ${name} failed: ${error.stack}`);
    }
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
