_termctl() {
    # bash takes words apart at `=` and `:`; they are put together again up to the cursor.
    local line=${COMP_LINE:0:COMP_POINT} word i last=-1
    local words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if ((i == 0)) || [[ $line == [[:space:]]* ]]; then
            line=${line#"${line%%[![:space:]]*}"}
            words[++last]=
        fi
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then word=$line; fi
        words[last]+=$word
        line=${line#"$word"}
    done
    # What stands before the part that bash replaces, without a quote that is open.
    local before=${words[last]%"$2"} quote=
    if [[ $before == *[\"\'] ]]; then
        quote=${before: -1}
        before=${before%?}
    fi
    words[last]=$before${2//\\/}
    local replies=() reply
    IFS=$'\013' read -r -d '' -a replies < <(
        _CLAP_IFS=$'\013' _CLAP_COMPLETE_INDEX=$last TERMCTL_COMPLETE=bash \
            termctl -- "${words[@]}" 2> /dev/null
    )
    COMPREPLY=()
    for reply in "${replies[@]}"; do
        reply=${reply#"$before"}
        case $quote in
            \') reply=${reply//\'/\'\\\'\'} ;;
            \")
                reply=${reply//\\/\\\\}
                reply=${reply//\"/\\\"}
                reply=${reply//\$/\\\$}
                reply=${reply//\`/\\\`}
                ;;
            *) [[ $reply != *[!A-Za-z0-9_@%+=:,./^-]* ]] || printf -v reply %q "$reply" ;;
        esac
        COMPREPLY+=("$reply")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace
    fi
}
complete -o bashdefault -o nosort -F _termctl termctl 2> /dev/null ||
    complete -o bashdefault -F _termctl termctl
