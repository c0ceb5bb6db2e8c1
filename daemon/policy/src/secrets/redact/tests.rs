//! What is taken out and what is left, as tables; and what holds for any text.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;

mod fixpoint;

/// Each with its secret in angle brackets, which are not part of it.
const SECRETS: &[&str] = &[
    "deploy --password=<hunter2> --verbose",
    "deploy --password <hunter2> --verbose",
    "deploy --db-password='<correct horse>' x",
    "deploy --db-password \"<correct horse>\" x",
    "gh auth --with --token <abc123>",
    "aws --secret-access-key <wJalrXUtnFEMI/K7MDENG>",
    "vault login -method=userpass --passphrase=<x>",
    "tool --client_secret=<s3cr3t>",
    "AWS_SECRET_ACCESS_KEY=<wJalrXUtnFEMI/K7MDENG> aws s3 ls",
    "export GITHUB_TOKEN=<abcdef>",
    "PGPASSWORD=<p> psql -h db",
    "env MY_API_KEY='<a b>' cmd",
    "STRIPE_KEY=<abc> cmd",
    "docker run -e DB_PASS=<x1> image",
    "psql 'host=db password=<p4ss> user=u'",
    "curl 'https://h/x?access_token=<t0k>&page=2'",
    "mysql -u root -p<hunter2> db",
    "/usr/bin/mysqldump -p'<a b>' db",
    "sudo -u x mysql -p<hunter2>",
    "docker exec db mysql -p<hunter2> -e 'select 1'",
    "sshpass -p <hunter2> ssh -p 22 host",
    "sshpass -p<hunter2> ssh host",
    "docker login -u me -p <hunter2> registry",
    "echo hi && redis-cli -a <hunter2> ping",
    "curl -u me:<hunter2> https://h",
    "curl --user me:<hunter2> https://h",
    "curl --user=me:<hunter2> https://h",
    "curl -ume:<hunter2> https://h",
    "smbclient -U me%<hunter2> //h/s",
    "ldapsearch -x -w <hunter2> -b dc=x",
    "openssl rsa -passin pass:<hunter2> -in k",
    "zip -P <hunter2> a.zip b",
    "sh -c \"mysql -p<hunter2> db\"",
    "ssh host 'sh -c \"deploy --password <hunter2>\"'",
    "curl -H 'Authorization: Bearer <abc.def>' https://h",
    "curl -H \"authorization: token <abcdef>\" https://h",
    "curl -H 'Authorization: Basic <dXNlcjpwYXNz>' https://h",
    "curl -H 'X-Api-Key: <abc>' https://h",
    "curl -H 'PRIVATE-TOKEN: <abc>' https://h",
    "curl -b x -H 'Cookie: <sid=1; b=2>' h",
    "say bearer <abcdefghij0123456789>",
    "git clone https://me:<hunter2>@host/r.git",
    "psql postgres://u:<p%40ss>@h:5432/db",
    "git clone https://<abcdefghij0123456789>@host/r.git",
    "curl -d '{\"user\": \"me\", \"password\": \"<hunter2>\"}' h",
    "curl -d \"{\\\"api_key\\\":\\\"<hunter2>\\\"}\" h",
    "echo <ghp_abcdefghijklmnopqrstuvwxyz0123456789>",
    "x <github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv>",
    "x <xoxb-1234567890-abcdefghijkl>",
    "x <sk-ant-api03-abcdefghijklmnopqrst>",
    "x <sk-proj-abcdefghijklmnopqrst0123>",
    "x <AKIAIOSFODNN7EXAMPLE>",
    "x <glpat-abcdefghij0123456789>",
    "x <AIzaSyA1234567890abcdefghijklmnopqrstuv>",
    "x <npm_abcdefghijklmnopqrstuvwxyz0123456789>",
    "x <sk_live_abcdefghijklmnop>",
    "x <eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N>",
    "echo '-----BEGIN RSA PRIVATE KEY-----<\nMIIEpAIBAAKCAQEA\n>-----END RSA PRIVATE KEY-----'",
    "echo -----BEGIN OPENSSH PRIVATE KEY-----<b3BlbnNzaC1rZXktdjEAAAAA>",
];

