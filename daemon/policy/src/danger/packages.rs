//! Programs that remove packages, containers, clusters, resources of clouds, and databases.

use super::arguments::{any, verb};
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

pub(crate) fn danger(program: &str, args: &[Word]) -> Option<String> {
    let said = |what: &str| Some(format!("`{program} {what}`"));
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let (first, rest) = verb(
        args,
        "-n --namespace --context -chdir --profile --region -f -p --kubeconfig",
    )
    .unwrap_or(("", &[]));
    let (second, _) = verb(rest, "").unwrap_or(("", &[]));
    match program {
        "docker" | "podman" | "nerdctl" | "docker-compose" => container(program, args),
        "kubectl" | "oc" => match first {
            "delete" | "drain" => {
                said(&format!("{first} …")).map(|what| what + " takes down what runs in a cluster")
            }
            "replace" if any(rest, "--force") => {
                Some("`kubectl replace --force` deletes and makes anew".to_owned())
            }
            "scale" if texts.contains(&"--replicas=0") => {
                Some("`kubectl scale --replicas=0` stops a service".to_owned())
            }
            _ => None,
        },
        "helm" if matches!(first, "uninstall" | "delete" | "del" | "un") => {
            Some("helm uninstall takes a release down".to_owned())
        }
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" => {
            let destroys = first == "destroy"
                || any(args, "-destroy --destroy")
                || (first == "state" && second == "rm");
            destroys.then(|| format!("`{program} destroy` takes infrastructure down"))
        }
        "apt" | "apt-get" | "aptitude" | "dnf" | "yum" | "zypper" => {
            let removes = matches!(
                first,
                "remove" | "purge" | "autoremove" | "erase" | "rm" | "autopurge"
            );
            let unasked = texts.iter().any(|text| {
                matches!(
                    *text,
                    "--yes"
                        | "--assume-yes"
                        | "--assumeyes"
                        | "--non-interactive"
                        | "-qq"
                        | "--force-yes"
                ) || (text.starts_with('-') && !text.starts_with("--") && text.contains('y'))
            });
            (removes && (unasked || first == "purge"))
                .then(|| format!("`{program} {first}` removes packages without asking"))
        }
        "pacman" => {
            let removes = texts.iter().any(|text| text.starts_with("-R"));
            (removes && texts.contains(&"--noconfirm"))
                .then(|| "`pacman -R` removes packages without asking".to_owned())
        }
        "dpkg" if any(args, "-r -P --remove --purge") => {
            said("-r").map(|what| what + " removes packages")
        }
        "rpm" if any(args, "-e --erase") => said("-e").map(|what| what + " removes packages"),
        "npm" | "yarn" | "pnpm" if first == "unpublish" => {
            said("unpublish").map(|what| what + " takes a release from everybody")
        }
        "dropdb" | "dropuser" if !args.is_empty() => {
            Some(format!("{program} cannot be taken back"))
        }
        "mysqladmin" if any(args, "drop shutdown") => {
            Some("`mysqladmin` drops a database or stops the server".to_owned())
        }
        _ => cloud(program, args, first, second),
    }
}

/// Why a command is dangerous to a cloud. `first` and `second` are its verbs.
fn cloud(program: &str, args: &[Word], first: &str, second: &str) -> Option<String> {
    let texts: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    match program {
        "gh" if matches!(first, "repo" | "release" | "secret" | "codespace")
            && second == "delete" =>
        {
            Some(format!("`gh {first} delete` cannot be taken back"))
        }
        "aws" => {
            let removes = texts.iter().any(|text| {
                text.starts_with("delete-")
                    || text.starts_with("terminate-")
                    || matches!(*text, "rb" | "deregister")
            });
            let tree = texts.contains(&"rm") && texts.contains(&"--recursive");
            (removes || tree).then(|| "it removes resources of a cloud".to_owned())
        }
        "gcloud" | "az" | "doctl" | "flyctl" | "fly" | "hcloud" => {
            any(args, "delete destroy").then(|| "it removes resources of a cloud".to_owned())
        }
        "gsutil"
            if texts.contains(&"rm") && texts.iter().any(|text| matches!(*text, "-r" | "-R")) =>
        {
            Some("it removes resources of a cloud".to_owned())
        }
        "heroku" if first.ends_with(":destroy") => {
            Some("it removes resources of a cloud".to_owned())
        }
        "rclone" if matches!(first, "purge" | "delete" | "sync") => {
            Some(format!("`rclone {first}` removes what is at the other end"))
        }
        _ => None,
    }
}

/// Why a command is dangerous to containers.
fn container(program: &str, args: &[Word]) -> Option<String> {
    const GLOBAL: &str = "
        -H -c -l -f -p --config --context --host --log-level --file --project-name --profile";
    let (first, rest) = verb(args, GLOBAL)?;
    let (second, behind) = verb(rest, GLOBAL).unwrap_or(("", &[]));
    let given = options(rest, Valued::These("filter t timeout"), Order::Permuted);
    let forced = given.has(&["f", "force"]);
    let reason = match (first, second) {
        ("system" | "container" | "image" | "network" | "builder" | "buildx", "prune")
            if forced =>
        {
            "prune -f"
        }
        ("volume", "rm" | "remove" | "prune") => "volume rm",
        ("rm" | "rmi" | "container" | "image", _) if forced => "rm -f",
        ("kill", _) => "kill",
        ("container", "kill") => "container kill",
        ("swarm", "leave") if forced => "swarm leave --force",
        ("compose", "down") if any(behind, "-v --volumes") => "compose down --volumes",
        ("down", _) if program == "docker-compose" && any(rest, "-v --volumes") => "down --volumes",
        ("compose", "rm") if any(behind, "-f --force -fsv -sf") => "compose rm -f",
        _ => return None,
    };
    Some(format!(
        "`{program} {reason}` removes or kills what containers have"
    ))
}
