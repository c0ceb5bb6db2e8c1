//! Code that sends files, secrets or the environment.

use super::calls::Call;
use crate::danger::writes::{self, Files};

/// What sends something, with each quote as `'`.
const SENDERS: [&str; 24] = [
    "IO::Socket",
    "TCPSocket",
    "requests.post(",
    "requests.put(",
    "urlopen(",
    "fetch(",
    "http.request(",
    "https.request(",
    "axios.post(",
    "Net::HTTP.post",
    "Net::HTTP::Post",
    "sendall(",
    ".send(",
    "smtplib",
    "curl_exec(",
    "LWP",
    "sendto(",
    "httpx.post(",
    "/inet/tcp/",
    "/inet/udp/",
    "/inet4/",
    "/inet6/",
    "fsockopen(",
    "socket.tcp(",
];
/// What sends a text that is given to it.
const BODIES: [&str; 25] = [
    ".request('POST'",
    ".request('PUT'",
    "storbinary(",
    "storlines(",
    "IO::Socket",
    "TCPSocket",
    "fsockopen(",
    "('net').connect(",
    "mail('",
    "requests.post(",
    "requests.put(",
    "httpx.post(",
    "axios.post(",
    "axios.put(",
    "Net::HTTP.post",
    "Net::HTTP::Post",
    "sendall(",
    "sendto(",
    "method:'POST'",
    "method:'PUT'",
    "method='POST'",
    "method='PUT'",
    "POSTFIELDS",
    "/inet/tcp/",
    "/inet/udp/",
];
/// What reads a file.
const READERS: [&str; 16] = [
    "open('",
    "readFileSync('",
    "readFile('",
    "File.read('",
    "File.binread('",
    "IO.read('",
    "file_get_contents('/",
    "file_get_contents('.",
    "file_get_contents('~",
    "').read_bytes(",
    "').read_text(",
    "createReadStream('",
    "Bun.file('",
    "Deno.readFile('",
    "Deno.readTextFile('",
    "CURLFile('",
];
/// The environment as a whole.
const ENVIRONMENTS: [&str; 7] = [
    "stringify(process.env)",
    "dict(os.environ)",
    "str(os.environ)",
    "dumps(os.environ",
    "ENV.to_h",
    "Deno.env.toObject()",
    "json_encode($_ENV)",
];

/// Why code is dangerous that sends something.
pub(super) fn danger(files: Files<'_>, calls: &[Call], tight: &str) -> Option<String> {
    let quoted = tight.replace(['"', '`'], "'");
    let has = |parts: &[&str]| parts.iter().any(|part| quoted.contains(part));
    if has(&SENDERS) {
        if let Some(reason) = calls.iter().find_map(|call| of_secret(files, call, tight)) {
            return Some(reason);
        }
        if has(&ENVIRONMENTS) {
            return Some("it sends the environment".to_owned());
        }
    }
    let is_local = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"]
        .iter()
        .any(|host| quoted.contains(host));
    if is_local {
        return None;
    }
    // What is read as data and written anew is a request like any other.
    let is_data = ["json.load", "JSON.parse", "yaml.safe_load", "json_decode"];
    let sends = has(&BODIES) || (quoted.contains("urlopen(") && quoted.contains(",data="));
    // awk's `getline < "x"`, Perl's `open F, "<", "x"`.
    let reads = has(&READERS) || (has(&["getline", "openF", "open("]) && quoted.contains("<'"));
    if sends && reads && !has(&is_data) {
        return Some("it sends a file".to_owned());
    }
    let mails = quoted.contains("smtplib.SMTP") || quoted.contains("Net::SMTP.start");
    mails.then(|| "it sends a mail".to_owned())
}

/// Why a call is dangerous in code that sends something.
fn of_secret(files: Files<'_>, call: &Call, tight: &str) -> Option<String> {
    let is_secret = |text: &String| text.len() > 2 && writes::is_credential(files, text);
    if call.texts.iter().any(is_secret) {
        return Some("it reads secrets and sends something".to_owned());
    }
    let is_environment = tight.contains("environ") && call.path.contains("environ");
    is_environment.then(|| "it sends the environment".to_owned())
}
