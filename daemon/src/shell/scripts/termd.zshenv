# termd's shell integration for zsh: what zsh reads as $ZDOTDIR/.zshenv.
#
# Tells the terminal where each prompt, command and output begins (OSC 133), what the command line
# was (OSC 633;E, with the terminal's nonce) and where the shell is (OSC 7). ZDOTDIR is put back
# first: zsh itself then finds the user's .zprofile, .zshrc and .zlogin where they are.

typeset -g __termd_nonce=$TERMD_SHELL_NONCE
unset TERMD_SHELL_NONCE
if (( ${+TERMD_SHELL_ZDOTDIR} )); then
    export ZDOTDIR=$TERMD_SHELL_ZDOTDIR
    unset TERMD_SHELL_ZDOTDIR
else
    unset ZDOTDIR
fi

# Before the user's files, so that none of their aliases is compiled into a function.
() {
    [[ -o interactive ]] || return
    builtin emulate -L zsh

    # A DEBUG trap of the user's goes off in functions, too; what is local to one (emulate -L sets
    # local_traps) is put back at its end.

    # The first of precmd_functions: what the user's own print comes after the command has ended.
    __termd_precmd() {
        builtin local -i code=$? has_eol_mark=0
        # zsh has printed that one already, and with it that the command has ended.
        [[ -o prompt_sp && -o prompt_cr && ${PROMPT_EOL_MARK-} == "$__termd_d"* ]] && has_eol_mark=1
        builtin emulate -L zsh
        builtin trap - DEBUG
        if [[ ${PROMPT_EOL_MARK-} == "$__termd_d"* && ${(t)PROMPT_EOL_MARK} != *readonly* ]]; then
            PROMPT_EOL_MARK=${PROMPT_EOL_MARK#"$__termd_d"}
            if (( __termd_made_eol_mark )); then builtin unset PROMPT_EOL_MARK; fi
        fi
        {
            # A line that zsh has read and not run: it has an error of syntax. It is in the history, and has
            # an exit code.
            if (( ! __termd_ran && code && __termd_number && HISTCMD > __termd_number )); then
                __termd_say "${history[$((HISTCMD - 1))]-}"
                __termd_ran=1
            fi
            if (( __termd_ran && ! has_eol_mark )); then builtin print -rn -- $'\e]133;D;'$code$'\e\\'; fi
            # Before A: whoever waits for the prompt knows then where the command has led.
            __termd_cwd
            builtin print -rn -- $'\e]133;A\e\\'
        } 2>/dev/null >/dev/tty
        __termd_ran=0 __termd_number=$HISTCMD
        # A hook of the user's may have made itself the last one, or set the prompt.
        if [[ $precmd_functions[1] != __termd_precmd || $precmd_functions[-1] != __termd_wrap ]]; then
            precmd_functions=(__termd_precmd ${precmd_functions:#__termd_*} __termd_wrap)
        fi
        if [[ $preexec_functions[-1] != __termd_preexec ]]; then
            preexec_functions=(${preexec_functions:#__termd_*} __termd_preexec)
        fi
    }

    # The last of precmd_functions. B ends the prompt for as long as it is shown.
    __termd_wrap() {
        builtin emulate -L zsh
        builtin trap - DEBUG
        [[ $PS1 == *$__termd_b ]] || PS1+=$__termd_b
    }

    # The last of preexec_functions. $1 is the line as it was typed.
    __termd_preexec() {
        builtin emulate -L zsh
        builtin trap - DEBUG
        __termd_ran=1
        PS1=${PS1%$__termd_b}
        # Where output does not end its last line, zsh prints a mark and spaces before anything of
        # ours: D comes first in it, so that they are not the command's.
        if [[ ${(t)PROMPT_EOL_MARK-} != *readonly* ]]; then
            __termd_made_eol_mark=$(( ! ${+PROMPT_EOL_MARK} ))
            builtin typeset -g PROMPT_EOL_MARK=$__termd_d${PROMPT_EOL_MARK-'%B%S%#%s%b'}
        fi
        {
            __termd_say "$1"
            builtin print -rn -- $'\e]133;C\e\\'
        } 2>/dev/null >/dev/tty
    }

    # OSC 633;E: backslash, semicolon and control characters as VS Code escapes them. A line that
    # begins with a space is nobody's business.
    __termd_say() {
        builtin emulate -L zsh -o no_multibyte
        builtin local text=${1[1,16384]} hex byte
        builtin local -i code
        [[ -z $text || $text == ' '* || -z $__termd_nonce ]] && builtin return
        text=${text//\\/\\\\}
        text=${text//;/\\x3b}
        if [[ $text == *[[:cntrl:]]* ]]; then
            for code in {1..31} 127; do
                builtin printf -v hex '%02x' $code
                builtin printf -v byte "\\x$hex"
                text=${text//$byte/\\x$hex}
            done
        fi
        builtin print -rn -- $'\e]633;E;'"$text;$__termd_nonce"$'\e\\'
    }

    # Prints the working directory; what is not unreserved (RFC 3986, 2.3) is percent-encoded.
    __termd_cwd() {
        builtin emulate -L zsh -o no_multibyte -o extended_glob
        if [[ $__termd_pwd != $PWD ]]; then
            builtin local LC_ALL=C match mbegin mend MATCH MBEGIN MEND
            __termd_pwd=$PWD
            __termd_url=${PWD//(#m)[^a-zA-Z0-9\/._~-]/%${(l:2::0:)$(([##16]#MATCH))}}
        fi
        builtin print -rn -- $'\e]7;file://'$HOST$__termd_url$'\e\\'
    }

    typeset -gi __termd_ran=0 __termd_number=0 __termd_made_eol_mark=0
    typeset -g __termd_pwd= __termd_url= __termd_b=$'%{\e]133;B\e\\%}'
    typeset -g __termd_d=$'%{\e]133;D;%?\e\\%}'
    typeset -ga precmd_functions preexec_functions
    precmd_functions=(__termd_precmd $precmd_functions __termd_wrap)
    preexec_functions+=(__termd_preexec)
}

if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
    builtin source ${ZDOTDIR:-$HOME}/.zshenv
fi
