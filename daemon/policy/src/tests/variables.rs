//! Variables that make programs run or load something.

use termd_proto::policy::{Effect, Verdict};
use termd_proto::terminal::Front;

use super::forbidden::Forbidden;
use super::judged;
use super::rules::rules;
use crate::{CompiledGate, Invocation, Request, judge};

const HELD: [(&str, &str); 85] = [
    ("LESS", "-N+!rm -rf x"),
    ("LESS", "N+!rm -rf x"),
    ("LESS", "$+!rm -rf x"),
    ("LESS", "+|^rm -rf x"),
    ("LESS", "++!rm -rf x"),
    ("LESS", "+Gg!rm -rf x"),
    ("LESS", "-Ptext$+!rm -rf x"),
    ("LESS", "--use-color$+!rm -rf x"),
    ("SYSTEMD_LESS", "-N+!rm -rf x"),
    ("LESSKEY_CONTENT", "#env LESSOPEN=|./frob %s"),
    ("GIT_PAGER", "${X:-./less}"),
    ("PAGER", "cat <(./less)"),
    ("LESS", "+!rm -rf x"),
    ("LESS", "-R +!rm -rf x$-F"),
    ("LESS", "+!rm -rf x\n"),
    ("DPKG_PAGER", "./less"),
    ("SLANG_EDITOR", "./vim %s"),
    ("SPELL", "./aspell"),
    ("BAZEL_SH", "./bash"),
    ("FZF_DEFAULT_COMMAND", "frob"),
    ("FZF_CTRL_T_COMMAND", "frob"),
    ("FZF_DEFAULT_OPTS", "--preview frob"),
    ("FZF_DEFAULT_OPTS_FILE", "opts"),
    ("VALGRIND_OPTS", "--tool=../x"),
    ("VALGRIND_LIB", "./lib"),
    ("ERL_AFLAGS", "-eval os:cmd(\"frob\")"),
    ("_JAVA_OPTIONS", "-XX:OnOutOfMemoryError=frob"),
    ("BUN_OPTIONS", "--preload ./x.ts"),
    ("R_PROFILE_USER", "Rprofile"),
    ("APT_CONFIG", "apt.conf"),
    ("GROFF_COMMAND_PREFIX", "./g"),
    ("TOX_OVERRIDE", "testenv.commands=frob"),
    ("PIP_INDEX_URL", "http://example.org/simple"),
    ("UV_DEFAULT_INDEX", "http://example.org/simple"),
    ("CLOUDSDK_PYTHON", "E/payload"),
    ("CLOUDSDK_PYTHON", "./python3"),
    ("MANOPT", "-PE/payload"),
    ("MANOPT", "-P ./frob"),
    ("ZIPOPT", "-T -TT ./frob"),
    ("GIT_PAGER", "E/less"),
    ("PAGER", "./less"),
    ("EDITOR", "/tmp/x/vim"),
    ("GIT_EDITOR", "~/vim"),
    ("BASH_FUNC_ls%%", "() { /x/E/payload; }"),
    ("TF_CLI_ARGS_plan", "-destroy"),
    ("TF_CLI_CONFIG_FILE", "./tf.rc"),
    ("CCACHE_PREFIX", "E/payload"),
    ("CARGO_BUILD_RUSTC", "E/rustc"),
    ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "./run"),
    ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "./gcc"),
    ("RUSTC_WRAPPER", "./sccache"),
    ("MAVEN_OPTS", "-javaagent:E/a.jar"),
    ("GRADLE_OPTS", "-javaagent:./a.jar"),
    ("_JAVA_OPTIONS", "-agentpath:./a.so"),
    ("DOTNET_STARTUP_HOOKS", "E/h.dll"),
    ("KUBECTL_EXTERNAL_DIFF", "E/payload"),
    ("ANSIBLE_SSH_EXECUTABLE", "E/ssh"),
    ("ANSIBLE_SSH_ARGS", "-oProxyCommand=./frob"),
    ("HGRCPATH", "E/hgrc"),
    ("FPATH", "E/functions"),
    ("AWKLIBPATH", "E/lib"),
    ("TCLLIBPATH", "./lib"),
    ("GUILE_LOAD_PATH", "./lib"),
    ("DOCKER_HOST", "ssh://-oProxyCommand=frob/x"),
    ("CC", "E/payload"),
    ("CC", "./gcc"),
    ("CXX", "./g++"),
    ("LD", "/tmp/ld"),
    ("AR", "./ar"),
    ("WGETRC", "E/wgetrc"),
    ("CURL_HOME", "E/curl"),
    ("ZDOTDIR", "E/zsh"),
    ("INPUTRC", "./inputrc"),
    ("PERL5OPT", "-M/tmp/x"),
    ("LUA_INIT", "os.execute('x')"),
    ("R_PROFILE", "./Rprofile"),
    ("GCONV_PATH", "."),
    ("LESSOPEN", "|./frob %s"),
    ("SYSTEMD_PAGER", "./less"),
    ("SUDO_ASKPASS", "./ask"),
    ("SSH_ASKPASS", "E/ssh-askpass"),
    ("npm_config_userconfig", "./npmrc"),
    ("NPM_CONFIG_NODE_OPTIONS", "--require /tmp/x.js"),
    ("AWS_CONFIG_FILE", "./aws"),
    ("SHELL", "./bash"),
];

