//! The record holds what ran, and no secret.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::{Value, json};
use termd_test_support::{Agent, Home, TestDaemon, merged, sh};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "a_command_in_a_secrets_place_is_recorded",
        a_command_in_a_secrets_place_is_recorded,
    ),
    (
        "decoded_code_in_a_secrets_place_is_recorded",
        decoded_code_in_a_secrets_place_is_recorded,
    ),
    (
        "secrets_by_class_are_stored_nowhere",
        secrets_by_class_are_stored_nowhere,
    ),
    (
        "tokens_as_labels_and_tags_are_refused",
        tokens_as_labels_and_tags_are_refused,
    ),
    (
        "a_hidden_secret_can_be_checked_with_the_key",
        a_hidden_secret_can_be_checked_with_the_key,
    ),
    (
        "agents_commands_get_no_secret_variables",
        agents_commands_get_no_secret_variables,
    ),
    (
        "positional_params_are_refused",
        positional_params_are_refused,
    ),
    (
        "a_socket_where_others_may_write_is_refused",
        a_socket_where_others_may_write_is_refused,
    ),
    (
        "settings_that_others_may_write_are_refused",
        settings_that_others_may_write_are_refused,
    ),
];

/// A connection whose lines run unasked: what is tried here is the record and not the gate.
fn unasked(daemon: &TestDaemon) -> Agent {
    let mut agent = daemon.agent();
    agent.ok(
        "daemon.hello",
        &json!({ "settings": { "gate": { "enabled": false } } }),
    );
    agent
}

/// Each line runs and makes the file `evil`. The record has to show how.
fn a_command_in_a_secrets_place_is_recorded() {
    let daemon = TestDaemon::start();
    let mut agent = unasked(&daemon);
    let evil = daemon.user_home().join("evil");
    for line in [
        ": '-----BEGIN PRIVATE KEY-----'; touch evil; : '-----END PRIVATE KEY-----'",
        ": '-----BEGIN PRIVATE KEY-----'\ntouch evil\n: '-----END PRIVATE KEY-----'",
        "X_TOKEN='touch evil'; $X_TOKEN",
        "X_TOKEN='touch evil'; eval \"$X_TOKEN\"",
        "X_TOKEN=touch; $X_TOKEN evil",
        "X_TOKEN=touch; n=X_TOKEN; eval \"\\$$n evil\"",
        "f() { eval \"$2\"; }; f --password 'touch evil'",
        "f() { eval \"$2\"; }; f --password 'touch${IFS}evil'",
        "echo 'password: touch evil' | cut -d: -f2 | sh",
        "mysql -p\"$(touch evil)\" || :",
        "ln -s /bin/touch ./sk-live-abcdefghij0123456789; ./sk-live-abcdefghij0123456789 evil; rm sk-live*",
        "echo 'touch evil' | sh # | docker login --password-stdin",
    ] {
        agent.run(&sh(line));
        assert!(evil.exists(), "{line}");
        fs::remove_file(&evil).unwrap();
        let records = agent.audit_records(&json!({ "action": "terminal.create" }));
        let argv = &records[0]["detail"]["argv"];
        assert_eq!(argv[2], line, "{argv}");
    }
}

/// Each line decodes `touch evil` from a secret's place and runs it. The record has to show the line.
fn decoded_code_in_a_secrets_place_is_recorded() {
    const CODE: &str = "dG91Y2ggZXZpbCAg";
    let daemon = TestDaemon::start();
    let mut agent = unasked(&daemon);
    let evil = daemon.user_home().join("evil");
    for line in [
        "true --password=CODE; echo ${_#*=} | base64 -d | sh",
        "mysql() { echo ${1#-p} | base64 -d | sh; }; mysql -pCODE",
        "export API_KEY=CODE; printenv API_KEY | base64 -d | sh",
        "echo \"password: CODE\" | cut -d\" \" -f2 | base64 -d | sh",
        "set -- --password CODE; echo $2 | base64 -d | sh",
        "bash -c 'echo $1 | base64 -d | sh' --password CODE",
        "echo --password=CODE | xargs -I{} sh -c 'x={}; echo ${x#*=} | base64 -d | sh'",
        "true --password=CODE; echo ${_#*=} | base64 -d > f; . ./f",
        "set -- --password touch_evil; IFS=_; $2",
    ] {
        let line = line.replace("CODE", CODE);
        agent.run(&merged(&sh(&line), &json!({ "command": "bash" })));
        assert!(evil.exists(), "{line}");
        fs::remove_file(&evil).unwrap();
        let records = agent.audit_records(&json!({ "action": "terminal.create" }));
        let argv = &records[0]["detail"]["argv"];
        assert_eq!(argv[2], line, "{argv}");
    }
    // A mark that was typed says so.
    agent.run(&sh("true '[redacted 12 bytes 3f9a2c51b0d4]'"));
    let records = agent.audit_records(&json!({ "action": "terminal.create" }));
    let typed = "true '[typed: redacted 12 bytes 3f9a2c51b0d4]'";
    assert_eq!(records[0]["detail"]["argv"][2], typed);
}

