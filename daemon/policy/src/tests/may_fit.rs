//! A rule is not passed by what may fit it.
#![allow(clippy::too_many_lines)] // Tables.

use termd_proto::policy::{Effect, GateSettings, Judgement};

use super::rules::rules;
use crate::{CompiledGate, Policy, Request, judge};

fn gate(enabled: bool) -> CompiledGate {
    let patterns = Vec::new();
    CompiledGate::compile(&GateSettings { enabled, patterns }).unwrap()
}

fn under(policy: &Policy, line: &str, is_gate_on: bool) -> Judgement {
    judge(&Request::line(line), &gate(is_gate_on), policy)
}

/// Lines under a policy that are neither refused nor left to a person.
fn passing<'a>(policy: &Policy, lines: &[&'a str]) -> Vec<&'a str> {
    let passes = |line: &&&str| {
        [true, false].iter().any(|is_gate_on| {
            let judgement = under(policy, line, *is_gate_on);
            let is_asked = judgement.effect == Effect::Confirm && judgement.needs_person;
            judgement.effect != Effect::Deny && !is_asked
        })
    };
    lines.iter().filter(passes).copied().collect()
}

#[test]
fn no_spelling_passes_a_rule_that_forbids_a_program() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let lines = [
        "frob",
        "/tmp/d/bin/frob x",
        // Patterns of file names.
        "/tmp/d/bin/[f]rob",
        "/tmp/d/bin/fro?",
        "/tmp/d/bin/f*",
        "/tmp/d/bin/[!x]rob",
        "/tmp/d/bin/@(frob)",
        "/tmp/d/b[i]n/frob",
        "/tmp/d/*/frob",
        "~frob",
        "fr{n..p}b",
        // Arrays.
        "c=(/tmp/frob x); \"${c[@]}\"",
        "c=(ls /tmp/frob); ${c[1]}",
        "c=(ls); c+=(x); c[0]=/tmp/frob; \"${c[@]}\"",
        "c=($(gen)); \"${c[@]}\"",
        "declare -a c=(/tmp/frob); \"${c[@]}\"",
        "declare -A m; m[a]=/tmp/frob; ${m[a]}",
        "c=([0]=/tmp/frob); $c",
        // Assembled and read.
        "x=/tmp/fr; x+=ob; $x",
        "x=ls; read x <<< /tmp/frob; $x",
        "x=ls; read -r x < list; $x",
        "x=ls; printf -v x %s /tmp/frob; $x",
        "x=ls; printf -v x '\\x66rob'; $x",
        "x=ls; mapfile -t x < list; $x",
        "x=ls; readarray x < list; $x",
        "x=ls; getopts a x; $x",
        "x=ls; declare -n y=x; y=/tmp/frob; $x",
        "x=ls; . ./settings.sh; $x",
        "x=ls; source settings.sh; $x",
        "x=ls; eval \"$(gen)\"; $x",
        "x=ls; eval x=/tmp/frob; $x",
        "x=ls; export x=/tmp/frob; $x",
        "x=ls; declare x=/tmp/frob; $x",
        "x=ls; command export x=/tmp/frob; $x",
        "x=ls; export \"x=/tmp/frob\"; $x",
        "declare -l x=FROB; $x",
        "x=ls; unset x; $x frob",
        "IFS=,; x=/tmp/frob,a; $x",
        "IFS=x; c=frobxy; $c",
        "IFS=$(gen); c=axfrob; $c",
        "IFS=, read c <<< x; $c",
        // Substituted where the grammar has no node.
        "cat <<EOF\na `/tmp/frob` b\nEOF",
        "cat <<E\n\t$(/tmp/frob)\nE",
        "echo \"${x:-`/tmp/frob`}\"",
        "echo ${PATH##$(/tmp/frob)}",
        "[[ x =~ `/tmp/frob` ]]",
        "${x:-frob}",
        "${x:=frob}",
        "${x:-ls}",
        "x=ls; ${x:+frob}",
        "${x:+frob}",
        "x=frob.c; ${x%.c}",
        "x=FROB; ${x,,}",
        "y=frob; x=y; ${!x}",
        "x=frob; ${x@P}",
        "$1",
        "set -- /tmp/frob; $1",
        "set -- /tmp/frob; \"$@\"",
        "set -- ls /tmp/frob; shift; \"$@\"",
        // Where it is not known which course is taken.
        "if a; then x=ls; fi; $x",
        "if false; then x=ls; else x=/tmp/frob; fi; $x",
        "false && x=ls; $x",
        "x=/tmp/frob; (x=ls); $x",
        "x=/tmp/frob; x=ls & $x",
        "x=/tmp/frob; echo a | x=ls; $x",
        "x=/tmp/frob; y=$(x=ls); $x",
        "$x; x=ls",
        "x=ls; f() { x=/tmp/frob; }; f; $x",
        "x=ls; f() { $x; }; x=/tmp/frob; f",
        "x=ls; while $x; do x=/tmp/frob; done",
        "for i in 1 2; do $x; x=/tmp/frob; done",
        "for x in ls /tmp/frob; do $x; done",
        "for x in *; do ./$x; done",
        "case $a in b) x=/tmp/frob;; *) x=ls;; esac; $x",
        "x=/tmp/frob; x=ls true; $x",
        "x=/tmp/frob sh -c '$x'",
        "select x in ls; do $REPLY; done",
        "a=1; b=2; for x in 1 2 3 4 5 6 7 8 9 10 11 12 13 frob; do $x; done",
        "for a in l f; do for b in s rob; do $a$b; done; done",
        // Functions, aliases, other names.
        "f() { \"$@\"; }; f /tmp/frob",
        "f() { $1; }; f /tmp/frob",
        "f() { shift; \"$@\"; }; f x /tmp/frob",
        "f() { if a; then $2; else f x frob; fi; }; f",
        "ls() { /tmp/frob; }; ls",
        "alias g=/tmp/frob; g",
        "alias g='x; /tmp/frob'\ng",
        "hash -p /tmp/frob ls; ls",
        "enable -f ./x.so frobx",
        "command -p frob",
        "builtin command frob",
        "exec -a ls /tmp/frob",
        "trap /tmp/frob EXIT",
        "trap \"$x\" EXIT",
        "PROMPT_COMMAND=/tmp/frob",
        "PS1='$(/tmp/frob)'",
        "PS4='$(/tmp/frob)'; set -x; ls",
        "coproc /tmp/frob",
        // What is printed.
        "printf '%s' /tmp/frob | sh",
        "printf '%s x' /tmp/frob | sh",
        "printf '\\x2ftmp/fro\\x62' | sh",
        "printf '%b' '\\057tmp/frob' | sh",
        "echo -e '\\x66rob' | sh",
        "echo '\\x66rob' | sh",
        "$(printf '\\x66rob') x",
        "$(printf '%s%s' fr ob)",
        "eval \"$(printf '\\x66rob x')\"",
        "eval \"ls; $x\"",
        "bash -c \"cd $x && ls\"",
        "$(cat <<< /tmp/frob)",
        "$(echo /tmp/frob | cat)",
        "`echo /tmp/frob`",
        "$(< file)",
        "x=$(cat name); $x",
        ". /dev/stdin <<< /tmp/frob",
        "source /dev/fd/0 <<< /tmp/frob",
        "sh /dev/stdin <<< /tmp/frob",
        "sh /proc/self/fd/0 <<< /tmp/frob",
        "exec 3<<< /tmp/frob; sh <&3",
        "exec 3<<< /tmp/frob; sh /dev/fd/3",
        "exec 3<<< /tmp/frob; . /dev/fd/3",
        "sh <<EOF\n$x\nEOF",
        "sh <<EOF\n$(printf '\\x66rob')\nEOF",
        "sh <<< \"$x\"",
        "cat > s.sh <<< x && sh <<< /tmp/frob",
        "echo /tmp/frob > >(sh)",
        "echo /tmp/frob | tee >(sh)",
        "exec 3> >(sh); echo /tmp/frob >&3",
        "{ echo /tmp/frob; } > >(sh)",
        "coproc sh; echo /tmp/frob >&${COPROC[1]}",
        ". <(echo /tmp/frob)",
        "bash <(printf %s /tmp/frob)",
        // What is fed.
        "xargs env <<< /tmp/frob",
        "echo /tmp/frob | xargs env",
        "xargs -I{} env {} <<< /tmp/frob",
        "find . | xargs -I{} sh -c '{}'",
        "make -f - <<< 'a:;/tmp/frob'",
        "printf 'a:;/tmp/frob' | make -f /dev/stdin",
        // Subscripts that run.
        "test -v 'a[$(/tmp/frob)]'",
        "[ -v 'a[$(/tmp/frob)]' ]",
        "[[ -v 'a[$(/tmp/frob)]' ]]",
        "[[ 'a[$(/tmp/frob)]' -eq 1 ]]",
        "echo $((a[$(/tmp/frob)]))",
        "let 'a[$(/tmp/frob)]=1'",
        "x='a[$(/tmp/frob)]'; echo $((x))",
        "printf -v 'a[$(/tmp/frob)]' x",
        "read 'a[$(/tmp/frob)]' < x",
        "unset 'a[$(/tmp/frob)]'",
        // Other languages.
        "python3 -c 'import os; os.system(\"/tmp/frob\")'",
        "python3 -c 'import os; os.system(\"/tmp/f\" + \"rob\")'",
        "python3 -c 'import subprocess; subprocess.run([\"/tmp/frob\", \"x\"])'",
        "perl -e 'system(\"/tmp/frob\")'",
        "ruby -e 'system(\"/tmp/frob\")'",
        "node -e 'require(\"child_process\").execSync(\"/tmp/frob\")'",
        "awk 'BEGIN { system(\"/tmp/frob\") }'",
        "awk 'BEGIN { system(x) }'",
        // Zsh.
        "=frob x",
        // Wrapped.
        "env $x",
        "sudo $x",
        "nice \"$x\"",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
}

