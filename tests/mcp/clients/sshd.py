"""A local sshd of this user, on a free port and with its own keys."""

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from report import Skip


def _program(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if not found:
        raise Skip(f"no {name} here")
    return found


@asynccontextmanager
async def server():
    """The ssh command line that logs in."""
    sshd, keygen = _program("sshd"), _program("ssh-keygen")
    _program("ssh")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key in ("host", "user"):
            subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        shutil.copy(folder / "user.pub", folder / "authorized_keys")
        (folder / "authorized_keys").chmod(0o600)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        (folder / "config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
            f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nPermitRootLogin prohibit-password\n"
        )
        if os.getuid() == 0:
            # sshd as root drops its privileges here. Its package's service creates the folder, else this test does.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        log = open(folder / "log", "wb")
        process = subprocess.Popen([sshd, "-D", "-e", "-f", folder / "config"], stderr=log)
        try:
            with anyio.fail_after(10):
                while True:
                    if process.poll() is not None:
                        raise Skip(f"sshd does not run here: {(folder / 'log').read_text()[-300:]}")
                    try:
                        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                        break
                    except OSError:
                        await anyio.sleep(0.05)
            yield (
                f"ssh -tt -F none -i {folder}/user -p {port} -o StrictHostKeyChecking=no "
                f"-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR {getpass.getuser()}@127.0.0.1"
            )
        finally:
            process.terminate()
            process.wait(10)
            log.close()
