//! Code of other languages is read as these languages read it: what quotes, comments, patterns and
//! escapes hide from a reader that does not know them.
#![allow(clippy::too_many_lines)] // Tables.

use termd_proto::policy::{Effect, Judgement, Verdict};
use termd_proto::terminal::Front;

use super::rules::rules;
use crate::danger::code::plain::{self, Code};
use crate::{CompiledGate, Invocation, Policy, Request, judge};

/// How each program is given a code.
fn argv(program: &str, code: &str) -> Vec<String> {
    let option: &[&str] = match program {
        "python3" => &["-c"],
        "emacs" => &["--batch", "--eval"],
        "awk" => &[],
        "php" => &["-r"],
        "perl -ne" => &["-ne"],
        "perl -pe" => &["-pe"],
        _ => &["-e"],
    };
    let name = program.split(' ').next().unwrap();
    let words = [name].into_iter().chain(option.iter().copied());
    words.chain([code]).map(str::to_owned).collect()
}

pub(super) fn judged(program: &str, code: &str, policy: &Policy) -> Judgement {
    let argv = argv(program, code);
    let request = Request {
        front: Front::Mcp,
        ..Request::from(Invocation::Argv(&argv))
    };
    judge(&request, &CompiledGate::default(), policy)
}

/// Asserts that code which removes `v` is a question, and code which starts `frob` where a rule denies it.
pub(super) fn all_are_stopped(program: &str, codes: &[&str]) {
    let denies = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let passing: Vec<&&str> = codes
        .iter()
        .filter(|code| {
            let removes = [" v", "'v'", "\"v\"", "(v)"]
                .iter()
                .any(|name| code.contains(name));
            if removes {
                return judged(program, code, &Policy::default()).verdict == Verdict::Safe;
            }
            let judgement = judged(program, code, &denies);
            let is_asked = judgement.effect == Effect::Confirm && judgement.needs_person;
            judgement.effect != Effect::Deny && !is_asked
        })
        .collect();
    let (count, all) = (passing.len(), codes.len());
    assert!(
        passing.is_empty(),
        "{program}: {count} of {all}: {passing:#?}"
    );
}

/// Asserts that no code is a question, also where a rule denies a program.
pub(super) fn none_is_asked_about(program: &str, codes: &[&str]) {
    let denies = rules("[[rules]]\neffect = 'deny'\nprogram = 'frob'").unwrap();
    let asked: Vec<_> = codes
        .iter()
        .map(|code| (code, judged(program, code, &denies)))
        .filter(|(_, judgement)| judgement.effect != Effect::Allow)
        .map(|(code, judgement)| (code, judgement.reason))
        .collect();
    assert!(asked.is_empty(), "{program}: {asked:#?}");
}