#[test]
fn no_spelling_passes_a_rule_about_words() {
    let policy = rules(
        "[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push']\nhas = ['-f|--force']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'terraform'\narguments = '^destroy'",
    )
    .unwrap();
    let lines = [
        "git push -f",
        "git p?sh -f",
        "git [p]ush -f",
        "git $(printf '\\x70ush') -f",
        "git $(echo push) $(printf -- '-f')",
        "git push $x",
        "git $x",
        "git $x -f",
        "git \"$x\" --force",
        "git push --forc\"$x\"",
        "x=(push -f); git \"${x[@]}\"",
        "/usr/lib/git-core/git-push -f",
        "git-push -f",
        "xargs git push <<< -f",
        "echo push -f | xargs git",
        "find . | xargs git push",
        "$(printf '\\x74erraform') destroy",
        "echo destroy | xargs terraform",
        "terraform $what",
        "terraform \"$what\"",
        "terraform d?stroy",
        "x=destroy; terraform $x",
        "terraform ${x:-plan}",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
    for line in [
        "git log $x",
        "git commit -m \"$(date)\"",
        "git push origin \"v$x\"",
        "git add *.rs",
        "git checkout -b \"$x\"",
        "terraform plan",
        "x=plan; terraform $x",
        "$HOME/bin/tool destroy",
        "make push -f",
    ] {
        let judgement = under(&policy, line, false);
        assert_eq!(judgement.effect, Effect::Allow, "{line}: {judgement:?}");
    }
}

/// A name that the shell splits may hold the first operands too: `$c` is `git push` where the file says so.
#[test]
fn no_computed_name_passes_a_rule_about_operands() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push']").unwrap();
    let lines = [
        "c=$(cat cmdfile); $c",
        "$(cat cmdfile)",
        "`cat cmdfile`",
        "$(< cmdfile)",
        "mapfile -t c < cmdfile; ${c[0]}",
        "mapfile -t c < cmdfile; \"${c[@]}\"",
        "while read l; do $l; done < cmdfile",
        "for l in $(cat cmdfile); do $l; done",
        "$CMD",
        "$CMD x",
        "$CMD push",
        "$EDITOR x",
        "$1",
        "\"$@\"",
        "exec $c",
        "command $c",
        "builtin $c",
        "env $c",
        "env A=b $c",
        "xargs $c",
        "sudo $c",
        "sudo -u x $c",
        "time $c",
        "nice -n 5 $c",
        "nohup $c &",
        "timeout 5 $c",
        "if $c; then ls; fi",
        "f() { $c; }; f",
        "f() { $1; }; f $x",
        "f() { \"$@\"; }; f git push",
        "f() { \"$@\"; }; f $x",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
    for line in [
        "\"$c\"",
        "env \"$c\"",
        "\"$(cat cmdfile)\"",
        "while read l; do \"$l\"; done < cmdfile",
        "f() { \"$@\"; }; f git pull",
        "retry() { for i in 1 2 3; do \"$@\" && return; done; }; retry curl x",
        "\"$EDITOR\" x",
        "$HOME/bin/tool x",
        "c=ls; $c -l",
        "c='git pull'; $c",
    ] {
        let judgement = under(&policy, line, false);
        assert_eq!(judgement.effect, Effect::Allow, "{line}: {judgement:?}");
    }
}

/// Whether an option takes a value is not always known, so the word behind it may be none of the operands.
#[test]
fn no_option_passes_a_rule_about_operands() {
    let policy = rules(
        "[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push', 'origin', 'main*']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'kubectl'\noperands = ['delete']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'docker'\noperands = ['compose', 'down']\n\
         [[rules]]\neffect = 'deny'\nprogram = 'cargo'\noperands = ['publish']",
    )
    .unwrap();
    let lines = [
        "git push origin main",
        "git -C . push origin main",
        "git -c a.b=c push origin main-2",
        "git push -o ci.skip origin main",
        "git -C . push -o ci.skip --receive-pack x origin main",
        "git push --force origin main",
        "kubectl -n prod delete pod x",
        "docker compose -f x.yml down",
        "docker -H ssh://h compose --profile p down",
        "cargo +nightly publish",
    ];
    let passing = passing(&policy, &lines);
    assert!(passing.is_empty(), "{passing:#?}");
    for line in [
        "git commit -m push origin main",
        "git push origin topic",
        "git -C main push origin topic",
        "git log --oneline origin/main",
        "git -C . status",
        "docker compose -f down.yml up",
        "docker compose up -d",
        "cargo build --features publish",
        "cargo +nightly test",
        "kubectl -n prod get pods",
        "kubectl get pods -n delete",
    ] {
        let judgement = under(&policy, line, false);
        assert_eq!(judgement.effect, Effect::Allow, "{line}: {judgement:?}");
    }
}

#[test]
fn a_rule_that_asks_is_asked_by_the_client_too() {
    let policy = rules("[[rules]]\neffect = 'confirm'\nprogram = 'frob'").unwrap();
    let judgement = under(&policy, "$x", false);
    assert_eq!(judgement.effect, Effect::Confirm);
    assert!(!judgement.needs_person);
}

#[test]
fn a_profile_is_not_passed_and_not_lost() {
    let policy = rules(
        "[fronts.cli]\nprofile = 'workspace'\n[[rules]]\nprogram = 'frob'\nprofile = 'read-only'\n\
         [[rules]]\nprogram = 'git'\nprofile = 'none'",
    )
    .unwrap();
    for line in ["/tmp/[f]rob", "$(printf '%s' frob)", "$x", "git; $x"] {
        let request = Request::line(line);
        let decision = policy.decide(&request, crate::Completeness::Whole, &gate(false));
        let names = &decision.profiles_by_rule;
        assert!(names.contains(&"read-only".to_owned()), "{line}: {names:?}");
        let judgement = decision.judgement;
        if line != "$(printf '%s' frob)" {
            assert_eq!(judgement.effect, Effect::Confirm, "{line}");
            assert!(judgement.needs_person, "{line}");
        }
    }
    // What may be git is not free of the front's profile.
    let free = policy.decide(
        &Request::line("git"),
        crate::Completeness::Whole,
        &gate(true),
    );
    let maybe = policy.decide(
        &Request::line("gi[t]"),
        crate::Completeness::Whole,
        &gate(true),
    );
    assert_ne!(free.profile, maybe.profile);
}

#[test]
fn a_profile_by_name_is_for_no_other_file_of_that_name() {
    let policy = rules("[[rules]]\nprogram = 'git'\nprofile = 'none'").unwrap();
    for (line, effect) in [
        ("git status", Effect::Allow),
        ("/usr/bin/git status", Effect::Allow),
        ("PATH=$PATH:/usr/local/bin git status", Effect::Allow),
        (
            "export PATH=$HOME/.cargo/bin:$PATH; git status",
            Effect::Allow,
        ),
        ("./git status", Effect::Confirm),
        ("/home/me/src/git status", Effect::Confirm),
        ("PATH=.:$PATH git status", Effect::Confirm),
        ("PATH=$PWD/bin:$PATH git status", Effect::Confirm),
        ("env PATH=bin:/usr/bin git status", Effect::Confirm),
        (
            "export PATH=/home/me/src/x/bin:$PATH; git status",
            Effect::Confirm,
        ),
    ] {
        let mut request = Request::line(line);
        request.front = crate::Front::Mcp;
        let judgement = judge(&request, &CompiledGate::default(), &policy);
        assert_eq!(judgement.effect, effect, "{line}: {judgement:?}");
        assert_eq!(judgement.needs_person, effect == Effect::Confirm, "{line}");
    }
}
