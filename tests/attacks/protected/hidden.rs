//! What a sandbox hides: sockets whose other end acts outside, and credentials.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use termd_test_support::Home;

use super::{inside, outside, sandboxed, sandboxed_with};

/// Sockets whose other end acts outside, below the home.
const SOCKETS: &[&str] = &[
    ".docker/desktop/docker.sock",
    ".docker/run/docker.sock",
    ".colima/default/docker.sock",
    ".rd/docker.sock",
    ".lima/default/ha.sock",
    ".orbstack/run/docker.sock",
    ".local/share/containers/podman/machine/podman.sock",
    ".emacs.d/server/server",
    ".screen/1.x",
    ".cache/watchman/sock",
    ".local/state/watchman/u-state/sock",
    ".local/share/wezterm/gui-sock-1",
    ".pm2/rpc.sock",
    ".abduco/x",
    ".cache/qtile/qtilesocket.x",
    ".config/Code/1.99-main.sock",
    ".config/Cursor/1.0-main.sock",
    ".config/VSCodium/1.99-main.sock",
    ".crc/machines/crc/docker.sock",
    ".mutagen/daemon/daemon.sock",
    ".local/share/podman/podman.sock",
    ".config/libvirt/qemu/lib/domain-1-x/monitor.sock",
    ".i3/ipc.sock",
    ".config/i3/ipc.sock",
    ".codex/ipc.sock",
    ".codex/ipc/ipc.sock",
    ".urxvt/urxvtd-host",
    ".ansible/cp/0123456789",
];

/// The same in a directory for temporary files: the beginning of a directory's name.
const TEMPORARY_SOCKETS: &[&str] = &[
    "tmux-",
    "emacs",
    "dbus-",
    "ssh-",
    "nvim.",
    "zellij-",
    "i3-",
    "hypr",
    "tmate-",
    "runtime-",
    "podman-run-",
    "kakoune-",
    "wezterm",
    "foot-",
    "Alacritty-",
    "vifm-ipc-",
    ".vbox-me-ipc",
];

pub(super) fn sockets() {
    let Some(daemon) = sandboxed("") else { return };
    outside(&daemon, "mkdir work");
    let home = fs::canonicalize(daemon.user_home()).unwrap();
    let mut paths: Vec<PathBuf> = SOCKETS.iter().map(|path| home.join(path)).collect();
    let directory = |prefix: &&str| {
        let directory = tempfile::Builder::new().prefix(prefix).tempdir_in("/tmp");
        directory.unwrap()
    };
    let temporary: Vec<_> = TEMPORARY_SOCKETS.iter().map(directory).collect();
    paths.extend(temporary.iter().map(|directory| directory.path().join("s")));
    // One that is not hidden shows that the others would be reached.
    paths.push(home.join("work/s"));
    let listen = |path: &PathBuf| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        UnixListener::bind(path).unwrap()
    };
    let _listeners: Vec<UnixListener> = paths.iter().map(listen).collect();
    let connect = |path: &PathBuf| {
        format!(
            "import socket\ntry: socket.socket(socket.AF_UNIX).connect('{0}'); print('reached {0}')\n\
             except OSError: pass\n",
            path.display()
        )
    };
    let program = paths.iter().map(connect).collect::<Vec<_>>().concat();
    fs::write(home.join("work/connect.py"), program).unwrap();
    let reached = inside(&daemon, "work", "python3 connect.py");
    let expected = format!("reached {}\r\n", home.join("work/s").display());
    assert_eq!(reached, expected);
}

/// A client of tmux executes what its server tells it. A sandbox in which there is a server where the person's tmux
/// looks for one would so act outside.
pub(super) fn tmux_server() {
    let Some(daemon) = sandboxed("") else { return };
    outside(&daemon, "mkdir work");
    let place = "/tmp/tmux-$(id -u)";
    let left = format!("{place}/termd-attack-$PPID");
    let script = format!(
        "mkdir -p -m 700 {place}; mv {place} {place}.away; mkdir -m 700 {place}; echo > {left}; echo {left}"
    );
    let said = inside(&daemon, "work", &script);
    let left = said.lines().last().unwrap_or_default();
    assert!(left.starts_with("/tmp/tmux-"), "{said}");
    assert!(!PathBuf::from(left).exists(), "{said}");
    let away = outside(&daemon, &format!("ls -d {place}.away"));
    assert!(away.contains("No such file"), "{away}");
}

