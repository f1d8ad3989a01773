# shellcheck shell=bash
# The set-up that ./skerry and ./test share: what is missing, the lock, the build. Sourced, never run.
#
# The caller has `set -euo pipefail`, and sets
#   root  the repository: absolute, without symbolic links
#   me    the name in front of each message
# Everything here speaks on stderr, and reads nothing: stdout and stdin belong to the program that runs afterwards.
# A failure of the set-up is exit code 125, which is never a program's own.

: "${root:?}" "${me:?}"
ended=''   # the last process that run_logged has waited for; one that came after it, a signal has to end
locks=()   # the descriptors of the locks that we hold
columns=0  # width of the terminal on stderr; 0 when it is none
missing=() # what find_missing found

if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then
  shopt -s checkwinsize
  (:) # bash learns the width when a child ends
  columns=${COLUMNS:-80}
fi

# --- talking ---

say() {
  ((columns == 0)) || printf '\r\e[K' >&2
  printf '%s: %s\n' "$me" "$*" >&2
}

fail() {
  say "$@"
  exit 125
}

# One line that is written over by the next. Nothing without a terminal.
show() {
  ((columns == 0)) || printf '\r\e[K%.*s' "$((columns - 1))" "$me: $*" >&2
}

# --- running ---

# Ends what is running before it ends us, so that the lock is free only when nobody writes to the build any more.
interrupted() {
  trap - INT TERM HUP
  if [[ ${!:-} != "$ended" ]]; then
    kill -TERM "$!" 2>/dev/null || true
    wait "$!" 2>/dev/null || true
  fi
  say 'interrupted; the next run goes on from here'
  exit "$1"
}

# run_logged LOG ON_LINE COMMAND...: appends the output of the command to LOG, gives each line of it to ON_LINE, returns
# its status. The shell reads instead of waiting, so that a signal is handled at once; one that arrives just before the
# shell blocks in `read` is handled when that ends, so each has a second. What goes on after a kill -9 of this shell
# still holds the lock.
run_logged() {
  local log=$1 on_line=$2 line='' part out got status=0
  shift 2
  exec {out}< <("$@" </dev/null 2>&1)
  while :; do
    got=0
    IFS= read -r -t 1 part <&"$out" || got=$?
    line+=$part
    ((got <= 128)) || continue # the second is over, perhaps in the middle of a line
    ((got == 0)) || [[ -n $line ]] || break
    printf '%s\n' "$line"
    "$on_line" "$line"
    line=''
  done >>"$log"
  exec {out}<&-
  wait "$!" || status=$?
  ended=$!
  return "$status"
}

# --- the lock ---

# take_lock FILE MESSAGE: waits for it, with the message. The kernel drops it with its last holder: there is no stale one.
take_lock() {
  local lock
  mkdir -p "$root/build"
  exec {lock}>>"$1"
  if ! flock -n "$lock"; then
    say "$2; waiting for it"
    flock "$lock"
  fi
  locks+=("$lock")
}

# One set-up at a time in this tree.
lock_tree() {
  take_lock "$root/build/.lock" 'another set-up is at work in this tree'
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  trap 'interrupted 129' HUP
}

# Gives back the lock that was taken last.
unlock_tree() {
  local lock=${locks[-1]}
  exec {lock}>&-
  unset 'locks[-1]'
  trap - INT TERM HUP
}

# Becomes the command. What it leaves running, a service that a package starts or a test forgets, must hold no lock.
without_locks() {
  local lock
  for lock in "${locks[@]}"; do exec {lock}>&-; done
  exec "$@"
}

# May we write here? Somebody else's tree is used as it is.
is_writable() {
  local path
  if [[ ! -e $root/build ]]; then
    [[ -w $root ]]
    return
  fi
  for path in "$root/build" "$root/build/.lock" "$root/build/$1"; do
    [[ ! -e $path || -w $path ]] || return 1
  done
}

# --- what is missing ---

is_present() {
  local package=$1 how way path
  IFS=, read -ra how <<<"$2"
  for way in "${how[@]}"; do
    path=${way#*:}
    case $way in
      command:*) command -v -- "$path" >/dev/null && return ;;
      file:*) [[ -x $path && $(readlink -f -- "$path") =~ ^/(usr|bin)/ ]] && return ;;
      dpkg:*)
        if command -v dpkg-query >/dev/null; then
          [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] && return
        else
          compgen -G "$path" >/dev/null && return
        fi
        ;;
      *) fail "tools/packages.txt: $package: cannot look for \"$way\"" ;;
    esac
  done
  return 1
}

