"""What has to hold for an agent's shell. Each check is a function of a setting: it fails by an exception,
and may answer with a figure for the report."""

import re
import shutil
import signal
import socket
import statistics
import subprocess

from agents import Sandbox
from processes import Sleepers, wait_until
from report import Skip, expect
from shell import AgentEnded

# How soon nothing of an agent's commands may be alive after its end.
MAX_SURVIVAL = 3
# How long a child in the background goes on. A call that waited for it would take so long; half of that is what a
# busy machine may add.
CHILD_SECONDS = 3
MAX_DELAY = CHILD_SECONDS / 2
# How long 5 MB may take a debug build on a machine that does other things: what hangs takes longer. And how much
# of it a model may get.
MAX_FLOOD_SECONDS = 30
MAX_FLOOD_TEXT = 64 * 1024
# How long a command that does nothing slow may take, with the agent's own work.
MAX_QUICK = 4

# The exit code of a command that the gate refuses.
REFUSED = 126

# Asks until the server has started.
FETCH = """
import sys, time, urllib.error, urllib.request
deadline = time.monotonic() + 5
while time.monotonic() < deadline:
    try:
        print("status", urllib.request.urlopen(sys.argv[1]).status)
        break
    except urllib.error.URLError:
        time.sleep(0.05)
"""

CHECKS = []
# Those of an agent with hooks.
HOOK_CHECKS = []


def check(name, checks=CHECKS):
    def add(function):
        checks.append((name, function))
        return function

    return add


def expect_exit(setting, command, code):
    answer = setting.shell.run(command)
    expect(answer.exit_code == code, f"{code} is {answer.exit_code}: {answer.text[-300:]}")
    return answer


@check("exit code 0")
def exit_0(setting):
    expect_exit(setting, "true", 0)


@check("exit code 3")
def exit_3(setting):
    expect_exit(setting, "exit 3", 3)


@check("exit code 127")
def exit_127(setting):
    expect_exit(setting, "no-such-program-of-ours", 127)


@check("end by a signal")
def end_by_signal(setting):
    answer = setting.shell.run("kill -TERM $$", seconds=MAX_QUICK)
    expect(answer.seconds < MAX_QUICK, f"it took {answer.seconds:.1f} s: {answer.text[-300:]}")
    expect(setting.agent.is_ended_by_sigterm(answer), f"{answer.exit_code}: {answer.text[-300:]}")


@check("both streams")
def streams(setting):
    answer = expect_exit(setting, "echo out-1; echo err-1 >&2; echo out-2; echo err-2 >&2", 0)
    seen = re.findall(r"\b(?:out|err)-[12]\b", answer.text)
    if setting.agent.joins_streams:
        expect(seen == ["out-1", "err-1", "out-2", "err-2"], f"the order is {seen}")
    expect(sorted(seen) == ["err-1", "err-2", "out-1", "out-2"], f"the lines are {seen}")
    for stream in ("out", "err"):
        of_stream = [line for line in seen if line.startswith(stream)]
        expect(of_stream == [f"{stream}-1", f"{stream}-2"], f"the order is {of_stream}")


@check("5 MB of output")
def flood(setting):
    lines = 110_000
    command = f"seq -f 'line %06.0f of many, to fill five million bytes' 1 {lines}; exit 4"
    answer = expect_exit(setting, command, 4)
    expect(answer.seconds < MAX_FLOOD_SECONDS, f"it took {answer.seconds:.1f} s")
    expect(len(answer.text) <= MAX_FLOOD_TEXT, f"the model has got {len(answer.text)} characters")
    expect(f"line {lines} of" in answer.text, f"the last line is missing: {answer.text[-300:]}")
    if setting.termd_shell:
        terminals = [it["terminal"] for it in setting.history() if "five million bytes" in it["text"]]
        sizes = [it["end"] for it in setting.termctl("list", "--all") if it["id"] in terminals]
        expect(max(sizes, default=0) >= 46 * lines, f"termd has {sizes} bytes")
    return f"{answer.seconds:.2f} s, {len(answer.text) / 1000:.1f} kB to the model"


@check("stdin is at its end")
def stdin(setting):
    answer = expect_exit(setting, "cat; echo cat=$?; read -r line; echo read=$?", 0)
    expect(answer.seconds < MAX_QUICK, f"it took {answer.seconds:.1f} s")
    expect("cat=0" in answer.text and "read=1" in answer.text, answer.text)


