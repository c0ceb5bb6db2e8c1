//! Parts of values and of lists: bash(1), Substring Expansion.

use termd_proto::policy::Verdict;

use super::all_are;
use super::forbidden::Forbidden;

#[test]
fn a_part_of_a_list_is_what_the_shell_makes_of_it() {
    all_are(
        Verdict::Dangerous,
        None,
        &[
            "set -- r m -rf ~; $1$2 \"${@:3}\"",
            "set -- rm -rf ~; rm \"${@:2}\"",
            "set -- rm -rf ~; \"${@:1:1}\" \"${@:2}\"",
            "set -- x rm -rf ~; \"${@: -3}\"",
            "set -- x rm -rf ~; ${@:2}",
            "set -- x rm -rf ~; ${*:2}",
            "a=(r m -rf ~); ${a[0]}${a[1]} \"${a[@]:2}\"",
            "a=(rm -rf ~ x); \"${a[@]:0:3}\"",
            "x=xx-rf; rm ${x:2} ~",
            "x=xrmx; ${x:1:2} -rf ~",
            "echo \"${x:$y}\"; rm -rf ~",
            "echo \"${x:$y:$(rm -rf ~)}\"",
            "f() { $1$2 \"${@:3}\"; }; f r m -rf ~",
        ],
    );
    Forbidden("frob").all_are_stopped(
        None,
        &[
            "set -- x frob; \"${@:2}\"",
            "set -- x frob; \"${@: -1}\"",
            "set -- x frob; \"${@:$#}\"",
            "set -- x frob; env \"${@#x}\"",
            "set -- x frob; env \"${@/x/FOO=1}\"",
            "x=xfrobx; ${x:1:4}",
            "x=xfrobx; y=1; ${x:$y:4}",
            "x=xfrobx; ${x:$y:$z}",
            "x=frobx; ${x:0:$# + 4}",
            "x=xfrobx; ${x:(-5):4}",
            "x=frob; ${x:010}",
            "i='a[@]'; a=(A=b frob); env \"${!i}\"",
        ],
    );
    all_are(
        Verdict::Safe,
        None,
        &[
            "set -- a b c; echo \"${@:2}\"",
            "args=(-n 5 f); head \"${args[@]:0:2}\" g",
            "v=v1.2.3; echo ${v:1}",
            "set -- ls -la; \"${@:1}\"",
            "for ((i = 0; i < ${#x}; i++)); do echo \"${x:$i:1}\"; done",
            "echo \"${x:$y}\" ${x:$y - 1} \"${x:1:$y - 1}\" ${@:$#} \"${a[@]:$n:$((n + 1))}\"",
            "set -- \"${@:1:$# - 1}\"; echo \"${x:$#}\" \"${x:$?}\"",
        ],
    );
}
