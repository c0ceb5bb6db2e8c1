//! Which lines of output look like errors: by the shapes that compilers, build tools and test runners
//! give them, and by severity words. Pure.
//!
//! Words end where ASCII's do, `(?-u:\b)`: with Unicode's `\b` a line that has any other character takes a
//! hundred times as long.

use std::sync::LazyLock;

use regex::RegexSet;

/// How sure it is that a line tells of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    /// A severity word stands in it.
    Word,
    /// It has the shape that a known tool gives its errors.
    Shape,
}

/// Shapes of errors, and the tools that print them.
const SHAPES: [(&str, &str); 17] = [
    (
        "rustc, gcc, clang, tsc, msbuild, mypy, eslint, git, cargo",
        r"(?:^|[\s:)])(?:fatal )?error(?:\[\w+\]| [A-Z]{2,}\d+)?:",
    ),
    ("git, ssh", r"^fatal: "),
    (
        "cargo test, libtest",
        r"^test .* \.\.\. FAILED|^thread '.*' (?:\(\d+\) )?panicked at ",
    ),
    ("go test, go", r"^\s*--- FAIL: |^FAIL(?-u:\b)|^panic: "),
    ("TAP", r"^\s*not ok \d"),
    (
        "pytest",
        r"^E   |^FAILED |^ERROR |^=+ (?:FAILURES|ERRORS) =+",
    ),
    ("jest, vitest, mocha", r"^\s*[✕✗✖×●] "),
    ("unittest", r"^(?:FAIL|ERROR): "),
    (
        "Python",
        r"^Traceback \(most recent call last\)|^[\w.]*(?:Error|Exception)(?:: |$)",
    ),
    ("Node", r"^(?:Uncaught )?\w*Error: |^npm (?:ERR!|error) "),
    (
        "JVM, Maven, Kotlin",
        r"^Exception in thread |^Caused by: |^\[ERROR\] |^e: ",
    ),
    ("Gradle, Bazel", r"^FAILURE: |^> Task .* FAILED|^ERROR: "),
    (
        "Ruby, PHP, Perl",
        r"^PHP (?:Fatal|Parse) error|\(\w+Error\)$| at \S+ line \d+\.$",
    ),
    ("ld", r"undefined reference to|^ld: |cannot find -l"),
    (
        "make, ninja, CMake",
        r"^(?:g?make)(?:\[\d+\])?: \*\*\* |^ninja: build stopped|^FAILED: |^CMake Error",
    ),
    ("apt, dpkg", r"^(?:E|dpkg): "),
    (
        "the system",
        r"Segmentation fault|\(core dumped\)|AddressSanitizer|No space left on device|Out of memory",
    ),
];

/// Severity words of logs and messages.
const WORDS: &str = r"(?-u:\b)(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE)(?-u:\b)|(?i)(?-u:\b)(?:errors?|failed|failure|fatal|exception|denied|not found|no such file)(?-u:\b)";
/// Where the words say that there was none, or stand in a name.
const HARMLESS: &str = r"(?i)(?-u:\b)(?:0|no|without) (?:errors?|failures?|failed|exceptions?)(?-u:\b)|[\w/-]-errors?(?-u:\b)|(?-u:\b)errors?-\w";

static PATTERNS: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(_, shape)| *shape);
    // A test holds that each compiles.
    RegexSet::new(shapes.chain([WORDS, HARMLESS])).ok()
});

/// Whether a line of plain text looks like an error.
pub(super) fn severity(line: &str) -> Option<Severity> {
    let patterns = PATTERNS.as_ref()?;
    // Almost no line matches, and to see which patterns do takes twice as long.
    if !patterns.is_match(line) {
        return None;
    }
    let found = patterns.matches(line);
    let (words, harmless) = (SHAPES.len(), SHAPES.len() + 1);
    if found.iter().any(|pattern| pattern < words) {
        Some(Severity::Shape)
    } else if found.matched(words) && !found.matched(harmless) {
        Some(Severity::Word)
    } else {
        None
    }
}

/// Whether a line tells of an error, by its shape or by a word in it.
pub fn looks_like_error(line: &str) -> bool {
    severity(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_compile() {
        assert!(PATTERNS.is_some());
    }

    #[test]
    fn no_word_ends_by_unicode() {
        let shapes = SHAPES.map(|(_, shape)| shape);
        for pattern in shapes.into_iter().chain([WORDS, HARMLESS]) {
            assert!(
                !pattern.replace(r"(?-u:\b)", "").contains(r"\b"),
                "{pattern}"
            );
        }
    }

    #[test]
    fn tools_errors_are_known_by_their_shape() {
        for line in [
            "error[E0308]: mismatched types",
            "error: could not compile `x` (lib) due to 1 previous error",
            "main.c:3:5: error: expected ';' before '}' token",
            "main.c:1:10: fatal error: nope.h: No such file or directory",
            "src/a.ts(3,7): error TS2322: Type 'string' is not assignable",
            "src/a.ts:3:7 - error TS2322: Type 'string' is not assignable",
            "app.py:3: error: Incompatible types in assignment",
            "fatal: not a git repository",
            "test tests::adds ... FAILED",
            "thread 'tests::adds' panicked at src/lib.rs:7:9:",
            "thread 'main' (4711) panicked at src/main.rs:2:5:",
            "--- FAIL: TestAdd (0.00s)",
            "FAIL\texample.com/x\t0.003s",
            "panic: runtime error: index out of range",
            "not ok 3 - adds",
            "E   assert 1 == 2",
            "FAILED tests/test_x.py::test_y - assert 1 == 2",
            "  ✕ adds (3 ms)",
            "  ● sum › adds",
            "Traceback (most recent call last):",
            "ValueError: invalid literal for int()",
            "requests.exceptions.ConnectionError: refused",
            "TypeError: x is not a function",
            "npm ERR! code ELIFECYCLE",
            "npm error code ENOENT",
            "[ERROR] COMPILATION ERROR :",
            "e: file:///x/Main.kt:3:5 Unresolved reference",
            "> Task :compileJava FAILED",
            "x.rb:3:in `f': undefined method `g' for nil (NoMethodError)",
            "x.c:(.text+0x5): undefined reference to `f'",
            "make[1]: *** [Makefile:3: all] Error 1",
            "CMake Error at CMakeLists.txt:3 (find_package):",
            "E: Unable to locate package x",
            "Segmentation fault (core dumped)",
        ] {
            assert_eq!(severity(line), Some(Severity::Shape), "{line}");
        }
    }

    #[test]
    fn words_are_a_hint_unless_they_say_that_all_is_well() {
        for line in [
            "2026-11-22T10:00:00 ERROR db: connection lost",
            "bash: frob: command not found",
            "Permission denied (publickey).",
            "3 tests failed",
        ] {
            assert_eq!(severity(line), Some(Severity::Word), "{line}");
        }
        for line in [
            "   Compiling thiserror v2.0.1",
            "   Compiling error-chain v0.12.4",
            "test result: ok. 12 passed; 0 failed; 0 ignored",
            "Found 0 errors in 3 files",
            "no errors",
            "warning: unused variable: `x`",
            "hello",
            "",
        ] {
            assert_eq!(severity(line), None, "{line}");
        }
    }
}
