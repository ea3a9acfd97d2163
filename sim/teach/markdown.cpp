// SPDX-License-Identifier: Apache-2.0
#include "teach/markdown.hpp"

#include <algorithm>
#include <functional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace l2lens {
namespace {

// One block: a heading (its level), a paragraph, a list's entries, or code.
struct Block {
    enum class Kind { Heading, Paragraph, List, Code };
    Kind kind = Kind::Paragraph;
    int level = 0;
    std::vector<std::string> lines;  // a paragraph's one, a list's entries, code line by line
};

bool is_fence(const std::string& line) {
    return line.starts_with("```");
}

// Splits a page into blocks; wrapped lines of a paragraph or a list's entry are joined.
std::vector<Block> blocks_of(const std::string& markdown) {
    std::vector<Block> blocks;
    bool open = false;  // the last block takes further lines
    bool code = false;
    std::istringstream stream(markdown);
    for (std::string line; std::getline(stream, line);) {
        if (is_fence(line)) {
            code = !code;
            if (code) blocks.push_back({Block::Kind::Code, 0, {}});
            open = false;
        } else if (code) {
            blocks.back().lines.push_back(line);
        } else if (line.empty()) {
            open = false;
        } else if (line.starts_with('#')) {
            const std::size_t level = line.find_first_not_of('#');
            const std::size_t text = line.find_first_not_of("# ");
            blocks.push_back({Block::Kind::Heading,
                              static_cast<int>(level),
                              {text == std::string::npos ? "" : line.substr(text)}});
            open = false;
        } else if (line.starts_with("* ")) {
            const bool same_list = open && blocks.back().kind == Block::Kind::List;
            if (!same_list) blocks.push_back({Block::Kind::List, 0, {}});
            blocks.back().lines.push_back(line.substr(2));
            open = true;
        } else if (open) {
            blocks.back().lines.back() +=
                " " + line.substr(std::min(line.find_first_not_of(' '), line.size()));
        } else {
            blocks.push_back({Block::Kind::Paragraph, 0, {line}});
            open = true;
        }
    }
    return blocks;
}

// Replaces each OPEN text CLOSE by what `replace` makes of the text.
std::string replaced(const std::string& text, std::string_view open, std::string_view close,
                     const std::function<std::string(const std::string&)>& replace) {
    std::string result;
    std::size_t at = 0;
    for (;;) {
        const std::size_t begin = text.find(open, at);
        const std::size_t end = begin == std::string::npos ? begin : text.find(close, begin + open.size());
        if (end == std::string::npos) return result + text.substr(at);
        result += text.substr(at, begin - at) +
                  replace(text.substr(begin + open.size(), end - begin - open.size()));
        at = end + close.size();
    }
}

std::string with_links(const std::string& text) {
    return replaced(text, "[", ")", [](const std::string& inside) {
        const std::size_t middle = inside.find("](");
        if (middle == std::string::npos) return "[" + inside + ")";
        return fmt::format("<a href=\"{}\">{}</a>", inside.substr(middle + 2), inside.substr(0, middle));
    });
}

// `code` is taken out first: nothing inside it is marked up.
std::string inline_html(const std::string& text) {
    std::string html;
    std::size_t part = 0;
    std::istringstream stream(text);
    for (std::string piece; std::getline(stream, piece, '`'); ++part) {
        const std::string escaped = html_escaped(piece);
        if (part % 2 == 1) {
            html += "<code>" + escaped + "</code>";
        } else {
            html += with_links(replaced(escaped, "**", "**", [](const std::string& strong) {
                return "<strong>" + strong + "</strong>";
            }));
        }
    }
    return html;
}

std::string block_html(const Block& block) {
    std::string html;
    switch (block.kind) {
        case Block::Kind::Heading:
            return fmt::format("<h{0}>{1}</h{0}>\n", block.level, inline_html(block.lines[0]));
        case Block::Kind::Paragraph:
            return "<p>" + inline_html(block.lines[0]) + "</p>\n";
        case Block::Kind::List:
            for (const std::string& entry : block.lines) html += "<li>" + inline_html(entry) + "</li>\n";
            return "<ul>\n" + html + "</ul>\n";
        case Block::Kind::Code:
            for (const std::string& line : block.lines) html += html_escaped(line) + "\n";
            return "<pre tabindex=\"0\"><code>" + html + "</code></pre>\n";
    }
    return html;
}

// Words that fit a terminal of 100 columns.
std::string wrapped(const std::string& text, const std::string& first, const std::string& rest) {
    constexpr std::size_t kWidth = 100;
    std::string result = first;
    std::size_t column = first.size();
    std::istringstream stream(text);
    bool at_start = true;
    for (std::string word; stream >> word; at_start = false) {
        if (!at_start && column + 1 + word.size() > kWidth) {
            result += "\n" + rest;
            column = rest.size();
        } else if (!at_start) {
            result += " ";
            ++column;
        }
        result += word;
        column += word.size();
    }
    return result + "\n";
}

std::string plain(std::string text) {
    std::erase(text, '`');
    text = replaced(text, "**", "**", [](const std::string& strong) { return strong; });
    return text;
}

std::string block_text(const Block& block, bool colour) {
    std::string text;
    switch (block.kind) {
        case Block::Kind::Heading:
            return colour ? "\x1b[1m" + plain(block.lines[0]) + "\x1b[0m\n" : plain(block.lines[0]) + "\n";
        case Block::Kind::Paragraph:
            return wrapped(plain(block.lines[0]), "", "");
        case Block::Kind::List:
            for (const std::string& entry : block.lines) text += wrapped(plain(entry), "* ", "  ");
            return text;
        case Block::Kind::Code:
            for (const std::string& line : block.lines) text += "    " + line + "\n";
            return text;
    }
    return text;
}

}  // namespace

std::string markdown_html(const std::string& markdown) {
    std::string html;
    for (const Block& block : blocks_of(markdown)) html += block_html(block);
    return html;
}

std::string markdown_text(const std::string& markdown, bool colour) {
    std::string text;
    for (const Block& block : blocks_of(markdown)) {
        if (!text.empty()) text += "\n";
        text += block_text(block, colour);
    }
    return text;
}

}  // namespace l2lens
