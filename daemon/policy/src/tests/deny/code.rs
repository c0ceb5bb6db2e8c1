//! Code of interpreters, and lines typed into programs, that may start the program that a rule denies.
#![allow(clippy::too_many_lines)] // Tables.

use termd_proto::policy::Effect;

use crate::tests::code::judged;
use crate::tests::forbidden::Forbidden;
use crate::tests::rules::rules;

const FROB: Forbidden = Forbidden("frob");

#[test]
fn code_that_can_start_a_program_may_start_any() {
    FROB.all_are_stopped(
        None,
        &[
            "python3 -c 'import webbrowser as w;w.get(\"./frob %s\").open(\"x\")'",
            "python3 -c 'import code;code.interact()' <<< x",
            "python3 -c 'breakpoint()' <<< 'import os; os.system(\"./frob\")'",
            "python3 -c 'import pdb; pdb.set_trace()'",
            "python3 -c 'import ctypes; ctypes.cdll.LoadLibrary(x)'",
            "python3 -c 'import pty; pty.spawn(x)'",
            "python3 -c 'import pty as p; p.spawn(x)'",
            "python3 -c 'import multiprocessing as m; m.Process(target=f).start()'",
            "python3 -c 'import importlib; importlib.import_module(x).f(y)'",
            "python3 -c 'import pdb; pdb.run(x)'",
            "python3 -c 'import timeit; timeit.timeit(x)'",
            "python3 -c 'import os as o; o.__dict__[x](y)'",
            "python3 -c 'import os; vars(os)[x](y)'",
            "python3 -c 'import pickle; pickle.loads(x)'",
            "python3 -c 'import cProfile; cProfile.run(x)'",
            "python3 -c '[c for c in ().__class__.__base__.__subclasses__()]'",
            "python3 -c 'import sys; sys.modules[x].f(y)'",
            "perl -e 'exec{$ARGV[0]} @ARGV' ./frob",
            "perl -e 'readpipe(shift)' ./frob",
            "perl -e 'use IPC::Open3; open3(a,b,c,shift)' ./frob",
            "perl -e 'use IPC::Open2; open2(a,b,shift)' ./frob",
            "perl -e '$x->(y)'",
            "perl -e '&$x(y)'",
            "perl -e 'require shift'",
            "perl -e 's/x/y/ee'",
            "perl -e 'print <$x>; glob(\"x\")' ",
            "ruby -e 'spawn(*ARGV)' ./frob",
            "ruby -e 'require ARGV[0]' x",
            "ruby -e 'x.public_send(y, z)'",
            "node -e 'process.binding(\"spawn_sync\")'",
            "node -e 'import(process.argv[1])' x",
            "node -e 'new (require(\"worker_threads\").Worker)(x)'",
            "node -e 'require(\"cluster\").fork()'",
            "node -e 'process.dlopen(x, y)'",
            "node -e 'require(\"vm\").runInThisContext(x)'",
            "node -e 'require(\"module\")._load(x)'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "python3 -c 'import json; print(json.load(open(\"a.json\")))'",
            "python3 -c 'import torch; print(torch.__version__)'",
            "python3 -c 'from app.models import User; print(User.query.count())'",
            "node -e 'console.log(require(\"./package.json\").version)'",
            "node -e 'const x = require(\"./lib/x\"); console.log(x.parse(\"a\"))'",
            "perl -pe 's/(\\d+)/$1+1/e' f",
            "ruby -rjson -e 'puts JSON.parse(STDIN.read)[\"a\"]' < a.json",
        ],
    );
}

#[test]
fn a_line_typed_into_a_program_may_start_any() {
    for (program, lines) in [
        (
            "bash",
            [
                "BASH_ALIASES[ls]=./frob",
                "PROMPT_COMMAND+=('./frob')",
                "./+(f|r|o|b)",
            ]
            .as_slice(),
        ),
        (
            "gdb",
            &[
                "| help | ./frob",
                "she ./frob",
                "shell ./frob",
                "pipe help | ./frob",
                "eval \"%s\", $c",
                "target remote | ./frob",
                "set exec-wrapper ./frob",
                "run -c ./frob",
                "source x.gdb",
                "python import os; os.system('./frob')",
                "call (int)system($c)",
            ],
        ),
        (
            "sqlite3",
            &[
                "select edit('x','./frob');",
                ".shell ./frob",
                ".once '|./frob'",
                "select load_extension('x');",
            ],
        ),
        (
            "python3",
            &["from subprocess import run as r", "import pty"],
        ),
    ] {
        FROB.all_are_stopped(Some(program), lines);
    }
    FROB.none_is_asked_about(
        Some("gdb"),
        &[
            "bt",
            "print x",
            "info threads",
            "next",
            "break main",
            "continue",
        ],
    );
    FROB.none_is_asked_about(Some("sqlite3"), &["select 1;", ".tables"]);
    FROB.none_is_asked_about(Some("python3"), &["print(1)", "x = [1, 2]", "import json"]);
}

