#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A lab's page in a browser: it judges as the program does, walks back and forth, and changes its theme. Exit 77 without
# Chromium.
# shellcheck source=lib.sh disable=SC1091
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "no Chromium"; exit 77; }

# in_page LAB SCRIPT: what the page says in the element "said" after SCRIPT has run in it.
in_page() {
    sed "s|</body>|<p id=\"said\"></p><script>$2</script></body>|" "lab$1.html" >page.html
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --dump-dom \
        "file://$folder/page.html" 2>browser_err | sed -n 's|.*<p id="said">\(.*\)</p>.*|\1|p' >out
}
readonly ask='const ask = (answer) => { element("answer").value = answer; element("form").requestSubmit(); return element("verdict").textContent; };'
readonly say='const say = (text) => { element("said").textContent = text; };'

expect 0 lab 1 --html lab1.html
expect 0 lab 8 --html lab8.html
expect 1 lab 1 check 256
words=$(tr '\n' ' ' <out | sed 's/ $//')
in_page 1 "$ask $say say(ask(\"256\"));"
check "a misconception is explained as the program does" grep -qF "$words" out
in_page 1 "$ask $say const before = element(\"after\").hidden; say([before, ask(\"512 bytes\").startsWith(\"Right.\"), element(\"after\").hidden]);"
check "the right answer is accepted, and what was printed appears" grep -qx 'true,true,false' out
in_page 1 "$ask $say say([ask(\"words\"), element(\"after\").hidden]);"
check "words are no number" grep -q 'A number, please.,true' out
in_page 1 "$say const one = element(\"sentence\").textContent; element(\"next\").click(); const two = element(\"sentence\").textContent; element(\"back\").click(); say([one !== two, one === element(\"sentence\").textContent, element(\"back\").disabled, two.startsWith(\"step 2 of\")]);"
check "steps forwards and backwards" grep -qx 'true,true,true,true' out
in_page 1 "$say const colour = () => getComputedStyle(document.body).backgroundColor; const one = colour(); element(\"theme\").click(); const two = colour(); element(\"theme\").click(); say([one !== two, one === colour()]);"
check "the theme changes and changes back" grep -qx 'true,true' out
in_page 8 "$say element(\"choice2\").click(); element(\"form\").requestSubmit(); say(element(\"verdict\").textContent);"
check "a choice is judged" grep -q '^Right\. ' out

finish
