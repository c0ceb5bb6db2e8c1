# termd's shell integration for bash 5.1 and newer; an older one only gets its own files read.
#
# Tells the terminal where each prompt, command and output begins (OSC 133), what the command line
# was (OSC 633;E, with the terminal's nonce) and where the shell is (OSC 7). Bash reads this file in
# place of ~/.bashrc (--init-file), or, as a login shell, as $ENV of its posix mode; either way the
# user's own files are read from here just as bash would have read them.

__termd_nonce=${TERMD_SHELL_NONCE-}
unset TERMD_SHELL_NONCE

# Before the user's files, so that none of their aliases is compiled into a function.

# The first of PROMPT_COMMAND: what the user's own print comes after the command has ended.
# $1 is the exit code of the command; $2, where it is asked for, the user's DEBUG trap.
__termd_prompt() {
    { local -; set +aefuvx; } 2>/dev/null
    {
        # A line that bash has read and not run, such as a comment, or one with an error of syntax. It is in
        # the history, and has an exit code.
        if [[ ! ${__termd_ran-} && ${__termd_number-} && ${HISTCMD-} != "$__termd_number" ]]; then
            __termd_ran=$(__termd_say_newest)
            builtin printf '%s' "$__termd_ran"
        fi
        if [[ ${__termd_ran-} ]]; then builtin printf '\e]133;D;%d\e\\' "$1"; fi
        # Before A: whoever waits for the prompt knows then where the command has led.
        __termd_cwd
        builtin printf '\e]133;A\e\\'
    } 2>/dev/null >/dev/tty
    __termd_ran=
    __termd_number=${HISTCMD-}
    __termd_arrange "${2-}"
    __termd_wrap
    return 0
}

# Only where the user's own hooks make PS1 anew each time: the last of PROMPT_COMMAND.
__termd_last() {
    { local -; set +aefuvx; } 2>/dev/null
    __termd_number=${HISTCMD-}
    __termd_wrap
    return 0
}