# find_missing SET...: fills `missing` with "package why" of those rows of tools/packages.txt.
find_missing() {
  local rows=() row set package how why names=() installed=''
  missing=()
  while read -r set package how why; do
    [[ -n $set && $set != '#'* && " $* " == *" $set "* ]] || continue
    rows+=("$package $how $why")
    names+=("$package")
  done <"$root/tools/packages.txt"
  if command -v dpkg-query >/dev/null; then
    # shellcheck disable=SC2016 # the fields are dpkg's
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null) || true
  fi
  for row in "${rows[@]}"; do
    read -r package how why <<<"$row"
    is_present "$package" "$how" || missing+=("$package $why")
  done
}

# --- installing ---

show_apt_line() {
  case $1 in
    Get:* | Unpacking* | 'Setting up'*) show "$1" ;;
  esac
}

# What a person would type.
print_command() {
  local sudo=${as_root[*]:+sudo }
  printf '  %sapt-get update && %sapt-get install -y --no-install-recommends %s\n' "$sudo" "$sudo" "${names[*]}" >&2
}

# Fills `as_root` with what goes in front of a command, or prints what to type and ends.
become_root() {
  as_root=()
  ((EUID != 0)) || return 0
  if command -v sudo >/dev/null; then
    as_root=(sudo)
    ! sudo -n true 2>/dev/null || return 0
    # sudo asks on the terminal itself, wherever our streams go
    if (: </dev/tty) 2>/dev/null && sudo -v; then return 0; fi
  fi
  say 'installing needs root, which cannot be had from here. Run this as root, then try again:'
  print_command
  exit 125
}

