#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# l2lens lab: the list, a lab, its page, and what is refused.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"

expect 0 lab
check "eight labs are listed" test "$(grep -c '^[1-8]  ' out)" -eq 8
expect 0 lab 5
check "a lab is shown without its key" bash -c 'grep -q "Predict first" out && ! grep -q "\[\[wrong\]\]" out'
cp out by_number
expect 0 lab two-partitions
check "by its name, too" cmp -s out by_number
expect 0 lab 1 check 512 --json -
check "a verdict as JSON" python3 -c 'import json; assert json.load(open("out"))["rows"][0]["verdict"] == "right"'
expect 1 lab 1 check 1 --json -
expect 0 lab 1 check 512 bytes

# Pages: one file, nothing from elsewhere, whole HTML.
for number in 1 2 3 4 5 6 7 8; do
    expect 0 lab "$number" --html "lab$number.html"
    check "lab $number is one page" python3 - "lab$number.html" <<'PYTHON'
import html.parser
import json
import re
import sys

text = open(sys.argv[1]).read()
assert "{{" not in text and "http" not in text and len(text) < 400_000, len(text)
VOID = {"meta", "input", "link", "br"}

class Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.labels = [], set(), set()
    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert "src" not in attributes and tag != "link", (tag, attributes)
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes
            self.ids.add(attributes["id"])
        if tag == "label" and "for" in attributes:
            self.labels.add(attributes["for"])
        if tag not in VOID:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

checker = Checker()
checker.feed(text)
assert not checker.open and checker.labels <= checker.ids
assert set(re.findall(r'element\("(\w+)"\)', text)) <= checker.ids | {"answer"}
data = json.loads(re.search(r"^const lab = (.*);$", text, re.MULTILINE).group(1))
assert data["answer"] and data["wrong"] and len(data["sentences"]) == len(data["sets"])
PYTHON
done

expect 0 lab 1 --html page.html --json page.json --csv page.csv
check "JSON and CSV are written besides the page" python3 -c 'import csv, json; d = json.load(open("page.json")); r = list(csv.DictReader(open("page.csv"))); assert d["schema"] == "l2lens/lab" and d["rows"][0]["page"] == r[0]["page"]'
check "and the page is one" grep -q '</html>' page.html

# What is refused.
refuses "there is no lab '9'; there are 1 to 8" lab 9
refuses "did you mean 'sectors'?" lab sectrs
refuses "did you mean 'check'?" lab 1 chek 5
refuses "check what?" lab 1 check
refuses "which lab goes to --html?" lab --html x.html
refuses "No such file or directory" lab 1 --html no/such/x.html
refuses "lab 1: 'many' is no number" lab 1 check many
refuses "did you mean 'row_major'?" lab 8 check row_majr

finish