@check("the directory is kept")
def cwd(setting):
    if not setting.agent.keeps_cwd:
        raise Skip("each call of this agent begins in its project")
    (setting.work / "below").mkdir(exist_ok=True)
    expect_exit(setting, "cd below", 0)
    answer = expect_exit(setting, "pwd; cd ..", 0)
    expect(f"{setting.work}/below" in answer.text, answer.text)


@check("a child in the background does not delay its call")
def background(setting):
    plain = statistics.median(setting.shell.run("echo hi").seconds for _ in range(3))
    answers = [setting.shell.run(f"sleep {CHILD_SECONDS} & echo hi") for _ in range(2)]
    expect(all("hi" in it.text for it in answers), answers[0].text)
    added = min(it.seconds for it in answers) - plain
    expect(added < MAX_DELAY, f"it adds {added:.2f} s to {plain:.2f} s")
    return f"{added:+.2f} s"


@check("a server in the background answers the next call")
def server(setting):
    if not setting.agent.keeps_children:
        raise Skip("this agent ends with each call what the call has started")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    setting.shell.run(f"python3 -m http.server --bind 127.0.0.1 {port} >/dev/null 2>&1 & echo started")
    (setting.work / "fetch.py").write_text(FETCH)
    answer = setting.shell.run(f"python3 fetch.py http://127.0.0.1:{port}")
    expect("status 200" in answer.text, answer.text)


@check("timeout")
def timeout(setting):
    if not setting.agent.has_limit:
        raise Skip("this agent's calls have no time limit")
    sleepers = Sleepers()
    # Claude Code refuses a command that sleeps alone.
    answer = setting.shell.run(f"echo begun; {sleepers.command}", seconds=2)
    expect(answer.seconds < 2 + MAX_QUICK, f"it took {answer.seconds:.1f} s")
    expect(answer.exit_code != 0, f"the model is told of success: {answer.text}")
    sleepers.kill()
    return f"{answer.seconds:.1f} s"


@check("a secret in the environment is not shown")
def secret(setting):
    name, value = setting.secret
    answer = expect_exit(setting, f'echo "length ${{#{name}}}"; echo "token=${name}"; printenv {name} >&2', 0)
    expect(f"length {len(value)}" in answer.text, f"the command has no secret: {answer.text}")
    expect(value not in answer.text, "the model has seen it")


@check("nested shells")
def nested(setting):
    # Gemini CLI takes off a `bash -c` at the beginning by itself.
    answer = expect_exit(setting, "true; bash -c 'bash -c \"echo nested-\\$((6*7)); exit 5\"'", 5)
    expect("nested-42" in answer.text, answer.text)


@check("a script with the shell in its first line")
def script(setting):
    path = setting.work / "script.sh"
    path.write_text(f'#!{setting.bash}\necho "args $# $1 $(basename "$0")"\nexit 6\n')
    path.chmod(0o755)
    answer = expect_exit(setting, "./script.sh 'a b'", 6)
    expect("args 1 a b script.sh" in answer.text, answer.text)


@check("what the person's start-up file sets is there")
def start_up_file(setting):
    if not setting.agent.reads_start_up_file:
        raise Skip("this agent asks no shell for the aliases of its user")
    (setting.home / ".bashrc").write_text("alias of_the_file='echo from-the-alias'\n")
    with setting.fresh_shell() as shell:
        answer = shell.run("of_the_file")
    expect("from-the-alias" in answer.text, answer.text[-300:])


@check("what the gate stops is not run")
def gate(setting):
    precious = setting.work / "precious"
    precious.mkdir()
    # Codex itself refuses `rm -rf`.
    answer = setting.shell.run("find precious -delete")
    expect(precious.is_dir(), "it was run")
    expect(answer.exit_code == REFUSED, f"exit code {answer.exit_code}: {answer.text[-300:]}")
    expect("termd: not run" in answer.text, answer.text)


@check("a tty that is typed into")
def tty(setting):
    if not setting.agent.has_tty:
        raise Skip("this agent's calls have no tty")
    answer = setting.shell.type_into("test -t 0 -a -t 1 && stty size; read -r line; echo got-$line", "hello\n")
    expect("24 80" in answer.text, answer.text)
    expect("got-hello" in answer.text, answer.text)


