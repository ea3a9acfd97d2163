// SPDX-License-Identifier: Apache-2.0
#include "base/html_escaped.hpp"

namespace l2lens {
namespace {

bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

}  // namespace

std::string html_escaped(std::string_view text) {
    std::string html;
    for (const char c : text) {
        switch (c) {
            case '&':
                html += "&amp;";
                break;
            case '<':
                html += "&lt;";
                break;
            case '>':
                html += "&gt;";
                break;
            case '"':
                html += "&quot;";
                break;
            case '\'':
                html += "&#39;";
                break;
            default:
                html += is_control(c) ? ' ' : c;
        }
    }
    return html;
}

}  // namespace l2lens
