//! Programs that stop the machine, its services and its processes, or open it to others.

use super::arguments::{any, verb};
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

pub(crate) fn danger(program: &str, args: &[Word]) -> Option<String> {
    let said = |what: &str| Some(format!("{program} {what}"));
    match program {
        "shutdown" | "reboot" | "halt" | "poweroff" => {
            let cancels = any(args, "-c --show -k -w --wtmp-only");
            (!cancels).then(|| format!("{program} stops the machine"))
        }
        "init" | "telinit" => {
            let level = args.first().map_or("", |word| word.text.as_str());
            matches!(level, "0" | "6" | "1" | "s" | "S")
                .then(|| format!("`{program} {level}` stops the machine"))
        }
        "systemctl" => systemctl(args),
        "loginctl" => {
            let (verb, _) = verb(args, "-H -M -p -s")?;
            let ends = verb.starts_with("terminate-")
                || verb.starts_with("kill-")
                || matches!(verb, "poweroff" | "reboot" | "halt");
            ends.then(|| format!("`loginctl {verb}` ends sessions"))
        }
        "service" | "rc-service" | "invoke-rc.d" => {
            any(args.get(1..).unwrap_or_default(), "stop disable")
                .then(|| format!("`{program} … stop` stops a service"))
        }
        "initctl" | "launchctl" | "sv" | "supervisorctl" | "rc-update" | "chkconfig" | "nginx"
        | "apachectl" | "apache2ctl" | "pg_ctl" | "rabbitmqctl" | "brew" => {
            let stops = [
                "stop",
                "unload",
                "bootout",
                "down",
                "shutdown",
                "del",
                "off",
                "force-stop",
            ];
            let (verb, rest) = verb(args, "-s -c -D")?;
            let signalled = program == "nginx" && any(args, "stop quit");
            let service = program != "brew" || (verb == "services" && any(rest, "stop"));
            ((stops.contains(&verb) || signalled || (program == "brew" && any(rest, "stop")))
                && service)
                .then(|| format!("`{program} {verb}` stops a service"))
        }
        "kill" => kill(args),
        "pkill" | "killall" | "killall5" | "skill" => {
            sends_kill(args).then(|| format!("`{program} -9` kills processes that cannot clean up"))
        }
        "fuser" => args
            .iter()
            .any(|word| {
                word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && word.text.contains('k')
            })
            .then(|| "`fuser -k` kills processes that cannot clean up".to_owned()),
        "crontab" if any(args, "-r -ri -ir") => said("-r removes all jobs"),
        "userdel" | "groupdel" | "deluser" | "delgroup" if !args.is_empty() => {
            said("removes accounts")
        }
        "passwd" if any(args, "-d --delete -l --lock") => said("opens or locks an account"),
        "iptables" | "ip6tables" | "ebtables" | "arptables"
            if any(args, "-F --flush -X --delete-chain") =>
        {
            said("-F takes the firewall down")
        }
        "nft" if any(args, "flush delete destroy") => said("takes firewall rules down"),
        "ufw" if any(args, "disable reset") => said("takes the firewall down"),
        "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" => {
            let given = options(args, Valued::These("p s w X x q i"), Order::Permuted);
            let runs =
                given.has(&["e", "exec", "sh-exec"]) || (program == "ncat" && given.has(&["c"]));
            runs.then(|| format!("`{program} -e` gives a shell to whoever is at the other end"))
        }
        "socat" => {
            let runs = args.iter().any(|word| {
                let text = word.text.to_ascii_uppercase();
                text.starts_with("EXEC:")
                    || text.starts_with("SYSTEM:")
                    || text.starts_with("SHELL:")
            });
            runs.then(|| "socat gives a program to whoever is at the other end".to_owned())
        }
        _ => None,
    }
}

fn systemctl(args: &[Word]) -> Option<String> {
    const VALUED: &str = "
        -H --host -M --machine -t --type -p --property -s --signal -n --lines -o --output
        --state --root";
    let (verb, _) = verb(args, VALUED)?;
    match verb {
        "stop" | "disable" | "mask" | "kill" | "isolate" | "clean" | "revert" => {
            Some(format!("`systemctl {verb}` stops or takes away a service"))
        }
        "poweroff"
        | "reboot"
        | "halt"
        | "kexec"
        | "soft-reboot"
        | "suspend"
        | "hibernate"
        | "hybrid-sleep"
        | "suspend-then-hibernate"
        | "rescue"
        | "emergency"
        | "exit"
        | "switch-root" => Some(format!("`systemctl {verb}` stops the machine")),
        _ => None,
    }
}

fn kill(args: &[Word]) -> Option<String> {
    if any(args, "-l -L --list --table") {
        return None;
    }
    if sends_kill(args) {
        return Some("`kill -9` ends processes that cannot clean up".to_owned());
    }
    let everybody = args.iter().skip(1).any(|word| word.text == "-1");
    everybody.then(|| "`kill … -1` ends every process".to_owned())
}

/// Whether kill(1), pkill(1) or killall(1) sends SIGKILL, in any spelling.
fn sends_kill(args: &[Word]) -> bool {
    let is_kill = |name: &str| {
        let upper = name.to_ascii_uppercase();
        matches!(upper.strip_prefix("SIG").unwrap_or(&upper), "KILL" | "9")
    };
    let before = args.iter().take_while(|word| word.text != "--");
    let texts: Vec<&str> = before.map(|word| word.text.as_str()).collect();
    texts.iter().enumerate().any(|(at, text)| {
        let next = texts.get(at + 1).copied().unwrap_or_default();
        let Some(option) = text.strip_prefix('-') else {
            return false;
        };
        let attached = option
            .strip_prefix("-signal=")
            .or_else(|| option.strip_prefix('s'))
            .or_else(|| option.strip_prefix('n'));
        is_kill(option)
            || attached.is_some_and(is_kill)
            || (matches!(option, "s" | "n" | "-signal" | "-sig") && is_kill(next))
    })
}
