//! Functions that code hands on as values, texts that a function is given later, and forms of code that a
//! reader takes for something else.
#![allow(clippy::too_many_lines)] // Tables.

use super::code::{all_are_stopped, none_is_asked_about};

#[test]
fn a_function_that_removes_is_one_by_any_way_that_it_is_called() {
    all_are_stopped(
        "python3",
        &[
            "import shutil\nlist(map(shutil.rmtree,['v']))",
            "import shutil\n[f('v') for f in [shutil.rmtree]]",
            "import shutil\n(lambda f:f('v'))(shutil.rmtree)",
            "import shutil\nd={'a':shutil.rmtree}\nd['a']('v')",
            "import shutil\na,b=shutil.rmtree,1\na('v')",
            "import shutil\nclass A: r=shutil.rmtree\nA.r('v')",
            "import shutil\ndef f(x,g=shutil.rmtree): g(x)\nf('v')",
            "from functools import partial\nimport shutil\npartial(shutil.rmtree)('v')",
            "import glob,os\nlist(map(os.remove,glob.glob('v/*'))) #'v'",
        ],
    );
    all_are_stopped(
        "node",
        &[
            "let r=require('fs').rmSync;r('v',{recursive:true})",
            "require('fs').rmSync.call(null,'v',{recursive:true})",
            "Reflect.apply(require('fs').rmSync,null,['v',{recursive:true}])",
            "require('fs')?.rmSync?.('v',{recursive:true})",
            "require('fs/promises').rm('v',{'recursive':!0})",
            "fs.rmSync('v',JSON.parse('{\"recursive\":true}'))",
            "(0,eval)('require(\"fs\").rmSync(\"v\",{recursive:true})')//'v'",
        ],
    );
    all_are_stopped(
        "ruby",
        &[
            "require 'fileutils';FileUtils.send(:rm_rf,'v')",
            "require 'pathname';Pathname.new('v').rmtree",
            "Dir.children('v').each{|f| File.delete f}",
        ],
    );
    all_are_stopped("perl", &["unlink for <v/*> #'v'", "map{unlink}<v/*> #'v'"]);
    none_is_asked_about(
        "python3",
        &[
            "from shutil import rmtree\nprint(1)",
            "import glob\nx = [a for a in glob.glob('*.py')]\ny = set(x); y.remove",
            "print([x.remove for x in []])",
        ],
    );
    none_is_asked_about(
        "node",
        &["const {rmSync, readFileSync} = require('fs'); console.log(readFileSync('a', 'utf8'))"],
    );
}

#[test]
fn a_text_is_a_line_where_code_starts_what_it_does_not_name() {
    all_are_stopped(
        "python3",
        &[
            "import os;(os.system)('rm -rf v')",
            "import timeit;timeit.timeit('__import__(\"os\").system(x)');y='rm -rf v'",
            "import _posixsubprocess as p;p.fork_exec(x)",
        ],
    );
    all_are_stopped(
        "ruby",
        &[
            "send :system,'rm -rf v'",
            "eval 'system(\"rm -rf v\")'",
            "'rm -rf v'.then{system(it)}",
            "['rm -rf v'].each(&method(:system))",
            "alias s system\ns 'rm -rf v'",
        ],
    );
    all_are_stopped(
        "lua",
        &[
            "_G.os.execute('rm -rf v')",
            "local o=os o.execute('frob 1')",
            "for k,g in pairs(os) do g('frob 1') end",
            "rawget(os,'execute')('frob 1')",
            "setmetatable({},{__index=os}).execute('frob 1')",
            "pcall(os.execute,'rm -rf v')",
            "goto x ::x:: os.execute('frob 1')",
            "os\n.\nexecute\n'frob 1'",
        ],
    );
    all_are_stopped(
        "perl",
        &[
            "system {'rm'} 'rm','-rf','v'",
            "my @a=qw(rm -rf v);system @a",
            "open(F,'-|','rm','-rf','v')",
            "eval q(system 'rm -rf v')",
            "system+('rm -rf v')",
            "map {`$_`} 'rm -rf v'",
            "$_='frob 1';exec",
        ],
    );
    all_are_stopped(
        "awk",
        &[
            "function f(x){system(x)}BEGIN{f(\"rm -rf v\")}",
            "BEGIN{c[1]=\"rm -rf v\";print|c[1]}",
            "BEGIN{print \"rm -rf v\"|\"cat|sh\"}",
            "BEGIN{print \"frob\"|\"xargs sh -c\"}",
        ],
    );
    none_is_asked_about("awk", &["{print | \"sort | uniq -c | sort -n\"}"]);
}

