//! The line of an agent within what the agent writes around it, and what may never be left out.

use super::properties::Noise;
use crate::agent_line;
use crate::secrets::redact::Redactor;

/// What stands before `eval` in the calls of Claude Code 2.1.330.
const CLAUDE_CODE: &str = r"source /home/u/.claude/shell-snapshots/snapshot-bash-1790213714215-ukwwat.sh 2>/dev/null || true && \builtin shopt -u extglob 2>/dev/null || true && { \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && { \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true && ";
const CLAUDE_CODE_END: &str = " && pwd -P >| /tmp/claude-e170-cwd";
const GEMINI: &str = "shopt -u promptvars nullglob extglob nocaseglob dotglob; \
    _bgpids_file=/tmp/gemini-shell-DJy1jL/bgpids.tmp\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n";
const GEMINI_END: &str = "\n)\n__code=$?\nexit $__code";
const CODEX: &str = r#"__CODEX_SNAPSHOT_OVERRIDE_SET_0="${CODEX_THREAD_ID+x}"
__CODEX_SNAPSHOT_OVERRIDE_0="${CODEX_THREAD_ID-}"
__CODEX_SNAPSHOT_PROXY_OVERRIDE_SET_0="${ALL_PROXY+x}"
__CODEX_SNAPSHOT_PROXY_OVERRIDE_0="${ALL_PROXY-}"
__CODEX_SNAPSHOT_PROXY_ENV_SET="${CODEX_NETWORK_PROXY_ACTIVE+x}"

if . '/home/u/.codex/shell_snapshots/01a2-77.1790213714215.sh' >/dev/null 2>&1; then :; fi

if [ -n "${__CODEX_SNAPSHOT_OVERRIDE_SET_0}" ]; then export CODEX_THREAD_ID="${__CODEX_SNAPSHOT_OVERRIDE_0}"; else unset CODEX_THREAD_ID; fi
if [ -n "$__CODEX_SNAPSHOT_PROXY_ENV_SET" ] || [ -n "${CODEX_NETWORK_PROXY_ACTIVE+x}" ]; then
if [ -n "${__CODEX_SNAPSHOT_PROXY_OVERRIDE_SET_0}" ]; then export ALL_PROXY="${__CODEX_SNAPSHOT_PROXY_OVERRIDE_0}"; else unset ALL_PROXY; fi
fi
if [ -n "${PATH:-}" ]; then export PATH='/opt/codex/codex-path':"$PATH"; else export PATH='/opt/codex/codex-path'; fi

"#;

/// A text in the quotes of these agents.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r#"'"'"'"#))
}

fn of_claude_code(line: &str) -> String {
    let word = quoted(line);
    format!("{CLAUDE_CODE}eval {word} < /dev/null{CLAUDE_CODE_END}")
}

fn of_codex(line: &str) -> String {
    format!("{CODEX}exec '/bin/bash' -c {}", quoted(line))
}

fn of_gemini(line: &str) -> String {
    format!("{GEMINI}{line}{GEMINI_END}")
}

/// The line of `bash -c TEXT`.
fn shown(text: &str) -> String {
    let argv = ["/bin/bash", "-c", text].map(str::to_owned);
    agent_line(&argv).unwrap()
}

fn line_of(argv: &[&str]) -> Option<String> {
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    agent_line(&argv)
}

#[test]
fn the_line_is_taken_out_of_each_wrapper() {
    for line in [
        "ls -la",
        "git commit -m 'it'\"'\"'s done'",
        "until grep -q \"peak\" /tmp/x.out; do sleep 10; done; tr '\\r' '\\n' < x",
        "python3 - <<'EOF'\nprint(\"$HOME\", `x`)\nEOF",
        "echo \\",
        "echo é\u{a0}\u{fffc}~*{a,b}",
        "cat <<EOF",
        "ls\n)\nrm -rf x\n(",
        " ",
    ] {
        for wrapped in [of_claude_code(line), of_codex(line), of_gemini(line)] {
            assert_eq!(shown(&wrapped), line, "{wrapped}");
        }
    }
}

