#!/usr/bin/env bash
# Makes top.png, the picture in top.md, with the termctl on PATH and a daemon of its own.
set -euo pipefail
out=$(cd "$(dirname "$0")" && pwd)/top.png
root=$(mktemp -d)
mkdir -m 700 "$root/run"
export HOME=$root XDG_RUNTIME_DIR=$root/run XDG_STATE_HOME=$root/state XDG_CONFIG_HOME=$root/config
finish() {
    kill "$(termctl --no-start status --json | grep -o '"keeper_pid":[0-9]*' | grep -o '[0-9]*')"
    rm -rf "$root"
}
trap finish EXIT

mkdir -p "$root/shop" "$root/site"
git init --quiet --initial-branch=checkout-flow "$root/shop"
cd "$root/site"
termctl create --label server --tag site -- sh -c 'echo "listening on 8123"; sleep 1000' >/dev/null
termctl create --label deploy --tag site -- sh -c 'echo "rsync: connection refused"; exit 12' >/dev/null
termctl create --label login --tag site -- bash -c 'read -s -p "Password for deploy@example.org: " x' >/dev/null
# An agent, which asks the gate.
python3 - "$root/run/termd/termd.sock" "$root/shop" <<'AGENT' &
import json, socket, sys
daemon = socket.socket(socket.AF_UNIX)
daemon.connect(sys.argv[1])
lines = daemon.makefile("rw")
def call(method, params):
    call.number += 1
    print(json.dumps({"jsonrpc": "2.0", "id": call.number, "method": method, "params": params}), file=lines, flush=True)
    return json.loads(lines.readline())
call.number = 0
call("daemon.hello", {"client": "claude", "front": "mcp", "cwd": sys.argv[2]})
build = r"""printf '\033]7;file://%s\007\033]9;4;1;63\007' "$PWD"
for crate in 'serde v1.0.229' 'bytes v1.11.0' 'tokio v1.54.1' 'hyper v1.9.0' 'shop v0.4.0'; do
    printf '\033[1;32m   Compiling\033[0m %s\n' "$crate"
done
sleep 1000"""
call("session.create", {"command": "bash", "args": ["-c", build], "label": "build", "tags": ["claude", "shop"]})
call("session.create", {"command": "rm", "args": ["-rf", "target/release"], "tags": ["claude", "shop"]})
lines.readline()
AGENT
cd "$root"
termctl wait --attention login deploy >/dev/null
termctl create --label overview --cols 98 --rows 26 -- termctl top >/dev/null
termctl screen overview --settle 1500 >/dev/null
termctl send overview --key end >/dev/null
termctl screen overview --settle 1500 >/dev/null
termctl screenshot overview -o "$out" --font-size 13