/// Nothing in these is a secret.
const HARMLESS: &[&str] = &[
    "",
    "ls -la /etc/passwd",
    "cat password.txt",
    "cargo test password",
    "docker login --password-stdin",
    "tool --password-file /etc/x --token-type bearer",
    "tool --no-password --verbose",
    "tool --password",
    "tool --password --verbose",
    "tool --token=true",
    "tool --token=$TOKEN",
    "tool --token \"$TOKEN\"",
    "tool --token \"$(pass show x)\"",
    "GITHUB_TOKEN=$(gh auth token) cmd",
    "PWD=/tmp OLDPWD=/ cmd",
    "SSH_KEY=~/.ssh/id cmd",
    "SECRET_NAME=x TOKEN_FILE=/x cmd",
    "ssh -p 22 host",
    "mkdir -p a/b",
    "mysql -p",
    "mysql -P 3306 -u root",
    "docker run -p 8080:80 image",
    "cp -p a b",
    "curl -u me https://h",
    "curl --user-agent a:b https://h",
    "curl https://host:8080/a@b",
    "git clone ssh://git@github.com/a/b.git",
    "git clone git@github.com:a/b.git",
    "Basic authentication and bearer tokens",
    "bearer abcdefghijklmnopqrst",
    "git commit -m 'task-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
    "monkey=banana compass=north bypass=1",
    "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
    "echo AKIA and ghp_short and sk-1",
    "sha256sum 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "http://localhost:3000/?tokens=3",
    "a=b\u{e9}\u{1f600}='x",
];

fn marked(text: &str) -> (String, String) {
    let plain = text.replace(['<', '>'], "");
    let open = text.find('<').unwrap();
    let close = text.rfind('>').unwrap();
    let wanted = format!("{}{MARK}{}", &text[..open], &text[close + 1..]);
    (plain, wanted)
}

