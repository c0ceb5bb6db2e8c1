# termd's shell integration for fish: a vendor snippet, found by XDG_DATA_DIRS.
#
# Tells the terminal where each prompt, command and output begins (OSC 133), what the command line
# was (OSC 633;E, with the terminal's nonce) and where the shell is (OSC 7). By events alone: no
# function of the user's is touched, and so there is no B, which only fish_prompt could print.

set -l nonce $TERMD_SHELL_NONCE
set -e TERMD_SHELL_NONCE
set -l ours $TERMD_SHELL_DATA_DIR
set -e TERMD_SHELL_DATA_DIR
if set -q TERMD_SHELL_XDG_DATA_DIRS
    set -gx --path XDG_DATA_DIRS $TERMD_SHELL_XDG_DATA_DIRS
    set -e TERMD_SHELL_XDG_DATA_DIRS
else
    set -e XDG_DATA_DIRS
end
# The places that fish has made of it.
for places in __fish_vendor_confdirs __fish_vendor_functionsdirs __fish_vendor_completionsdirs fish_function_path fish_complete_path
    set -q $places; and set -g $places (string match -v -- "$ours/*" $$places)
end

status is-interactive; and test -n "$nonce"; or exit 0
set -g __termd_nonce $nonce
set -g __termd_ran 0

function __termd_prompt --on-event fish_prompt --on-event fish_cancel
    # Before A: whoever waits for the prompt knows then where the command has led.
    builtin printf '\e]7;file://%s%s\e\\' $hostname (builtin string escape --style=url -- $PWD) >/dev/tty 2>/dev/null
    builtin printf '\e]133;A\e\\' >/dev/tty 2>/dev/null
end

function __termd_preexec --on-event fish_preexec
    set -g __termd_ran 1
    # A line that begins with a space is nobody's business.
    if not builtin string match -qr '^[ ]|^$' -- "$argv[1]"
        builtin printf '\e]633;E;%s;%s\e\\' (__termd_escaped "$argv[1]" | builtin string collect) $__termd_nonce >/dev/tty 2>/dev/null
    end
    builtin printf '\e]133;C\e\\' >/dev/tty 2>/dev/null
end

function __termd_postexec --on-event fish_postexec
    set -l code $status
    if test $__termd_ran = 1
        set -g __termd_ran 0
        builtin printf '\e]133;D;%d\e\\' $code >/dev/tty 2>/dev/null
    end
end

# In a paste a TAB is a character as any other. fish 3 inserts none of its own accord.
bind -M paste \t 'commandline -i \t' 2>/dev/null

# Backslash, semicolon and control characters as VS Code escapes them.
function __termd_escaped
    set -l text (builtin string sub -l 16384 -- "$argv[1]" | builtin string collect)
    set text (builtin string replace -a '\\' '\\\\' -- $text | builtin string collect)
    set text (builtin string replace -a ';' '\\x3b' -- $text | builtin string collect)
    # A newline alone: a command substitution would cut at it.
    set text (builtin string replace -a \n '\\x0a' -- $text | builtin string collect)
    if builtin string match -qr '[\x01-\x1f\x7f]' -- $text
        for hex in {0,1}{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f} 7f
            contains -- $hex 00 0a; and continue
            set text (builtin string replace -a (builtin printf "\\x$hex") "\\\\x$hex" -- $text | builtin string collect)
        end
    end
    builtin printf '%s' $text
end
