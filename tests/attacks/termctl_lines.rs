//! A line that starts termctl is judged as what termctl would do.

use crate::Attack;
use crate::agents::assert_asked_about;

pub(crate) const ATTACKS: &[Attack] = &[(
    "termctl_in_a_line_is_asked_about",
    termctl_in_a_line_is_asked_about,
)];

/// An agent that starts termctl would be a person to the daemon.
fn termctl_in_a_line_is_asked_about() {
    assert_asked_about(&[
        "termctl run -- rm -rf x",
        "termctl run --confirmed -- rm -rf x",
        "termctl run -- termctl approve 1",
        "termctl create -- termctl approve --always 1",
        "t=$(termctl create -- bash); termctl send $t 'termctl approve 1' -e",
        "termctl attach t",
        "setsid -f env -i termctl approve 1",
    ]);
}