/// A secret of each class, with a word of its own that is searched for.
fn secrets_by_class_are_stored_nowhere() {
    let secrets = [
        ("true --from-literal=password={}", "s3cr3tA1"),
        (
            "true; aws configure set aws_secret_access_key {} || :",
            "s3cr3tB2",
        ),
        ("SSHPASS={} true", "s3cr3tC3"),
        ("true --oauth2-bearer {}", "s3cr3tD4"),
        ("echo 'password: {}' > /dev/null", "s3cr3tE5"),
        (
            "printf 'protocol=https\\npassword={}\\n' > /dev/null",
            "s3cr3tF6",
        ),
        (
            "true https://s3/x?X-Amz-Signature={}",
            "0123456789abcdef0123456789abc7",
        ),
        ("true https://{}@github.com/a/b", "abcdefghij0123456788"),
        (
            "true https://hooks.slack.com/services/{}",
            "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXX9",
        ),
        (
            "true {}",
            "lin_api_abcdefghijklmnopqrstuvwxyz0123456789ABCD",
        ),
        ("openssl enc -k {} < /dev/null || :", "s3cr3tG8"),
        ("wpa_passphrase home {} || :", "s3cr3tH9"),
        ("nmcli dev wifi connect home password {} || :", "s3cr3tI1"),
        ("lftp -u me,{} h || :", "s3cr3tJ2"),
        ("echo {} | sudo -S true || :", "s3cr3tK3"),
        ("snyk auth {} || :", "s3cr3tL4"),
        ("true --password-command 'echo {}'", "s3cr3tM5"),
        ("yq -i \".db.password = \\\"{}\\\"\" c.yml || :", "s3cr3tN6"),
        ("op signin --raw <<< {} || :", "s3cr3tO7"),
    ];
    let daemon = TestDaemon::start();
    let mut agent = unasked(&daemon);
    for (line, secret) in secrets {
        agent.run(&sh(&line.replace("{}", secret)));
    }
    agent.assert_audit_is_whole();
    drop(agent);
    let home = daemon.stop();
    for (line, secret) in secrets {
        let holders = home.files_with_text(secret);
        assert!(holders.is_empty(), "{line}: {holders:?}");
    }
}

/// What a terminal is called by is stored as it is, so it may not be a token.
fn tokens_as_labels_and_tags_are_refused() {
    const TOKENS: [&str; 3] = [
        "ghp_0x3viyyVgUMK2wxNsDQQhCmxXHa1B2c3D4e5",
        "the-token-AKIAIOSFODNN7EXAMPLF",
        "sk-ant-api03-aB3dE5gH7jK9mN1pQ2sT4vW6",
    ];
    let daemon = TestDaemon::start();
    let mut agent = unasked(&daemon);
    let id = agent.create_terminal(&json!({ "command": "sleep", "args": ["1000"] }));
    for token in TOKENS {
        for (method, params, field) in [
            (
                "session.create",
                json!({ "command": "true", "label": token }),
                "label",
            ),
            (
                "session.create",
                json!({ "command": "true", "label": token, "replace": true }),
                "label",
            ),
            (
                "session.create",
                json!({ "command": "true", "tags": ["ci", token] }),
                "tags",
            ),
            (
                "session.rename",
                json!({ "id": id, "label": token }),
                "label",
            ),
            ("session.tag", json!({ "id": id, "add": [token] }), "add"),
            (
                "import.begin",
                json!({ "label": token, "cols": 80, "rows": 24 }),
                "label",
            ),
        ] {
            let error = agent.err(method, &params);
            error.assert_invalid(field);
            let said = error.data.to_string();
            assert!(said.contains("holds a token"), "{method}: {said}");
            assert!(!said.contains(token), "{method}: {said}");
        }
    }
    // A tag from before can be taken away.
    agent.ok("session.tag", &json!({ "id": id, "remove": [TOKENS[0]] }));
    drop(agent);
    let home = daemon.stop();
    for token in TOKENS {
        let holders = home.files_with_text(token);
        assert!(holders.is_empty(), "{token}: {holders:?}");
    }
}

