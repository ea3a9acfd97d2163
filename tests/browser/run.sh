#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the types of the page's scripts, makes a report and clicks through it in a headless Chromium. Exit 77: what that needs is not there.
#   run.sh L2LENS FOLDER    FOLDER is made, and keeps npm's packages from one run to the next
set -euo pipefail
program=$1
folder=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

skip() { printf 'skipped: %s\n' "$*"; exit 77; }

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip "no Chromium (./dev browser installs one)"
command -v node >/dev/null || skip "no node (./dev browser installs it)"
mkdir -p "$folder"
cd "$folder"
if ! cmp -s "$here/package-lock.json" package-lock.json || [ ! -e node_modules/.package-lock.json ]; then
    command -v npm >/dev/null || skip "no npm to fetch packages with (./dev browser installs it)"
    cp "$here/package.json" "$here/package-lock.json" .
    rm -rf node_modules
    npm ci --no-audit --no-fund --loglevel=error || { rm -f package-lock.json; skip "npm cannot fetch playwright-core and typescript"; }
fi
node_modules/.bin/tsc -p "$here/../../sim/report/web"  # esbuild drops the types without looking at them

# A slice of 47, so that it takes seconds; the page is as large and as full as with the usual three.
code=0
"$program" predict gemm m=8192 n=8192 k=8192 --sample 1/47 --details --quiet --json result.json >/dev/null || code=$?
[ "$code" -eq 0 ] || { echo "predict: exit $code"; exit 1; }
"$program" predict gemm m=1024 n=1024 k=512 --order row_major,hilbert --quiet --csv rows.csv >/dev/null
"$program" validate --recorded rows.csv --quiet --json validation.json >/dev/null
"$program" report result.json validation.json -o report.html || code=$?
[ "$code" -ne 77 ] || skip "this l2lens was built without esbuild or libjs-chart.js"
[ "$code" -eq 0 ] || { echo "report: exit $code"; exit 1; }

cp "$here"/*.mjs .
CHROMIUM=$chromium REPORT=$folder/report.html exec node --test report.test.mjs
