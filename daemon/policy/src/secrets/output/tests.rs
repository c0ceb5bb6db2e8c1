//! What is hidden in output, and what cuts no secret.

use super::*;

fn known() -> KnownSecrets {
    KnownSecrets::of(
        [
            ("API_TOKEN", "hunter2"),
            ("LONG_TOKEN", "hunter2-and-more"),
            ("PASSWORD", "abc12"),
            ("POSTGRES_PASSWORD", "postgres"),
            ("HOME", "/home/me"),
            ("DATABASE_URL", "postgres://me:s3cret-word@host/db"),
        ]
        .into_iter(),
    )
}

fn shown_as(text: &str) -> String {
    let piece = OutputPiece {
        text,
        ..OutputPiece::default()
    };
    let shown = Redactor::default().output(&known(), piece);
    shown.unwrap_or_else(|| text.to_owned())
}

#[test]
fn a_line_of_a_secret_of_several_lines_is_hidden() {
    let value = "-----BEGIN KEY-----\nb3BlbnNzaC1rZXktdjE\nshort\nAAAAB3NzaC1yc2EAAAA\n";
    let known = KnownSecrets::of([("DEPLOY_KEY", value)].into_iter());
    let shown = |text: &str| {
        let piece = OutputPiece {
            text,
            ..OutputPiece::default()
        };
        Redactor::default().output(&known, piece)
    };
    let line = shown("AAAAB3NzaC1yc2EAAAA\r\n");
    assert_eq!(line.as_deref(), Some("[secret DEPLOY_KEY]\r\n"));
    let whole = shown(&format!("{value}end"));
    assert_eq!(whole.as_deref(), Some("[secret DEPLOY_KEY]end"));
    assert_eq!(shown("short\n"), None);
}

#[test]
fn a_value_that_a_program_quotes_is_hidden() {
    let variables = [
        ("DB_PASSWORD", "Xy7$kQ2!mB9z"),
        ("API_SECRET", r"pa'ss9Kd8s\7Hq"),
        ("URL_TOKEN", "aB3+dE5/fG7=hJ9kLm2"),
    ];
    let known = KnownSecrets::of(variables.into_iter());
    let db = "[secret DB_PASSWORD]";
    let api = "[secret API_SECRET]";
    for (program, text, want) in [
        (
            "declare -p",
            r#"declare -x D="Xy7\$kQ2!mB9z""#,
            format!("declare -x D=\"{db}\""),
        ),
        (
            "declare -p",
            r#"declare -- A="pa'ss9Kd8s\\7Hq""#,
            format!("declare -- A=\"{api}\""),
        ),
        ("set", r"A='pa'\''ss9Kd8s\7Hq'", format!("A='{api}'")),
        (
            "set -x",
            r"+ test -n 'pa'\''ss9Kd8s\7Hq'",
            format!("+ test -n '{api}'"),
        ),
        ("%q", r"Xy7\$kQ2\!mB9z", db.to_owned()),
        ("%q", r"pa\'ss9Kd8s\\7Hq", api.to_owned()),
        (
            "json",
            r#"{"A": "pa'ss9Kd8s\\7Hq"}"#,
            format!("{{\"A\": \"{api}\"}}"),
        ),
        (
            "console.log",
            r#"A: "pa'ss9Kd8s\\7Hq""#,
            format!("A: \"{api}\""),
        ),
        (
            "url",
            "?t=aB3%2BdE5%2FfG7%3DhJ9kLm2&x",
            "?t=[secret URL_TOKEN]&x".to_owned(),
        ),
    ] {
        let piece = OutputPiece {
            text,
            ..OutputPiece::default()
        };
        let shown = Redactor::default().output(&known, piece);
        assert_eq!(shown.as_deref(), Some(want.as_str()), "{program}");
    }
}

#[test]
fn values_are_replaced_by_their_names() {
    for (text, shown) in [
        ("", ""),
        ("it is hunter2!\n", "it is [secret API_TOKEN]!\n"),
        ("hunter2-and-more", "[secret LONG_TOKEN]"),
        ("abc12 postgres /home/me", "abc12 postgres /home/me"),
        (
            "url postgres://me:s3cret-word@host/db",
            "url [secret DATABASE_URL]",
        ),
    ] {
        assert_eq!(shown_as(text), shown);
    }
    let names = format!("{:?}", known());
    assert!(!names.contains("hunter2"), "{names}");
}

