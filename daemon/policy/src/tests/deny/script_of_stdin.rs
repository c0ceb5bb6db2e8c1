//! Programs that read on where the shell reads its script, and words before a here-document.

use crate::tests::forbidden::Forbidden;

const FROB: Forbidden = Forbidden("frob");

#[test]
fn a_program_runs_the_rest_of_the_script_that_it_reads() {
    FROB.all_are_stopped(
        None,
        &[
            "bash <<'X'\nexec perl\nsystem 'frob 1'\nX",
            "bash <<'X'\nperl\nsystem 'frob 1'\nX",
            "bash <<'X'\nenv perl\nsystem 'frob 1'\nX",
            "bash <<'X'\n(perl)\nsystem 'frob 1'\nX",
            "bash <<'X'\nif perl; then\nsystem 'frob 1'\nfi\nX",
            "bash -s <<'X'\nexec python3 -\nimport os;os.system('frob 1')\nX",
            "bash <<< $'exec perl\\nsystem(\"frob\")'",
            "ssh h <<'X'\nexec perl\nsystem('frob')\nX",
            "sh <<'X'\nexec sqlite3\n.shell frob\nX",
            "bash <<'X'\nexec ed\n!frob\nX",
            "bash <<'X'\nexec vim -es\n!frob\nX",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "bash <<'X'\npython3 -c 'print(1)'\ncd x && make\nX",
            "bash <<'X'\npsql -c 'select 1'\nls -l\nX",
            "ssh h <<'X'\ncd x\ngit pull\nX",
        ],
    );
}

#[test]
fn a_dash_before_a_here_document_is_a_word() {
    FROB.all_are_stopped(
        None,
        &[
            "make -f - <<'X'\nall:\n\tfrob\nX",
            "make -sf - <<X\nall:\n\tfrob\nX",
            "make --makefile - <<X\nall:\n\tfrob\nX",
            "awk -f - <<'X'\nBEGIN{system(\"frob 1\")}\nX",
            "gawk --file - <<'X'\nBEGIN{system(\"frob 1\")}\nX",
        ],
    );
    FROB.none_is_asked_about(None, &["cat - <<'X' > notes\nit's\nX", "wc -l - <<X\na\nX"]);
}
