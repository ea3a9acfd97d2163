# SPDX-License-Identifier: Apache-2.0
"""Each lab in turn: the right answer is accepted, each misconception is explained, what is no answer is refused.

Right answers come from formulas on paper, wrong ones from the mistakes the labs are about. The commands are run as a reader
would run them, from the page: that what they print agrees with the answer is checked, too.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAM = os.environ["L2LENS"]
LABS = pathlib.Path(sys.argv[1])


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def results(command):
    """What a command of a page says, by order."""
    words = shlex.split(command)[1:]
    words = words[:words.index("--json")] if "--json" in words else words
    return {r["order"]: {**r["counters"], **r["metrics"]} for r in json.loads(run(*words, "--json", "-").stdout)["results"]}


def commands(page):
    return re.findall(r"^\$ (l2lens predict .*)$", page.split("<!-- lab")[0], re.MULTILINE)


def one(command):
    return next(iter(results(command).values()))


# number: (right by a formula, what the page's commands say, {wrong: words of its explanation}, wrong for no known reason)
def cases(pages):
    first = {number: commands(page)[0] for number, page in pages.items()}
    kib = 1024
    orders = results(first[3])
    large = one(commands(pages[4])[1])
    xcds = results(first[8])
    return {
        # 8 lines, a 64 B fill each; asked for: 32 B each; whole lines: 128 B each.
        1: (8 * 64, one(first[1])["dram_read_bytes"], {8 * 32: "asked for", 8 * 128: "not fetched as a whole"}, 7),
        # 17 lines in 4 sets of 4: one set has five and fails, three have four and hit.
        2: (3 * 4, one(first[2])["lts__t_sectors_srcunit_tex_lookup_hit.sum"] / 4,
            {16: "gives up one line", 0: "fully associative", 17: "do not fit"}, 9),
        # A wave's distinct tile rows and columns: 1 + 16 against 4 + 4.
        3: (17 / 8, orders["row_major"]["dram_read_bytes"] / orders["group_m:4"]["dram_read_bytes"],
            {1: "same bytes", 4: "B alone", 16: "4 times"}, 7),
        # B once for each of the 1024 / 32 rows of tiles; A, 1024 x 256 x 2 bytes, once.
        4: (32, (large["dram_read_bytes"] - 512 * kib) / (512 * kib), {1: "twice the L2", 2: "Twice too large", 16: "half of B",
                                                                    64: "once per row of tiles"}, 7),
        # 24 lines in each pass.
        5: (2 * 24 * 128, one(first[5])["dram_read_bytes"], {24 * 128: "keeps copies", 4 * 24 * 128: "home",
                                                              8 * 24 * 128: "ask for"}, 100),
        # Four SMs in two GPCs, 8 lines of 4 sectors: each GPC once.
        6: (2 * 8 * 4, one(first[6])["lts__t_sectors_srcunit_tex.sum"], {4 * 8 * 4: "ask for", 8 * 4: "whole GPU",
                                                                      96: "home partition"}, 7),
        # An XOR hash that is one to one on a power-of-two stride: each of 8 slices has 8 of 64 lines.
        7: (1, one(first[7])["channel_max_over_mean"], {8: "modulo 8"}, 3),
        # What a die reads, in pieces of 16 KiB: all 16 of A and for each of 16 rows 4 of B; 4 of A and 4 times all 16 of B; 4 of A
        # and twice all of B.
        8: (min({"row_major": 16 + 16 * 4, "xcd_tall+row_major": 4 + 4 * 16, "xcd_tall+group_m:2": 4 + 2 * 16}.items(),
                key=lambda item: item[1])[0], min(xcds, key=lambda order: xcds[order]["dram_read_bytes"]),
            {"row_major": "all of A", "xcd_tall+row_major": "share only A"}, None),
    }


def main():
    pages = {int(path.name[:2]): path.read_text() for path in sorted(LABS.glob("[0-9]*.md"))}
    assert len(pages) == 8, sorted(pages)
    for number, (right, said, wrong, odd) in cases(pages).items():
        lab = str(number)
        within = 0.08 if number == 3 else 0.05  # the square's 256 KiB are all of its L2, whose sets fill unevenly
        close = said == right if isinstance(right, str) else abs(said - right) <= within * right
        assert close, f"lab {lab}: its command says {said}, a formula {right}"

        done = run("lab", lab, "check", str(right))
        assert done.returncode == 0 and done.stdout.startswith("Right."), (lab, right, done)
        for answer, words in wrong.items():
            done = run("lab", lab, "check", str(answer))
            text = " ".join(done.stdout.split())
            assert done.returncode == 1 and text.startswith("Not so.") and words in text, (lab, answer, words, text)
            assert "{{" not in text, text
        if odd is not None:
            done = run("lab", lab, "check", str(odd))
            assert done.returncode == 1 and done.stdout.startswith("Not so."), (lab, odd, done)
        for nothing in ("what", ""):
            done = run("lab", lab, "check", nothing)
            assert done.returncode == 4 and done.stderr.count("\n") == 1 and not done.stdout, (lab, done)
        print(f"lab {lab}: {right} accepted, {len(wrong)} misconceptions explained")


main()