install_missing() {
  local names=("${missing[@]%% *}") row log=$root/build/setup.log as_root=() apt
  say "missing on this system (${#missing[@]}):"
  for row in "${missing[@]}"; do
    printf '  %-20s %s\n' "${row%% *}" "${row#* }" >&2
  done
  command -v apt-get >/dev/null ||
    fail 'there is no apt-get here. Install what these Debian packages hold in the way of your system, then try again.'
  become_root

  say "installing with apt-get (log: $log)"
  : >"$log"
  apt=(without_locks "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C)
  # An earlier set-up may have been killed between unpacking and configuring.
  run_logged "$log" show_apt_line "${apt[@]}" dpkg --configure -a || true
  # One broken source of the user's must not stop us: the installation decides.
  run_logged "$log" show_apt_line "${apt[@]}" apt-get -o Acquire::Retries=3 update || true
  if ! run_logged "$log" show_apt_line "${apt[@]}" apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 \
    install -y --no-install-recommends "${names[@]}"; then
    say 'the installation failed:'
    tail -n 20 -- "$log" >&2
    say "the whole log is $log; the command was:"
    print_command
    exit 125
  fi
  hash -r
}

# require SET...: returns when everything is there, else ends with 125.
require() {
  find_missing "$@"
  ((${#missing[@]})) || return 0
  install_missing
  find_missing "$@"
  ((${#missing[@]} == 0)) || fail "still missing after the installation: ${missing[*]%% *} (log: $root/build/setup.log)"
  say 'installed'
}

# --- building ---

# As many compilers as there are processors, and 1.5 GB of memory for each.
count_jobs() {
  local jobs key value _ kilobytes=0 limit=max
  jobs=$(nproc)
  while read -r key value _; do
    [[ $key != MemAvailable: ]] || kilobytes=$value
  done </proc/meminfo
  [[ ! -r /sys/fs/cgroup/memory.max ]] || read -r limit </sys/fs/cgroup/memory.max
  [[ $limit == max ]] || ((limit / 1024 >= kilobytes)) || kilobytes=$((limit / 1024))
  ((jobs * 1572864 <= kilobytes)) || jobs=$((kilobytes / 1572864))
  echo "$((jobs > 0 ? jobs : 1))"
}

# Was this build directory made for another place, generator or compiler? CMake would stop, or mix the two.
is_foreign() {
  local directory=$1 line home='' place='' generator='' compiler='' file
  [[ -e $directory/CMakeCache.txt ]] || return 1
  while IFS= read -r line; do
    case $line in
      CMAKE_HOME_DIRECTORY:*) home=${line#*=} ;;
      CMAKE_CACHEFILE_DIR:*) place=${line#*=} ;;
      CMAKE_GENERATOR:*) generator=${line#*=} ;;
    esac
  done <"$directory/CMakeCache.txt"
  [[ $home == "$root" && $place == "$directory" && $generator == Ninja ]] || return 0
  for file in "$directory"/CMakeFiles/*/CMakeCXXCompiler.cmake; do
    [[ -e $file ]] || continue
    while IFS= read -r line; do
      [[ $line =~ ^set\(CMAKE_CXX_COMPILER\ \"(.*)\"\) ]] && compiler=${BASH_REMATCH[1]} && break
    done <"$file"
    [[ -x $compiler ]] && grep -qF "\"${compiler##*/}\"" "$root/CMakePresets.json" || return 0
  done
  return 1
}

in_root() {
  cd -- "$root" || exit
  exec "$@"
}

ignore_line() { :; }

configure() {
  local preset=$1 log=$2 directory=$root/build/$1
  [[ ! -e $directory/build.ninja || ! -e $directory/.configured ||
    $root/CMakePresets.json -nt $directory/.configured ]] || return 0
  show "configuring $preset"
  rm -f -- "$directory/.configured"
  if ! run_logged "$log" ignore_line in_root cmake --preset "$preset"; then
    # Half of an interrupted configuration can be in the way: once more from nothing.
    printf '%s\n' 'Once more without the cache' >>"$log"
    rm -rf -- "$directory/CMakeCache.txt" "$directory/CMakeFiles"
    if ! run_logged "$log" ignore_line in_root cmake --preset "$preset"; then
      say "cmake --preset $preset failed:"
      tail -n 40 -- "$log" >&2
      fail "the whole log is $log"
    fi
  fi
  : >"$directory/.configured"
}

# Ninja's "[12/80] Building ..." as one moving line on a terminal, as a line a quarter elsewhere.
show_ninja_line() {
  local number total
  [[ $1 =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) && ${BASH_REMATCH[3]} != Re-* ]] || return 0
  number=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
  if ((columns)); then
    show "building $preset: $((100 * number / total)) % ($number of $total) ${BASH_REMATCH[3]##*/}"
  elif ((quarter < 0)); then
    say "building $preset, $total steps (log: $log)"
  elif ((4 * number / total > quarter)); then
    say "building $preset: $((100 * number / total)) % ($number of $total)"
  fi
  quarter=$((4 * number / total))
}

# The compilers' own words: from the first failure, without ninja's progress and the command lines.
show_errors() {
  local line started='' skip='' shown=0
  while IFS= read -r line && ((shown < 60)); do
    if [[ -n $skip ]]; then
      skip=''
    elif [[ $line == FAILED:* ]]; then
      started=1 skip=1 shown=$((shown + 1))
      printf '%s\n' "$line" >&2
    elif [[ -n $started && ! $line =~ ^\[[0-9]+/[0-9]+\] ]]; then
      shown=$((shown + 1))
      printf '%s\n' "$line" >&2
    fi
  done <"$1"
  [[ -n $started ]] || tail -n 40 -- "$1" >&2
}

# The cache serves every clone of the repository; without a home that can be written to, it lives in the build.
ninja_environment() {
  local variables=(NINJA_STATUS='[%f/%t] ' CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1)
  if [[ -z ${CCACHE_DIR:-}${XDG_CACHE_HOME:-} && ! (-n ${HOME:-} && -d $HOME && -w $HOME) ]]; then
    variables+=(CCACHE_DIR="$root/build/.ccache")
  fi
  exec env "${variables[@]}" "$@"
}

# build PRESET: configures where needed and builds everything of the preset. On success build/PRESET/.stamp has the time
# from before the build, so that an edit during the build counts as newer.
build() {
  local preset=$1 directory=$root/build/$1 log=$root/build/$1/build.log quarter=-1 start=$SECONDS
  if is_foreign "$directory"; then
    say "build/$preset was made for another place or compiler; making it again"
    rm -rf -- "$directory"
  fi
  mkdir -p "$directory"
  : >"$directory/.stamp.new"
  : >"$log"
  configure "$preset" "$log"
  if ! run_logged "$log" show_ninja_line ninja_environment ninja -C "$directory" -j "$(count_jobs)"; then
    say "the build of $preset failed:"
    show_errors "$log"
    fail "the whole log is $log"
  fi
  mv -f -- "$directory/.stamp.new" "$directory/.stamp"
  ((quarter < 0)) || say "built $preset in $((SECONDS - start)) s"
}