#[test]
fn python_is_read_by_its_grammar() {
    all_are_stopped(
        "python3",
        &[
            "import os\n# it's\nos.system('frob 1')",
            "import os\n# \"\nos.system(\"frob 1\") # \"",
            "import os # it's\nos.system('rm -rf v')\n# don't",
            "import os # \"\"\"\nos.system(\"rm -rf v\") # \"\"\"",
            "import os\nx='''\n#'''\nos.system('frob 1')\n'''\n'''",
            "import os;x=\"\\\\\"\nos.system(\"frob 1\")\n#\"",
            "import os;os.system(\"\\N{LATIN SMALL LETTER F}rob 1\")",
            "import os;os.system(\"r\\N{LATIN SMALL LETTER M} -rf v\")",
            "import os;os.system((\"f\"\n#)\n\"rob 1\"))",
            "import os;os.system((\"r\"\n# it's\n\"m -rf v\"))",
            "import os;os.system(#'\n\"frob 1\")",
            "import os;os.system(\"fr\\\nob 1\")",
            "import os;os.system(\"r\\\nm -rf v\")",
            "import os;os.system(\"\"\"r\\\nm -rf v\"\"\")",
            "import os;os.\u{17f}ystem(\"frob 1\")",
            "from os import \u{17f}ystem\n\u{17f}ystem(\"rm -rf v\")",
            "import os;x=f\"{os.system('frob 1')}\"",
            "import os;x=f'''{os.system(\"rm -rf v\")}'''",
            "import os;x=f\"{{{os.system('frob 1')}}}\"",
            "import os;x=f\"\\{os.system('rm -rf v')}\"",
            "import os;x=rf\"{os.system('rm -rf v')}\"",
            "import os;x=\"a\" f\"{os.system('frob 1')}\"",
            "import os;x=f\"{0:{os.system('frob 1')}}\"",
            "import os;x=f\"{f'{os.system(chr(102) + 'rob 1')}'}\"",
            "import subprocess as s;print(f\"{s.run(['rm','-rf','v'])}\")",
            "import shutil;print(f\"{shutil.rmtree('v')}\")",
            "import os\rx=1 # it's\ros.system('frob 1')",
            "# coding: unicode_escape\n#\\x0aimport os;os.system(\"frob 1\")",
            "import os\nx=(1\n// os.system('frob 1'))",
            "import os\nx='",
            "import shutil # it's\nshutil.rmtree('v')",
        ],
    );
    none_is_asked_about(
        "python3",
        &[
            "# it's a test\nimport json\nprint(json.load(open('a.json'))['x'])",
            "import json,sys # don't\nd=json.load(sys.stdin)\nfor k,v in d.items():\n    print(f\"{k}: {v['name']!r:>10}\")",
            "import re\nprint(re.sub(r\"it's\\s+(\\w+)\", r'\\1', open('a').read()))",
            "print(f'{sum(range(10)):,} rows, {100 * 0.5:.1f}% {{x}}')",
            "q = \"\"\"\nselect * from t -- it's\nwhere a = 'b'\n\"\"\"\nprint(q)",
            "import csv\nwith open('a.csv') as f:\n    rows = [r for r in csv.DictReader(f) if r['n'] != \"it's\"]\nprint(len(rows), rows[0] if rows else None)",
            "import subprocess\nprint(subprocess.run(['git', 'log', '--oneline'], capture_output=True, text=True).stdout)",
            "import ast;print(ast.dump(ast.parse(open('a.py').read())))",
            "match x:\n    case {'a': 1}: print('\\N{BULLET} it\\'s')\n    case _: pass",
            "def f(a: int = 1, *b: str) -> 'x':\n    '''It's f.'''\n    return a if b else -a\nprint(f(1))",
            "print('a' + \\\n  'b')",
            "é = 1\nprint(é)",
            "print 'old'",
        ],
    );
}

#[test]
fn javascript_is_read_by_its_grammar() {
    let started = "require(\"child_process\").execSync(\"frob 1\",{stdio:\"inherit\"})";
    let removes = "require('child_process').execSync('rm -rf v')";
    let forms = [
        format!("// it's\n{started}"),
        format!("// it's\n{removes}"),
        format!("/* ` */ {started}"),
        format!("/* it's */ {removes}"),
        format!("x=/'/;{started}"),
        format!("x=/\"/;{removes}"),
        format!("x=/`/;{started};x=/`/"),
        format!("x=/[/'`\"]/;{started}"),
        format!("x=`${{{started}}}`"),
        format!("x=`${{{removes}}}`"),
        format!("x=`a${{`b${{{removes}}}`}}`"),
        format!("<!-- it's\n{started}"),
        format!("x=1\n--> it's\n{started}"),
        format!("#!it's\n{started}"),
        format!("if(1)/'/.test('');{started}"),
        format!("x=[]/1;y=/'/;{started}"),
        format!("x=1;x++/2;y=/'/;{started}"),
        format!("{{}}/'/.test('');{started}"),
    ];
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    all_are_stopped("node", &forms);
    all_are_stopped(
        "node",
        &[
            "require(\"child_process\").execSync(\"fr\\\nob 1\")",
            "require(\"child_process\").execSync(\"r\\\nm -rf v\")",
            "require(\"child_process\").execSync(`fr${\"ob\"} 1`)",
            "require(\"child_process\").execSync(//x\"\n\"frob 1\")",
            "require(\"child_process\").exec\\u0053ync(\"frob 1\")",
            "require(\"fs\").rm\\u0053ync(\"v\",{recursive:true,force:true})",
            "x=`${require(\"fs\").rmSync(\"v\",{recursive:true,force:true})}`",
            "// it's\nrequire('fs').rmSync('v',{recursive:true,force:true})",
            "Function(\"r\",\"r('child_process').execSync('frob 1',{stdio:'inherit'})\")(require)",
        ],
    );
    none_is_asked_about(
        "node",
        &[
            "// it's a test\nconst d=require('./a.json');console.log(`${d.name}: ${Object.keys(d).length}`)",
            "console.log(process.argv.map(a=>a.replace(/['\"`]/g,'')).join(','))",
            "const s=require('fs').readFileSync('a','utf8');console.log(s.split(/\\r?\\n/).filter(l=>/^#/.test(l)).length/2)",
            "/* don't */ console.log([1,2,3].map(x=>x/2), `it's ${1 + 1} ${`n${2}`}`)",
            "console.log(require('child_process').execSync('git status').toString())",
            "import('node:fs').then(fs=>console.log(fs.readdirSync('.').length))",
            "(async()=>{for await (const l of require('readline').createInterface({input:process.stdin}))console.log(l?.trim()??'')})()",
        ],
    );
}

#[test]
fn ruby_and_lua_are_read_by_their_grammars() {
    all_are_stopped(
        "ruby",
        &[
            "# it's\nsystem('frob 1')",
            "x=?'\nsystem('frob 1')",
            "x=\"#{system(%q(frob 1))}\"",
            "x=\"#{`rm -rf v`}\"",
            "x=%w(')\nsystem('frob 1')",
            "x=/'/\nsystem('rm -rf v')",
            "=begin\nit's\n=end\nsystem('frob 1')",
            "x=<<A\n\"\nA\nsystem(\"frob 1\")",
            "system <<A\nrm -rf v\nA",
            "system \"r\\\nm -rf v\"",
            "system \"fr\\u{6f}b 1\"",
            "x=$'\nsystem('frob 1')",
            "%x[rm -rf v]",
            "system(*%w[rm -rf v])",
            "x=/#{system('rm -rf v')}/",
        ],
    );
    none_is_asked_about(
        "ruby",
        &[
            "# it's\nrequire 'json'\nputs JSON.parse(STDIN.read).map { |h| \"#{h['a']}: it's #{h['b']}\" }",
            "puts %w[a b c].each_slice(2).to_a.inspect; x = <<~T\n  it's\nT\nputs x =~ /it's/ ? :y : :n",
            "ARGF.each_line { |l| puts l.gsub(/[\"']/, '') if l =~ %r{^/usr} }",
        ],
    );
    all_are_stopped(
        "lua",
        &[
            "-- it's\nos.execute('frob 1')",
            "--[[ ' ]] os.execute('rm -rf v')",
            "--[==[ it's ]==] os.execute('frob 1')",
            "x=[[']] os.execute('frob 1')",
            "os.execute(\"r\\z m -rf v\")",
            "os.execute[[rm -rf v]]",
            "os.execute\"fr\\111b 1\"",
        ],
    );
    none_is_asked_about(
        "lua",
        &[
            "-- it's\nfor l in io.lines('a') do print(#l, l:gsub(\"'\", '')) end",
            "local t = {a = [[it's]], ['b'] = 1 // 2} print(t.a .. \"'\")",
        ],
    );
}

#[test]
fn perl_is_read_by_its_reader() {
    all_are_stopped(
        "perl",
        &[
            "# it's\nsystem('frob 1')",
            "# \"\nsystem(\"frob 1\")",
            "$x=1; # it's\nsystem('rm -rf v')",
            "=pod\n\nit's\n\n=cut\n\nsystem('frob 1')",
            "=x\n\"\n=cut\nsystem(\"frob 1\")",
            "$x=/'/;system('frob 1')",
            "$_=1;s/'//;system('frob 1')",
            "y/'//;system('rm -rf v')",
            "tr'a'b';system('frob 1')",
            "$x=q(');system('frob 1')",
            "$x=q{'};system('rm -rf v')",
            "@a=qw(');system('frob 1')",
            "$x=q#'#;system('frob 1')",
            "$x=qr/'/;system('frob 1')",
            "$x=m,',;system('frob 1')",
            "$x=$';system('frob 1')",
            "$x=$\";system(\"frob 1\")",
            "$x=$`;system('frob 1')",
            "$#a;'#';system('frob 1')",
            "$x=$#{a};system('frob 1')",
            "isn't(1)if 0;system('frob 1')",
            "$x=$main'y;system('frob 1')",
            "print \"@{[system(q(frob 1))]}\"",
            "print \"${\\system(q(frob 1))}\"",
            "print \"@{[`frob 1`]}\"",
            "print \"@{[`rm -rf v`]}\"",
            "print \"$h{system('frob 1')}\"",
            "print qq{@{[system('frob 1')]}}",
            "print <<X;\n@{[system('frob 1')]}\nX",
            "print <<`X`;\nfrob 1\nX",
            "print <<~`X`;\n  rm -rf v\n  X",
            "print qx'frob 1'",
            "print qx#frob 1#",
            "print qx frob\\ 1 ",
            "s/^/system('frob 1')/e",
            "s//`frob 1`/ee",
            "s{}{system('rm -rf v')}e",
            "/(?{system('frob 1')})/",
            "''=~m{(?{system('rm -rf v')})}",
            "system \"fr\\x{6f}b 1\"",
            "system \"fr\\o{157}b 1\"",
            "system \"fr\\N{U+6f}b 1\"",
            "system \"\\lFrob 1\"",
            "system \"f\\Erob 1\"",
            "system \"f\\Qrob\"",
            "system \"r\\Em -rf v\"",
            "system \"\\LRM -RF\\E v\"",
            "system(qw[rm -rf v])",
            "print \"@{[do{use File::Path;rmtree(q(v))}]}\"",
            "$_='frob 1';system$_",
            "<<'A';\nit's\nA\nsystem('frob 1')",
            "<<A;\n\"\nA\nsystem(\"frob 1\")",
            "<<\"A B\";\nit's\nA B\nsystem('frob 1')",
            "<<~A;\n  it's\n  A\nsystem('frob 1')",
            "<<A.<<B;\nit's\nA\n\nB\nsystem('rm -rf v')",
            "foo /'/;system('frob 1');/'/",
            "{}/'/;system('frob 1');/'/",
            "$h{s}/2;'/';system('frob 1')",
            "x(y=>'a');system('frob 1')",
            "-s '/';system('frob 1')",
            "format X =\n'\n.\nsystem('frob 1')",
        ],
    );
    all_are_stopped(
        "perl -ne",
        &[
            "# it's\nsystem('frob 1')",
            "BEGIN{}# it's\nsystem('rm -rf v')",
        ],
    );
    none_is_asked_about(
        "perl",
        &[
            "# it's\nmy %h = (a => 1, 'b' => 2, s => 3); print join(\",\", map { \"$_=$h{$_}\" } sort keys %h), \"\\n\";",
            "my @a = map { $_->{name} } @{ $d->{items} }; printf \"%s it's %d\\n\", $a[0], scalar(@a) / 2;",
            "open(my $f, '<', 'a.txt') or die \"can't open: $!\"; while (readline $f) { chomp; print \"$.: $_\\n\" if /it's/ } close $f",
            "use JSON::PP; my $d = decode_json(do { local $/; <STDIN> }); print $d->{'x'}[0]{y}, \"\\n\"",
            "print <<EOT;\nit's $x and @{[1 + 1]}\nEOT\nprint \"done\\n\"",
            "my ($x, $y) = @ARGV; print $x / $y, \"\\n\"; print \"$x->{a}{b} $y[0] a\\@b.c\\n\"",
            "sub f($$;@) { my ($a, $b) = @_; return $a <=> $b || lc $a cmp lc $b } print sort { f($a, $b) } qw(b a)",
            "$s =~ s{/\\*.*?\\*/}{}gs; $s =~ tr/a-z//cd; print length($s) % 7 ? 'x' : \"y\"",
        ],
    );
    none_is_asked_about(
        "perl -pe",
        &[
            "s/it's/its/g",
            "s/(\\d+)/$1+1/e",
            "s{^(\\s*)\"}{$1'}; tr/A-Z/a-z/",
            "s/\\$\\{(\\w+)\\}/$ENV{$1} \\/\\/ ''/ge",
            "s/[\"']//g if $. > 1; s,//.*$,,",
            "BEGIN{undef $/} s/\\n\\n+/\\n/g",
            "s/\\b(\\w)/\\U$1/g",
            "$_ = sprintf(\"%3d %s\", $., $_)",
            "next unless /^#\\s*(.+?)'?$/; $_ = \"$1\\n\"",
            "print if /a/ .. /b/; s/x$/y/; s/a|b$|c/d/",
        ],
    );
}

#[test]
fn awk_is_read_by_its_reader() {
    all_are_stopped(
        "awk",
        &[
            "# it's\nBEGIN{system(\"frob 1\")}",
            "# \"\nBEGIN{system(\"frob 1\")}",
            "BEGIN{x=1 # \"\nsystem(\"rm -rf v\")}",
            "BEGIN{if(\"\"~/\"/)x;system(\"frob 1\")}",
            "/\"/{x}BEGIN{system(\"frob 1\")}",
            "BEGIN{x=/[/\"]/;system(\"frob 1\")}",
            "BEGIN{x=/\\\"/;system(\"rm -rf v\")}",
            "BEGIN{system(\"fr\\\nob 1\")}",
            "BEGIN{system(\"r\\\nm -rf v\")}",
            "BEGIN{a=1/2;b=\"/\";system(\"frob 1\")}",
            "BEGIN{a=b/c;d=\"x/\";system(\"rm -rf v\")}",
            "BEGIN{if(1)/\"/;system(\"frob 1\");/\"/}",
            "BEGIN{a=b++/2;c=\"/\";system(\"frob 1\")}",
            "BEGIN{system(\"frob 1",
        ],
    );
    none_is_asked_about(
        "awk",
        &[
            "# it's\n{ print $1 / 2, \"it's\" }",
            "/^[^\"]*\"/ { gsub(/[^/]*$/, \"\"); print $NF/NR }",
            "BEGIN { FS=\"\\t\"; OFS=\",\" } NR > 1 && $3 ~ /it's|\"x\"/ { s[$1] += $2 / ($4 - 1) } END { for (k in s) printf \"%s %.2f\\n\", k, s[k] / n }",
            "{ split($0, a, /[\\/,]/); print a[1]/a[2] \\\n, length(a[3]) }",
            "if (x) /a/",
            "{ print | \"sort -n\" }",
        ],
    );
}

#[test]
fn a_line_typed_into_an_interpreter_may_be_a_part() {
    let typed = |program, line| {
        let request = Request {
            program: Some(program),
            front: Front::Mcp,
            ..Request::from(Invocation::Line(line))
        };
        judge(&request, &CompiledGate::default(), &Policy::default()).verdict
    };
    for (program, line) in [
        ("python3", "for x in ['a', \"b\"]:"),
        ("python3", "    print(f'{x}: it\\'s')"),
        ("python3", "else: # it's"),
        ("python3", "except ValueError as e:"),
        ("python3", "x = foo('a',"),
        ("python3", "    'b')"),
        ("node", "if (x === 'a') { // it's"),
        ("node", "} else {"),
        ("node", "const x = f('a', () => {"),
        ("node", "})"),
        ("ruby", "xs.each do |x| # it's"),
        ("ruby", "end"),
    ] {
        assert_eq!(typed(program, line), Verdict::Safe, "{program} {line}");
    }
    for (program, line) in [
        ("python3", "x=f\"{os.system('rm -rf v')}\""),
        ("python3", "if 1: # it's"),
        ("python3", "''';os.system('rm -rf v')"),
    ] {
        let is_head = line.ends_with("it's");
        assert_eq!(
            typed(program, line) == Verdict::Safe,
            is_head,
            "{program} {line}"
        );
    }
}

/// How long one code of the greatest length may take to be put into one spelling. A release takes a tenth.
const MAX_READ_TIME: std::time::Duration = std::time::Duration::from_secs(2);

#[test]
fn the_longest_code_is_read_in_short_time() {
    for (program, line) in [
        ("python3", "d = {'a': f\"{x['b']!r} {y}\"} # it's\n"),
        ("node", "d = {a: `${x.b} ${y}`}; /['\"]/.test(d) // it's\n"),
        (
            "ruby",
            "d = {'a' => \"#{x} #{y.z}\"} if d =~ /['\"]/ # it's\n",
        ),
        ("lua", "d = {a = \"x\\n\", b = [[it's]]} -- it's\n"),
        (
            "perl",
            "$d = {'a' => \"$x $y->{z}\"} if /['\"]/; s/'//g; # it's\n",
        ),
        (
            "awk",
            "/\"/ { d = \"x\" a / 2; gsub(/[\"']/, \"\") } # it's\n",
        ),
    ] {
        let code = line.repeat((64 << 10) / line.len());
        let started = std::time::Instant::now();
        let read = plain::read(program, &code);
        let took = started.elapsed();
        println!("{program}: {took:?}");
        assert!(matches!(read, Code::Plain(_)), "{program}");
        assert!(took < MAX_READ_TIME, "{program}: {took:?}");
    }
}
