//! Texts that code runs later, as keys or by the name of a function, and that may start the program that a rule denies.

use crate::tests::forbidden::Forbidden;

const FROB: Forbidden = Forbidden("frob");

#[test]
fn a_text_that_ruby_evaluates_later_is_judged() {
    FROB.all_are_stopped(
        None,
        &[
            "ruby -e 'trap(\"EXIT\",\"system %q(frob)\")'",
            "ruby -e 'trap \"EXIT\", \"`frob`\"'",
            "ruby -e 'Signal.trap(:INT, x)'",
            "ruby -e 'trap(0,\"sys\"+\"tem(%q(frob))\")'",
            "ruby -rerb -e 'ERB.new(\"<%= system %q(frob) %>\").result'",
            "ruby -rerb -e 'ERB.new(\"<% system(x) %>\").result'",
            "erb <<< '<% system \"frob\" %>'",
            "erb <<< '% `frob`'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "ruby -e 'trap(\"INT\",\"IGNORE\"); puts 1'",
            "ruby -e 'trap(\"INT\") { exit }; sleep'",
            "ruby -e 'trap(\"INT\", proc { exit }); sleep'",
            "ruby -rerb -e 'puts ERB.new(\"a <%= 1 + 1 %>\").result'",
            "erb a.erb",
        ],
    );
}

#[test]
fn a_function_of_vim_that_takes_a_name_or_keys_is_judged() {
    FROB.all_are_stopped(
        None,
        &[
            "vim -es -c 'echo systemlist([\"frob\"])'",
            "vim -c \"call job_start('frob')\"",
            "vim -c \"call term_start(['frob','x'])\"",
            "nvim -c \"call jobstart(['frob'])\"",
            "nvim -c \"lua vim.fn.termopen({'frob'})\"",
            "vim -c 'call feedkeys(\":!frob\\<CR>\",\"x\")'",
            "vim -c 'call feedkeys(x,\"x\")'",
            "vim -c \"call execute('!frob')\"",
            "vim -c \"call call('system',['frob'])\"",
            "vim -c \"let F=function('system',['frob'])|call F()\"",
            "vim -c 'call call(f,[1])'",
            "vim -c \"echo map(['frob'],'system(v:val)')\"",
            "vim -c \"call libcall('libc.so','system','frob')\"",
            "vim -c 'nnoremap x :!frob<CR>' -c 'normal x'",
            "vim -c 'ter frob'",
            "vim -c 'term ++close frob'",
            "vim -c 'tcl exec frob'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "vim -es -c 'echo systemlist(\"git branch\")' -c q",
            "vim -c 'call cursor(1,1)' x",
            "vim -c \"call map([1],'v:val+1')\" x",
            "vim -c 'nnoremap <F5> :w<CR>' x",
            "vim -c 'term' x",
            "nvim --headless '+Lazy! sync' +qa",
        ],
    );
}

#[test]
fn a_variable_that_code_sets_is_judged_as_one_of_a_line() {
    FROB.all_are_stopped(
        None,
        &[
            "python3 -c 'import os; os.environ[\"GIT_PAGER\"]=\"frob\"; os.system(\"git log\")'",
            "python3 -c 'import os; os.environ|={\"GIT_PAGER\":\"frob\"}; os.system(\"git log\")'",
            "python3 -c 'import os; os.environ.update(GIT_PAGER=\"frob\"); os.system(\"git log\")'",
            "node -e 'process.env[\"GIT_PAGER\"]=\"frob\"; require(\"child_process\").execSync(\"git log\")'",
            "node -e 'require(\"child_process\").execSync(\"git x\",{env:{GIT_CONFIG_KEY_0:\"alias.x\",GIT_CONFIG_VALUE_0:\"!frob\"}})'",
            "ruby -e 'ENV[\"GIT_EXTERNAL_DIFF\"]=\"frob\"; system \"git\",\"diff\"'",
            "ruby -e 'ENV.store(\"GIT_PAGER\",\"frob\"); system \"git\",\"log\"'",
            "perl -e '$ENV{GIT_EXTERNAL_DIFF}=\"frob\"; system \"git\",\"diff\"'",
            "perl -e '%ENV=(%ENV,GIT_PAGER=>\"frob\"); system \"git log\"'",
            "php -r 'putenv(\"GIT_PAGER=frob\"); system(\"git log\");'",
            "ruby -e 'IO.popen(\"sh\",\"w\") { |p| p.puts \"fr\"+\"ob\" }'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "python3 -c 'import os; os.environ[\"TZ\"]=\"UTC\"; os.system(\"date\")'",
            "python3 -c 'import os; os.system(\"git log\"); x={\"PAGER\":\"cat\"}'",
            "python3 -c 'HOME=\"/tmp/x\"; print(HOME)'",
            "ruby -e 'IO.popen(\"sort\",\"w\") { |p| p.puts 1 }'",
        ],
    );
}

#[test]
fn a_language_that_is_not_read_may_start_any_program() {
    FROB.all_are_stopped(
        None,
        &[
            "raku -e 'run <frob x>'",
            "raku -e 'QX \"frob\"'",
            "pwsh -c 'frob'",
            "pwsh <<< 'frob'",
            "pwsh -NoProfile -Command '& frob'",
            "powershell.exe -c 'Get-ChildItem; frob'",
            "emacs --eval '(funcall (quote shell-command) \"frob\")'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "raku x.raku",
            "pwsh build.ps1",
            "pwsh -c 'Get-ChildItem | Select-Object Name'",
        ],
    );
}