#[test]
fn a_large_environment_is_cut() {
    let value = "aB3/".repeat(750);
    let names: Vec<String> = (0..20).map(|number| format!("N{number}_TOKEN")).collect();
    let pairs = names.iter().map(|name| (name.as_str(), value.as_str()));
    assert_eq!(KnownSecrets::of(pairs).0.len(), MAX_VALUES_BYTES / 3_000);
}

#[test]
fn shapes_are_found_in_output() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let lines = "rm -rf x; ls --password 12345678\n";
    assert_eq!(
        shown_as(&format!("remote: {token}\n{lines}")),
        format!("remote: [secret]\n{lines}")
    );
}

#[test]
fn what_stands_right_before_a_token_hides_none() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for before in [
        "/",
        "a/",
        "/tmp/",
        "a\\n",
        "{\"a\":\"b\\r\\n",
        "a%3D",
        "\\u0041",
        "\u{1}",
        "\\u001b[0m",
        "^[[31m",
        "b'x\\x00",
        "=3D",
        "mysql -p",
        "_",
        "7",
        "é",
        "日本",
    ] {
        assert_eq!(
            shown_as(&format!("{before}{token} b")),
            format!("{before}[secret] b")
        );
    }
}

#[test]
fn a_token_that_only_its_service_marks_is_found_in_a_path() {
    let tail = "a1B2".repeat(12);
    for begin in ["sk-ant-api03-", "sk-proj-", "hf_", "pypi-", "sk_live_"] {
        assert_eq!(
            shown_as(&format!("a/b/{begin}{tail}/c")),
            "a/b/[secret]/c",
            "{begin}"
        );
    }
    let file = format!("a/sk-{tail}/c");
    assert_eq!(shown_as(&file), file);
}

#[test]
fn escape_sequences_hide_no_secret() {
    let (start, end) = ("ghp_a1B2a1B2", "a1B2".repeat(7));
    for sequence in [
        "\x1b[1;31m",
        "\x1b[m\x1b[K",
        "\x1b]0;title\x07",
        "\x1b]8;;a://b\x1b\\",
        "\x1b(B",
        "\x1b7",
    ] {
        assert_eq!(
            shown_as(&format!("a {start}{sequence}{end} b")),
            format!("a [secret]{sequence} b")
        );
    }
    let token = format!("{start}{end}");
    for (before, after) in [
        ("\x1b]0;", "\x07"),
        ("a\x1b]8;;https://host/", "\x1b\\b"),
        ("\x1bP1$", "\x1b\\"),
        ("\x1b_", ""),
        ("\x1b]0;a\u{1}", "\x07"),
        ("\x1b]2;a\t", "\x07"),
    ] {
        assert_eq!(
            shown_as(&format!("{before}{token}{after}")),
            format!("{before}[secret]{after}")
        );
    }
    for text in ["\x1b", "a\x1b[", "a\x1b]b", "\x1b\u{e4}", "\x1b[1\u{e4}"] {
        assert_eq!(shown_as(text), text);
    }
}

#[test]
fn what_is_around_a_piece_tells_of_a_secret_in_it() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let (start, end) = token.split_at(20);
    let shown = |before, text, after| {
        let piece = OutputPiece {
            before,
            text,
            after,
            nearby: None,
        };
        Redactor::default().output(&KnownSecrets::default(), piece)
    };
    assert_eq!(shown(start, end, " a").unwrap(), "[secret]");
    assert_eq!(shown("a ", start, end).unwrap(), "[secret]");
    assert_eq!(shown(&token, " a ", &token), None);
}

