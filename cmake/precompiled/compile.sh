#!/usr/bin/env bash
# The compiler's launcher for precompiled headers: runs the command and, for a header, puts beside it a checksum of what
# the preprocessor makes of it. A precompiled header has absolute paths in it, so each clone has another one; ccache
# takes the checksum for it (CCACHE_PCH_EXTSUM), which is the same in all of them as long as the headers are.
set -euo pipefail

"$@"

output='' preprocess=()
while (($#)); do
  case $1 in
    -o) output=$2 && preprocess+=(-o -) && shift ;;
    -Xclang)
      [[ $2 == -emit-pch ]] || preprocess+=(-Xclang "$2")
      shift
      ;;
    *) preprocess+=("$1") ;;
  esac
  shift
done
[[ $output == *.pch ]] || exit 0
# -P leaves out the paths, -dD keeps the macros.
CCACHE_DISABLE=1 "${preprocess[@]}" -E -P -dD | sha256sum >"$output.sum.new"
mv -f -- "$output.sum.new" "$output.sum"