#[test]
fn a_pipe_that_code_opens_starts_its_command() {
    FROB.all_are_stopped(
        None,
        &[
            "perl -e 'open F,\"-|\",\"frob\",\"x\"'",
            "perl -e 'open(F,\"|-\",\"frob\")'",
            "perl -e 'open F,\"-|:raw\",qw(frob x)'",
            "perl -e 'open STDIN,\"-|\",\"frob\"'",
            "perl -e 'open $f{a},\"-|\",\"frob\"'",
            "perl -e 'open my $h=>\"-|\"=>\"frob\"'",
            "perl -e '@c=(\"frob\"); open F,\"-|\",@c'",
            "perl -e '$m=\"-|\"; open(F,$m,\"frob\")'",
            "perl -e '$m=shift; open(F,$m,x())' x",
            "perl -e 'open(F,\"|-\",\"sh\")'",
            "perl -e '*x=\\&CORE::open; x(F,\"-|\",\"frob\")'",
            "perl -MIO::Pipe -e 'IO::Pipe->new->writer(\"frob\")'",
            "perl -MIO::Pipe -e '$p=IO::Pipe->new; $p->reader(@ARGV)' x",
            "perl -MIPC::Run3 -e 'run3 [\"frob\"]'",
            "perl -MIPC::System::Simple=systemx -e 'systemx(\"frob\",\"x\")'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "perl -e 'open(my $h,\"-|\",\"ls\",\"-l\") or die; while (<$h>) { print }'",
            "perl -e 'open(my $h,\"<:encoding(UTF-8)\",\"a\") || die; print <$h>'",
            "perl -e 'my $mode=\"<\"; open(my $h,$mode,\"a.txt\") or die; print <$h>'",
            "perl -e 'open F,\"a.txt\" or die; print <F>'",
            "awk 'BEGIN{cmd=\"date +%s\"; cmd|getline t; print t}'",
            "awk 'BEGIN{cmd=\"sort\"; print 3|cmd; close(cmd)}'",
        ],
    );
}

#[test]
fn the_operands_of_a_call_stand_behind_the_name_that_it_gives() {
    let denies = rules("[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push']").unwrap();
    for (program, code) in [
        ("python3", "import os; os.execlp('git','git','push')"),
        ("python3", "import os; os.execvp('git',['x','push','main'])"),
        ("python3", "import os; os.spawnlpe(0,'git','x','push',{})"),
        (
            "python3",
            "import os; os.posix_spawnp('git',['git','push'],{})",
        ),
        ("perl", "exec {'git'} 'x','push'"),
        ("perl", "POSIX::execlp('git','git','push')"),
        ("ruby", "exec ['git','x'],'push'"),
        ("ruby", "system(['git','git'],'push')"),
        ("node", "process.execve('/usr/bin/git',['git','push'])"),
    ] {
        let effect = judged(program, code, &denies).effect;
        assert_ne!(effect, Effect::Allow, "{program}: {code}");
    }
    for (program, code) in [
        ("python3", "import os; os.execlp('git','git','status')"),
        ("ruby", "exec ['git','x'],'status'"),
    ] {
        let effect = judged(program, code, &denies).effect;
        assert_eq!(effect, Effect::Allow, "{program}: {code}");
    }
}