#[test]
fn within_a_word_a_token_counts_where_no_name_is_like_it() {
    let base62 = "a1B2c3D4e5F6".repeat(4);
    let hex = "3f786850e387550f".repeat(4);
    for token in [
        format!("sk-ant-api03-{base62}"),
        format!("npm_{}", &base62[..36]),
        format!("glpat-{}", &base62[..20]),
        format!("dop_v1_{hex}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("hf_{}", &base62[..34]),
        format!("xoxb-123456789012-{}", &base62[..24]),
    ] {
        for before in ["m", "_", "x00", "=3D"] {
            assert_eq!(
                shown_as(&format!("{before}{token} b")),
                format!("{before}[secret] b")
            );
        }
    }
    for name in [
        format!("task-{}", &hex[..40]),
        format!("disk-{}", &hex[..40]),
        format!("monkey-{}", &hex[..32]),
        format!("disk_{}", &hex[..48]),
        "task-2024-11-05-report-of-the-month".to_owned(),
        "my-risk-analysis-of-the-second-half-2023".to_owned(),
        "sha256-4f7d6e5c".to_owned(),
        format!("rest-sapi-{}", "3f786850-e387-450f-a345-9c6d8a7b1234"),
    ] {
        assert_eq!(shown_as(&name), name);
    }
}

#[test]
fn what_nobody_sees_within_a_token_hides_none() {
    let (start, end) = ("ghp_a1B2a1B2", "a1B2".repeat(7));
    for unseen in [
        "\u{200b}",
        "\u{2060}",
        "\u{ad}",
        "\u{fe0f}",
        "\u{301}",
        "\u{fffd}",
        "\u{e0041}",
        "\u{200d}",
        "\u{202e}",
        "\u{9c}",
        "\0",
        "\u{7}",
        "\u{7f}",
        "\u{e}",
        "\r",
        "\u{b}",
    ] {
        assert_eq!(
            shown_as(&format!("a {start}{unseen}{end} b")),
            format!("a [secret]{unseen} b"),
            "{unseen:?}"
        );
        // BEL ends the title.
        if unseen != "\u{7}" {
            assert_eq!(
                shown_as(&format!("\x1b]0;{start}{unseen}{end}")),
                format!("\x1b]0;[secret]{unseen}"),
                "{unseen:?}"
            );
        }
    }
    let accented = KnownSecrets::of([("PASSWORD", "pa\u{308}ssword-1")].into_iter());
    let piece = OutputPiece {
        text: "it is pa\u{308}ssword-1!",
        ..OutputPiece::default()
    };
    let shown = Redactor::default().output(&accented, piece).unwrap();
    assert!(!shown.contains("ssword"), "{shown}");
}

#[test]
fn what_is_printed_over_hides_no_secret() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let bold: String = token.chars().flat_map(|c| [c, '\u{8}', c]).collect();
    let (start, end) = token.split_at(20);
    for text in [
        bold,
        format!("{start}x\u{8}{end}"),
        format!("{start} \u{8}{end}"),
        format!("{start}{}{}{end}", "é ".repeat(3), "\u{8}".repeat(6)),
        format!("{start}{}\u{8}\u{8}\x1b[1m{end}", &end[..2]),
        format!("{token}\u{8}\u{8} "),
    ] {
        let piece = OutputPiece {
            text: &text,
            ..OutputPiece::default()
        };
        let mut bytes = text.clone().into_bytes();
        for part in Redactor::default().secret_parts(&known(), piece) {
            bytes[part.range].fill(b'*');
        }
        let masked = String::from_utf8(bytes).unwrap();
        assert!(
            !masked.contains(|c: char| c.is_ascii_uppercase()),
            "{masked:?}"
        );
        assert!(!masked.contains("1B"), "{masked:?}");
    }
    // A CR ends a secret, or is within it. A letter behind it may be of either.
    assert_eq!(
        shown_as(&format!("{token}\r50 %\r{token}\r\nA\r\n")),
        "[secret]\r %\r[secret]\r\nA\r\n"
    );
    for quiet in [
        "\r\n\r\n",
        "a\u{8}\u{8}\u{8}b",
        "\u{8}",
        "50 %\r60 %\r",
        "a\n\u{8}b",
    ] {
        assert_eq!(shown_as(quiet), quiet);
    }
}

