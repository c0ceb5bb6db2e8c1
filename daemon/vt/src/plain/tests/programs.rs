//! What programs write to show progress, byte by byte, and the text that remains.

use super::*;

#[test]
fn cargo_builds() {
    let raw = "\x1b[1m\x1b[32m   Compiling\x1b[0m libc v0.2.0\r\n\
               \x1b[1m\x1b[36m    Building\x1b[0m [=>    ] 1/3: libc     \r\x1b[K\
               \x1b[1m\x1b[32m   Compiling\x1b[0m app v0.1.0\r\n\
               \x1b[1m\x1b[36m    Building\x1b[0m [====> ] 2/3: app      \r\x1b[K\
               \x1b[1m\x1b[32m    Finished\x1b[0m `dev` profile in 1.0s\r\n";
    let want =
        "   Compiling libc v0.2.0\n   Compiling app v0.1.0\n    Finished `dev` profile in 1.0s\n";
    assert_eq!(text(raw), want);
}

#[test]
fn ninja_rewrites_its_line() {
    let raw = "\r[1/3] CC a.o\x1b[K\r[2/3] CC b.o\x1b[K\r[3/3] LINK app\x1b[K\r\n";
    assert_eq!(text(raw), "[3/3] LINK app\n");
}

#[test]
fn curl_wget_and_pip_draw_bars() {
    let curl = "  % Total\r\n\r  0  100\r 50  100\r100  100  0:00:01\r\n";
    assert_eq!(text(curl), "  % Total\n100  100  0:00:01\n");
    let wget = "\rf.bin    0%[       ]   0  --.-KB/s               \
                \rf.bin   50%[==>    ] 512K   1MB/s               \
                \rf.bin  100%[======>]   1M   1MB/s    in 1s     \r\n\r\nsaved\r\n";
    assert_eq!(
        text(wget),
        "f.bin  100%[======>]   1M   1MB/s    in 1s\n\nsaved\n"
    );
    let pip = "\x1b[?25l     \x1b[90m━━━\x1b[0m 0/9 kB\r\x1b[2K     \x1b[31m━━━━\x1b[0m 9/9 kB\r\n\x1b[?25hdone\r\n";
    assert_eq!(text(pip), "     ━━━━ 9/9 kB\ndone\n");
}

#[test]
fn git_counts() {
    let raw = "Cloning into 'x'...\r\nremote: Counting objects:  50% (1/2)\x1b[K\r\
               remote: Counting objects: 100% (2/2)\x1b[K\rremote: Counting objects: 100% (2/2), done.\x1b[K\r\n\
               Receiving objects:  50% (1/2)\rReceiving objects: 100% (2/2)\rReceiving objects: 100% (2/2), done.\r\n";
    let want = "Cloning into 'x'...\nremote: Counting objects: 100% (2/2), done.\n\
                Receiving objects: 100% (2/2), done.\n";
    assert_eq!(text(raw), want);
}

#[test]
fn docker_pulls_layers() {
    let raw = "latest: Pulling\r\n\
        \r\na1: Waiting \r\x1b[1B\r\nb2: Waiting \r\x1b[1B\
        \x1b[3A\x1b[2K\ra1: Downloading 1MB\r\x1b[3B\
        \x1b[1A\x1b[2K\rb2: Downloading 2MB\r\x1b[1B\
        \x1b[3A\x1b[2K\ra1: Pull complete \r\x1b[3B\
        \x1b[1A\x1b[2K\rb2: Pull complete \r\x1b[1BDigest: sha256:0\r\n";
    let want = "latest: Pulling\n\na1: Pull complete \n\nb2: Pull complete \nDigest: sha256:0\n";
    assert_eq!(text(raw), want);
}

#[test]
fn npm_spins() {
    let raw = "⠋\x1b[1G\x1b[0K⠙\x1b[1G\x1b[0K⠹\x1b[1G\x1b[0K\r\nadded 3 packages in 1s\r\n⠼\x1b[1G\x1b[0K";
    assert_eq!(text(raw), "\nadded 3 packages in 1s\n");
    // A tree of several lines, drawn over itself.
    let raw = "⠋ a\r\n⠋ b\r\n\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G✔ a\r\n⠙ b\r\n\
               \x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G✔ a\r\n✔ b\r\n";
    assert_eq!(text(raw), "✔ a\n✔ b\n");
}

/// apt sets margins above the last row and draws its bar in that row.
#[test]
fn apt_keeps_a_progress_bar_below() {
    let size = PlainSize { cols: 40, rows: 5 };
    let mut raw = "$ apt\r\n\r\n\x1b7\x1b[0;4r\x1b8\x1b[1A".to_owned();
    for step in 1..=6 {
        raw += &format!(
            "\x1b7\x1b[5;0f\x1b[42mProgress: [{step:3}%]\x1b[49m\x1b8Unpacking {step}\r\n"
        );
    }
    raw += "\r\n\x1b7\x1b[0;5r\x1b8\x1b[1A\x1b[Jend\r\n";
    let unpacked: String = (1..=6).map(|step| format!("Unpacking {step}\n")).collect();
    assert_eq!(
        text_at(size, raw.as_bytes()),
        format!("$ apt\n{unpacked}end\n")
    );
}

#[test]
fn manual_pages_overstrike() {
    check(&[
        ("N\x08NA\x08AM\x08ME\x08E\r\n", "NAME\n"),
        ("_\x08f_\x08i_\x08l_\x08e\r\n", "file\n"),
        ("+\x08+\x08o", "o"),
    ]);
}

/// readline: a command line that is edited, and history redrawn over it.
#[test]
fn a_shell_edits_its_line() {
    check(&[
        ("$ sl\x08\x1b[K\x08\x1b[Kls\r\nfile\r\n$ ", "$ ls\nfile\n$ "),
        ("$ make\x08\x08\x08\x08ls\x1b[K\r\n", "$ ls\n"),
        (
            "\x1b[?2004h$ \x1b[7mls\x1b[27m\x08\x08ls\x1b[?2004l\r\r\nout\r\n",
            "$ ls\nout\n",
        ),
        ("Password: \r\nok\r\n", "Password: \nok\n"),
    ]);
}

#[test]
fn a_full_screen_program_is_left_out() {
    let vim = "$ vim f\r\n\x1b[?1049h\x1b[22;0;0t\x1b[1;24r\x1b[H\x1b[2J~\r\n~\r\n\x1b[24;1H\"f\" 2L\
               \x1b[?1049l\x1b[23;0;0t$ echo\r\n\r\n$ ";
    assert_eq!(text(vim), "$ vim f\n$ echo\n\n$ ");
}