#[test]
fn a_text_that_a_method_changes_is_no_constant() {
    FROB.all_are_stopped(
        None,
        &[
            "lua -e 'os.execute((\"xfrob\"):sub(2))'",
            "lua -e 'os.execute((\"1frob\"):gsub(\"%d\",\"\"))'",
            "ruby -e 'system \"gspc\".tr(\"b-z\",\"a-y\")'",
            "ruby -e 'system \"xfyrob\".delete(\"xy\")'",
            "python3 -c 'import os; os.system(\"xfrob\".strip(\"x\"))'",
            "python3 -c 'import os; os.system(b\"+AGY-rob\".decode(\"utf-7\"))'",
            "python3 -c 'import os; os.system(\"fxrobx\".replace(\"x\",\"\",1))'",
            "node -e 'require(\"child_process\").execSync(\"ffrob\".replace(\"f\",\"\"))'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "node -e 'console.log(require(\"child_process\").execSync(\"git log\").toString(\"utf8\"))'",
        ],
    );
}

#[test]
fn a_word_of_a_list_that_is_no_text_may_be_any() {
    let denies = rules("[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push']").unwrap();
    for (program, code) in [
        ("perl", "my ($x)=('status'); ($x)=('push'); system 'git',$x"),
        ("perl", "my $x='status'; $_='push' for $x; system 'git',$x"),
        (
            "perl",
            "my $x='status'; my $r=\\$x; $$r='push'; system 'git',$x",
        ),
        ("perl", "my $x='status'; ${'x'}='push'; system 'git',$x"),
        ("perl", "my $x='push2'; chop $x; exec('git',$x)"),
        ("perl", "system 'git', shift"),
        ("perl", "system('git','-C',$d,'push')"),
        ("perl", "system('git',\"pu$x\")"),
        ("ruby", "x='status'; x.replace('push'); system 'git',x"),
        ("ruby", "['push'].each { |x| system 'git', x }"),
        ("ruby", "spawn('git',*x)"),
        ("ruby", "exec(['git','git'], ARGV[0])"),
        ("ruby", "IO.popen(['git']+ARGV)"),
        ("python3", "import subprocess as s; s.run(['git']+x)"),
        (
            "python3",
            "import subprocess as s; s.run(['git','-C','.']+x)",
        ),
        ("python3", "import subprocess as s; s.run(['git', *x])"),
        ("python3", "import subprocess as s; s.run(['git', f'{x}'])"),
        (
            "python3",
            "import subprocess as s; s.run(('git',)+tuple(x))",
        ),
        ("python3", "import subprocess as s; s.run([*x, 'push'])"),
        (
            "python3",
            "import subprocess as s; s.run(['ls', 'push'], executable=x)",
        ),
        (
            "python3",
            "import subprocess as s; s.run(['git','-C','.','push'][:4])",
        ),
        (
            "python3",
            "import subprocess as s; s.run(['ls', x], executable='/usr/bin/git')",
        ),
        ("python3", "import subprocess as s; s.run(['sh','-c',x])"),
        ("python3", "import subprocess as s; s.run(['env',x])"),
        ("python3", "import subprocess as s; s.run(['sudo','-n',*x])"),
        (
            "python3",
            "import subprocess as s; s.run(['xargs','-n1',x])",
        ),
        ("python3", "import os; os.execvp('git', ['git', x])"),
        ("python3", "import os; os.execvp('git', ['git']+x)"),
        ("python3", "import os; os.execvp('git', x)"),
        ("python3", "import os; os.execlp('git', 'git', x)"),
        (
            "python3",
            "import os; os.spawnlp(os.P_WAIT, 'git', 'git', x)",
        ),
        ("node", "require('child_process').spawnSync('git', x)"),
        (
            "node",
            "require('child_process').spawnSync('git', ['-C','.',x])",
        ),
        (
            "node",
            "require('child_process').spawnSync('git', ['-C','.',...x])",
        ),
        (
            "node",
            "require('child_process').spawnSync('git', ['-C','.'].concat(x))",
        ),
        ("php", "proc_open(['git', $x], [], $p);"),
    ] {
        let effect = judged(program, code, &denies).effect;
        assert_ne!(effect, Effect::Allow, "{program}: {code}");
    }
    for (program, code) in [
        ("perl", "system 'ls', $_ for @ARGV"),
        ("perl", "system('git','status') == 0 or die 'x'"),
        ("perl", "system 'git','log' || die 'x'"),
        ("ruby", "system('git', 'log', out: File::NULL)"),
        ("ruby", "system 'ls', *ARGV"),
        (
            "python3",
            "import subprocess as s; [s.run(['wc','-l',f]) for f in fs]",
        ),
        (
            "python3",
            "import subprocess as s; s.run(['git','show',s.check_output(['git','rev-parse','HEAD']).strip()])",
        ),
        (
            "python3",
            "import subprocess as s; s.run(['ls', *x], cwd=y, env=z, check=True)",
        ),
        ("python3", "import subprocess as s; s.run(['wc'] + x)"),
        (
            "python3",
            "import subprocess as s; s.run([\n 'wc',\n f,\n])",
        ),
        ("python3", "import os; os.execvp('ls', ['ls', x])"),
        (
            "node",
            "require('child_process').spawnSync('wc', ['-l', x], {cwd: y})",
        ),
        (
            "node",
            "require('child_process').spawnSync('git', ['status', x], y)",
        ),
        ("node", "require('child_process').execFileSync('ls', x, y)"),
        ("node", "require('child_process').execSync('git status', y)"),
    ] {
        let effect = judged(program, code, &denies).effect;
        assert_eq!(effect, Effect::Allow, "{program}: {code}");
    }
}

