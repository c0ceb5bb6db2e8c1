//! Statements on the command line of a database's client.

use super::inner_command::InnerCommand;
use crate::program::kind::SqlClient;
use crate::program::options::{Order, Valued, options};
use crate::shell::word::Word;

/// The statements that a client of a database is given.
pub(super) fn statements(client: SqlClient, program: &str, args: &[Word]) -> Vec<InnerCommand> {
    const VALUED: Valued<'_> = Valued::These(
        "
        c command e execute eval h host p port U username d dbname u n a D database f file v set
        cmd o s q query Q P",
    );
    const MYSQL: Valued<'_> = Valued::These("e execute h host P port u user D database S socket");
    let mysql = matches!(program, "mysql" | "mariadb" | "mycli");
    let valued = if mysql { MYSQL } else { VALUED };
    let options = options(args, valued, Order::Permuted);
    let texts = [
        "c", "command", "e", "execute", "eval", "cmd", "q", "query", "Q",
    ];
    let sql = |(at, text): (usize, &str)| InnerCommand::Sql {
        client,
        text: text.to_owned(),
        at,
    };
    let mut started: Vec<InnerCommand> = options.values(&texts).map(sql).collect();
    match client {
        SqlClient::Redis => {
            let words: Vec<&str> = options.operands.iter().map(|(_, text)| *text).collect();
            if let Some((at, _)) = options.operands.first() {
                started.push(sql((*at, &words.join(" "))));
            }
        }
        // `sqlite3 FILE SQL…`. Its long options have a single dash.
        SqlClient::Sql if matches!(program, "sqlite3" | "sqlite" | "duckdb" | "bq" | "usql") => {
            started.extend(options.operands.iter().skip(1).copied().map(sql));
            let cmd = args.iter().position(|word| word.text == "-cmd");
            let text = cmd.and_then(|at| Some((at + 1, args.get(at + 1)?.text.as_str())));
            started.extend(text.map(sql));
        }
        SqlClient::Sql | SqlClient::Mongo => {}
    }
    started
}