#[test]
fn a_key_in_a_control_string_is_hidden_whole() {
    let body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAA\n".repeat(3);
    let key =
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}-----END OPENSSH PRIVATE KEY-----\n");
    for (before, after) in [
        ("\x1b]52;c;", "\x07"),
        ("\x1b_", "\x1b\\"),
        ("\x1bP", "\x1b\\"),
        ("\x1b]0;a\n", ""),
    ] {
        let shown = shown_as(&format!("{before}{key}{after}"));
        assert!(!shown.contains("b3Bl"), "{shown:?}");
        assert!(shown.contains("-----BEGIN OPENSSH PRIVATE KEY-----\n[secret]\n"));
    }
}

#[test]
fn lines_without_secrets_stay() {
    let lines = include_str!("../redact/tests/harmless.txt").lines();
    let lines: Vec<_> = lines.filter(|line| !line.starts_with("## ")).collect();
    let hidden = lines.iter().filter(|line| shown_as(line) != **line);
    let hidden: Vec<_> = hidden.collect();
    assert!(hidden.len() * 100 <= lines.len(), "{hidden:#?}");
}

#[test]
fn keys_and_files_of_settings_are_hidden() {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz";
    for (before, after) in [
        (
            "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"me\"\n",
            "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n",
        ),
        (
            "Public-Lines: 1\nAAAAC3NzaC1lZDI1\nPrivate-Lines: 1\n",
            "\nPrivate-MAC: 9f0f6a9bc4c5\n",
        ),
        ("    client-key-data: ", "\n"),
        ("    token: ", "\n"),
        ("aws_session_token = ", "\r\n"),
        ("machine h\n\tlogin me\n\tpassword ", "\n"),
    ] {
        assert_eq!(
            shown_as(&format!("{before}{line}{after}")),
            format!("{before}[secret]{after}")
        );
    }
}

#[test]
fn the_end_of_a_key_is_hidden_without_its_beginning() {
    let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz";
    let end = "-----END RSA PRIVATE KEY-----";
    for (text, lines) in [
        (format!("$ tail\n{line}\n{line}\nAAAAMw==\n{end}\n$ "), 2),
        (format!("{line}\r\n{end}\r\n"), 1),
        (
            format!("+{line}\n+{line}\n+=aB3d\n+-----END PGP PRIVATE KEY BLOCK-----\n"),
            2,
        ),
        (format!("{line}\nPrivate-MAC: 9f0f6a9bc4c5\n"), 1),
        (format!("{line}\nand\nso\non\n{end}\n"), 0),
        (format!("{line}\n-----END CERTIFICATE-----\n"), 0),
        (format!("{line}\n\n{line}\n{end}\n"), 1),
    ] {
        let shown = shown_as(&text);
        assert_eq!(shown.matches("[secret]").count(), lines, "{shown}");
        let left = text.matches(line).count() - lines;
        assert_eq!(shown.matches(line).count(), left, "{shown}");
    }
}

#[test]
fn the_end_of_a_ttys_line_hides_no_setting() {
    for end in ["\n", "\r\n", "\r\r\n"] {
        for (line, value) in [
            ("password: ", "s3cr3tYaml9"),
            (
                "    client-key-data: ",
                "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt",
            ),
            ("db.example:5432:app:me:", "s3cr3tPg"),
        ] {
            let text = format!("{line}{value}{end}next{end}");
            assert_eq!(shown_as(&text), text.replace(value, "[secret]"), "{text:?}");
        }
    }
}

#[test]
fn a_sequence_that_is_not_whole_is_told() {
    for (text, open) in [
        ("", None),
        ("a\x1b[31mb", None),
        ("a\x1b[31mb\x1b", Some(7)),
        ("a\x1b[3", Some(1)),
        ("a\x1b]0;title", Some(1)),
        ("a\x1b]0;title\x07b", None),
        ("\x1b]0;title\x1b\\b", None),
        ("a\x1b]0;title\x1b", Some(1)),
        ("a\x1b]0;\x1b[1mb\x1b", Some(10)),
        ("a\x1bP\x1b", Some(1)),
        ("a\x1b]0;title\x18\x1b", Some(11)),
    ] {
        assert_eq!(open_sequence(text), open, "{text:?}");
    }
}

