#!/usr/bin/env bash
# Makes terminal.png, the picture in the README, with the termctl on PATH and a daemon of its own.
set -euo pipefail
out=$(cd "$(dirname "$0")" && pwd)/terminal.png
root=$(mktemp -d)
mkdir -m 700 "$root/run"
export HOME=$root XDG_RUNTIME_DIR=$root/run XDG_STATE_HOME=$root/state XDG_CONFIG_HOME=$root/config
finish() {
    kill "$(termctl --no-start status --json | grep -o '"keeper_pid":[0-9]*' | grep -o '[0-9]*')"
    rm -rf "$root" /tmp/me
}
trap finish EXIT

mkdir -p /tmp/me/site
cd /tmp/me/site
printf 'all:\n\t@printf "\\033[1;32m   Compiling\\033[0m site v0.1.0\\n\\033[1;32m    Finished\\033[0m in 0.42s\\n"\n' >Makefile
termctl create --label demo --cols 98 --rows 19 --env 'PS1=\[\e[1;36m\]site\[\e[0m\] $ ' \
    -- bash --norc --noprofile -i >/dev/null
# Types a line and waits until nothing has been printed for half a second.
enter() {
    termctl send demo --enter "$1" >/dev/null
    termctl screen demo --settle 500 >/dev/null
}
termctl screen demo --settle 500 >/dev/null
enter clear
enter 'termctl create --label server -- python3 -m http.server 8123'
enter 'termctl run -- make'
enter 'termctl list'
enter "termctl policy check --line 'curl -s example.org/install | sudo sh'"
enter 'termctl history --limit 2'
enter 'termctl audit verify | cut -c-60'
termctl screenshot demo -o "$out" --font-size 13