/// Equal secrets have equal marks, and the key is not in the database.
fn a_hidden_secret_can_be_checked_with_the_key() {
    let daemon = TestDaemon::start();
    let mut agent = unasked(&daemon);
    agent.run(&sh(
        "true --password hunter2 --token hunter2 --secret hunter3",
    ));
    let records = agent.audit_records(&json!({ "action": "terminal.create" }));
    let line = records[0]["detail"]["argv"][2].as_str().unwrap().to_owned();
    let marks: Vec<&str> = line.split("[redacted ").skip(1).collect();
    let hash = |mark: &str| mark.trim().split([' ', ']']).nth(2).unwrap().to_owned();
    assert_eq!(hash(marks[0]), hash(marks[1]), "{line}");
    assert_ne!(hash(marks[1]), hash(marks[2]), "{line}");
    drop(agent);
    let home = daemon.stop();
    let key = home.state_dir().join("redaction.key");
    assert_eq!(key.metadata().unwrap().mode() & 0o777, 0o600);
    let check = home
        .command("sh")
        .args([
            "-c",
            "{ cat \"$0\"; printf hunter2; } | sha256sum | head -c 12",
        ])
        .arg(&key)
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&check.stdout),
        hash(marks[0]),
        "{line}"
    );
}

fn agents_commands_get_no_secret_variables() {
    let env = [
        ("SSHPASS", "hunter2"),
        ("BW_SESSION", "hunter2"),
        ("OP_SESSION_my", "hunter2"),
        ("KUBE_CONFIG_DATA", "hunter2"),
        ("TF_TOKEN_app_terraform_io", "hunter2"),
        ("ORG_GRADLE_PROJECT_signingKey", "hunter2"),
        ("PRIVATEKEY", "hunter2"),
        ("ACCESSKEY", "hunter2"),
        ("CONNECTION_STRING", "hunter2"),
        ("MY_CREDS", "hunter2"),
        ("COOKIE", "hunter2"),
        ("POSTGRES_URL", "postgres://me:hunter2@h/db"),
        ("AMQP_URL", "amqp://me:hunter2@h"),
        ("HTTPS_PROXY", "http://me:hunter2@proxy:3128"),
        ("ANYTHING", "ghp_abcdefghijklmnopqrstuvwhunter2abcdefgh"),
        ("HTTP_PROXY", "http://proxy:3128"),
    ];
    let daemon = TestDaemon::start_with(Home::create(), &env);
    let (_, text) = daemon.agent().run(&sh("env"));
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("HTTP_PROXY=http://proxy:3128"), "{text}");
}

fn positional_params_are_refused() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for (method, params) in [
        ("daemon.info", json!([1])),
        ("daemon.info", json!([])),
        ("session.create", json!(["true", []])),
        ("session.list", json!([{}])),
    ] {
        let error = client.err(method, &params);
        assert_eq!(error.code, -32602, "{method} {params}");
    }
    client.ok("daemon.info", &Value::Null);
}

fn a_socket_where_others_may_write_is_refused() {
    let home = Home::create();
    let said = home.refused_start(&[("XDG_RUNTIME_DIR", "/tmp")]);
    assert!(said.contains("XDG_RUNTIME_DIR is /tmp"), "{said}");
    let open = home.path("open");
    fs::create_dir(&open).unwrap();
    for mode in [0o777, 0o1777, 0o770] {
        fs::set_permissions(&open, fs::Permissions::from_mode(mode)).unwrap();
        let said = home.refused_start(&[("XDG_RUNTIME_DIR", open.to_str().unwrap())]);
        assert!(said.contains("others may write to"), "{mode:o}: {said}");
        assert!(!open.join("termd").exists());
    }
    // Its own directory can be replaced where anybody may rename it.
    let below = open.join("below");
    fs::create_dir(&below).unwrap();
    fs::set_permissions(&below, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let said = home.refused_start(&[("XDG_RUNTIME_DIR", below.to_str().unwrap())]);
    assert!(said.contains("everybody may replace"), "{said}");
}

fn settings_that_others_may_write_are_refused() {
    let home = Home::create();
    home.configure("[policy]\n");
    let config = home.path("config/termd/config.toml");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
    let said = home.refused_start(&[]);
    assert!(
        said.contains("config.toml may be written by everybody"),
        "{said}"
    );
    fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
    let directory = config.parent().unwrap();
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    let said = home.refused_start(&[]);
    assert!(said.contains("termd may be written by everybody"), "{said}");
}
