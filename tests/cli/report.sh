#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page: written from what predict and validate have written, whole or not at all.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"
small=(gemm m=1024 n=1024 k=512 --order row_major,hilbert)

expect 0 predict "${small[@]}" --details --json result.json
expect 0 predict "${small[@]}" --json plain.json
check "details change no figure" python3 -c '
import json
a, b = (json.load(open(f))["results"] for f in ("result.json", "plain.json"))
for x in a: x.pop("details")
assert a == b'

run report result.json -o page.html
if [ "$code" -eq 77 ]; then
    check "it says what to install" grep -q 'apt-get install' err
    check "and writes nothing" test ! -e page.html
    finish
    exit
fi
expect 0 report result.json -o page.html
check "a page" grep -q '^<!DOCTYPE html>' page.html
check "it is whole" grep -q '^</html>' page.html
expect 0 report plain.json result.json -o both.html
expect 0 predict "${small[@]}" --report own.html
check "a page of its own" grep -q '^</html>' own.html
expect 0 predict "${small[@]}" --engine tile --report tile.html
expect 0 predict "${small[@]}" --mode static --l2 warm --report warm.html
expect 0 predict "${small[@]}" --order 'lua: return pid // tn, pid % tn -- </script>' --report lua.html
check "a text ends no script" test "$(grep -o '</script>' lua.html | wc -l)" -eq 4
expect 0 predict transpose --order row_major --report transpose.html
expect 0 predict "${small[@]}" --csv rows.csv
expect 0 validate --recorded rows.csv --json validation.json
expect 0 report validation.json -o validation.html
check "the scatter's counter" grep -q 'Predicted against measured' validation.html

# What cannot be drawn is refused in one line, and an older page stays.
printf 'precious' >kept.html
head -c 2000 result.json >half.json
printf '' >empty.json
printf '{"schema": "l2lens/orders", "schema_version": "1.0.0"}' >orders.json
sed 's/"schema_version": "1/"schema_version": "7/' result.json >later.json
sed 's/"rank": 1/"rank": "first"/' result.json >word.json
refuses 'half.json:' report half.json -o kept.html
refuses 'half-written' report half.json -o kept.html
refuses 'empty.json' report empty.json -o kept.html
refuses "'l2lens/orders'" report orders.json -o kept.html
refuses 'reads 1.x' report later.json -o kept.html
refuses '.rank: a number is wanted' report word.json -o kept.html
refuses 'no JSON' report own.html -o kept.html
refuses 'cannot be read' report nowhere.json -o kept.html
refuses 'which results' report -o kept.html
refuses '-o FILE.html' report result.json
refuses 'no --json or --csv' report result.json -o kept.html --json -
refuses 'need a place each' predict "${small[@]}" --json same --report same
refuses 'No such file' report result.json -o no/where.html
refuses 'No such file' predict "${small[@]}" --report no/where.html
check "the old page is still there" grep -qx precious kept.html
check "nothing is left beside it" test -z "$(find . -name '.kept*')"
finish