#[test]
fn a_shell_that_code_starts_is_given_words_as_on_a_line() {
    let denies = rules("[[rules]]\neffect = 'deny'\nprogram = 'git'\noperands = ['push']").unwrap();
    for (program, code) in [
        (
            "python3",
            "import subprocess; subprocess.run(['sh','-c','$0 push','git'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(args=['sh','-c','$1 push','x','git'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['bash','-c','\"$@\"','x','git','push'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['bash','-c','$*','x','git','push'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['env','sh','-c','$0 push','git'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['$0 push','git'],shell=True)",
        ),
        (
            "python3",
            "import subprocess; subprocess.run('$Q push',shell=True,env={'Q':'git'})",
        ),
        (
            "python3",
            "import subprocess; subprocess.Popen(['sh','-c','$Q push'],env={'Q':'git'})",
        ),
        (
            "python3",
            "import asyncio; asyncio.create_subprocess_exec('sh','-c','$0 push','git')",
        ),
        (
            "python3",
            "import os; os.execlp('sh','sh','-c','$0 push','git')",
        ),
        ("python3", "import os; os.execlp('sh','sh','-c','$Q push')"),
        (
            "python3",
            "import os; os.spawnlp(os.P_WAIT,'sh','sh','-c','$Q push')",
        ),
        (
            "python3",
            "import os; os.environ['EDITOR']='git'; os.system('$EDITOR push')",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['git','-c','help.autocorrect=1','psuh'])",
        ),
        ("python3", "import os; os.system('$X')"),
        ("python3", "import os; os.system('eval $X')"),
        ("python3", "import os; os.popen('$X push','r')"),
        (
            "node",
            "require('child_process').spawnSync('sh',['-c','$0 push','git'],{stdio:'inherit'})",
        ),
        (
            "node",
            "require('child_process').execSync('$Q push',{env:{Q:'git'}})",
        ),
        (
            "node",
            "const {execSync}=require('child_process'); execSync('$X push')",
        ),
        ("ruby", "system('sh','-c','$0 push','git')"),
        ("ruby", "system 'sh','-c','\"$@\"','x','git','push'"),
        ("ruby", "exec 'sh','-c','$0 push','git'"),
        ("ruby", "spawn('sh','-c','$0 push','git')"),
        ("ruby", "IO.popen(['sh','-c','$0 push','git'])"),
        ("ruby", "system({'X'=>'git'},'$X push')"),
        ("perl", "system 'sh','-c','$0 push','git'"),
        ("perl", "system 'sh','-c',q(\"$@\"),'x','git','push'"),
        ("perl", "exec 'sh','-c',q($0 push),'git'"),
        ("perl", "open F,'-|','sh','-c',q($0 push),'git'"),
        ("php", "proc_open(['sh','-c','$0 push','git'],[],$p);"),
        ("php", "pcntl_exec('/bin/sh',['-c','$0 push','git']);"),
        ("php", "system('$X push');"),
        ("lua", "os.execute('$X push')"),
        (
            "emacs",
            "(call-process \"sh\" nil nil nil \"-c\" \"$0 push\" \"git\")",
        ),
        ("emacs", "(start-process \"x\" nil \"git\" \"push\")"),
        ("emacs", "(compile \"git push\")"),
        ("emacs", "(shell-command \"$X push\")"),
        ("groovy", "['sh','-c','$0 push','git'].execute()"),
        (
            "emacs",
            "(setenv \"X\" \"git\") (shell-command \"$X push\")",
        ),
        (
            "emacs",
            "(apply 'start-process \"x\" nil \"git\" '(\"push\"))",
        ),
        ("awk", "BEGIN{system(\"$X push\")}"),
        ("awk", "BEGIN{\"$X push\" | getline}"),
        ("awk", "BEGIN{print 1 | \"$X push\"}"),
    ] {
        let effect = judged(program, code, &denies).effect;
        assert_ne!(effect, Effect::Allow, "{program}: {code}");
    }
    for (program, code) in [
        (
            "python3",
            "import subprocess; subprocess.run(['sh','-c','$0 status','git'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['sh','-c','cd \"$1\" && git status','x','a'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['awk','{ print $1 }','f'])",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['sed','-n','$p','f'],check=True)",
        ),
        (
            "python3",
            "import subprocess; subprocess.run(['C:\\\\Program Files (x86)\\\\x.exe','-v'])",
        ),
        (
            "python3",
            "import os; os.system('$HOME/bin/tool --version')",
        ),
        ("python3", "import os; os.system('echo $X $1')"),
        (
            "python3",
            "import subprocess; subprocess.run('for f in *.py; do wc -l \"$f\"; done',shell=True)",
        ),
        ("node", "console.log(/^\\$/.exec('$5.00'))"),
        (
            "node",
            "require('child_process').execSync('ls $PWD',{stdio:'inherit'})",
        ),
        ("ruby", "system('sh','-c','$0 status','git')"),
        ("perl", "system 'sh','-c','$0 status','git'"),
        ("lua", "os.execute('ls $HOME')"),
        ("emacs", "(message \"%s\" emacs-version)"),
        ("emacs", "(shell-command-to-string \"date\")"),
        ("emacs", "(call-process \"git\" nil t nil \"status\")"),
        ("awk", "{ print $1 | \"sort -k $X\" }"),
    ] {
        let effect = judged(program, code, &denies).effect;
        assert_eq!(effect, Effect::Allow, "{program}: {code}");
    }
}

