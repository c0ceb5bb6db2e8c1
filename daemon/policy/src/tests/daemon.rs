//! Only a person agrees to what stops or restarts termd, or those who watch its questions.

use termd_proto::policy::{Effect, Judgement, Verdict};
use termd_proto::terminal::Front;

use std::sync::Arc;

use super::judged;
use crate::{CompiledGate, Daemon, Policy, Request, judge};

/// What a line of an agent's is to a daemon with these processes and files.
fn judged_by_daemon(line: &str, cwd: Option<&str>) -> Judgement {
    let daemon = Daemon {
        pids: [4711, 4712].into_iter().collect(),
        paths: vec!["/data/xdg/termd".to_owned(), "/opt/bin/termd".to_owned()],
    };
    let policy = Policy::default().with_daemon(Arc::new(daemon));
    let request = Request {
        front: Front::Mcp,
        cwd,
        ..Request::line(line)
    };
    judge(&request, &CompiledGate::default(), &policy)
}

/// The lines to which an agent may agree itself.
fn without_person<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let lines = lines.iter().copied();
    let is_free = |line: &&str| !judged_by_daemon(line, Some("/home/me/src")).needs_person;
    lines.filter(is_free).collect()
}

/// The lines that are asked about for termd's sake.
fn asked<'a>(lines: &[&'a str]) -> Vec<(&'a str, Judgement)> {
    let judged = lines
        .iter()
        .map(|line| (*line, judged_by_daemon(line, Some("/home/me/src"))));
    judged
        .filter(|(_, judgement)| judgement.needs_person)
        .collect()
}