#[test]
fn secrets_are_taken_out_of_lines_and_the_rest_stays() {
    let redactor = Redactor::default();
    let mut wrong = Vec::new();
    for text in SECRETS {
        let (plain, wanted) = marked(text);
        let got = redactor.text(&plain);
        // Around a secret that was quoted the quotes may go.
        let bare = |line: &str| line.replace(['\'', '"'], "");
        if bare(&got) != bare(&wanted) {
            wrong.push(format!("{plain}\n  gave   {got}\n  wanted {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_secret_stays() {
    let redactor = Redactor::default();
    for text in HARMLESS {
        assert_eq!(redactor.text(text), *text);
    }
}

#[test]
fn an_argv_is_read_as_words() {
    let table: &[(&[&str], &[&str])] = &[
        (&["x", "--password", "a b"], &["x", "--password", MARK]),
        (&["x", "--password=a b"], &["x", "--password=[redacted] b"]),
        (&["mysql", "-phunter2"], &["mysql", "-p[redacted]"]),
        (
            &["sh", "-c", "mysql -phunter2"],
            &["sh", "-c", "mysql -p[redacted]"],
        ),
        (
            &["curl", "-H", "Authorization: Bearer abc"],
            &["curl", "-H", "Authorization: Bearer [redacted]"],
        ),
        (
            &["env", "A_TOKEN=abc", "ls"],
            &["env", "A_TOKEN=[redacted]", "ls"],
        ),
        (
            &["grep", "-p", "password", "x"],
            &["grep", "-p", "password", "x"],
        ),
        (&["ls", "-la"], &["ls", "-la"]),
    ];
    for (argv, wanted) in table {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let got = Redactor::default().argv(&argv);
        if argv[1].starts_with("--password=") {
            // All of the word is the value.
            assert!(!got.join(" ").contains("a b"), "{got:?}");
        } else {
            assert_eq!(got, *wanted);
        }
    }
}

#[test]
fn details_are_looked_through_by_name_and_by_content() {
    let detail = json!({
        "argv": ["mysql", "-phunter2"],
        "command": "deploy --password hunter2",
        "deep": { "password": "hunter2", "list": [1, "A_TOKEN=hunter2"] },
        "env": ["A_TOKEN", "PASSWORD"],
        "uid": 7,
    });
    let Value::Object(map) = detail.clone() else {
        unreachable!()
    };
    let redacted = Value::Object(Redactor::default().map(map));
    assert!(!redacted.to_string().contains("hunter2"), "{redacted}");
    assert_eq!(redacted["env"], detail["env"]);
    assert_eq!(redacted["uid"], 7);
}

#[test]
fn patterns_of_ones_own_add_to_it_and_bad_ones_are_refused() {
    let own = Redactor::with_patterns(&["CUST-[0-9]+".to_owned(), "pin is (\\d+)".to_owned()]);
    let own = own.unwrap();
    assert_eq!(
        own.text("CUST-12 pin is 99"),
        "[redacted] pin is [redacted]"
    );
    assert_eq!(own.text("x --password=y"), "x --password=[redacted]");
    let refused = |pattern: &str| Redactor::with_patterns(&[pattern.to_owned()]).unwrap_err();
    assert!(matches!(
        refused("("),
        PatternError::NoPattern { number: 1, .. }
    ));
    assert!(matches!(
        refused("a{1000}{1000}"),
        PatternError::NoPattern { .. }
    ));
    assert_eq!(refused("a*"), PatternError::FitsNothing(1));
    assert_eq!(refused(&"a".repeat(2_000)), PatternError::TooLong(1));
    let many = vec!["a".to_owned(); MAX_PATTERNS + 1];
    assert_eq!(
        Redactor::with_patterns(&many).unwrap_err(),
        PatternError::TooMany(MAX_PATTERNS + 1)
    );
}

/// A small generator: the same texts each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

const PIECES: &[&str] = &[
    "--password",
    "=",
    " ",
    "'",
    "\"",
    "\\",
    "mysql",
    "-p",
    "hunter2",
    "$",
    "(",
    ")",
    "|",
    ";",
    "Authorization",
    ":",
    "Bearer ",
    "https://",
    "@",
    "/",
    "a",
    "7",
    "[redacted]",
    "[",
    "]",
    "é",
    "\u{1f600}",
    "\n",
    "-----BEGIN PRIVATE KEY-----",
    "-----END",
    "ghp_",
    "abcdefghijklmnopqrstuvwxyz",
    "0123456789",
    "curl",
    "-u",
    "sk-",
    "eyJ",
    ".",
    "_TOKEN",
    "&",
    "?",
    "{",
    "}",
    "\"secret\":",
    "\t",
    "\0",
    "sshpass",
    "docker login",
    "pass:",
    "openssl",
    "X-Api-Key: ",
    "xoxb-",
];

#[test]
fn any_text_is_taken_once_and_for_all_within_bounds() {
    let redactor = Redactor::default();
    let mut random = Random(7);
    for _ in 0..20_000 {
        let pieces = 1 + random.below(14);
        let text: String = (0..pieces)
            .map(|_| PIECES[random.below(PIECES.len())])
            .collect();
        let once = redactor.text(&text).into_owned();
        assert_eq!(redactor.text(&once), once, "twice is not once: {text:?}");
        assert!(
            once.len() <= text.len() * MARK.len() + MARK.len(),
            "{text:?}"
        );
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let argv = redactor.argv(&words);
        assert_eq!(argv.len(), words.len());
        assert_eq!(redactor.argv(&argv), argv, "twice is not once: {words:?}");
    }
}

/// Twice the text takes about twice the time, also for texts made to be slow. The bound is wide, so
/// that a busy machine does not fail it; what is quadratic takes a thousand times as long.
#[test]
fn time_is_linear_in_the_text() {
    let redactor = Redactor::default();
    for piece in [
        "a",
        "=",
        "'",
        "\"",
        "--password ",
        "mysql -p",
        "https://",
        "eyJ.",
        "a=",
        "\\\"",
        "(",
        "-----BEGIN PRIVATE KEY-----",
        "Authorization: ",
        "'a ",
        "\"password\":\"",
        "a-",
        "://a:",
    ] {
        let text = piece.repeat((256 << 10) / piece.len());
        let begun = Instant::now();
        let _ = redactor.text(&text);
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{piece:?} took {:?}",
            begun.elapsed()
        );
    }
}

/// White space that is no blank of a shell ends a word, too, and is none.
#[test]
fn any_white_space_is_passed() {
    let redactor = Redactor::default();
    for space in [
        '\u{b}', '\u{c}', '\u{85}', '\u{a0}', '\u{2003}', '\u{2028}', '\u{3000}',
    ] {
        let line = format!("mysql{space}-pHunter2!x{space}{space}db");
        let left = format!("mysql{space}-p{MARK}{space}{space}db");
        assert_eq!(redactor.text(&line), left, "{line:?}");
        assert_eq!(redactor.text(&format!("{space}")), format!("{space}"));
    }
}
