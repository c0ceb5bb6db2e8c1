// Follows tasks of `termctl mcp`, and holds each answer against the schemas of the extension's own
// package: `node tasks.mjs PACKAGE_FOLDER`. The Rust test of that name calls it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";

const schemas = await import(join(process.argv[2], "dist/core/v2/index.js"));
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "a-test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { extensions: { [schemas.TASKS_EXTENSION_ID_V2]: {} } },
};

function connect() {
  const server = spawn(process.env.TERMCTL, ["mcp"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  createInterface({ input: server.stdout }).on("line", (line) => waiting.shift()(JSON.parse(line)));
  // Each answer comes before the next request.
  const ask = (method, params, schema) =>
    new Promise((resolve, reject) => {
      waiting.push(({ result, error }) => {
        if (error) reject(error);
        else resolve(schema ? schemas[schema].parse(result) && result : result);
      });
      const request = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } };
      server.stdin.write(`${JSON.stringify(request)}\n`);
    });
  return { ask, end: () => server.stdin.end() };
}

const begin = ({ ask }, exec) =>
  ask("tools/call", { name: "session_exec", arguments: { exec } }, "CreateTaskResultV2Schema");

let client = connect();
const discovered = await client.ask("server/discover", {});
assert(schemas.hasTaskServerCapabilityV2(discovered.capabilities));
const { taskId, pollIntervalMs } = await begin(client, "echo begun; sleep 4; exit 3");
// A server that was started since can answer, too.
client.end();
client = connect();
let task = await client.ask("tasks/get", { taskId }, "GetTaskResultV2Schema");
assert.equal(task.statusMessage, "begun");
while (task.status === "working") {
  await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
  task = await client.ask("tasks/get", { taskId }, "GetTaskResultV2Schema");
}
assert.equal(task.status, "completed");
schemas.CallToolResultV2Schema.parse(task.result);
assert.equal(task.result.structuredContent.exit_code, 3);

const other = (await begin(client, "sleep 344")).taskId;
await client.ask("tasks/cancel", { taskId: other }, "CancelTaskResultV2Schema");
task = await client.ask("tasks/get", { taskId: other }, "GetTaskResultV2Schema");
assert.equal(task.status, "cancelled");
const update = { taskId: other, inputResponses: {} };
await client.ask("tasks/update", update, "UpdateTaskResultV2Schema");
await assert.rejects(client.ask("tasks/get", { taskId: "no-such" }), { code: -32602 });
client.end();