#[test]
fn a_shell_line_in_code_has_the_variables_of_the_text() {
    FROB.all_are_stopped(
        None,
        &[
            "export X=frob; python3 -c 'import os; os.system(\"$X\")'",
            "export EDITOR=frob; python3 -c 'import os; os.system(\"$EDITOR x\")'",
            "X=frob node -e 'require(\"child_process\").execSync(\"$X\")'",
            "X=frob awk 'BEGIN{system(\"$X push\")}'",
            "python3 -c 'import os; os.system(\"$0\")' frob",
        ],
    );
}

#[test]
fn commands_of_tcl_hide_no_program() {
    FROB.all_are_stopped(
        None,
        &[
            "tclsh <<< 'set f [open \"|frob 1\"]; puts [read $f]'",
            "tclsh <<< 'set f [open {|frob 1} r]'",
            "tclsh <<< 'open |[list frob 1]'",
            "tclsh <<< 'exec {*}{frob 1}'",
            "tclsh <<< 'eval [string map {X e} Xxec] frob'",
            "expect <<< 'eval $x'",
            "echo 'exec frob' > w.tcl; tclsh <<< 'source w.tcl'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "tclsh <<< 'set f [open a.txt r]; puts [read $f]; close $f'",
            "tclsh <<< 'foreach x {1 2} { puts $x }'",
            "tclsh <<< 'eval {puts 1}'",
        ],
    );
}

#[test]
fn calls_that_get_their_arguments_apart_pass_no_rule() {
    FROB.all_are_stopped(
        None,
        &[
            "elixir -e 'System.cmd(\"frob\", x)'",
            "elixir -e 'System.cmd(x, [])'",
            "crystal eval 'Process.run(x, [\"a\"])'",
            "nim --eval:'import osproc; discard execProcess(x, args=[\"a\"])'",
        ],
    );
    FROB.none_is_asked_about(
        None,
        &[
            "elixir -e 'System.cmd(\"ls\", [\"-l\"])'",
            "elixir -e 'IO.puts(Enum.join([1, 2]))'",
            "crystal eval 'Process.run(\"ls\", [\"-l\"])'",
        ],
    );
}
