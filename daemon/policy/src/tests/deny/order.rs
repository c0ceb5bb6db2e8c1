//! A deny rule and the order of a text: what was to set a variable anew may not have run. Each line
//! of the first tables was run by bash, and started git.
#![allow(clippy::too_many_lines)] // Tables.

use crate::tests::forbidden::Forbidden;

const GIT: Forbidden = Forbidden("git");

#[test]
fn what_ends_before_an_assignment_hides_no_program() {
    GIT.all_are_stopped(
        None,
        &[
            "x=git; f() { return; x=ls; }; f; $x push",
            "x=git; f() { return 0; x=ls; }; f; $x push",
            "x=git; f() { true && return; x=ls; }; f; $x push",
            "x=git; f() { if true; then return; fi; x=ls; }; f; $x push",
            "x=git; for i in 1; do break; x=ls; done; $x push",
            "x=git; for i in 1 2; do continue; x=ls; done; $x push",
            "x=git; while :; do break; x=ls; done; $x push",
            "x=git; f() { while :; do return; done; x=ls; }; f; $x push",
            "x=git; f() { { return; }; x=ls; }; f; $x push",
            "f() { x=git; return; x=ls; }; f; $x push",
            "f() { g=git; return; g=ls; }; f; h() { $g push; }; h",
            "x=git; f() { case a in a) return;; esac; x=ls; }; f; $x push",
            "x=git; f() { x=ls; return; x=cat; }; y=$x; f; $y push",
            "x=git; f() { return; declare -g x=ls; }; f; $x push",
            "x=git; f() { return; read x <<< ls; }; f; $x push",
            "x=git; f() { return; printf -v x ls; }; f; $x push",
            "x=git; f() { return; unset x; }; f; $x push",
            "set -- git; f() { return; }; f; for i in 1; do break; set -- ls; done; $1 push",
            "a=(git); f() { return; a=(ls); }; f; \"${a[@]}\" push",
        ],
    );
}

#[test]
fn a_redirection_that_fails_hides_no_program() {
    GIT.all_are_stopped(
        None,
        &[
            "x=git; { x=ls; } >/none/y; $x push",
            "x=git; { x=ls; } </none/y; $x push",
            "x=git; declare x=ls >/none/y; $x push",
            "x=git; export x=ls 2>/none/y; $x push",
            "x=git; printf -v x ls >/none/y; $x push",
            "x=git; read x <<< ls >/none/y; $x push",
            "x=git; unset x >/none/y; $x push",
            "set -- git; set -- ls >/none/y; $1 push",
            "set -- git; shift >/none/y; $1 push",
            "x=git; f() { x=ls; }; f >/none/y; $x push",
            "x=git; eval x=ls >/none/y; $x push",
            "x=git; if true; then x=ls; fi >/none/y; $x push",
            "x=git; for x in ls; do :; done >/none/y; $x push",
            "x=ls; echo a >/none/y || x=git; $x push",
            "x=ls; true >/none/y || x=git; $x push",
            "x=git; : ${x:=ls} >/none/y; $x push",
            "x=git; while x=ls; do break; done </none/y; $x push",
        ],
    );
}

#[test]
fn the_body_of_a_trap_hides_no_program() {
    GIT.all_are_stopped(
        None,
        &[
            "x=git; trap 'x=ls' EXIT; $x push",
            "x=git; trap 'x=ls' USR1; $x push",
            "x=git; trap x=ls INT; $x push",
            "x=git; trap 'x=ls' ERR; $x push",
            "x=git; f() { x=ls; }; trap f EXIT; $x push",
            "x=git; trap 'unset x' EXIT; $x push",
            "x=git; trap 'read x <<< ls' EXIT; $x push",
            "x=git; trap 'declare -g x=ls' USR1; $x push",
            "x=git; trap 'set -- ls' EXIT; set -- git; $1 push",
            "set -- git; trap 'set -- ls' EXIT; $1 push",
            "set -- git; trap shift EXIT; $1 push",
            "x=git; trap 'x=ls' RETURN; $x push",
            "x=ls; trap 'x=git' DEBUG; true; $x push",
            "x=ls; trap '$x push' EXIT; x=git",
            "trap '$x push' EXIT; x=git; exit; x=ls",
            "f() { $x push; }; x=ls; trap f EXIT; x=git",
            "x=git; trap 'x=ls' EXIT; f() { $x push; }; f",
            "x=git; trap 'printf -v x ls' EXIT; $x push",
            "x=ls; trap 'x=git' USR1; kill -USR1 $$; $x push",
            "a=(git push); trap 'a=(ls)' EXIT; \"${a[@]}\"",
        ],
    );
}

