#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Helpers of the command-line tests. L2LENS is the program; each test runs in an empty folder of its own.
set -u
: "${L2LENS:?the program to test}"
failures=0
checks=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n' "$1"
    printf '  stdout: %s\n  stderr: %s\n' "$(head -c 300 out)" "$(head -c 600 err)"
}

# run ARGS...: leaves the exit code in $code, the streams in out and err.
run() {
    timeout 60 "$L2LENS" "$@" >out 2>err
    code=$?
}

# refuses TEXT ARGS...: exit 4, nothing on stdout, one line on stderr that has TEXT.
refuses() {
    local text=$1
    shift
    run "$@"
    checks=$((checks + 1))
    if [ "$code" -ne 4 ]; then fail "exit $code instead of 4: l2lens $*"
    elif [ -s out ]; then fail "something on stdout: l2lens $*"
    elif [ "$(wc -l <err)" -ne 1 ]; then fail "not one line on stderr: l2lens $*"
    elif ! grep -qF -- "$text" err; then fail "no '$text' in the message: l2lens $*"
    fi
}

# expect CODE ARGS...: the exit code, whatever is said.
expect() {
    local wanted=$1
    shift
    run "$@"
    checks=$((checks + 1))
    [ "$code" -eq "$wanted" ] || fail "exit $code instead of $wanted: l2lens $*"
}

# check DESCRIPTION COMMAND...: the command succeeds.
check() {
    local what=$1
    shift
    checks=$((checks + 1))
    "$@" >/dev/null 2>&1 || fail "$what"
}

finish() {
    printf '%d checks, %d failed\n' "$checks" "$failures"
    [ "$failures" -eq 0 ]
}