const SAFE: [(&str, &str); 55] = [
    ("LESS", "-R -X -F +G"),
    ("LESS", "-iMRS -x4"),
    ("LESS", "-P ?f%f .?m(file %i of %m) $ -R"),
    ("LESS", "+/a!b"),
    ("LESS", "-Pa!b+c -R"),
    ("GIT_PAGER", "$PAGER"),
    ("LESS", "+Gg"),
    ("LESS", "-R +/pattern"),
    ("DPKG_PAGER", "less"),
    ("SPELL", "aspell"),
    ("BAZEL_SH", "/bin/bash"),
    ("FZF_DEFAULT_COMMAND", "rg --files --hidden"),
    ("FZF_DEFAULT_OPTS", "--height 40% --reverse"),
    ("VALGRIND_OPTS", "--leak-check=full --tool=memcheck"),
    ("ERL_AFLAGS", "-kernel shell_history enabled"),
    ("_JAVA_OPTIONS", "-Xmx2g -XX:+UseG1GC"),
    ("R_PROFILE_USER", ""),
    ("PIP_INDEX_URL", "https://pypi.org/simple"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("CC", "clang"),
    ("CC", "gcc-12"),
    ("CC", "ccache gcc"),
    ("CC", "/usr/bin/clang-15"),
    ("CC", "x86_64-linux-musl-gcc"),
    ("CC", "zig cc"),
    ("CXX", "g++-12"),
    ("AR", "llvm-ar"),
    ("LD", "ld.lld"),
    ("EDITOR", "true"),
    ("EDITOR", "/usr/bin/vim"),
    ("GIT_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("PAGER", "less -R"),
    ("SHELL", "/bin/bash"),
    ("HOME", "/tmp/home"),
    ("XDG_CONFIG_HOME", "/tmp/x/config"),
    ("PYTHONPATH", "src"),
    ("NODE_OPTIONS", "--max-old-space-size=4096"),
    ("MAVEN_OPTS", "-Xmx2g"),
    ("GRADLE_OPTS", "-Dorg.gradle.daemon=false"),
    ("JAVA_TOOL_OPTIONS", "-Dfile.encoding=UTF-8"),
    ("RUSTC_WRAPPER", "sccache"),
    ("RUSTC_WRAPPER", ""),
    ("CARGO_TARGET_DIR", "/tmp/target"),
    ("DOCKER_HOST", "unix:///var/run/docker.sock"),
    ("DOCKER_HOST", "tcp://localhost:2375"),
    ("DOCKER_HOST", "ssh://me@host"),
    ("TF_CLI_ARGS", "-no-color"),
    ("LESS", "-FRX"),
    ("MAKEFLAGS", "-j8"),
    ("CLOUDSDK_PYTHON", "python3"),
    ("LESSOPEN", "|/usr/bin/lesspipe %s"),
    ("GOFLAGS", "-mod=mod"),
    ("KUBECONFIG", "./kubeconfig"),
    ("LC_ALL", "C.UTF-8"),
];

/// What zsh(1) expands of its variables, and what it runs with `STTY`.
#[test]
fn a_variable_that_zsh_expands_hides_no_program() {
    let names = [
        "PS1",
        "PS2",
        "PS3",
        "PS4",
        "PROMPT",
        "PROMPT2",
        "PROMPT3",
        "PROMPT4",
        "prompt",
        "RPS1",
        "RPS2",
        "RPROMPT",
        "RPROMPT2",
        "SPROMPT",
        "PROMPT_EOL_MARK",
        "WATCHFMT",
        "PSVAR",
        "psvar",
        "STTY",
    ];
    let mut lines: Vec<String> = names
        .iter()
        .map(|name| format!("{name}='$(frob)' zsh -f -o promptsubst -i"))
        .collect();
    lines.extend(
        names
            .iter()
            .map(|name| format!("env {name}='`frob`' zsh -i")),
    );
    lines.extend(
        [
            "STTY='sane;frob' ls",
            "STTY='erase x' bash",
            "export STTY='sane;frob'",
        ]
        .map(str::to_owned),
    );
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    Forbidden("frob").all_are_stopped(None, &lines);
    Forbidden("frob").none_is_asked_about(
        None,
        &[
            "STTY=-echo ls",
            "STTY='-echo -ixon' cat",
            "PROMPT_EOL_MARK='' zsh -i",
            "RPS1='%~ $x' zsh -i",
        ],
    );
}

/// The verdict of a command with a variable of the request, and of the same in a line.
fn verdicts((name, value): (&str, &str)) -> Vec<Verdict> {
    let env = [(name.to_owned(), value.to_owned())];
    let request = Request {
        front: Front::Mcp,
        env: &env,
        ..Request::from(Invocation::Line("ls"))
    };
    let own = judge(
        &request,
        &CompiledGate::default(),
        &crate::Policy::default(),
    );
    let mut verdicts = vec![own.verdict];
    verdicts.push(
        judged(
            &format!("env '{name}={}' ls", value.replace('\'', "'\\''")),
            None,
        )
        .verdict,
    );
    verdicts
}

#[test]
fn a_variable_that_names_what_others_run_is_judged_by_its_value() {
    let wrong: Vec<_> = HELD
        .into_iter()
        .filter(|case| verdicts(*case).contains(&Verdict::Safe))
        .collect();
    assert!(wrong.is_empty(), "safe: {wrong:#?}");
    let wrong: Vec<_> = SAFE
        .into_iter()
        .filter(|case| {
            verdicts(*case)
                .iter()
                .any(|verdict| *verdict != Verdict::Safe)
        })
        .collect();
    assert!(wrong.is_empty(), "not safe: {wrong:#?}");
}

/// The settings of another home may name any program.
#[test]
fn another_home_may_run_what_a_rule_forbids() {
    let policy = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    for name in ["HOME", "XDG_CONFIG_HOME", "BASH_ENV", "CURL_HOME"] {
        let env = [(name.to_owned(), "./e".to_owned())];
        let request = Request {
            front: Front::Mcp,
            env: &env,
            ..Request::from(Invocation::Line("git status"))
        };
        let judgement = judge(&request, &CompiledGate::default(), &policy);
        assert_eq!(judgement.effect, Effect::Confirm, "{name}");
        assert!(judgement.needs_person, "{name}");
    }
}

/// Lines with a setting of git's that is a line for a shell.
#[test]
fn a_setting_that_is_a_line_is_judged_as_one() {
    let with = |value: &str| format!("git -c core.fsmonitor='{value}' status");
    for value in [
        "cd s && ./.fsm",
        "${X:-./.fsm}",
        "${X:-frob}",
        "$X",
        "$(./.fsm)",
        "`./.fsm`",
        "cat <(./.fsm)",
        "\"$PWD\"/.fsm",
        "X=1 ./.fsm",
        "if true; then ./.fsm; fi",
        "{ ./.fsm; }",
    ] {
        assert_eq!(
            judged(&with(value), None).verdict,
            Verdict::Unknown,
            "{value}"
        );
    }
    for line in [
        "git config core.fsmonitor '${X:-./.fsm}'",
        "git -c core.fsmonitor=\"$X\" status",
        "export X=./.fsm; git --config-env=core.fsmonitor=X status",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='cd s && ./.fsm' git status",
    ] {
        assert_eq!(judged(line, None).verdict, Verdict::Unknown, "{line}");
    }
    for value in ["true", "false", "rs-git-fsmonitor"] {
        assert_eq!(judged(&with(value), None).verdict, Verdict::Safe, "{value}");
    }
}