#[test]
fn what_a_scope_keeps_hides_no_program() {
    GIT.all_are_stopped(
        None,
        &[
            "x=git; g() { unset x; }; f() { local x=ls; g; $x push; }; f",
            "x=git; g() { unset x; $x push; }; f() { local x=ls; g; }; f",
            "a=git; declare a=ls b=$a; $b push",
            "a=git; export a=ls b=$a; $b push",
            "f() { local a=git; local a=ls b=$a; $b push; }; f",
            "a=git; readonly a=ls b=$a; $b push",
            "a=git; typeset a=ls b=$a; $b push",
            "set -- git; shift 2; $1 push",
            "set -- git; shift 5; $1 push",
            "f() { shift 3; $1 push; }; f git",
            "f() { shift 2; \"$@\"; }; f git",
            "set -- git push; shift 3; \"$@\"",
            "bash -c 'shift 2; $1 push' x git",
            "x=git; f() { local x; x=ls; }; f; $x push",
            "x=git; (x=ls); $x push",
            "x=git; x=ls | true; $x push",
            "x=git; x=ls & wait; $x push",
            "x=git; : $(x=ls); $x push",
            "x=git; x=ls true; $x push",
            "f() { $1 push; }; false && f() { ls; }; f git",
        ],
    );
}

#[test]
fn a_variable_that_is_set_anew_is_no_question() {
    GIT.none_is_asked_about(
        None,
        &[
            "tool=cargo; tool=make; $tool all",
            "cmd=(cargo test); [ -n \"$V\" ] && cmd+=(-v); \"${cmd[@]}\"",
            "cmd=(cargo); cmd+=(test); cmd+=(-v); \"${cmd[@]}\"",
            "build() { local tool=cargo; $tool build; }; build; build",
            "i=0; i=$((i+1)); echo $i",
            "PY=python3; [ -x .venv/bin/python ] && PY=.venv/bin/python; $PY x.py",
            "set -e; set -- a b; for x; do echo $x; done; shift; echo $1",
            "out=build; mkdir -p $out; out=dist; cp -r src $out; ls $out",
            "n=0; while [ $n -lt 3 ]; do n=$((n+1)); make && break; done",
            "while [ $# -gt 0 ]; do case $1 in -v) v=1;; *) f=$1;; esac; shift; done; make $f",
            "export A=1 B=2; export A=3; npm start",
            "CC=gcc; CC=clang; $CC -o a a.c && ./a",
            "CC=gcc make; CC=clang make",
            "f() { cargo \"$@\"; }; f build; f test",
            "read a; read b; echo $a $b",
            "x=ls; unset x; x=cat; $x f",
            "timeout=10; timeout=20; timeout $timeout make",
            "d=a; cd $d; cd ..; d=b; cd $d; make",
            "cmd='cargo test'; cmd=\"$cmd --all\"; $cmd",
            "cmd='cargo test'; cmd=\"$cmd --all\"; eval \"$cmd\"",
            "cmd='cargo test'; cmd=\"$cmd --all\"; bash -c \"$cmd\"",
            "build() { local tool; tool=cargo; $tool build; }; build; build",
            "build() { local tool=cargo; $tool build; }; build",
            "declare -r tool=cargo; $tool build; x=1; x=2",
            "tool=$(command -v make); x=1; x=2; ls $x",
            "f() { local d=$1 t; t=make; cd \"$d\" && $t; }; f a; f b",
            "export T=make; $T all; export T=cargo; $T build",
        ],
    );
}
