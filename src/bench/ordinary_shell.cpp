#include <array>

#include "bench/ordinary_code.hpp"

namespace skerry::bench {
namespace {

constexpr auto kParts = std::to_array<std::string_view>({
    R"code(#!/usr/bin/env bash
# Collects the figures of the branches and makes the monthly report of them.
set -euo pipefail

data_dir=${DATA_DIR:-data}
out_dir="$data_dir/out"
limit=__NUMBER__
verbose=0

log() {
  printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2
}
)code",
    R"code(
# Prints the __NOUN__s of a month, the largest first.
__VERB_____NOUN__s___INDEX__() {
  local month=$1 file="$data_dir/__NOUN__-$1.csv"
  if [[ ! -f "$file" ]]; then
    log "no __NOUN__s for $month: $file is not there"
    return 1
  fi
  tail -n +2 "$file" | cut -d, -f1,3 | sort -t, -k2,2nr | head -n "$limit"
}
)code",
    R"code(
count___OTHER__s___INDEX__() {
  local total=0 name count
  while IFS=$'\t' read -r name count; do
    # Lines without a number are headings.
    [[ "$count" =~ ^[0-9]+$ ]] || continue
    total=$((total + count))
    if ((total > __NUMBER__)); then
      echo "more than __NUMBER__ __OTHER__s, the last is '$name'"
      break
    fi
  done < "$data_dir/__OTHER__s.tsv"
  echo "$total"
}
)code",
    R"code(
build___NOUN_____INDEX__() {
  mkdir -p "$out_dir/__NOUN__"
  for source in "$data_dir"/__NOUN__/*.md; do
    local target="$out_dir/__NOUN__/$(basename "${source%.md}").html"
    if [ "$source" -nt "$target" ]; then
      log "__VERB__ $source"
      pandoc --standalone --metadata title="__NOUN__ __NUMBER__" -o "$target" "$source" || return
    fi
  done
  git add "$out_dir/__NOUN__" && git commit --quiet -m "__VERB__ the __NOUN__s of $(date +%Y-%m)"
}
)code",
    R"code(
usage___INDEX__() {
  cat <<EOF
Usage: __VERB__-__NOUN__ [-v] [-n LIMIT] MONTH
Prints what the __OTHER__s of MONTH have cost; "now" is $(date +%Y-%m).
  -n LIMIT   at most so many lines, instead of $limit
  -v         say more
EOF
}

parse_options___INDEX__() {
  local option OPTIND=1
  while getopts 'vn:h' option; do
    case "$option" in
      v) verbose=$((verbose + 1)) ;;
      n) limit=$OPTARG ;;
      h | '?')
        usage___INDEX__
        return 2
        ;;
    esac
  done
}
)code",
    R"code(
check___NOUN_____INDEX__() {
  local -a missing=()
  local tool
  for tool in awk sed jq; do
    command -v "$tool" > /dev/null 2>&1 || missing+=("$tool")
  done
  if ((${#missing[@]} > 0)); then
    log "please install: ${missing[*]}"
    return 127
  fi
  # The sum is in the last line, and must be that of the others.
  awk -F, '{ sum += $2 } END { printf "%.2f\n", sum / __NUMBER__ }' "$data_dir/__NOUN__.csv" |
    sed -e 's/,/./g' -e '/^$/d' | tee "$out_dir/__NOUN__.sum" | grep -q '^[0-9.]*$'
}
)code",
    R"code(
deploy___OTHER_____INDEX__() {
  local host="${1:-__OTHER__.example.org}" archive
  archive=$(mktemp -t __OTHER__.XXXXXX)
  tar -czf "$archive" -C "$out_dir" . && scp -q "$archive" "deploy@$host:/srv/__OTHER__/release-__NUMBER__.tgz"
  local status=$?
  rm -f "$archive"
  until curl --silent --fail "https://$host/health" | jq -e '.status == "ok"' > /dev/null; do
    log "waiting for $host"
    sleep 5
  done
  return "$status"
}
)code",
    R"code(
# Brings the figures of a __NOUN__ into the form that the report wants. They come as the export writes them: a line
# for each __NOUN__ and day, the name first, then the figures with tabs between them. A line without a figure is a
# heading and is passed over. A line with too few of them is taken as far as it goes, because the export drops what
# is empty at the end of a line.
#
# Two lines of the same name are not added up here: the first one of a day is the one that was signed, and later ones
# are corrections, which the __OTHER__ department books by itself at the end of the month.
__VERB_____NOUN___lines___INDEX__() {
  # The last column says whether the figures are complete.
  awk -F'\t' 'NF > 1 { print $1, $2, (NF >= __NUMBER__ ? "yes" : "no") }' "${1:--}"
}
)code",
});

}  // namespace

std::span<const std::string_view> ShellParts() {
  return kParts;
}

}  // namespace skerry::bench
