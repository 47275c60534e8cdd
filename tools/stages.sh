# What the scripts of this folder share. Sourced, never run.
#
#   source "$(dirname "$0")/stages.sh"          # the working directory is then the root of the checkout
#   stage "release build" build release         # one line on the screen, all output in build/log
#   finish                                      # the sum, and the exit code
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C.UTF-8 CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

logs=build/log
failed=()
passed_tests=0
failed_tests=0

# build PRESET [TARGET…]: configures where needed (ninja does so itself when a CMakeLists.txt changes) and builds.
build() {
  local preset=$1
  shift
  if [ ! build/"$preset"/build.ninja -nt CMakePresets.json ]; then
    cmake --preset "$preset" || return
  fi
  cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}
}

# stage NAME COMMAND…: runs it, prints one line with its time, and, when it fails, what its output says about it.
stage() {
  local name=$1 start=${EPOCHREALTIME/./} log=$logs/${1// /-}.log word=ok
  shift
  mkdir -p "$logs"
  "$@" >"$log" 2>&1 </dev/null || word=FAILED
  local tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
  printf '%-7s %-22s %5d.%d s%s\n' "$word" "$name" $((tenths / 10)) $((tenths % 10)) "$(count_tests "$log")"
  add_tests "$log"
  [ "$word" = ok ] && return
  failed+=("$name")
  { grep -E 'error:|FAILED|Failure|ERROR:|\*\*\*|[Aa]ssert' "$log" | head -n 20; echo "…"; tail -n 25 "$log"; } | sed 's/^/        | /'
  echo "        all of it: $log"
  return 1
}

# The numbers in the closing line of ctest ("100% tests passed, 0 tests failed out of 12") or pytest ("5 passed in 1.0s").
test_numbers() {
  sed -nE -e 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+).*/\1 \2/p' "$1" | tail -n 1 | awk '{ print $2 - $1, $1 }'
  sed -nE -e '/^=+ .* in [0-9.]+s/p' -e '/^[0-9]+ (passed|failed).* in [0-9.]+s/p' "$1" | tail -n 1 |
    awk '{ p = f = 0; for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) p = $(i-1); if ($i ~ /^(failed|errors?)/) f += $(i-1) } print p, f }'
}

count_tests() { test_numbers "$1" | awk '{ printf "   %d passed, %d failed", $1, $2 }'; }

add_tests() {
  local p f
  while read -r p f; do
    passed_tests=$((passed_tests + p))
    failed_tests=$((failed_tests + f))
  done < <(test_numbers "$1")
}

# Ends the script: the sum of all stages, and exit code 1 when one of them failed.
finish() {
  echo "$passed_tests passed, $failed_tests failed"
  [ ${#failed[@]} -eq 0 ] && exit 0
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
}
