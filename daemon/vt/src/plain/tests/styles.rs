//! Text with its styles.

use super::SIZE;
use crate::plain::{PlainSize, PlainText, Styles, Until};

fn styled_at(size: PlainSize, raw: &str) -> String {
    let mut plain = PlainText::new(size).with_styles(Styles::Kept);
    let mut text = String::new();
    plain.feed(raw.as_bytes(), &mut |part| text.push_str(part));
    text + &plain.finish()
}

#[test]
fn styles_are_those_of_what_is_left() {
    for (raw, want) in [
        ("plain\r\n", "plain\n"),
        ("\x1b[31mred\x1b[0m\r\n", "\x1b[31mred\x1b[m\n"),
        // A style that goes on over lines begins and ends on each.
        (
            "\x1b[1mone\r\ntwo\x1b[m!\r\n",
            "\x1b[1mone\x1b[m\n\x1b[1mtwo\x1b[m!\n",
        ),
        // Redraws: only the last state has its colour.
        (
            "\x1b[31m10%\r\x1b[32m100%\x1b[m\r\n",
            "\x1b[32m100%\x1b[m\n",
        ),
        ("\x1b[31mabc\x1b[m\rx\r\n", "x\x1b[31mbc\x1b[m\n"),
        ("\x1b[31mabc\x1b[m\x08\x08\x1b[K.\r\n", "\x1b[31ma\x1b[m.\n"),
        ("\x1b[31mabc\x1b[m\r\x1b[1P\r\n", "\x1b[31mbc\x1b[m\n"),
        ("\x1b[31mabc\x1b[m\r\x1b[1@x\r\n", "x\x1b[31mabc\x1b[m\n"),
        (
            "\x1b[4:3m\x1b[38:2::1:2:3mx\x1b[m\n",
            "\x1b[4:3;38;2;1;2;3mx\x1b[m\n",
        ),
        // Nothing else passes, and nothing is hidden.
        (
            "\x1b]0;t\x07\x1b]8;;u\x07a\x1b]8;;\x07\x1b[8mb\x1b[5n\x1b[?25l\r\n",
            "ab\n",
        ),
    ] {
        assert_eq!(styled_at(SIZE, raw), want, "{raw:?}");
    }
    let narrow = PlainSize { cols: 4, rows: 6 };
    let wrapped = styled_at(narrow, "\x1b[31mabcdef\x1b[m\r\n");
    assert_eq!(wrapped, "\x1b[31mabcd\x1b[m\x1b[31mef\x1b[m\n");
}

#[test]
fn a_line_that_goes_on_is_not_given_again() {
    let mut plain = PlainText::new(SIZE).with_styles(Styles::Kept);
    let mut given = Vec::new();
    for part in ["\x1b[32m$ ", "l", "\x1b[ms", "\r\nx"] {
        plain.advance(part.as_bytes());
        plain.give(Until::Settled);
        given.push(plain.take().text);
    }
    assert_eq!(given, ["\x1b[32m$ ", "l", "\x1b[ms", "\nx"]);
}

#[test]
fn without_sgr_it_is_the_plain_text() {
    let words = [
        "ab",
        "\r",
        "\n",
        "\x1b[31m",
        "\x1b[7m",
        "\x1b[m",
        "\x1b[2D",
        "\x1b[K",
        "\x1b[2P",
        "\x1b[3@",
        "\x1b[A",
        "\t",
        "漢",
        "e\u{301}",
        "\x1b[1J",
        "\x1b7",
        "\x1b8",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[2X",
    ];
    let mut state = 88_172_645_463_325_252_u64;
    for _ in 0..2_000 {
        let raw: String = (0..30)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                words[usize::try_from(state % words.len() as u64).unwrap()]
            })
            .collect();
        let size = PlainSize { cols: 9, rows: 4 };
        let styled = styled_at(size, &raw);
        let mut bare = String::new();
        let mut rest = styled.as_str();
        while let Some((head, tail)) = rest.split_once("\x1b[") {
            bare.push_str(head);
            let (params, tail) = tail.split_once('m').unwrap();
            assert!(
                params
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b';'),
                "{styled:?}"
            );
            rest = tail;
        }
        bare.push_str(rest);
        assert_eq!(bare, super::text_at(size, raw.as_bytes()), "{raw:?}");
    }
}
