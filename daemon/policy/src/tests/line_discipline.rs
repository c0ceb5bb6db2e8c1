//! Programs that change how the terminal reads the lines that are typed.

use termd_proto::policy::Verdict;

use super::all_are;
use super::forbidden::Forbidden;

const CHANGED: [&str; 28] = [
    "stty erase x",
    "stty erase 120",
    "stty -F /dev/tty erase x",
    "stty --file=/dev/tty erase x",
    "stty -echo erase x",
    "stty sane kill x",
    "stty werase x",
    "stty lnext x",
    "stty intr x",
    "stty eof x",
    "stty eol x",
    "stty eol2 x",
    "stty swtch x",
    "stty rprnt x",
    "stty quit x",
    "stty susp x",
    "stty kill undef",
    "stty iuclc",
    "stty istrip",
    "stty igncr",
    "stty inlcr",
    "stty -icrnl",
    "stty 500:5:bf:8a3b:3:1c:78:15:4:0:1:0:11:13:1a:0:12:f:17:16:0:0",
    "stty $x",
    "stty \"$(cat f)\"",
    "tset -e x",
    "reset -ex",
    "reset -q -k x",
];

#[test]
fn what_changes_the_reading_of_typed_lines_is_unknown() {
    all_are(Verdict::Unknown, None, &CHANGED);
}

#[test]
fn what_changes_the_reading_of_typed_lines_may_be_any_program() {
    Forbidden("frob").all_are_stopped(None, &CHANGED);
}

#[test]
fn what_leaves_the_reading_of_typed_lines_is_safe() {
    Forbidden("frob").none_is_asked_about(
        None,
        &[
            "stty",
            "stty -a",
            "stty -g",
            "x=$(stty -g)",
            "stty size",
            "stty speed",
            "stty -F /dev/ttyUSB0 115200 cs8 -cstopb -parenb",
            "stty -echo; read p; stty echo",
            "stty sane",
            "stty raw -echo",
            "stty cooked",
            "stty cbreak",
            "stty -icanon min 1 time 0",
            "stty rows 24 cols 80",
            "stty rows $LINES columns \"$COLUMNS\"",
            "stty ispeed 9600 ospeed 9600",
            "stty -ixon",
            "stty -ixon < /dev/tty",
            "stty tostop -opost onlcr",
            "stty erase ^H",
            "stty erase '^?'",
            "stty erase 0x7f intr ^C",
            "stty eof ^D kill ^U eol undef",
            "stty --help",
            "tset -e ^H",
            "tset -Q xterm",
            "reset",
            "reset -k ^U",
        ],
    );
}