#[test]
fn a_control_string_cuts_no_secret_whatever_ends_it() {
    let (start, end) = ("ghp_a1B2a1B2", "a1B2".repeat(7));
    for string in [
        "\x1b]0;a\x18",
        "\x1b]0;a\x1a",
        "\x1b]0;a\nb\x07",
        "\x1bPq\n\x1b\\",
        "\x1b_a\r\nb\r\n\x1b\\",
    ] {
        let text = format!("a {start}{string}{end} b");
        assert_eq!(shown_as(&text), format!("a [secret]{string} b"));
    }
}

#[test]
fn a_part_of_a_secret_nearby_is_hidden() {
    let token = format!("ghp_{}", "aB3dE5fG7hI9jK1l".repeat(3));
    let (start, end) = token.split_at(15);
    let redactor = Redactor::default();
    let nearby = redactor.nearby(&known(), &[&format!("a {token} b"), "hunter2 production"]);
    let shown = |text: &str| {
        let piece = OutputPiece {
            text,
            nearby: Some(&nearby),
            ..OutputPiece::default()
        };
        redactor.output(&KnownSecrets::default(), piece)
    };
    let hidden = |text: &str| shown(text).unwrap_or_else(|| text.to_owned());
    for (text, wanted) in [
        (format!("1m{end} done"), "1m[secret] done".to_owned()),
        (format!("{start}\n\n zz"), "[secret]\n\n zz".to_owned()),
        (
            format!("{}\x1b[1m{} b", &end[..6], &end[6..12]),
            "[secret]\x1b[1m b".to_owned(),
        ),
        ("é 3dE5 é".to_owned(), "é [secret] é".to_owned()),
        ("3dE production".to_owned(), "3dE production".to_owned()),
    ] {
        assert_eq!(hidden(&text), wanted);
    }
    // In a longer piece a short word is a word.
    let long = format!("3dE5 {}", "and so on, ".repeat(10));
    assert_eq!(shown(&long), None);
    assert_eq!(format!("{nearby:?}"), "2 secrets");
}

#[test]
fn a_place_within_a_secret_is_told() {
    let (start, end) = ("ghp_a1B2a1B2", "a1B2".repeat(7));
    let text = format!("é {start}\x1b[1m{end} and hunter2 ");
    let first = text.find("ghp_").unwrap();
    let second = text.find("hunter2").unwrap();
    let ends = text.find(" and").unwrap();
    for (at, begins) in [
        (0, None),
        (first, None),
        (first + 1, Some(first)),
        (first + start.len(), Some(first)),
        (first + start.len() + 2, Some(first)),
        (ends - 1, Some(first)),
        (ends, None),
        (second, None),
        (second + 6, Some(second)),
        (second + 7, None),
        (text.len(), None),
    ] {
        let across = Redactor::default().secret_across(&known(), &text, at);
        assert_eq!(across, begins, "{at}");
    }
}

#[test]
fn parts_are_in_order_and_apart_in_any_text() {
    const PIECES: &[&str] = &[
        "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
        "ghp_a1B2a1B2a1B2a1B2",
        "a1B2a1B2a1B2a1B2a1",
        "\u{8}",
        "\u{8}\u{8}\u{8}",
        "\r",
        "\r\n",
        "\n",
        "\0",
        "\x1b",
        "\x1b[1m",
        "\x1b]0;",
        "\x07",
        "\x1b\\",
        "é",
        "\u{301}",
        "\u{200b}",
        "\u{fffd}",
        "password = ",
        "hunter2",
        " ",
        "\u{85}",
    ];
    let mut state = 5_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % bound
    };
    for _ in 0..2_000 {
        let text: String = (0..=below(14))
            .map(|_| PIECES[below(PIECES.len())])
            .collect();
        let piece = OutputPiece {
            text: &text,
            ..OutputPiece::default()
        };
        let mut from = 0;
        for part in Redactor::default().secret_parts(&known(), piece) {
            assert!(
                part.range.start >= from && !part.range.is_empty(),
                "{text:?}"
            );
            assert!(text.get(part.range.clone()).is_some(), "{text:?}");
            from = part.range.end;
        }
    }
}