#[test]
fn earlier_and_other_forms_of_the_wrappers() {
    let source = "source '/home/an other/.claude/shell-snapshots/snapshot-zsh-17-a.sh'";
    for (text, line) in [
        (
            format!("{source} && setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL 2>/dev/null || true && eval make < /dev/null && pwd -P >| /tmp/claude-1-cwd"),
            "make",
        ),
        (
            format!("{source} 2>/dev/null || true && {{ \\builtin shopt -u extglob || \\builtin setopt NO_EXTENDED_GLOB NO_EQUALS; }} >/dev/null 2>&1 || true && eval \"echo \\\"it's\\\" \\$x\" && pwd -P >| '/tmp/a b/claude-1-cwd'"),
            "echo \"it's\" $x",
        ),
        (
            format!("{CLAUDE_CODE}eval /tmp/wait.sh < /dev/null{CLAUDE_CODE_END}"),
            "/tmp/wait.sh",
        ),
        (
            "if . '/c/shell_snapshots/a.sh' >/dev/null 2>&1; then :; fi\n\nexec '/usr/bin/zsh' -c 'ls'".to_owned(),
            "ls",
        ),
        (
            format!("_bgpids_file='/tmp/a b/gemini-shell-1/bgpids.tmp'\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\nls{GEMINI_END}"),
            "ls",
        ),
    ] {
        assert_eq!(shown(&text), line, "{text}");
    }
}

