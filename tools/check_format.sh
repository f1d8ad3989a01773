#!/usr/bin/env bash
# Fails when a C++ file is not formatted as .clang-format says. With --fix it formats instead.
set -euo pipefail

cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
options=(--dry-run -Werror)
case ${1:-} in
  '') ;;
  --fix) options=(-i) ;;
  *) echo 'usage: tools/check_format.sh [--fix]' >&2 && exit 2 ;;
esac
command -v clang-format-19 >/dev/null || { echo 'format: clang-format-19 is missing; ./test --setup-only installs it' >&2 && exit 125; }

folders=()
for folder in src tests bench; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
mapfile -d '' -t files < <(find "${folders[@]}" -type f \( -name '*.cpp' -o -name '*.hpp' \) -print0 | sort -z)
if ((${#files[@]})) && ! clang-format-19 --style=file "${options[@]}" "${files[@]}"; then
  echo 'format: some files are not formatted; tools/check_format.sh --fix does it' >&2
  exit 1
fi
echo "format: ${#files[@]} files are formatted" >&2