@check("every command is in the history with its exit code")
def history(setting):
    entries = setting.history()
    recorded = [(it.get("agent_line") or it["text"], code_of(it)) for it in entries]

    def is_recorded(command, code):
        # An agent whose limit is over knows of no exit code.
        return any(command in text and code in (None, other) for text, other in recorded)

    # What the gate refuses was not run.
    ran = [(command, code) for command, code in setting.answered if code != REFUSED]
    missing = [it for it in ran if not is_recorded(*it)]
    expect(not missing, f"{len(missing)} of {len(ran)} are missing: {missing[:5]} of {recorded[:5]}")
    return f"{len(ran)} commands, {len(entries)} in the history"


def code_of(entry):
    name = entry.get("signal")
    return 128 + signal.Signals[name] if name else entry.get("exit_code")


@check("children end with their agent")
def children_end(setting):
    sleepers = Sleepers()
    with setting.fresh_shell() as shell:
        shell.run(f"{{ {sleepers.command} & setsid {sleepers.command} & }} >/dev/null 2>&1; echo started")
        expect(not setting.agent.keeps_children or wait_until(lambda: len(sleepers.asleep()) == 2, 5), "not started")
        shell.end()
        expect_none_left(sleepers)


def expect_none_left(sleepers):
    """Nothing is alive in time. What is, is killed."""
    try:
        expect(wait_until(lambda: not sleepers.alive(), MAX_SURVIVAL), f"alive: {sleepers.names()}")
    finally:
        sleepers.kill()


def end_in_a_command(setting, number):
    """Ends the agent while a command runs with children of every kind."""
    sleepers = Sleepers()
    sleep = sleepers.command
    with setting.fresh_shell() as shell:
        shell.start(f"setsid {sleep} & env -i {sleep} & (setsid env -i {sleep} &) ; {sleep}")
        try:
            expect(wait_until(lambda: len(sleepers.asleep()) == 4, 20), f"not started: {sleepers.names()}")
            shell.signal(number)
        except BaseException:
            sleepers.kill()
            raise
        expect_none_left(sleepers)


@check("SIGTERM to the agent ends all")
def sigterm(setting):
    end_in_a_command(setting, signal.SIGTERM)


@check("SIGKILL to the agent ends all")
def sigkill(setting):
    end_in_a_command(setting, signal.SIGKILL)


@check("the agent's own sandbox holds")
def sandbox(setting):
    hold_in(setting, Sandbox.DEFAULT)


@check("the agent's own sandbox holds where it lets sockets be reached")
def sandbox_with_sockets(setting):
    hold_in(setting, Sandbox.WITH_SOCKETS)


def hold_in(setting, sandbox):
    if setting.agent.lacks_sandbox:
        raise Skip(setting.agent.lacks_sandbox)
    expect_bubblewrap()
    escapes = setting.escapes()
    try:
        with setting.fresh_shell(sandbox) as shell:
            inside = shell.run("touch inside && grep NoNewPrivs /proc/self/status")
            expect(re.search(r"NoNewPrivs:\s*1", inside.text), f"the command is in no sandbox: {inside.text}")
            for path in escapes:
                answer = shell.run(f"touch {path}")
                expect(answer.exit_code not in (0, None), f"touch {path}: {answer.text}")
                expect(not path.exists(), f"{path} was made outside of the sandbox")
    finally:
        for path in escapes:
            path.unlink(missing_ok=True)


def expect_bubblewrap():
    for program in ("bwrap", "socat"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    tried = subprocess.run(
        ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"],
        stderr=subprocess.PIPE,
        text=True,
    )
    if tried.returncode:
        raise Skip(f"bubblewrap builds no sandbox here: {tried.stderr.strip()}")


@check("a harmless command runs", HOOK_CHECKS)
def harmless_with_hook(setting):
    expect("fine" in expect_exit(setting, "echo fine", 0).text, "it has printed nothing")


@check("a dangerous command does not run", HOOK_CHECKS)
def dangerous_with_hook(setting):
    (setting.work / "victim").mkdir()
    try:
        text = setting.shell.run("rm -rf victim").text
    except AgentEnded as ended:
        # Gemini CLI ends where it would have to ask and nobody is there.
        text = str(ended)
    expect((setting.work / "victim").is_dir(), f"it is gone: {text[-300:]}")
    return text.strip().splitlines()[0][:200]


@check("a denied command does not run, and the model learns why", HOOK_CHECKS)
def denied_with_hook(setting):
    answer = setting.shell.run("frob > frobbed")
    expect(not (setting.work / "frobbed").exists(), f"it ran: {answer.text[-300:]}")
    expect("termd" in answer.text, answer.text[-300:])
    return answer.text.strip().splitlines()[0][:200]