#[test]
fn only_a_person_agrees_to_stop_termd_or_its_watchers() {
    let lines = [
        "kill -HUP $(pgrep termd)",
        "kill -HUP `pidof termd`",
        "kill -1 $(pgrep -x termd)",
        "kill $(pgrep -f 'termctl mcp')",
        "kill \"$(cat ~/.local/state/termd/keeper.pid)\"",
        "kill -TERM $(< $XDG_RUNTIME_DIR/termd/pid)",
        "p=$(pgrep termd); kill -HUP $p",
        "for p in $(pgrep termd); do kill $p; done",
        "pgrep termd | xargs kill -HUP",
        "pgrep te\"\"rmd | xargs kill",
        "pidof termd | xargs -r kill -s HUP",
        "ps aux | grep termd | awk '{print $2}' | xargs kill",
        "ps -C termd -o pid= | xargs kill",
        "lsof -t $XDG_RUNTIME_DIR/termd/termd.sock | xargs kill",
        "kill $(systemctl --user show -p MainPID --value termd)",
        "kill $PPID",
        "kill -HUP $PPID",
        "kill -TERM \"$(ps -o ppid= -p $$)\"",
        "kill -HUP 4242",
        "kill -s HUP 4242",
        "kill --signal=SIGHUP 4242",
        "kill -n 1 -- 4242 $(pgrep termd)",
        "pkill termd",
        "pkill -HUP termd",
        "pkill -x termctl",
        "pkill -f 'approvals --watch'",
        "pkill -f approvals",
        "pkill 'te.md'",
        "pkill -f ter[m]d",
        "pkill \"$x\"",
        "pkill -u \"$USER\"",
        "pkill -v bash",
        "x=term; pkill ${x}d",
        "killall termd",
        "killall -HUP termctl",
        "killall -r 'term.*'",
        "killall -u me",
        "sudo pkill -HUP termd",
        "bash -c 'pkill termd'",
        "systemctl --user restart termd",
        "systemctl --user reload termd.service",
        "systemctl --user stop termd",
        "systemctl --user kill -s HUP termd",
        "systemctl --user try-restart 'term*'",
        "systemctl --user stop default.target",
        "systemctl --user stop '*'",
        "systemctl stop user@1000",
        "systemctl --user mask termd",
        "systemctl --user exit",
        "busctl --user call org.freedesktop.systemd1 /o m RestartUnit ss termd.service replace",
        "gdb -p $(pgrep termd)",
        "strace -p $(pidof termd)",
        "python3 -c 'import os, signal; os.kill(os.getppid(), signal.SIGHUP)'",
        "python3 -c 'import os; os.system(\"pkill termd\")'",
        "perl -e 'kill HUP => getppid'",
        "node -e 'process.kill(process.ppid)'",
    ];
    let wrong: Vec<&str> = lines
        .into_iter()
        .filter(|line| {
            let judgement = judged(line, None);
            judgement.effect != Effect::Confirm || !judgement.needs_person
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_an_agent_has_started_it_may_stop() {
    let lines = [
        "kill $!",
        "npm start & sleep 1; kill $!",
        "kill %1",
        "kill -HUP %1",
        "kill -HUP $!",
        "ps aux | awk '/node/ {print $2}' | xargs kill",
        "ps aux | awk '{print $2}'",
        "kill 12345",
        "kill -TERM 12345",
        "kill -0 $pid",
        "kill $(cat server.pid)",
        "kill -HUP $(cat gunicorn.pid)",
        "kill $(lsof -ti :3000)",
        "lsof -ti :3000 | xargs kill",
        "kill $(pgrep -f 'node server.js')",
        "pid=$!; kill $pid",
        "server & pid=$!; curl localhost; kill $pid",
        "pkill -f 'node server.js'",
        "pkill -f vite",
        "killall -HUP nginx",
        "pkill -SIGUSR1 -x app",
        "pkill -QUIT app",
        "pkill -P $$",
        "pkill node",
        "killall node",
        "cargo test -p termd; kill $!",
        "grep -rn termd src; kill %1",
        "cat src/termd.rs | head",
        "systemctl --user status termd",
        "systemctl --user show termd",
        "systemctl --user restart myapp",
        "jobs -p | xargs kill",
        "pgrep -fl termd",
        "ps aux | grep termd",
        "strace -f ./a.out",
        "gdb -p 1234",
        "python3 -c 'import os; print(os.getppid())'",
    ];
    let wrong: Vec<String> = lines
        .into_iter()
        .map(|line| (line, judged(line, None)))
        .filter(|(_, judgement)| judgement.needs_person || judgement.verdict != Verdict::Safe)
        .map(|(line, judgement)| format!("{line}: {judgement:?}"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_a_person_agrees_to_a_use_of_termds_files() {
    let lines = [
        "dd if=x of=~/.config/termd/config.toml",
        "dd if=x of=/home/me/.config/termd/config.toml",
        "dd if=x of=$HOME/.config/termd/approved.toml",
        "dd if=x of=${XDG_CONFIG_HOME:-$HOME/.config}/termd/config.toml",
        "dd if=x of=$XDG_STATE_HOME/termd/agents.json",
        "dd if=x of=../.config/termd/config.toml",
        "cd ~/.config/termd && dd if=/tmp/x of=config.toml",
        "cd ~/.config; dd if=/tmp/x of=termd/config.toml",
        "cd ~/.config/termd && patch < /tmp/p",
        "d=~/.config/termd; dd if=x of=$d/config.toml",
        "dd if=x of=~/.config/ter*/config.toml",
        "dd if=x of=~/.config/./termd//config.toml",
        "dd if=x of=/proc/self/root/home/me/.config/termd/config.toml",
        "dd if=x of=/proc/thread-self/root/home/me/.config/termd/config.toml",
        "dd if=x of=/proc/1/root/home/me/.config/termd/config.toml",
        "patch ~/.config/termd/config.toml p",
        "tar xf a.tar -C ~/.config/termd",
        "tar xf a.tar -C/home/me/.config/termd",
        "tar xf a.tar --directory=/home/me/.config/termd",
        "unzip -d ~/.config/termd a.zip",
        "git config -f ~/.config/termd/approved.toml a.b c",
        "git --work-tree=/home/me/.config/termd checkout .",
        "rm ~/.local/state/termd/agents.json",
        "rm -f ~/.local/state/termd/termd.sqlite",
        "echo [] > ~/.local/state/termd/agents.json",
        "echo x >> ~/.config/termd/config.toml",
        "echo x > $XDG_CONFIG_HOME/termd/config.toml",
        "cd ~/.config/termd && echo x > config.toml",
        "cat x | tee ~/.config/termd/config.toml",
        "mv ~/.local/state/termd ~/x",
        "mv ~/.config ~/x",
        "mv ~/.config/* /tmp",
        "mv ~/.conf* /tmp",
        "ln -s ~/.config x",
        "ln -s ~ x",
        "ln -s $HOME x",
        "ln -s /home/me x",
        "sed -n 'w /home/me/.config/termd/config.toml' x",
        "less -o ~/.config/termd/config.toml x",
        "mv -t /tmp ~/.local/state",
        "chmod -x ~/.config/termd",
        "chmod 777 ~/.config/termd/config.toml",
        "chown nobody ~/.config/termd/config.toml",
        "cp -t ~/.config/termd x",
        "cp x ~/.config/termd/config.toml",
        "install -m 600 x ~/.config/termd/config.toml",
        "rsync x/ ~/.config/termd/",
        "ln -sf /tmp/x ~/.config/termd/config.toml",
        "truncate -s 0 ~/.config/termd/config.toml",
        "vim ~/.config/termd/config.toml",
        "nano ~/.config/termd/config.toml",
        "vim -c 'w! ~/.config/termd/config.toml' x",
        "sed -i s/never/always/ ~/.config/termd/config.toml",
        "sort -o ~/.config/termd/config.toml x",
        "xxd -r x ~/.config/termd/config.toml",
        "frobnicate --output=/home/me/.config/termd/config.toml",
        "frobnicate ~/.local/share/termd/x",
        "docker run -v ~/.config/termd:/x alpine true",
        "find ~/.config/termd -name '*.toml' -delete",
        "find ~/.config/termd -exec cp /tmp/x {} ;",
        "find ~/.config -name '*.toml' -exec sed -i s/a/b/ {} +",
        "find ~ -name 'config.*' -delete",
        "find ~/.local/state -name '*.toml' -exec cp /tmp/x {} ;",
        "find ~ -name '*.toml' -exec grep -l x {} + -delete",
        "find ~ -name '*.toml' -exec grep -q x {} \\; -exec cp /tmp/x {} \\;",
        "find ~ -name '*.toml' -exec find {} -delete ;",
        "find ~ -name '*.toml' -exec sort -o {} {} ;",
        "find ~ -name '*.toml' -exec sh -c '> $0' {} ;",
        "tar xf x.tar -C ~/.config",
        "tar -x -f x.tar -C ~",
        "unzip x.zip -d ~/.config",
        "rsync -a dot/ ~/.config/",
        "cp -rT dot ~/.config",
        "cp -r dot/. ~/.config",
        "cp -r e/.config ~",
        "cp -a e/.config ~/",
        "cp -R e/.config/termd ~/.config",
        "cp -r e/.config/* ~/.config/",
        "cp -rt ~ e/.config",
        "cp -r --target-directory=$HOME x e/.config",
        "rm -rf \"$XDG_RUNTIME_DIR\"/termd",
        "mv /run/user/1000 /tmp/x",
        "patch -d ~/.config -p1",
        "cp x ~/bin/termctl",
        "install x ~/.local/bin/termctl",
        "echo x > ~/.cargo/bin/termctl",
        "sudo dd if=x of=/home/me/.config/termd/config.toml",
        "env dd if=x of=/home/me/.config/termd/config.toml",
        "bash -c 'dd if=x of=~/.config/termd/config.toml'",
        "echo /home/me/.config/termd/config.toml | xargs touch",
        "dd if=x of=/data/xdg/termd/config.toml",
        "dd if=x of=/opt/bin/termd",
        "ln -sf /tmp/x ~/.config/systemd/user/termd.service",
        "ln -s /dev/null ~/.config/systemd/user/termd.service.d/x.conf",
        "dd if=x of=/proc/4711/mem",
        "echo 1000 > /proc/4712/oom_score_adj",
        "python3 -c \"open('/home/me/.config/termd/config.toml', 'w').write('')\"",
        "perl -e 'open(F, \">\", \"$ENV{HOME}/.config/termd/config.toml\")'",
        "sqlite3 ~/.local/state/termd/termd.sqlite 'delete from audit'",
        "cd && sed -n 'w .config/termd/approved.toml' /tmp/x",
        "cd ~/.config/termd && sqlite3 /tmp/x.db '.output approved.toml' 'select 1'",
        "cd && sed 's/.*/x/;w .config/termd/config.toml' /tmp/x",
        "cd && sed 's/a/b/gw .config/termd/config.toml' /tmp/x",
        "cd ~/.config && sed -n 'w termd/approved.toml' /tmp/x",
        "cd ~/.config/termd; sed -n 'w config.toml' /tmp/x",
        "cd ~/.config/termd && awk '{print > \"approved.toml\"}' /tmp/x",
        "cd ~/.config/termd && perl -e 'open(F, \">\", \"approved.toml\")'",
        "cd ~/.config/termd && python3 -c 'open(\"approved.toml\",\"w\").write(\"x\")'",
        "cd && vim -es -c 'sav .config/termd/approved.toml' -c q /tmp/x",
        "cd ~/.config/termd && ed -s /tmp/x <<< 'w approved.toml'",
        "python3 -c 'import os; open(os.path.expanduser(\"~/.config\")+\"/termd/approved.toml\",\"w\")'",
        "python3 -c 'from pathlib import Path; (Path.home()/\".config\"/\"termd\"/\"approved.toml\").write_text(\"x\")'",
        "python3 -c 'from pathlib import Path; Path.home().joinpath(\".config\",\"termd\",\"x\").write_text(\"x\")'",
        "rm $XDG_RUNTIME_DIR/termd/termd.sock",
        "rm /run/user/1001/termd/termd.sock",
        "rm /run/user/$(id -u)/termd/termd.sock",
        "rm /run/user/$UID/termd/termd.sock",
        "unlink ${XDG_RUNTIME_DIR}/termd/termd.sock",
        "mv /run/user/1001/termd/termd.sock /tmp/s",
        "mv $XDG_RUNTIME_DIR/termd /tmp/s",
        "ln -sf /tmp/s $XDG_RUNTIME_DIR/termd/termd.sock",
        "ln -sfn /tmp/fakeask /run/user/1001/termd/termd-askpass",
        ": > $XDG_RUNTIME_DIR/termd/termd.sock",
        "rm -rf \"$XDG_RUNTIME_DIR\"/termd",
        "rm -rf \"$XDG_RUNTIME_DIR/termd\"",
        "rm -rf $XDG_RUNTIME_DIR",
        "rm -rf /run/user/1001",
        "rm --recursive /run/user/1001/*",
        "rm -r ~/.local/state",
        "cd $XDG_RUNTIME_DIR/termd && rm *",
        "cd \"${XDG_RUNTIME_DIR:-/run/user/1001}/termd\" && rm termd.sock",
        "cd /run/user/1001/termd && rm *",
        "cd /run/user/1001 && rm termd/termd.sock",
        "cd $XDG_RUNTIME_DIR && rm termd/*",
        "echo x >> /run/user/1001/termd/shell/termd.bash",
        "echo x >> $XDG_RUNTIME_DIR/termd/shell/termd.bash",
        "cd $XDG_RUNTIME_DIR/termd/shell && echo x >> termd.bash",
        "cp x $XDG_RUNTIME_DIR/termd/shell/",
        "python3 -c \"import os; os.remove('/run/user/1001/termd/termd.sock')\"",
        "python3 -c 'import os; os.remove(os.environ[\"XDG_RUNTIME_DIR\"] + \"/termd/termd.sock\")'",
        "perl -e 'unlink \"$ENV{XDG_RUNTIME_DIR}/termd/termd.sock\"'",
        "node -e 'fs.rmSync(process.env.XDG_RUNTIME_DIR + \"/termd\", {recursive: true})'",
    ];
    let wrong = without_person(&lines);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn termds_files_may_be_read() {
    let lines = [
        "cat ~/.config/termd/config.toml",
        "less ~/.config/termd/config.toml",
        "grep -n effect ~/.config/termd/*.toml",
        "ls -la ~/.config/termd ~/.local/state/termd",
        "stat ~/.config/termd",
        "find ~/.config/termd -name '*.toml'",
        "diff ~/.config/termd/config.toml config.toml",
        "sha256sum ~/.config/termd/approved.toml",
        "jq . ~/.local/state/termd/agents.json",
        "sed -n 1,20p ~/.config/termd/config.toml",
        "cd ~/.config/termd && ls && cat config.toml",
        "sudo cat /home/me/.config/termd/config.toml",
        "time cat ~/.config/termd/config.toml",
        "bash -c 'cat ~/.config/termd/config.toml'",
        "test -f ~/.config/termd/config.toml && echo ~/.config/termd",
        "f=~/.config/termd/config.toml; cat $f",
        "export C=~/.config/termd/config.toml",
        "termctl policy check ~/.config/termd/config.toml",
        "git commit -m 'docs: say where ~/.config/termd is'",
        "python3 -c \"print(open('/home/me/.config/termd/config.toml').read())\"",
        "cat /proc/4711/status",
        "ls /proc/4711/fd",
        "cat < ~/.config/termd/config.toml",
        "cd ~/.config/termd && cat config.toml > /tmp/x 2>/dev/null",
        "cargo build -p termd",
        "cd ~/src/termd && make",
        "cp src/termd.rs src/old.rs",
        "vim termd/x.txt",
        "mv ~/x ~/.config",
        "find . -name '*.orig' -delete",
        "find ~/src/app -name '*.rs' -exec sed -i s/a/b/ {} +",
        "find ~/.config -name '*.toml'",
        "find ~ -name '*.py' -exec grep -l foo {} +",
        "cd && find . -name '*.py' -exec grep -l foo {} + -exec wc -l {} ;",
        "find ~ -type f -size +100M -exec ls -lh {} ;",
        "tar czf x.tgz -C ~ .config",
        "tar xf x.tar -C ~/src/app",
        "rsync -a ~/.config/ backup/",
        "cp -r app ~/",
        "cp starship.toml ~/.config/x.toml",
        "which termctl && ls -l ~/bin/termctl",
        "~/bin/termctl list",
        "rm -r build",
        "mv * /tmp/x/",
        "cd && mv * /tmp/x/",
        "mv a b ..",
        "mv $file ~/",
        "ln -s ../x y",
        "ln -s ~/.config/nvim nvim",
        "systemctl --user status termd",
        "rm ~/.config/other/termd.bak",
        "touch ~/.config/$app/x",
        "dd if=x of=/tmp/termd/config.toml",
        "cd ~/.config/termd && awk '{print $1}' config.toml",
        "cd ~/.config/termd && python3 -c 'print(open(\"config.toml\").read())'",
        "cd ~/.config/termd && sed -n 's/a/b/p' config.toml",
        "cd ~/src/termd && sed -n 'w out.txt' x",
        "python3 -c 'print(open(\"termd/src/main.rs\").read())'",
        "ls -l $XDG_RUNTIME_DIR/termd",
        "stat /run/user/1001/termd/termd.sock",
        "cat $XDG_RUNTIME_DIR/termd/shell/termd.bash",
        "cd $XDG_RUNTIME_DIR/termd && ls -la",
        "termctl status",
        "rm $XDG_RUNTIME_DIR/app/x.sock",
        "rm -rf /run/user/1001/app",
        "rm -rf target/termd",
    ];
    let wrong = asked(&lines);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_a_person_agrees_to_signal_termds_processes() {
    let lines = [
        "kill 4711",
        "kill -9 4712",
        "kill -STOP 4711",
        "kill -s TERM -- -4711",
        "kill 1 2 4712",
        "p=4712; kill $p",
        "echo 4712 | xargs kill",
        "/bin/kill 4712",
        "sudo kill 4712",
        "gdb -p 4711",
        "gdb -p4711",
        "gdb --pid=4711",
        "gdb -ex 'attach 4711'",
        "strace -p 4712",
        "prlimit --pid 4711 --cpu=1",
        "pkill -P 4711",
        "kill `pgrep -f ter[m]d`",
        "kill $(pgrep 'te.md')",
        "kill $(ps ax | grep '[t]ermd' | awk '{print $1}')",
        "python3 -c 'import os; os.kill(4712, 9)'",
        "perl -e 'kill 9, 4712'",
        "node -e 'process.kill(4711)'",
    ];
    let wrong = without_person(&lines);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let others = [
        "kill 471",
        "kill 47110",
        "kill -0 4711",
        "gdb -p 1234",
        "echo 4711",
        "npm start --port 4711",
        "python3 -c 'print(4711)'",
        "grep -rn te src; kill $(cat server.pid)",
    ];
    let wrong = asked(&others);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn units_are_known_by_their_whole_names() {
    let others = [
        "systemctl restart app",
        "systemctl stop session",
        "systemctl restart user",
        "systemctl --user restart default",
        "ssh host 'systemctl restart app'",
        "docker exec x systemctl restart app",
        "systemctl -H web1 restart termd",
        "systemctl -M box stop user.slice",
        "systemctl restart app@1",
        "systemctl stop myapp.slice",
    ];
    let wrong = asked(&others);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let lines = [
        "systemctl --user stop termd",
        "systemctl stop user@1001.service",
        "systemctl stop user@1001",
        "systemctl stop user.slice",
        "systemctl stop user-1001.slice",
        "systemctl --user stop app.slice",
        "systemctl --user stop session.slice",
        "systemctl --user exit",
        "systemctl --user start exit.target",
        "systemctl --user -M me@.host stop termd",
        "systemctl -H localhost --user stop termd",
    ];
    let wrong = without_person(&lines);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// To a person, a command that touches termd is as dangerous as it is otherwise.
#[test]
fn a_person_is_asked_about_what_is_dangerous_for_another_reason() {
    for line in [
        "find / -delete",
        "find / -xdev -user old -delete",
        "pkill -u me",
        "pkill -KILL -u me",
        "tar xf a.tar -C /",
        "kill -9 $(pgrep termd)",
        "rm -rf ~/.config/termd",
        "chmod -R 777 ~/.config",
    ] {
        let request = Request::line(line);
        let judgement = judge(&request, &CompiledGate::default(), &Policy::default());
        assert_eq!(
            judgement.verdict,
            Verdict::Dangerous,
            "{line}: {judgement:?}"
        );
        assert!(!judgement.needs_person, "{line}");
    }
}