/// Files of the home that give rights elsewhere, or hold what a person has typed.
const SECRETS: &[&str] = &[
    ".ssh/id_ed25519",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".config/sops/age/keys.txt",
    ".config/op/config",
    ".local/share/kwalletd/kdewallet.kwl",
    ".thunderbird/profiles.ini",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gem/credentials",
    ".kaggle/kaggle.json",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".databrickscfg",
    ".bitcoin/wallet.dat",
    ".ethereum/keystore/x",
    ".electrum/wallets/x",
    ".s3cfg",
    ".boto",
    ".config/doctl/config.yaml",
    ".fly/config.yml",
    ".vault-token",
    ".composer/auth.json",
    ".nuget/NuGet/NuGet.Config",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".config/pypoetry/auth.toml",
    ".pulumi/credentials.json",
    ".msmtprc",
    ".config/rclone/rclone.conf",
    ".config/Bitwarden/data.json",
    ".config/keepassxc/keepassxc.ini",
    ".signify/key.sec",
    ".step/secrets/root_ca_key",
    ".linode-cli",
    ".config/flyctl/config.yml",
    ".vercel/auth.json",
    ".circleci/cli.yml",
    ".config/circleci/cli.yml",
    ".twilio-cli/config.json",
    ".vault_pass",
    ".ansible/vault_pass",
    ".tsh/keys/x",
    ".davfs2/secrets",
    ".subversion/auth/svn.simple/x",
    ".vnc/passwd",
    ".Xauthority",
    ".config/syncthing/key.pem",
    ".near-credentials/x.json",
    ".local/share/TelegramDesktop/tdata/x",
    ".weechat/sec.conf",
    ".config/weechat/sec.conf",
    ".irssi/config",
    ".purple/accounts.xml",
    ".muttrc",
    ".offlineimaprc",
    ".claude.json",
    ".config/opencode/opencode.json",
    ".openai/key",
    ".config/anthropic/key",
    ".aider.conf.yml",
    ".config/Code/User/globalStorage/state.vscdb",
    ".config/Cursor/User/globalStorage/state.vscdb",
];

pub(super) fn credentials() {
    let Some(daemon) = sandboxed("") else { return };
    outside(&daemon, "mkdir work");
    let home = fs::canonicalize(daemon.user_home()).unwrap();
    for secret in SECRETS.iter().copied().chain(["seen"]) {
        let path = home.join(secret);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("the secret of {secret}\n")).unwrap();
    }
    let files: Vec<String> = (SECRETS.iter().copied().chain(["seen"]))
        .map(|secret| home.join(secret).display().to_string())
        .collect();
    let read = inside(
        &daemon,
        "work",
        &format!("cat {} 2>/dev/null", files.join(" ")),
    );
    assert_eq!(read, "the secret of seen\r\n");
}

/// A tool for dotfiles has put the files into a repository, and links where they were.
pub(super) fn links() {
    let Some(daemon) = sandboxed("") else { return };
    outside(
        &daemon,
        "make_repository dot; mkdir -p dot/aws .aws .config/op dot/op work; \
         for file in dot/aws/credentials dot/op/config dot/seen; do echo $file > $file; done; \
         ln -s ../dot/aws/credentials .aws/credentials; mkdir .config/op/deep; \
         ln -s $HOME/dot/op .config/op/deep/op",
    );
    for cwd in ["dot", "work"] {
        let script = "cd ~/dot; cat aws/credentials op/config seen 2>/dev/null";
        assert_eq!(inside(&daemon, cwd, script), "dot/seen\r\n", "{cwd}");
    }
}

