//! Each question by the bytes of its reply, on a screen of 80 by 24.

use crate::testing::{answer, check_answers};

#[test]
fn device_attributes() {
    let version = concat!("\x1bP>|termd(", env!("CARGO_PKG_VERSION"), ")\x1b\\");
    check_answers(&[
        ("\x1b[c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28;29c"),
        ("\x1b[0c", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28;29c"),
        ("\x1bZ", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28;29c"),
        ("\x1b[1c", ""),
        ("\x1b[?c", ""),
        ("\x1b[>c", "\x1b[>41;400;0c"),
        ("\x1b[>0c", "\x1b[>41;400;0c"),
        ("\x1b[>1c", ""),
        (
            "\x1b[65;1\"p\x1b[c",
            "\x1b[?65;1;2;6;9;15;16;17;18;21;22;28;29c",
        ),
        ("\x1b[65;1\"p\x1b[>c", "\x1b[>64;400;0c"),
        ("\x1b[=c", "\x1bP!|00000000\x1b\\"),
        ("\x1b[x", "\x1b[2;1;1;128;128;1;0x"),
        ("\x1b[1x", "\x1b[3;1;1;128;128;1;0x"),
        ("\x1b[2x", ""),
        ("\x1b[>q", version),
        ("\x1b[>0q", version),
        ("\x1b[>1q", ""),
        ("\x1b[?2l\x1bZ", "\x1b/Z"),
        // ENQ has no answer.
        ("\x05", ""),
    ]);
}

#[test]
fn device_status_reports() {
    check_answers(&[
        ("\x1b[5n", "\x1b[0n"),
        ("\x1b[6n", "\x1b[1;1R"),
        ("\x1b[7;9H\x1b[6n", "\x1b[7;9R"),
        ("\x1b[7;9H\x1b[?6n", "\x1b[?7;9;1R"),
        ("\x1b[63;1\"p\x1b[?6n", "\x1b[?1;1R"),
        ("\x1b[3;20r\x1b[?6h\x1b[2;4H\x1b[6n", "\x1b[2;4R"),
        (
            "\x1b[?69h\x1b[5;70s\x1b[?6h\x1b[2;4H\x1b[?6n",
            "\x1b[?2;4;1R",
        ),
        ("\x1b[80G.\x1b[6n", "\x1b[1;80R"),
        ("\x1b[7n", ""),
        ("\x1b[?15n", "\x1b[?13n"),
        ("\x1b[?25n", "\x1b[?20n"),
        ("\x1b[?26n", "\x1b[?27;1;0;0n"),
        ("\x1b[?55n", "\x1b[?53n"),
        ("\x1b[?56n", "\x1b[?57;0n"),
        ("\x1b[?62n", "\x1b[0000*{"),
        ("\x1b[?63;12n", "\x1bP12!~0000\x1b\\"),
        ("\x1b[?75n", "\x1b[?70n"),
        ("\x1b[?85n", "\x1b[?83n"),
        ("\x1b[?99n", ""),
        ("\x1b[15n", ""),
        ("\x1b[?996n", "\x1b[?997;1n"),
        ("\x1b]11;white\x1b\\\x1b[?996n", "\x1b[?997;2n"),
        ("\x1b['|", "\x1b[0&w"),
        ("\x1b[\"v", "\x1b[24;80;1;1;1\"w"),
    ]);
}

#[test]
fn eight_bit_replies() {
    let table: &[(&[u8], &[u8])] = &[
        (b"\x1b G\x1b[6n", b"\x9b1;1R"),
        (b"\x1b G\x1b[=c", b"\x90!|00000000\x9c"),
        (b"\x1b G\x1b]4;1;?\x1b\\", b"\x9d4;1;rgb:cdcd/0000/0000\x9c"),
        (b"\x1b G\x1b]4;1;?\x07", b"\x9d4;1;rgb:cdcd/0000/0000\x07"),
        (b"\x1b G\x1b F\x1b[5n", b"\x1b[0n"),
    ];
    for (input, want) in table {
        assert_eq!(answer(input), *want);
    }
}

#[test]
fn modes() {
    check_answers(&[
        ("\x1b[4$p", "\x1b[4;2$y"),
        ("\x1b[4h\x1b[4$p", "\x1b[4;1$y"),
        ("\x1b[12$p", "\x1b[12;1$y"),
        ("\x1b[20$p", "\x1b[20;2$y"),
        ("\x1b[3$p", "\x1b[3;2$y"),
        ("\x1b[1$p", "\x1b[1;4$y"),
        ("\x1b[99$p", "\x1b[99;0$y"),
        ("\x1b[62;1\"p\x1b[4$p", ""),
        ("\x1b[?1$p", "\x1b[?1;2$y"),
        ("\x1b[?2$p", "\x1b[?2;1$y"),
        ("\x1b[?7$p", "\x1b[?7;1$y"),
        ("\x1b[?8$p", "\x1b[?8;4$y"),
        ("\x1b[?25l\x1b[?25$p", "\x1b[?25;2$y"),
        ("\x1b[?60$p", "\x1b[?60;4$y"),
        ("\x1b[?69h\x1b[?69$p", "\x1b[?69;1$y"),
        ("\x1b[63;1\"p\x1b[?69$p", "\x1b[?69;0$y"),
        ("\x1b[?95$p", "\x1b[?95;0$y"),
        ("\x1b[65;1\"p\x1b[?95h\x1b[?95$p", "\x1b[?95;1$y"),
        ("\x1b[?1006h\x1b[?1006$p", "\x1b[?1006;1$y"),
        ("\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"),
        ("\x1b[?1048$p", "\x1b[?1048;2$y"),
        ("\x1b7\x1b[?1048$p", "\x1b[?1048;1$y"),
        ("\x1b[?2004$p", "\x1b[?2004;2$y"),
        ("\x1b[?2026h\x1b[?2026$p", "\x1b[?2026;1$y"),
        ("\x1b[?2027$p", "\x1b[?2027;2$y"),
        ("\x1b[?2031h\x1b[?2031$p", "\x1b[?2031;1$y"),
        ("\x1b[?31337$p", "\x1b[?31337;0$y"),
        ("\x1b[?2048h", "\x1b[48;24;80;384;640t"),
        ("\x1b[?2048l", ""),
    ]);
}

#[test]
fn settings() {
    check_answers(&[
        ("\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
        ("\x1b[1m\x1bP$qm\x1b\\", "\x1bP1$r0;1m\x1b\\"),
        (
            "\x1b[1;2;3;4;5;7;8;9;53m\x1bP$qm\x1b\\",
            "\x1bP1$r0;1;4;5;7;8;2;3;9;53m\x1b\\",
        ),
        ("\x1b[21m\x1bP$qm\x1b\\", "\x1bP1$r0;21m\x1b\\"),
        ("\x1b[4:3m\x1bP$qm\x1b\\", "\x1bP1$r0;4:3m\x1b\\"),
        ("\x1b[31;102m\x1bP$qm\x1b\\", "\x1bP1$r0;31;102m\x1b\\"),
        (
            "\x1b[38;5;200;48;5;9;58;5;3m\x1bP$qm\x1b\\",
            "\x1bP1$r0;38:5:200;101;58:5:3m\x1b\\",
        ),
        (
            "\x1b[38;2;1;2;3;48:2::4:5:6m\x1bP$qm\x1b\\",
            "\x1bP1$r0;38:2::1:2:3;48:2::4:5:6m\x1b\\",
        ),
        ("\x1b[5;6r\x1bP$qr\x1b\\", "\x1bP1$r5;6r\x1b\\"),
        ("\x1b[?69h\x1b[3;4s\x1bP$qs\x1b\\", "\x1bP1$r3;4s\x1b\\"),
        ("\x1bP$q\"q\x1b\\", "\x1bP1$r0\"q\x1b\\"),
        ("\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"),
        ("\x1bP$q\"p\x1b\\", "\x1bP1$r64;1\"p\x1b\\"),
        ("\x1bP$q q\x1b\\", "\x1bP1$r2 q\x1b\\"),
        ("\x1b[5 q\x1bP$q q\x1b\\", "\x1bP1$r5 q\x1b\\"),
        ("\x1bP$qt\x1b\\", "\x1bP1$r24t\x1b\\"),
        ("\x1bP$q*|\x1b\\", "\x1bP1$r24*|\x1b\\"),
        ("\x1b[61\"p\x1bP$q\"p\x1b\\", ""),
        ("\x1bP$q$|\x1b\\", "\x1bP1$r80$|\x1b\\"),
        ("\x1b[2*x\x1bP$q*x\x1b\\", "\x1bP1$r2*x\x1b\\"),
        ("\x1bP$q$}\x1b\\", "\x1bP1$r0$}\x1b\\"),
        ("\x1bP$q>1m\x1b\\", "\x1bP1$r>1;2m\x1b\\"),
        // What is not known is not repeated.
        ("\x1bP$qrm -rf /\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1bP$q>m\x1b\\", "\x1bP0$r\x1b\\"),
        ("\x1bP$q\x1b\\", "\x1bP0$r\x1b\\"),
    ]);
}

#[test]
fn presentation() {
    check_answers(&[
        ("\x1b[1$w", "\x1bP1$u1;1;1;@;@;@;0;2;@;BBBB\x1b\\"),
        (
            "\x1b[3;5H\x1b[1;4;7m\x1b[1\"q\x1b)0\x0e\x1b[1$w",
            "\x1bP1$u3;5;1;K;A;@;1;2;@;B0BB\x1b\\",
        ),
        ("\x1b[80G.\x1b[1$w", "\x1bP1$u1;80;1;@;@;H;0;2;@;BBBB\x1b\\"),
        ("\x1b[2$w", "\x1bP2$u1/9/17/25/33/41/49/57/65/73\x1b\\"),
        ("\x1b[3g\x1b[4G\x1bH\x1b[2$w", "\x1bP2$u4\x1b\\"),
        ("\x1b[3$w", ""),
        // And back.
        ("\x1bP2$t5/7\x1b\\\x1b[2$w", "\x1bP2$u5/7\x1b\\"),
        ("\x1bP2$t5/x\x1b\\\x1b[2$w", "\x1bP2$u5\x1b\\"),
        (
            "\x1bP1$t3;5;1;K;A;@;1;2;@;B0BB\x1b\\\x1b[1$w",
            "\x1bP1$u3;5;1;K;A;@;1;2;@;B0BB\x1b\\",
        ),
        ("\x1bP1$t99;5;1\x1b\\\x1b[6n", "\x1b[1;1R"),
        (
            "\x1b[1;31mab\x1b[4mc\x1b[1;1;1;3#|\x1b[1;3;1;3#|",
            "\x1b[0;1;31m\x1b[0;1;4;31m",
        ),
    ]);
}

#[test]
fn checksums() {
    check_answers(&[
        ("A\x1b[1;1;1;1;1;1*y", "\x1bP1!~0041\x1b\\"),
        ("AB\x1b[7;1;1;1;1;2*y", "\x1bP7!~0083\x1b\\"),
        // Unwritten cells are blanks, and attributes do not count.
        ("\x1b[1mA\x1b[1;1;1;1;1;2*y", "\x1bP1!~0061\x1b\\"),
        ("\x1b[1;1;1;1;1;1*y", "\x1bP1!~0020\x1b\\"),
        ("é\x1b[1;1;1;1;1;1*y", "\x1bP1!~00E9\x1b\\"),
        ("字\x1b[1;1;1;1;1;2*y", "\x1bP1!~5B57\x1b\\"),
        // A rectangle turned about is empty; one that is too big ends at the edge.
        ("A\x1b[1;1;2;1;1;1*y", "\x1bP1!~0000\x1b\\"),
        ("\x1b[24;80HA\x1b[1;1;24;80;99;99*y", "\x1bP1!~0041\x1b\\"),
        // DEC's way.
        ("\x1b[0#yA\x1b[1;1;1;1;1;1*y", "\x1bP1!~FFBF\x1b\\"),
        ("\x1b[0#y\x1b[1mA\x1b[1;1;1;1;1;1*y", "\x1bP1!~FF3F\x1b\\"),
        ("\x1b[0#y\x1b[1;1;1;1;1;1*y", "\x1bP1!~0000\x1b\\"),
        ("\x1b[1#yA B\x1b[1;1;1;1;1;3*y", "\x1bP1!~0083\x1b\\"),
        ("\x1b[63;1\"pA\x1b[1;1;1;1;1;1*y", ""),
    ]);
}

#[test]
fn windows_and_titles() {
    check_answers(&[
        ("\x1b[11t", "\x1b[1t"),
        ("\x1b[13t", "\x1b[3;0;0t"),
        ("\x1b[13;2t", "\x1b[3;0;0t"),
        ("\x1b[14t", "\x1b[4;384;640t"),
        ("\x1b[15t", "\x1b[5;384;640t"),
        ("\x1b[16t", "\x1b[6;16;8t"),
        ("\x1b[18t", "\x1b[8;24;80t"),
        ("\x1b[19t", "\x1b[9;24;80t"),
        ("\x1b[1t\x1b[2t\x1b[3;1;1t\x1b[9;1t\x1b[10;2t", ""),
        // Titles are never typed back.
        ("\x1b]0;rm -rf /\x07\x1b[20t", "\x1b]L\x1b\\"),
        ("\x1b]0;rm -rf /\x07\x1b[21t", "\x1b]l\x1b\\"),
        ("\x1b[22t\x1b[22;1t\x1b[23t\x1b[#S", "\x1b[1;10#S"),
    ]);
}

#[test]
fn capabilities() {
    check_answers(&[
        ("\x1bP+q436F\x1b\\", "\x1bP1+r436F=323536\x1b\\"),
        ("\x1bP+q436f\x1b\\", "\x1bP1+r436F=323536\x1b\\"),
        (
            "\x1bP+q544E;5463;436F\x1b\\",
            "\x1bP1+r544E=787465726D2D323536636F6C6F72;5463;436F=323536\x1b\\",
        ),
        ("\x1bP+q4D73\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1bP+q726D202D7266\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1bP+q436\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1bP+q\x1b\\", "\x1bP0+r\x1b\\"),
        ("\x1bP+q436F;00\x1b\\", "\x1bP1+r436F=323536\x1b\\"),
    ]);
}

#[test]
fn functions_without_a_reply() {
    check_answers(&[
        // The clipboard is not for programs.
        ("\x1b]52;c;?\x07\x1b]52;c;aGk=\x07", ""),
        ("\x1b]50;?\x07\x1b]60\x07\x1b]46;/tmp/x\x07", ""),
        ("\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\", ""),
        // What is meant for another terminal is not run.
        ("\x1bPtmux;[6n\x1b\\", ""),
        ("\x1bP+Q6e616d65\x1b\\", ""),
        ("\x1b[?1;1;0S", ""),
        ("\x1b[?1004h", ""),
    ]);
}

/// Whatever a program sends, no reply contains a word of it.
#[test]
fn no_reply_repeats_what_was_sent() {
    let word = "W0RD";
    let hex = "57305244";
    let questions = "\x1b[20t\x1b[21t\x1b[#S\x1b[c\x1b[>c\x1b[>q\x05\x1b[1$w\x1bP$qm\x1b\\";
    for string in [
        "\x1b]0;@\x07",
        "\x1b]1;@\x07",
        "\x1b]2;@\x07",
        "\x1b]l@\x1b\\",
        "\x1b]7;file://@/@\x07",
        "\x1b]8;id=@;@\x07",
        "\x1b]4;1;@\x07",
        "\x1b]10;@\x07",
        "\x1b]52;c;@\x07",
        "\x1b]133;A;@\x07",
        "\x1b]633;E;@;@\x07",
        "\x1b]1337;@\x07",
        "\x1b]777;@\x07",
        "\x1b]9;@\x07",
        "\x1bP$q@\x1b\\",
        "\x1bP$q@m\x1b\\",
        "\x1bP+q@\x1b\\",
        "\x1bP+Q@\x1b\\",
        "\x1bP@\x1b\\",
        "\x1bP1$t@\x1b\\",
        "\x1b_@\x1b\\",
        "\x1b_G@\x1b\\",
        "\x1b^@\x1b\\",
        "\x1bX@\x1b\\",
    ] {
        for sent in [word, hex] {
            let input = format!("{}{questions}", string.replace('@', sent));
            let got = answer(input.as_bytes());
            let got = String::from_utf8_lossy(&got).to_uppercase();
            assert!(
                !got.contains(word) && !got.contains(hex),
                "{string:?}: {got:?}"
            );
        }
    }
}
