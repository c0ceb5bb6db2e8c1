//! What passes: bytes, both ways.

use crate::proxied::Proxied;
use crate::support::Home;

#[test]
fn lines_pass_as_they_are_both_ways() {
    let home = Home::new();
    let mut proxied = Proxied::spawn(&home, &[]);
    let lines = [
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x/y\",\"params\":{\"b\" : 1.50,\"a\":\"\\u00e9\"}}\r\n",
        " { \"method\":\"_ext/thing\" , \"_meta\":{} }\n",
        "{\"id\":\"one\",\"result\":18446744073709551617}\n",
        "[{\"id\":1}]\n",
    ];
    for line in lines {
        proxied.client.write(line.as_bytes());
        assert_eq!(proxied.agent.raw().unwrap(), line.as_bytes());
        proxied.agent.write(line.as_bytes());
        assert_eq!(proxied.client.raw().unwrap(), line.as_bytes());
    }
}