/// Variables of the daemon's environment name other places than the usual ones.
pub(super) fn moved_by_variables() {
    let home = Home::create();
    let user_home = fs::canonicalize(home.user_home()).unwrap();
    let variables = [
        ("XDG_DATA_HOME", "dat"),
        ("ZDOTDIR", "zsh"),
        ("CARGO_HOME", "cargo"),
        ("ENV", "work/sh/rc"),
        ("GNUPGHOME", "gpg"),
        ("KUBECONFIG", "kube.conf"),
        ("NETRC", "nrc"),
        ("GH_CONFIG_DIR", "gh"),
        ("GIT_CONFIG_GLOBAL", "conf/git"),
        ("MISE_GLOBAL_CONFIG_FILE", "work/mise/all.toml"),
        ("PSQLRC", "work/sql/rc"),
        ("NVM_DIR", "nvm"),
        ("GIT_EDITOR", "work/tool/ed -f"),
        ("GIT_CONFIG_SYSTEM", "work/tool/sys"),
        ("RUSTC_WRAPPER", "work/tool/rw"),
        ("HELM_REGISTRY_CONFIG", "helm.json"),
        ("REDISCLI_HISTFILE", "redis.txt"),
    ];
    let mut named = variables
        .map(|(name, path)| (name, user_home.join(path).display().to_string()))
        .to_vec();
    let searched =
        ["work/bin", "work/sub/bin"].map(|path| user_home.join(path).display().to_string());
    let path = format!("{}:/usr/bin:/bin", searched.join(":"));
    named.push(("PATH", path));
    let env: Vec<(&str, &str)> = named
        .iter()
        .map(|(name, path)| (*name, path.as_str()))
        .collect();
    let Some(daemon) = sandboxed_with(home, "", &env) else {
        return;
    };
    outside(
        &daemon,
        "mkdir -p work/tool work/sh work/mise work/sql dat/systemd/user zsh cargo gpg gh conf hk nvm; \
         git config -f conf/git core.hooksPath $HOME/hk; \
         for file in work/tool/ed work/tool/sys work/tool/rw work/sh/rc work/mise/all.toml work/sql/rc gpg/key kube.conf nrc gh/hosts.yml \
             helm.json redis.txt nvm/nvm.sh seen; do echo $file > $file; done",
    );
    for (cwd, file) in [
        ("dat", "systemd/user/x.service"),
        ("dat/systemd/user", "x.service"),
        ("zsh", ".zshenv"),
        ("cargo", "config.toml"),
        ("gh", "config.yml"),
        ("work", "sh/rc"),
        ("work", "mise/all.toml"),
        ("work", "sql/rc"),
        ("nvm", "nvm.sh"),
        ("work", "tool/ed"),
        ("work", "tool/sys"),
        ("work", "tool/rw"),
        ("hk", "pre-commit"),
        ("work", "bin/ls"),
        ("work", "sub/bin/ls"),
    ] {
        let write = format!("mkdir -p $(dirname {file}); echo written > {file}");
        inside(&daemon, cwd, &write);
        let left = fs::read_to_string(user_home.join(cwd).join(file)).unwrap_or_default();
        assert_ne!(left, "written\n", "{cwd}/{file}");
    }
    let script = "cd; cat gpg/key kube.conf nrc gh/hosts.yml helm.json redis.txt seen 2>/dev/null";
    assert_eq!(inside(&daemon, "work", script), "seen\r\n");
}

/// Programs outside make and remove names beside hidden ones, as editors and agents do when they save.
pub(super) fn busy_directories() {
    let Some(daemon) = sandboxed("") else { return };
    outside(&daemon, "mkdir work .ssh");
    let home = daemon.user_home();
    let is_over = AtomicBool::new(false);
    let save = |name: &str| {
        let new: Vec<PathBuf> = (0..20).map(|n| home.join(format!("{name}{n}"))).collect();
        while !is_over.load(Ordering::Relaxed) {
            for path in &new {
                fs::write(path, "").unwrap();
            }
            for path in &new {
                fs::remove_file(path).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| save("one"));
        scope.spawn(|| save("other"));
        let start = |_| inside(&daemon, "work", "echo started");
        let said: BTreeSet<String> = (0..BUSY_STARTS).map(start).collect();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(said, BTreeSet::from(["started\r\n".to_owned()]));
    });
}

/// How many commands start meanwhile.
const BUSY_STARTS: usize = 80;
