//! Names by which code may start a program in a way that is not followed.
//!
//! Code that holds none of them, and no call of [`CallEffect::Starts`](crate::danger::code::call_effect::CallEffect::Starts), may still start a program by a library
//! of its own.

use crate::danger::code::tokens::Token;
use crate::word_list::is_listed;

/// Python: modules that start programs, load libraries, or run a text or a file as code, and names that
/// find other names. <https://docs.python.org/3/library/index.html>.
const PYTHON: &str = "
    webbrowser ctypes cffi pty pexpect multiprocessing importlib runpy pdb bdb timeit cProfile profile trace code codeop pickle
    cPickle dill cloudpickle shelve marshal doctest pydoc imp pkgutil plumbum invoke fabric distutils antigravity sh
    breakpoint set_trace interact pipepager __dict__ vars globals locals __builtins__ builtins __subclasses__ __globals__
    __getattribute__ __import__ sysconfig_main spawn_main modules attrgetter methodcaller zipimport dictConfig
    fileConfig ProcessPoolExecutor _posixsubprocess";
/// Perl: perlfunc(1), perlipc(1).
const PERL: &str =
    "readpipe open2 open3 Open2 Open3 syscall dlopen DynaLoader Inline AUTOLOAD fork glob";
/// Ruby: Kernel, Process, Open3, Fiddle, PTY.
const RUBY: &str = "
    PTY spawn const_get Fiddle public_send __send__ instance_eval class_eval module_eval
    method instance_method define_method binding fork syscall";
/// JavaScript: <https://nodejs.org/api/>, deno, bun.
const SCRIPT: &str = "
    binding _linkedBinding dlopen worker_threads Worker cluster fork vm _load _compile createRequire mainModule
    constructor execPath Command runMain";
/// Modules of JavaScript that are such a way, as `require` names them.
const SCRIPT_MODULES: &str = "vm worker_threads cluster module repl";
/// Lua: what holds or finds the functions of its library by another name than `os`.
const LUA: &str = "loadlib ffi rawget getregistry _G _ENV";
/// Emacs Lisp: <https://www.gnu.org/software/emacs/manual/html_node/elisp/Processes.html>.
const EMACS: &str = "
    start_process start_file_process make_process compile recompile apply funcall setenv vc_git_command vc_do_command
    process_environment";
/// Any other language.
const OTHER: &str = "dlopen loadlib ffi FFI";

/// Whether code names such a way.
pub(super) fn has_any(program: &str, code: &str, tokens: &[Token]) -> bool {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let names = match stem {
        "python" | "pypy" | "micropython" | "jython" | "ipython" | "IPython" | "bpython"
        | "ptpython" => PYTHON,
        "perl" => PERL,
        "ruby" | "irb" | "pry" => RUBY,
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => SCRIPT,
        "lua" | "luajit" | "texlua" => LUA,
        "emacs" | "emacsclient" | "emacs-nox" => EMACS,
        "php" | "julia" | "R" | "Rscript" => OTHER,
        _ => return false,
    };
    let has_name = tokens.iter().any(|token| match token {
        Token::Word(word) => is_listed(word, names),
        Token::Text(text) => {
            names == SCRIPT && is_listed(text.trim_start_matches("node:"), SCRIPT_MODULES)
        }
        Token::Shell(_) | Token::Sign(_) => false,
    });
    let imports_all = tokens
        .windows(2)
        .any(|pair| matches!(pair, [Token::Word(word), Token::Sign('*')] if word == "import"));
    let has_name = has_name
        || (names == PYTHON && imports_all)
        || (names == LUA && passes_library(tokens))
        || (names == SCRIPT && renames_shell(tokens));
    has_name || (stem == "perl" && calls_value(code)) || (names == SCRIPT && imports_value(tokens))
}

/// Whether Perl calls what a value names, or runs a text that it has replaced: `$x->(y)`, `&$x`, `s/x/y/ee`.
fn calls_value(code: &str) -> bool {
    let calls = [
        "exec{",
        "system{",
        "->(",
        "->$",
        "&$",
        "\\&CORE",
        "&{",
        "require shift",
        "require $",
        "do $",
        "do shift",
    ];
    let tight: String = code.split(' ').collect();
    let runs_replaced = code
        .split(['/', '}', ',', '|', '#', '!'])
        .skip(2)
        .any(|flags| {
            let flags = flags.split([';', ' ', '\n']).next().unwrap_or(flags);
            flags.contains("ee") && flags.chars().all(|c| "egimosxr".contains(c))
        });
    runs_replaced
        || calls
            .iter()
            .any(|call| code.contains(call) || tight.contains(call))
}

/// Whether Lua gives the library `os` or `io` to something as a value: `pairs(os)`, `local o = os`.
fn passes_library(tokens: &[Token]) -> bool {
    let is_passed = |pair: &[Token]| match pair {
        [Token::Word(word), next] => is_listed(word, "os io") && *next != Token::Sign('.'),
        _ => false,
    };
    let ends = matches!(tokens.last(), Some(Token::Word(word)) if is_listed(word, "os io"));
    ends || tokens.windows(2).any(is_passed)
}

/// Whether JavaScript gives another name to `$`, which runs a shell line in Bun and zx.
fn renames_shell(tokens: &[Token]) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| match pair {
        [Token::Word(sign), Token::Word(renamed)] => sign.is_empty() && renamed == "as",
        [Token::Word(sign), Token::Sign(':')] => sign.is_empty(),
        _ => false,
    })
}

/// Whether JavaScript loads a module that a value names: `import(x)`, `require(x)`.
fn imports_value(tokens: &[Token]) -> bool {
    tokens.windows(3).any(|window| match window {
        [Token::Word(name), Token::Sign('('), argument] => {
            matches!(name.as_str(), "import" | "require") && !matches!(argument, Token::Text(_))
        }
        _ => false,
    })
}