#[test]
fn a_shell_with_one_line_means_that_line() {
    for argv in [
        ["/bin/bash", "-c", "env"].as_slice(),
        &["bash", "-lc", "env"],
        &["/usr/bin/zsh", "-l", "-c", "env"],
        &["/usr/local/bin/bash", "-c", "-l", "env"],
        &["-bash", "-c", "env"],
        &["sh", "-c", "env"],
    ] {
        assert_eq!(line_of(argv).as_deref(), Some("env"), "{argv:?}");
    }
    // The calls with which agents start.
    for text in ["env", "set -e; . '/home/u/.codex/shell_snapshots/a.sh'"] {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn what_is_more_than_one_line_or_no_shell_has_none() {
    for argv in [
        [].as_slice(),
        &["/bin/bash"],
        &["/bin/bash", "-c"],
        &["/bin/bash", "-l", "-c"],
        &["/bin/bash", "script"],
        &["/bin/bash", "-i", "-c", "ls"],
        &["/bin/bash", "-ic", "ls"],
        &["/bin/bash", "-xc", "ls"],
        &["/bin/bash", "--rcfile", "x", "-c", "ls"],
        &["/bin/bash", "-O", "extglob", "-c", "ls"],
        // What the parameters are runs.
        &["/bin/bash", "-c", "\"$@\"", "bash", "rm", "-rf", "x"],
        &["/bin/bash", "-c", "$0", "reboot"],
        // An option, behind which the line is missing.
        &["/bin/bash", "-c", "-x"],
        &["/bin/bash", "-c", "+x"],
        // Programs that anybody may have put there.
        &["/tmp/bash", "-c", "ls"],
        &["./bash", "-c", "ls"],
        &["/bin/../tmp/bash", "-c", "ls"],
        &["/usr/bin/python3", "-c", "ls"],
        &["/bin/rm", "-c", "ls"],
        &["ls", "-la"],
    ] {
        assert_eq!(line_of(argv), None, "{argv:?}");
    }
}

#[test]
fn a_wrapper_that_is_not_quite_one_is_shown_whole() {
    let source = "/home/u/.claude/shell-snapshots/snapshot-bash-1-a.sh";
    for text in [
        // Something dangerous at the top level, and an `eval` for show.
        "eval 'ls' && rm -rf x".to_owned(),
        "rm -rf x; eval 'ls'".to_owned(),
        format!("rm -rf x && {}", of_claude_code("ls")),
        format!("{}; rm -rf x", of_claude_code("ls")),
        format!("{}\nrm -rf x", of_claude_code("ls")),
        format!("{CLAUDE_CODE}rm -rf x && eval 'ls'{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval 'rm -rf x' && eval 'ls'{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval 'ls' < /dev/null && rm -rf x{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval 'ls' 'rm -rf x'{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval 'ls' < <(rm -rf x){CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval 'ls'\u{a0}< /dev/null{CLAUDE_CODE_END}"),
        // Words that are made as they run.
        format!("{CLAUDE_CODE}eval \"$(cat x)\"{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval \"ls $x\"{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval \"ls `x`\"{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval $'ls'{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval ls*{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval ~/x{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval {{ls,x}}{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval 'ls{CLAUDE_CODE_END}"),
        format!("{CLAUDE_CODE}eval{CLAUDE_CODE_END}"),
        // Files that are not the agent's.
        format!("source /tmp/x.sh && eval 'ls'{CLAUDE_CODE_END}"),
        format!("source {source} && eval 'ls' && pwd -P >| /home/u/.bashrc"),
        format!("source \"{source}\" && eval 'ls'{CLAUDE_CODE_END}"),
        format!("source $HOME{source} && eval 'ls'{CLAUDE_CODE_END}"),
        "if . '/tmp/x' >/dev/null 2>&1; then :; fi\n\nexec '/bin/bash' -c 'ls'".to_owned(),
        of_gemini("ls").replace("/tmp/gemini-shell-DJy1jL/bgpids.tmp", "/home/u/.bashrc"),
        // Shells and parameters that are not the agent's.
        of_codex("ls").replace("exec '/bin/bash'", "exec '/tmp/bash'"),
        of_codex("ls").replace("exec '/bin/bash' -c", "exec '/bin/bash' -ic"),
        format!("{} 'rm -rf x'", of_codex("ls")),
        of_codex("ls").replace("'/opt/codex/codex-path':", "'/tmp/x':"),
        of_codex("ls").replace("\"${ALL_PROXY-}\"", "\"$(rm -rf x)\""),
        of_codex("ls").replace("${ALL_PROXY-}", "${ALL_PROXY-$(rm -rf x)}"),
        // The end of Gemini's subshell, and something behind it.
        format!("{}\nrm -rf x", of_gemini("ls")),
        format!("rm -rf x; {}", of_gemini("ls")),
        of_gemini("ls").replace("jobs -p", "rm -rf x"),
    ] {
        assert_eq!(shown(&text), text);
    }
}

/// Whatever is put into a wrapper, at any place of it, is shown.
#[test]
fn nothing_put_into_a_wrapper_is_left_out() {
    let lines = [of_claude_code("ls"), of_codex("ls"), of_gemini("ls")];
    for text in lines {
        for at in 0..=text.len() {
            let (before, behind) = text.split_at(at);
            for put in [
                "; rm -rf x;",
                " && rm -rf x && ",
                " || rm -rf x || ",
                "\nrm -rf x\n",
                "$(rm -rf x)",
                "`rm -rf x`",
                "'; rm -rf x; '",
                "\"; rm -rf x; \"",
                "'\"$(rm -rf x)\"'",
                " | rm -rf x | ",
                "\n)\nrm -rf x\n(\n",
            ] {
                let shown = shown(&format!("{before}{put}{behind}"));
                assert!(shown.contains("rm -rf x"), "{before}{put}{behind}");
            }
        }
    }
}

#[test]
fn any_text_comes_out_of_its_wrapper_as_it_was() {
    let mut noise = Noise::new(0x6c1e_5a93);
    for _ in 0..2_000 {
        let line = noise.text(24);
        for wrapped in [of_claude_code(&line), of_codex(&line), of_gemini(&line)] {
            assert_eq!(shown(&wrapped), line, "{wrapped:?}");
        }
        // Alone, or within a wrapper without its quotes, it may be anything but a panic.
        shown(&format!(" {line}"));
        shown(&format!("{CLAUDE_CODE}eval {line}{CLAUDE_CODE_END}"));
        shown(&format!("{CODEX}{line}"));
    }
}

#[test]
fn secrets_are_hidden_within_a_wrapper_and_the_rest_stays() {
    let redactor = Redactor::default();
    let redacted = |text: String| {
        let argv = ["/bin/bash".to_owned(), "-c".to_owned(), text];
        redactor.argv(&argv)[2].clone()
    };
    let line = "mysql -phunter2 -e 'SELECT 1'";
    let hidden = redactor.text(line).into_owned();
    assert!(!hidden.contains("hunter2"), "{hidden}");
    assert_eq!(redacted(of_claude_code(line)), of_claude_code(&hidden));
    assert_eq!(redacted(of_codex(line)), of_codex(&hidden));
    assert_eq!(redacted(of_gemini(line)), of_gemini(&hidden));
    // Nothing is secret: not a byte changes, the quotes included.
    let other = format!("{CLAUDE_CODE}eval \"it's\"\\ x{CLAUDE_CODE_END}");
    assert_eq!(redacted(other.clone()), other);
    // What the line evaluates is shown, as it is without a wrapper.
    let evaluates = "echo cGFzcyBodW50ZXIy | base64 -d | sh";
    assert_eq!(redacted(of_gemini(evaluates)), of_gemini(evaluates));
}
