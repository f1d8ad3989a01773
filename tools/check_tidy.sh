#!/usr/bin/env bash
# clang-tidy over our sources, with the build of ./test. It is slow: --changed takes only what differs from a commit,
# and --within begins no more files after so many seconds and says which were left.
set -euo pipefail

usage='usage: tools/check_tidy.sh [-j JOBS] [--within SECONDS] [--changed [COMMIT]]    (COMMIT: HEAD when it is not given)'
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
jobs=2 base='' within=86400
while (($#)); do
  case $1 in
    -j) jobs=${2:?"$usage"} && shift ;;
    --within) within=${2:?"$usage"} && shift ;;
    --changed)
      base=HEAD
      if [[ ${2:--} != -* ]]; then base=$2 && shift; fi
      ;;
    *) echo "$usage" >&2 && exit 2 ;;
  esac
  shift
done
command -v clang-tidy-19 >/dev/null || { echo 'tidy: clang-tidy-19 is missing; ./test --setup-only installs it' >&2 && exit 125; }
[[ -e build/dev/compile_commands.json ]] || { echo 'tidy: nothing is built yet; run ./test --build-only first' >&2 && exit 125; }

# The sources that changed and, for a header that changed, the source of the same name or else one that includes it:
# that is where clang-tidy looks at the header.
list_changed() {
  local path source
  git rev-parse --verify --quiet "$base^{commit}" >/dev/null || { echo "tidy: there is no commit $base" >&2 && return 1; }
  { git diff --name-only -z --diff-filter=d "$base" -- src && git ls-files -z --others --exclude-standard -- src; } |
    while IFS= read -r -d '' path; do
      case $path in
        *.cpp) printf '%s\0' "$path" ;;
        *.hpp)
          source=${path%.hpp}.cpp
          [[ -e $source ]] || source=$(grep -rlF --include='*.cpp' "#include \"${path#src/}\"" src | sort | head -n 1) || true
          [[ -z $source ]] || printf '%s\0' "$source"
          ;;
      esac
    done
}

list_all() { find src -type f -name '*.cpp' -print0; }

listing=$(mktemp)
left=$(mktemp)
trap 'rm -f -- "$listing" "$left"' EXIT
if [[ -n $base ]]; then list_changed; else list_all; fi >"$listing"
mapfile -d '' -t files < <(sort -zu "$listing")
check_one='((EPOCHSECONDS < $1)) || { printf "%s\n" "$3" >>"$2" && exit 0; }
clang-tidy-19 -p build/dev --quiet --warnings-as-errors="*" "$3"'
if ((${#files[@]})) &&
  ! printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$jobs" bash -c "$check_one" tidy "$((EPOCHSECONDS + within))" "$left"; then
  echo 'tidy: see above' >&2
  exit 1
fi
unseen=$(wc -l <"$left")
if ((unseen)); then
  sort "$left" >&2
  echo "tidy: there was no time for these $unseen files" >&2
fi
echo "tidy: $((${#files[@]} - unseen)) files are clean" >&2
