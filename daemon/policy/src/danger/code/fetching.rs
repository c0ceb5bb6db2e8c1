//! Code that fetches something and runs it, or writes it to a file.

use super::calls::calls;
use crate::program::kind::base_name;
use crate::word_list::is_listed;

/// What fetches.
const FETCHES: [&str; 19] = [
    "evalget(\"http",
    "evalget('http",
    "h.request(\"http",
    "http.request(\"http",
    "httpx.get(",
    "axios.get(",
    "requests.request(",
    "curl_exec(",
    "urlopen(",
    "requests.get(",
    "fetch(",
    "http.get(",
    "https.get(",
    "URI.open(",
    "urlretrieve(",
    "LWP::Simple",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "Net::HTTP.get",
];

/// What runs a text as code, or as a command.
const EVALUATES: [&str; 18] = [
    "=load(",
    ";load(",
    "runInThisContext(",
    "runInNewContext(",
    "compileFunction(",
    "._compile(",
    "evalURI",
    "evalget",
    "loadstring(",
    "class_eval",
    "exec(",
    "eval(",
    "(eval)",
    "os.system(",
    "subprocess",
    "Function(",
    "pickle.loads(",
    "instance_eval",
];

/// What runs code or installs packages of an address.
const RUNS_ADDRESSES: [&str; 28] = [
    "load(\"http",
    "load_file(\"http",
    "import('data:",
    "import(\"data:",
    "import(`data:",
    "from'https:/",
    "from\"https:/",
    "import'http",
    "import\"http",
    "include'http",
    "include\"http",
    "source(\"http",
    "source('http",
    "install_github(",
    "install_gitlab(",
    "Pkg.add(url",
    "PackageSpec(url",
    "evalURI.open(",
    "evalURI.parse(",
    "io.popen(\"curl",
    "io.popen('curl",
    "import('http",
    "import(\"http",
    "include('http",
    "include(\"http",
    "require('http:",
    "iex(iwr",
    "iex(irm",
];

/// What writes to a file what it fetches, with each quote as `'`.
const WRITES: [&str; 20] = [
    "copy('http",
    "urlretrieve(",
    "file_put_contents(",
    "'wb'",
    "'w'",
    "writeFile",
    "write_bytes(",
    "write_text(",
    "wget.download(",
    "getstore(",
    "mirror(",
    "File.write(",
    "IO.write(",
    "IO.copy_stream(",
    "download.file(",
    "download(",
    "OutFile",
    "DownloadFile(",
    "Start-BitsTransfer",
    "createWriteStream(",
];
/// What runs the code of a file, with each quote as `'`.
const LOADERS: [&str; 8] = [
    "exec(open(",
    "exec(compile(open(",
    "dofile(",
    "runpy.run_path(",
    "eval(open(",
    "eval(readFileSync(",
    "eval(File.read(",
    "source('",
];
/// Calls that run a file as code, or start it.
const FILE_RUNNERS: &str =
    "source include require load dofile run_path run_file exec system call Popen spawn";
/// What fetches in `PowerShell`.
const CMDLETS: &str = "
    iwr irm invoke-webrequest invoke-restmethod start-bitstransfer downloadstring downloadfile downloaddata curl wget";
/// What runs a text or a file in `PowerShell`.
const INVOKES: &str = "iex invoke-expression scriptblock invoke-command start-process";

const FETCHED: &str = "it runs what it fetches, unseen";

/// Why code is dangerous that runs what it fetches. `tight` is the code without blanks.
pub(super) fn danger(code: &str, tight: &str) -> Option<String> {
    let has = |parts: &[&str]| parts.iter().any(|part| tight.contains(part));
    let files = fetched_files(code);
    let runs_file = || {
        calls(code).iter().any(|call| {
            let names = |text: &String| files.iter().any(|file| text.ends_with(file.as_str()));
            is_listed(&call.name, FILE_RUNNERS) && call.texts.iter().any(names)
        })
    };
    let quoted = tight.replace('"', "'");
    let is_elsewhere = |rest: &str| {
        let rest = rest.trim_start_matches(['(', '\'']);
        ["/tmp/", "/var/tmp/", "/dev/shm/"]
            .iter()
            .any(|place| rest.starts_with(place))
    };
    let reads_elsewhere = LOADERS
        .iter()
        .any(|call| quoted.split(call).skip(1).any(is_elsewhere));
    if reads_elsewhere {
        return Some("it runs a file that everybody may have put there".to_owned());
    }
    let runs = (has(&FETCHES) && has(&EVALUATES))
        || has(&RUNS_ADDRESSES)
        || invokes_fetched(code)
        || (!files.is_empty() && runs_file());
    runs.then(|| FETCHED.to_owned())
}

/// Whether a line of `PowerShell` runs what it fetches: `irm URL | iex`, `iwr URL -OutFile x; ./x`.
fn invokes_fetched(code: &str) -> bool {
    let words = code.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    let has = |list: &str| words.iter().any(|word| is_listed(word, list));
    let starts_file = ["; ./", ";./", "; . ./", "; .\\\\", "; & ", ";& "];
    let is_file =
        code.contains("-OutFile") || code.contains("DownloadFile") || code.contains("BitsTransfer");
    has(CMDLETS)
        && (has(INVOKES) || is_file && starts_file.iter().any(|start| code.contains(start)))
}

/// The names of the files to which code writes what it fetches.
pub(crate) fn fetched_files(code: &str) -> Vec<String> {
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let quoted = tight.replace(['"', '`'], "'");
    let is_address = |text: &str| text.contains("://");
    if !is_address(code) || !WRITES.iter().any(|call| quoted.contains(call)) {
        return Vec::new();
    }
    let texts = calls(code).into_iter().flat_map(|call| call.texts);
    // `wget.download(URL)` and PowerShell's `-OutFile x` have no text of their own.
    let words = code.split(|c: char| c.is_whitespace() || "'\"();,".contains(c));
    let names = texts.chain(words.map(str::to_owned));
    let names = names.filter(|text| text.contains('.') && !text.contains([' ', '(']));
    let mut files: Vec<String> = names.map(|text| base_name(&text).to_owned()).collect();
    files.retain(|name| name.len() > 2);
    files.sort();
    files.dedup();
    files
}