#[test]
fn what_may_be_read_in_two_ways_is_not_fine() {
    all_are_stopped(
        "perl",
        &[
            "package s;system('frob 1');1;",
            "use s;system('frob 1');1;",
            "no y;system('frob 1');1;",
            "X<<X;\nsystem('frob 1')\nX\n",
            "time<<A;\nsystem('rm -rf v')\nA\nsub A(){1}",
            "/(*{`frob 1`})/",
        ],
    );
    all_are_stopped("awk", &["/[[:alpha:]/\"]/{system(\"frob 1\")}#\""]);
    all_are_stopped(
        "php",
        &[
            "# it's\nsystem(\"rm -rf v\");",
            "/* \" */ system(\"rm -rf v\");",
            "/*\n\" */ system(\"rm -rf v\"); // \"",
            "// \"\nsystem(\"rm -rf v\");",
            "echo <<<A\n\"\nA;\nsystem(\"rm -rf v\");",
            "(\"sys\".\"tem\")(\"frob\");",
            "$x=[\"system\"];$x[0](\"frob\");",
        ],
    );
    all_are_stopped(
        "Rscript",
        &[
            "# \"\nsystem(\"frob 1\")",
            "r\"(\")\";system(\"rm -rf v\")",
            "(function(f)f(\"rm -rf v\"))(system)",
        ],
    );
    all_are_stopped(
        "julia",
        &["#= \" =# run(`rm -rf v`)", "#=\n\" =# run(`rm -rf v`) # \""],
    );
    none_is_asked_about(
        "perl",
        &[
            "print STDERR <<X;\nit's\nX\n",
            "my $t = <<X;\nit's\nX\nprint $t",
            "use strict; use y; print 1",
        ],
    );
    none_is_asked_about(
        "php",
        &[
            "echo json_encode([\"a\" => 1]), PHP_EOL; // done",
            "/* all\n of it */ echo \"a\";",
            "$u = \"https://a.b/c\"; print(parse_url($u)[\"host\"]);",
        ],
    );
    none_is_asked_about(
        "Rscript",
        &["x <- read.csv(\"a.csv\") # all\nprint(summary(x))"],
    );
}

#[test]
fn a_text_that_is_put_together_and_started_is_a_question() {
    all_are_stopped(
        "python3",
        &[
            "import os\nc='rm'\nc+=' -rf '\nos.system(c+'v') # v",
            "import os\nc='x'\nc='rm'\nc=c+' -rf'\nos.system(c+' v')",
            "import os\nc=''\nfor x in [114,109]: c+=chr(x)\nos.system(c+' v')",
            "import os\nos.system(''.join(x for x in 'v -fr mr'[::-1])) # v",
            "import os\nc=['r'+x for x in 'm']\nc.append('v')\nos.system(' '.join(c)) # v",
            "import os\nc='Xm -rf v'\nd=c.replace('X',y)\nos.system(d)",
            "import os\nc='XM -RF V'.translate(t)\nos.system(c.lower()) # v",
            "exec(''.join(map(chr, [112]))) # v",
            "s='imp'\ns+=x\nexec(s) # v",
            "import os\nos.system(f'{\"rm\"} -rf v')",
            "eval(input()) # v",
        ],
    );
    all_are_stopped(
        "node",
        &[
            "let c='rm';c+=' -rf v';require('child_process').execSync(c)",
            "let s='';for(const c of [114])s+=String.fromCharCode(c);require('child_process').execSync(s+' v')",
            "const a=[];a.push(x);require('child_process').execSync(a.join('')+' v')",
            "require('child_process').exec(['r','m'].map(x=>x).join('')+' -rf v')",
            "eval('req'+x+'(v)')",
            "eval(process.argv[1]) // v",
            "let p='x';p=p.split('').reverse().join('');new Function(p)() // v",
        ],
    );
    all_are_stopped(
        "ruby",
        &[
            "c='rm'; c << ' -rf v'; system(c)",
            "c='mr'; c.reverse!; system(c + ' -rf v')",
            "eval ['73797374656d2822726d202d72662076222900'].pack('H*') # v",
            "send(:sys.to_s+'tem','rm -rf v')",
            "puts `#{'rm'} -rf v`",
            "x='ma'; x.tr!('a-z','b-za'); system x # v",
        ],
    );
    all_are_stopped(
        "perl",
        &[
            "$c='rm'; $c.=' -rf v'; system $c",
            "$_='se -se i'; tr/a-z/n-za-m/; system($_) # v",
            "$c='XX -rf v'; $c =~ s/XX/$y/; system $c",
            "$c=lc('RM -RF V'); system $c; # v",
            "my $c = join '', map { chr } 114,109; exec \"$c -rf v\"",
            "eval pack('H*', $x) # v",
            "system reverse 'v fr- mr' # v",
        ],
    );
    all_are_stopped(
        "lua",
        &[
            "local c='rm' c=c..' -rf v' os.execute(c)",
            "local t={} for i=1,2 do t[#t+1]=x end os.execute(table.concat(t)..' v')",
            "local c=string.char(x,109) os.execute(c..' v')",
            "load(('x'):gsub('x',y))() -- v",
        ],
    );
    all_are_stopped(
        "awk",
        &[
            "BEGIN{c=\"rm\"; c=c \" -rf v\"; while((c|getline l)>0);}",
            "BEGIN{c=\"\"; for(i=0;i<2;i++) c=c sprintf(\"%c\",a[i]); system(c \" v\")}",
        ],
    );
    all_are_stopped("php", &["$c='rm'; $c.=' -rf v'; shell_exec($c);"]);
}

