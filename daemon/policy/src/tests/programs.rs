//! Lines that are typed into programs that are no shells.

use termd_proto::policy::Verdict;

use super::all_are;

#[test]
fn sql_typed_into_its_client() {
    let dangerous = [
        "DROP TABLE users;",
        "drop table users;",
        "Truncate users;",
        "TRUNCATE TABLE users",
        "DELETE FROM users;",
        "delete from users -- where x",
        "SELECT 1; DELETE FROM t;",
        "UPDATE t SET a = 'where';",
        "/* x */ DROP /* y */ TABLE z;",
        "WITH x AS (SELECT 1) DELETE FROM t;",
        "DELETE FROM t; SELECT 1 WHERE true;",
        "\\! rm -rf x",
        "DROP\nDATABASE x;",
        "ALTER TABLE t DROP COLUMN c;",
        "BEGIN; DROP TABLE x; COMMIT;",
        "EXPLAIN ANALYZE DELETE FROM t;",
    ];
    for program in ["psql", "mysql", "mariadb", "sqlite3"] {
        all_are(Verdict::Dangerous, Some(program), &dangerous);
    }
    all_are(
        Verdict::Safe,
        Some("psql"),
        &[
            "SELECT * FROM t;",
            "DELETE FROM t WHERE id = 1;",
            "UPDATE t SET a=1 WHERE id=2;",
            "SELECT 'DROP TABLE x';",
            "-- DROP TABLE x",
            "/* DELETE FROM t */ SELECT 1;",
            "\\d t",
            "SELECT \"delete\" FROM t;",
            "INSERT INTO t VALUES ('TRUNCATE x');",
            "SELECT $$drop table x$$;",
            "CREATE TABLE drops (id int);",
            "EXPLAIN DELETE FROM t;",
            "INSERT INTO log VALUES ('it''s; DROP TABLE x');",
            "COMMENT ON TABLE t IS 'x';",
            "\\q",
            "rm -rf x",
        ],
    );
    all_are(
        Verdict::Dangerous,
        Some("redis-cli"),
        &["FLUSHALL", "flushdb", "FLUSHALL ASYNC", "SHUTDOWN NOSAVE"],
    );
    all_are(
        Verdict::Safe,
        Some("redis-cli"),
        &["GET x", "SET x FLUSHALL", "KEYS *", "INFO"],
    );
}

#[test]
fn other_programs() {
    for program in ["python3.12", "node", "ruby"] {
        all_are(
            Verdict::Dangerous,
            Some(program),
            &[
                "os.system('rm -rf x')",
                "require('child_process').execSync(\"rm -rf /\")",
                "system(\"sudo reboot\")",
            ],
        );
        all_are(
            Verdict::Safe,
            Some(program),
            &[
                "print('rm -rf x')",
                "x = [1, 2]",
                "for i in range(3):",
                "os.system('ls')",
                "import os",
            ],
        );
    }
    for program in ["vim", "less", "nano", "man", "htop"] {
        all_are(
            Verdict::Safe,
            Some(program),
            &["rm -rf /", ":%s/a/b/g", "'"],
        );
    }
    for program in [
        "bash", "-zsh", "/bin/sh", "ssh", "sudo", "docker", "su", "sleep", "cargo",
    ] {
        all_are(
            Verdict::Dangerous,
            Some(program),
            &["rm -rf /", "sudo reboot"],
        );
        all_are(Verdict::Safe, Some(program), &["ls", "hello there"]);
    }
    all_are(Verdict::Safe, Some("cat"), &["it's me", "a ) b", "$x y"]);
}
