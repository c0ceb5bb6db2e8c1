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