#[test]
fn a_line_whose_command_is_known_is_no_question() {
    none_is_asked_about(
        "python3",
        &["s='a'\ns+='b'\nprint(s.replace('a','c').upper())"],
    );
    // What a rule denies may run here, so only the verdict is looked at.
    for (program, code) in [
        (
            "python3",
            "import subprocess\nc=['cargo','test']\nc+=['--all']\nsubprocess.run(c)",
        ),
        (
            "python3",
            "import subprocess\nc=['git','log']\nif x: c.append('-p')\nc.extend(args)\nsubprocess.run(c)",
        ),
        (
            "python3",
            "import subprocess\nc='pytest'\nc+=f' -k {x}'\nsubprocess.run(c,shell=True)",
        ),
        (
            "python3",
            "import subprocess\nsubprocess.run('cp '+' '.join(fs)+' out/',shell=True)",
        ),
        (
            "python3",
            "import subprocess\ndef sh(c): return subprocess.check_output(c,shell=True).decode()\nprint(sh('git log'))",
        ),
        (
            "python3",
            "import os,subprocess\nsubprocess.run([os.path.join(b,'x'),'-v'])",
        ),
        (
            "python3",
            "import subprocess,shlex\nfor c in ['ls','pwd']: subprocess.run(shlex.split(c))",
        ),
        (
            "python3",
            "import re,subprocess\nout=subprocess.run(['ls'],capture_output=True).stdout.decode()\nout=out.replace('a','b')\nprint(out)",
        ),
        (
            "node",
            "const cp=require('child_process'),path=require('path');cp.execFileSync(path.join(d,'tsc'),['-v'])",
        ),
        (
            "node",
            "const {execSync}=require('child_process');const c=['npm ci','npm test'];execSync(c.join(' && '))",
        ),
        (
            "node",
            "const cp=require('child_process');let b='';b+=cp.execSync('ls');const m=/x(.*)/.exec(b);console.log(m)",
        ),
        (
            "node",
            "const cp=require('child_process');let c='npm test';if(x)c+=' --watch';cp.execSync(c)",
        ),
        ("ruby", "c='git log'; c << \" -n #{n}\"; system(c)"),
        ("ruby", "o=`git log`; o = o.gsub('a','b'); o << 'x'; puts o"),
        (
            "perl",
            "my $s='a'; $s.='b'; $s =~ tr/a/b/; my $o=`ls`; print lc $s",
        ),
        (
            "perl",
            "while(<>){ chomp; my $c = \"wc -l $_\"; system($c) if -f }",
        ),
        ("lua", "local s='a' s=s..'b' os.execute('ls '..s)"),
        (
            "awk",
            "{ s = s $1; c = \"date -d \" $2; c | getline d; close(c); print s d }",
        ),
    ] {
        let judgement = super::code::judged(program, code, &crate::Policy::default());
        assert_eq!(
            judgement.verdict,
            termd_proto::policy::Verdict::Safe,
            "{program} {code}: {judgement:?}"
        );
    }
}