# Prints the working directory; what is not unreserved (RFC 3986, 2.3) is percent-encoded.
__termd_cwd() {
    local LC_ALL=C
    if [[ ${__termd_pwd-} != "$PWD" ]]; then
        local at byte
        __termd_pwd=$PWD __termd_url=
        for ((at = 0; at < ${#PWD}; at++)); do
            byte=${PWD:at:1}
            if [[ $byte != [a-zA-Z0-9/._~-] ]]; then
                builtin printf -v byte '%02X' "'$byte"
                # A byte above 0x7f may come out as a negative number.
                byte=%${byte: -2}
            fi
            __termd_url+=$byte
        done
    fi
    builtin printf '\e]7;file://%s%s\e\\' "${HOSTNAME-}" "$__termd_url"
}

# A hook that runs after the user's would set off a DEBUG trap of theirs, and a trap that starts a
# clock would start it at the prompt. So there is one only where B cannot do without it.
__termd_arrange() {
    local debug_trap=$1 hook hooks=() rebuilt=
    # Wrapped at the prompt before, and no longer.
    if [[ ${__termd_wrapped-} && $PS1 != "$__termd_wrapped" && $PS1 != *__termd_b* ]]; then
        rebuilt=1
    elif [[ ${__termd_rebuilt-} ]]; then
        rebuilt=1
    fi
    [[ $rebuilt == "${__termd_rebuilt-}" && ! $rebuilt ]] && return
    for hook in "${PROMPT_COMMAND[@]}"; do
        # Somebody may have appended to the first element.
        hook=${hook#'{ __termd_prompt "$?"'} hook=${hook#' "$(builtin trap -p DEBUG)"'}
        hook=${hook#'; } 2>/dev/null'}
        hook=${hook#[;$'\n']}
        if [[ $hook && $hook != __termd_last ]]; then hooks+=("$hook"); fi
    done
    PROMPT_COMMAND=('{ __termd_prompt "$?" "$(builtin trap -p DEBUG)"; } 2>/dev/null' "${hooks[@]}")
    # The trap is known from the second time on.
    if [[ ${__termd_rebuilt-} && ! $debug_trap ]]; then PROMPT_COMMAND+=(__termd_last); fi
    __termd_rebuilt=1
}

# B ends the prompt, C stands before the output. By variables that are not exported: a shell that
# inherits an exported PS1 or PS0 gets nothing from them. Where promptvars is off there is only C,
# and never a text.
__termd_wrap() {
    local b='${__termd_b-}' c='${__termd_c[__termd_ran=1]+$(__termd_preexec)}'
    local bare_b='\[\e]133;B\e\\\]' bare_c='\e]133;C\e\\'
    PS1=${PS1//"$b"/} PS1=${PS1//"$bare_b"/}
    PS0=${PS0-} PS0=${PS0//"$c"/} PS0=${PS0//"$bare_c"/}
    if shopt -q promptvars; then
        PS1+=$b PS0+=$c
    else
        PS1+=$bare_b PS0+=$bare_c __termd_ran=1
    fi
    __termd_wrapped=$PS1
}

# In a subshell, after the line was read and before it is run.
__termd_preexec() {
    { local -; set +aefuvx; } 2>/dev/null
    __termd_say_newest
    builtin printf '\e]133;C\e\\'
}

# The text is that of the history, where it is certain that the line is in it; one that begins with a
# space is nobody's business.
__termd_say_newest() {
    local LC_ALL=C HISTTIMEFORMAT= entry number text
    entry=$(builtin history 1 2>/dev/null)
    if [[ $entry =~ ^\ *([0-9]+)\*?\ \ (.*)$ ]]; then
        number=${BASH_REMATCH[1]} text=${BASH_REMATCH[2]}
        if [[ $number == "$__termd_number" ]] || __termd_is_repeated "$number"; then
            __termd_say "$text"
        fi
    fi
}

# Whether a line that is not in the history anew can only be the last one again.
__termd_is_repeated() {
    (($1 + 1 == ${__termd_number:-0})) && [[ ! ${HISTIGNORE-} && -o history ]] &&
        [[ :${HISTCONTROL-}: == *:ignoredups:* && :$HISTCONTROL: != *:ignorespace:* ]]
}

# OSC 633;E: backslash, semicolon and control characters as VS Code escapes them.
__termd_say() {
    local text=${1:0:16384} code byte hex
    [[ $text == ' '* || ! $__termd_nonce ]] && return
    text=${text//\\/\\\\}
    text=${text//;/\\x3b}
    if [[ $text == *[[:cntrl:]]* ]]; then
        for code in {1..31} 127; do
            builtin printf -v hex '%02x' "$code"
            builtin printf -v byte "\\x$hex"
            text=${text//"$byte"/\\x$hex}
        done
    fi
    builtin printf '\e]633;E;%s;%s\e\\' "$text" "$__termd_nonce"
}

if shopt -q login_shell; then
    set +o posix
    shopt -u inherit_errexit
    if [[ -v TERMD_SHELL_ENV ]]; then
        export ENV=$TERMD_SHELL_ENV
        unset TERMD_SHELL_ENV
    else
        unset ENV
    fi
    # Posix mode has a history file of its own.
    if [[ ${HISTFILE-} == ~/.sh_history ]]; then HISTFILE=~/.bash_history; fi
    # bash(1), INVOCATION: "interactive login shell".
    if [[ -r /etc/profile ]]; then . /etc/profile; fi
    if [[ -r ~/.bash_profile ]]; then
        . ~/.bash_profile
    elif [[ -r ~/.bash_login ]]; then
        . ~/.bash_login
    elif [[ -r ~/.profile ]]; then
        . ~/.profile
    fi
elif [[ -r ~/.bashrc ]]; then
    . ~/.bashrc
fi

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    # Readline takes what is between 1 and 2 as without width.
    __termd_b=$'\001\e]133;B\e\\\002'
    __termd_c=([1]=)
    # In a group, so that `set -x` does not show it.
    PROMPT_COMMAND=('{ __termd_prompt "$?"; } 2>/dev/null' "${PROMPT_COMMAND[@]}")
fi
