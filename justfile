# Recipes for people: https://just.systems. CI runs .ci/run.

# Lists the recipes.
default:
    @just --list

# Builds all binaries for use.
build:
    cargo build --release --locked

# Runs all tests, or those of one package: `just test -p termd-vt`.
test *ARGS='--workspace':
    cargo test {{ARGS}}

# Checks format, lints, and (where cargo-deny is installed) licences and advisories.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    if command -v cargo-deny >/dev/null; then cargo deny check; else echo 'no cargo-deny: licences are not checked'; fi

# Runs every benchmark with its limits; docs/benchmarks.md explains the figures.
bench: build
    cargo bench -p termd --bench terminals
    cargo bench -p termd-vt --bench plain
    cargo bench -p termd-vt --bench model
    cargo bench -p termctl --bench mcp
    cargo bench -p termctl --bench mcp_tokens
    cargo bench -p termctl --bench acp
    cargo bench -p termctl --bench attach
    cargo bench -p termd-shell --bench shell

# Fuzzes one target for some seconds: `just fuzz policy 180`.
fuzz TARGET SECONDS='60':
    #!/usr/bin/env bash
    set -euo pipefail
    # The terminal model's four targets share their seeds.
    case {{TARGET}} in feed | resize | dump | render) seeds=term ;; *) seeds={{TARGET}} ;; esac
    mkdir -p fuzz/corpus/{{TARGET}}
    RUSTC_BOOTSTRAP=1 cargo fuzz run {{TARGET}} fuzz/corpus/{{TARGET}} "fuzz/seeds/$seeds" -- -max_total_time={{SECONDS}} -max_len=600

# Builds the API documentation of all crates.
doc:
    RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked
