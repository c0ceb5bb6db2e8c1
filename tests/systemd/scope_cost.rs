//! The cost of a scope.

use std::io::{self, Write};

use super::scopes::configured;

/// Starts the commands of the two requests in turns, so that other load slows both down. It prints
/// the median of each in milliseconds.
const MEASURE: &str = r#"
use IO::Socket::UNIX; use Time::HiRes qw(time);
my $daemon = IO::Socket::UNIX->new(shift) or die; my @took;
for (1 .. 41) {
    for my $i (0, 1) {
        my $begin = time; print $daemon "$ARGV[$i]\n"; my $line = <$daemon>;
        $line =~ /"result"/ or die $line; push @{$took[$i]}, 1e3 * (time - $begin);
    }
}
printf '%.1f bare, %.1f in a scope', map { (sort { $a <=> $b } @$_)[20] } @took;
"#;

/// The figures are printed for docs/policy.md.
#[test]
fn what_a_scope_costs() {
    let Some((installed, has_all)) = configured() else {
        return;
    };
    let request = |program: &str, argument: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session.create\",\"params\":\
             {{\"command\":\"{program}\",\"args\":[\"{argument}\"]}}}}"
        )
    };
    let (scoped, limits) = if has_all {
        (request("perl", "-v"), "memory, cpu, tasks")
    } else {
        (request("stat", "--version"), "none holds: best effort")
    };
    let script = r#"exec perl -e "$1" "$XDG_RUNTIME_DIR/termd/termd.sock" "$2" "$3""#;
    let bare = request("true", "-");
    let took = installed.ok(&["sh", "-c", script, "sh", MEASURE, &bare, &scoped]);
    assert!(took.contains("in a scope"), "{took}");
    let _ = writeln!(io::stderr(), "median of 41 starts in ms: {took} ({limits})");
}
