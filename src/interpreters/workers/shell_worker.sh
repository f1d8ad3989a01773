# The shell worker: runs cells one after the other in one bash, for the Skerry at the other end of a socket.
# Started as `bash -c TEXT skerry`, with the socket at descriptor 3.
#
# Bash marks as close-on-exec only what it saves of descriptors 0 to 2 while these are redirected. So the socket is its
# stdin between cells, and the stdin of the cells is what bash saved first, at 10. During a cell it is the other way
# round, and the socket is at 11. Neither is ever inherited.

export __skerry_functions='
# Fails at the end of the stream, and when a cell has put something else in its place.
__skerry_receive() {
    [[ -S /proc/self/fd/0 ]] || return
    __skerry_kind=variable
    while [[ $__skerry_kind == variable ]]; do
        __skerry_id= __skerry_kind= __skerry_next= __skerry_text=
        IFS= read -r -d "" __skerry_kind && IFS= read -r -d "" __skerry_next && IFS= read -r -d "" __skerry_text || return
        [[ $__skerry_kind != variable ]] || __skerry_lend "$__skerry_next" "$__skerry_text"
    done
    [[ $__skerry_kind == cell ]] && __skerry_id=$__skerry_next
}

# Sets a variable of the next cell, and writes down how to set it back, unless the cell has changed it by itself.
# A variable that is read-only stays as it is.
__skerry_lend() {
    __skerry_before="unset -v $1"
    if [[ -n ${!1+set} ]]; then
        __skerry_own=$(declare -p "$1" 2>/dev/null)
        __skerry_before+="; ${__skerry_own/#declare /declare -g }"
    fi
    export "$1=$2" 2>/dev/null || return 0
    __skerry_back+="[[ \${$1-} != ${2@Q} ]] || { $__skerry_before; }; "
}

__skerry_give_back() {
    [[ -n $__skerry_back ]] || return 0
    eval "$__skerry_back" 2>/dev/null
    __skerry_back=
}

# Says how the cell has ended. Its trace and its set -e are for cells: the next one turns them on again.
__skerry_answer() {
    __skerry_status=${1:-$?} __skerry_options=
    [[ $- != *e* ]] || __skerry_options+="set -e; "
    [[ $- != *x* ]] || __skerry_options+="set -x; "
    set +ex
    __skerry_give_back
    if ((__skerry_status == 0)); then
        printf "done\0%s\0ok\0" "$__skerry_id" >&0
    else
        printf "error\0ExitStatus\0%s\0\0done\0%s\0error\0" "$__skerry_status" "$__skerry_id" >&0
    fi
}

# A cell that ends the shell is answered before: after it the socket may be closed already.
__skerry_leave() {
    __skerry_status=${1:-$?}
    [[ -n $__skerry_id && $BASHPID == "$$" && -S /proc/self/fd/11 ]] || return 0
    printf "error\0ExitStatus\0%s\0\0done\0%s\0error\0" "$__skerry_status" "$__skerry_id" >&11
    __skerry_id=
}
exit() {
    __skerry_leave "$@"
    builtin exit "${1:-$__skerry_status}"
}

# Leaves the functions and then the loops that the cell is in, the one that serves among them. Nothing else gets bash
# out of the middle of a cell.
__skerry_two() { return 2; }
__skerry_unwind() {
    __skerry_aborted=$1
    shopt -s extdebug
    trap "if [[ -n \${FUNCNAME[0]-} ]]; then __skerry_two; else trap - DEBUG; $__skerry_break; fi" DEBUG
}
# The command that comes next is skipped with a status of 1; the head of a loop must see the break itself.
__skerry_break="case \$BASH_COMMAND in for\ *|select\ *|\(\(*) break 9999;; *) ! break 9999;; esac"
__skerry_interrupt() {
    [[ -z $__skerry_id ]] || __skerry_unwind 130
}
# A failure after set -e ends the cell and not the shell.
__skerry_failed() {
    __skerry_status=$?
    [[ $- == *e* && -n $__skerry_id && $BASHPID == "$$" ]] || return 0
    set +e
    __skerry_strict=1
    __skerry_unwind "$__skerry_status"
}
__skerry_resume() {
    [[ -n $__skerry_aborted ]] || builtin exit 0
    shopt -u extdebug
    set -E
    [[ -z $__skerry_strict ]] || set -e
    __skerry_answer "$__skerry_aborted"
    __skerry_aborted= __skerry_strict=
}
'
# Not in a function: there `declare` would make variables of the cell alone. On the first line of everything, so that
# the lines in messages are those of the cell.
export __skerry_serve=\
'while __skerry_receive; do eval "$__skerry_options$__skerry_text" <&10; { __skerry_answer; } 2>/dev/null; done; '\
'{ __skerry_resume; } 2>/dev/null; eval "$__skerry_serve"'

exec -- "$BASH" -c '{ exec 3>&-; eval "$__skerry_functions"; export -n __skerry_functions __skerry_serve; '\
'__skerry_back= __skerry_options= __skerry_aborted= __skerry_strict= __skerry_id=; '\
'trap __skerry_leave EXIT; trap __skerry_interrupt INT; trap __skerry_failed ERR; set -E; '\
'printf "ready\0" >&0; eval "$__skerry_serve"; } <&3' "$0"
