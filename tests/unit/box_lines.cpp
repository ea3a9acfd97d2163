// SPDX-License-Identifier: Apache-2.0
#include "kernel/box_lines.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

Tensor matrix(std::int64_t rows, std::int64_t columns, int element_bytes, std::int64_t pitch_bytes = 0) {
    Tensor tensor;
    tensor.name = "T";
    tensor.rank = 2;
    tensor.shape = {rows, columns};
    tensor.stride_bytes = {pitch_bytes != 0 ? pitch_bytes : columns * element_bytes, element_bytes};
    tensor.element_bytes = element_bytes;
    return tensor;
}

BoxWalk box_at(Index start, Index extent, Path path = Path::Tma, Index step = {}) {
    BoxWalk box;
    box.path = path;
    box.start = start;
    box.extent = extent;
    box.step = step;
    return box;
}

std::vector<LineRequest> requests_of(const Tensor& tensor, const BoxWalk& box, std::int64_t step = 0) {
    std::vector<LineRequest> requests;
    expand(tensor, box, step, requests);
    return requests;
}

int sectors_of(const std::vector<LineRequest>& requests) {
    int sum = 0;
    for (const LineRequest& request : requests) sum += __builtin_popcount(request.sectors);
    return sum;
}

// The slow way: byte by byte, in the order the header promises; a request ends where the column, the row or
// the line changes, and where TMA's piece begins inside a sector behind its first and before its last sector.
struct OracleRequest {
    std::uint64_t line;
    std::set<int> bytes;
};

// The addresses of one row of a column, cut into requests.
void cut(const std::vector<std::uint64_t>& piece, bool tma, std::vector<OracleRequest>& requests) {
    if (piece.empty()) return;
    const bool apart = tma && piece.front() % 32 != 0;
    const auto edge_of = [&](std::uint64_t address) {
        if (apart && address / 32 == piece.front() / 32) return 1;
        if (apart && (piece.back() + 1) % 32 != 0 && address / 32 == piece.back() / 32) return 2;
        return 0;
    };
    for (std::size_t i = 0; i < piece.size(); ++i) {
        if (i == 0 || piece[i] / 128 != piece[i - 1] / 128 || edge_of(piece[i]) != edge_of(piece[i - 1]))
            requests.push_back({piece[i] / 128, {}});
        requests.back().bytes.insert(int(piece[i] % 128));
    }
}

std::vector<OracleRequest> oracle(const Tensor& t, const BoxWalk& box, std::int64_t step) {
    const int inner = t.rank - 1;
    std::vector<Index> rows;
    Index at{};
    const auto start = [&](int d) { return box.start[std::size_t(d)] + step * box.step[std::size_t(d)]; };
    const auto enumerate = [&](auto&& self, int d) -> void {
        if (d == inner) return rows.push_back(at);
        for (std::int64_t i = 0; i < box.extent[std::size_t(d)]; ++i) {
            at[std::size_t(d)] = start(d) + i;
            if (at[std::size_t(d)] >= 0 && at[std::size_t(d)] < t.shape[std::size_t(d)]) self(self, d + 1);
        }
    };
    enumerate(enumerate, 0);

    const std::int64_t row_bytes = box.extent[std::size_t(inner)] * t.element_bytes;
    const std::int64_t width = box.path == Path::Tma ? 128 : row_bytes;
    std::vector<OracleRequest> requests;
    for (std::int64_t column = 0; column < row_bytes; column += width) {
        for (const Index& row : rows) {
            std::vector<std::uint64_t> piece;
            for (std::int64_t b = column; b < std::min(column + width, row_bytes); ++b) {
                const std::int64_t byte = start(inner) * t.element_bytes + b;
                if (byte < 0 || byte >= t.shape[std::size_t(inner)] * t.element_bytes) continue;
                std::uint64_t address = t.base + std::uint64_t(byte);
                for (int d = 0; d < inner; ++d)
                    address += std::uint64_t(row[std::size_t(d)] * t.stride_bytes[std::size_t(d)]);
                piece.push_back(address);
            }
            cut(piece, box.path == Path::Tma, requests);
        }
    }
    return requests;
}

}  // namespace

TEST_CASE("A 128 x 64 box of bf16 is one whole line per row") {
    const auto requests = requests_of(matrix(8192, 8192, 2), box_at({128, 64}, {128, 64}));
    REQUIRE(requests.size() == 128);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        CHECK(requests[i].line == (128 + i) * 128 + 1);  // 8192 bf16 = 128 lines a row
        CHECK(requests[i].sectors == kWholeLine);
        CHECK(requests[i].partial == 0);
        CHECK(requests[i].position == i);
    }
}

TEST_CASE("TMA moves rows of 256 B as two columns, threads line by line along the row") {
    const Tensor tensor = matrix(4, 128, 2);
    std::vector<LineNumber> tma, ld;
    for (const auto& r : requests_of(tensor, box_at({0, 0}, {4, 128}))) tma.push_back(r.line);
    for (const auto& r : requests_of(tensor, box_at({0, 0}, {4, 128}, Path::Load))) ld.push_back(r.line);
    CHECK(tma == std::vector<LineNumber>{0, 2, 4, 6, 1, 3, 5, 7});
    CHECK(ld == std::vector<LineNumber>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("Rows of 64 B ask for the half of the line they need") {
    const auto requests = requests_of(matrix(64, 64, 2), box_at({0, 32}, {2, 32}));
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].sectors == 0b1100);
}

TEST_CASE("A pitch that is no multiple of 128 B makes rows straddle two lines") {
    // 1040 bf16: 2080 B a row; row 1 begins at byte 2080 = line 16, byte 32.
    const auto requests = requests_of(matrix(8, 1040, 2), box_at({1, 0}, {1, 64}));
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].line == 16);
    CHECK(requests[0].sectors == 0b1110);
    CHECK(requests[0].partial == 0);
    CHECK(requests[1].line == 17);
    CHECK(requests[1].sectors == 0b0001);
    CHECK(requests[1].partial == 0);
}

TEST_CASE("A row that begins inside a sector asks for its first and last sector by themselves") {
    // 1032 bf16: 2064 B a row; row 3 begins at byte 6192 = line 48, byte 48 and ends in line 49, byte 48.
    const Tensor tensor = matrix(16, 1032, 2);
    const auto requests = requests_of(tensor, box_at({3, 0}, {1, 64}));
    REQUIRE(requests.size() == 4);
    const SectorMask sectors[] = {0b0010, 0b1100, 0b0001, 0b0010};
    const SectorMask partial[] = {0b0010, 0, 0, 0b0010};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(requests[i].line == (i < 2 ? 48u : 49u));
        CHECK(requests[i].sectors == sectors[i]);
        CHECK(requests[i].partial == partial[i]);
    }
    // Threads' own loads ask once a line.
    CHECK(requests_of(tensor, box_at({3, 0}, {1, 64}, Path::Load)).size() == 2);
}

TEST_CASE("Only rows that may begin inside a sector are counted as four requests a line at most") {
    const BoxWalk box = box_at({0, 0}, {8, 64});
    CHECK(most_requests(matrix(16, 1024, 2), box) == 8 * 2);
    CHECK(most_requests(matrix(16, 1040, 2), box) == 8 * 2);  // 2080 B: on a sector
    CHECK(most_requests(matrix(16, 1032, 2), box) == 8 * 4);  // 2064 B
    CHECK(most_requests(matrix(16, 1024, 2), box_at({0, 8}, {8, 64})) == 8 * 4);
}

TEST_CASE("What lies outside the tensor is not requested") {
    const Tensor tensor = matrix(100, 64, 2);
    CHECK(requests_of(tensor, box_at({96, 0}, {128, 64})).size() == 4);
    CHECK(requests_of(tensor, box_at({-2, 0}, {4, 64})).size() == 2);
    CHECK(requests_of(tensor, box_at({100, 0}, {4, 64})).empty());
    CHECK(requests_of(tensor, box_at({0, -64}, {4, 64})).empty());
    // Half a column to the left: 64 B remain of each row.
    CHECK(sectors_of(requests_of(tensor, box_at({0, -32}, {4, 64}))) == 8);
}

TEST_CASE("A box moves by its step") {
    const Tensor tensor = matrix(128, 640, 2);
    const BoxWalk box = box_at({0, 0}, {1, 64}, Path::Tma, {0, 64});
    for (int step = 0; step < 10; ++step)
        CHECK(requests_of(tensor, box, step).at(0).line == LineNumber(step));
    CHECK(requests_of(tensor, box, 10).empty());
}

TEST_CASE("expand() appends to what is there") {
    const Tensor tensor = matrix(4, 64, 2);
    std::vector<LineRequest> requests;
    expand(tensor, box_at({0, 0}, {4, 64}), 0, requests);
    expand(tensor, box_at({0, 0}, {2, 64}), 0, requests);
    REQUIRE(requests.size() == 6);
    CHECK(requests[4].position == 0);
}

TEST_CASE("Random boxes ask for what a byte-by-byte walk finds") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    RandomStream random(seed, 0);
    for (int round = 0; round < 60; ++round) {
        INFO("seed " << seed << " round " << round);
        Tensor tensor;
        tensor.rank = 1 + static_cast<int>(random.below(4));
        tensor.element_bytes = 1 << random.below(4);
        tensor.base = random.below(4) * 2097152ull;
        BoxWalk box;
        box.path = static_cast<Path>(random.below(3));
        std::int64_t stride = tensor.element_bytes;
        for (std::size_t d = static_cast<std::size_t>(tensor.rank); d-- > 0;) {
            const bool inner = d + 1 == static_cast<std::size_t>(tensor.rank);
            tensor.shape[d] = 1 + random.below(inner ? 300 : 6);
            tensor.stride_bytes[d] = stride;
            stride *= tensor.shape[d];
            stride += tensor.element_bytes * static_cast<std::int64_t>(random.below(20));
            box.extent[d] = 1 + random.below(inner ? 200 : 6);
            box.start[d] = static_cast<std::int64_t>(random.below(inner ? 300 : 8)) - (inner ? 100 : 3);
            box.step[d] = static_cast<std::int64_t>(random.below(7)) - 3;
        }
        const std::int64_t step = random.below(4);
        const auto expected = oracle(tensor, box, step);
        const auto requests = requests_of(tensor, box, step);
        REQUIRE(requests.size() == expected.size());
        CHECK(static_cast<std::int64_t>(requests.size()) <= most_requests(tensor, box));
        for (std::size_t i = 0; i < requests.size(); ++i) {
            std::map<int, int> bytes_of_sector;
            for (const int byte : expected[i].bytes) ++bytes_of_sector[byte / 32];
            unsigned touched = 0, partial = 0;
            for (const auto& [sector, bytes] : bytes_of_sector) {
                touched |= 1u << sector;
                if (bytes < 32) partial |= 1u << sector;
            }
            REQUIRE(requests[i].line == expected[i].line);
            REQUIRE(requests[i].sectors == touched);
            REQUIRE(requests[i].partial == partial);
            REQUIRE(requests[i].position == i);
        }
    }
}

TEST_CASE("Boxes of whole lines are walked row by row as request by request, others are refused") {
    int whole = 0, refused = 0;
    for (const std::int64_t first : {0, 64, 128, 32}) {
        for (const std::int64_t width : {64, 128, 96}) {
            for (const Path path : {Path::Tma, Path::CpAsync}) {
                for (const std::int64_t columns : {512, 500}) {
                    const Tensor tensor = matrix(40, columns, 2);
                    const BoxWalk box = box_at({8, first}, {64, width}, path, {0, width});
                    for (std::int64_t step = 0; step < 8; ++step) {
                        std::vector<LineNumber> lines;
                        const bool is_whole =
                            for_each_whole_row(tensor, box, step, [&](LineNumber line, std::uint32_t run) {
                                for (std::uint32_t i = 0; i < run; ++i) lines.push_back(line + i);
                            });
                        CHECK(has_whole_rows(tensor, box, step) == is_whole);
                        std::vector<LineNumber> asked;
                        bool all_whole = true;
                        for (const LineRequest& request : requests_of(tensor, box, step)) {
                            asked.push_back(request.line);
                            all_whole = all_whole && request.sectors == kWholeLine && request.partial == 0;
                        }
                        INFO(first << " " << width << " " << columns << " " << step);
                        if (is_whole) {
                            std::sort(asked.begin(), asked.end());
                            std::sort(lines.begin(), lines.end());
                            CHECK(lines == asked);
                            CHECK(all_whole);
                        } else {
                            CHECK(lines.empty());
                        }
                        (is_whole ? whole : refused) += asked.empty() ? 0 : 1;
                    }
                }
            }
        }
    }
    CHECK(whole > 0);
    CHECK(refused > 0);
}

TEST_CASE("Rows at one stride are the rows of the box, and others are not") {
    int found = 0;
    const auto compare = [&](const Tensor& tensor, const BoxWalk& box, bool expected) {
        const std::optional<RowsAtStride> rows = rows_at_stride(tensor, box, 1);
        REQUIRE(rows.has_value() == expected);
        if (!rows) return;
        ++found;
        std::vector<LineNumber> by_stride, one_by_one;
        for (std::uint32_t i = 0; i < rows->rows; ++i)
            by_stride.push_back(rows->first + static_cast<LineNumber>(i * rows->stride));
        CHECK(for_each_whole_row(tensor, box, 1, [&](LineNumber first, std::uint32_t lines) {
            CHECK(lines == rows->lines);
            one_by_one.push_back(first);
        }));
        CHECK(by_stride == one_by_one);
    };
    const Tensor plane = matrix(40, 512, 2);
    compare(plane, box_at({8, 0}, {16, 64}, Path::Tma, {0, 64}), true);
    compare(plane, box_at({-8, 64}, {64, 128}, Path::CpAsync, {16, 0}), true);  // clipped above and below
    compare(plane, box_at({40, 0}, {8, 64}, Path::Tma, {0, 64}), false);        // outside
    compare(plane, box_at({8, 32}, {16, 64}, Path::Tma, {0, 0}), false);        // half lines
    CHECK(found == 2);
}

TEST_CASE("Steps that join ask for the lines that they ask for one by one, row by row") {
    int joined_ones = 0, separate = 0;
    for (const Index& step : {Index{0, 64}, Index{8, 0}, Index{0, 128}, Index{8, 64}, Index{0, 0}}) {
        for (const std::int64_t columns : {512, 448, 500}) {
            const Tensor tensor = matrix(20, columns, 2);
            const BoxWalk box = box_at({4, 64}, {8, 64}, Path::Tma, step);
            for (std::int64_t begin = 0; begin < 3; ++begin) {
                for (const std::int64_t end : {begin + 1, begin + 3}) {
                    INFO(step[0] << " " << step[1] << " " << columns << " " << begin << " " << end);
                    std::vector<LineNumber> asked, rows;
                    for (std::int64_t k = begin; k < end; ++k) {
                        for (const LineRequest& request : requests_of(tensor, box, k))
                            asked.push_back(request.line);
                    }
                    const auto joined = joined_steps(tensor, box, begin, end);
                    const auto add = [&](LineNumber first, std::uint32_t lines) {
                        for (std::uint32_t i = 0; i < lines; ++i) rows.push_back(first + i);
                    };
                    if (!joined || !for_each_whole_row(tensor, *joined, 0, add)) {
                        CHECK(rows.empty());
                        ++separate;
                        continue;
                    }
                    ++joined_ones;
                    if (!asked.empty()) CHECK(rows.front() == asked.front());
                    if (!asked.empty()) CHECK(rows.back() == asked.back());
                    std::sort(asked.begin(), asked.end());
                    std::sort(rows.begin(), rows.end());
                    CHECK(rows == asked);
                }
            }
        }
    }
    CHECK(joined_ones > 0);
    CHECK(separate > 0);
}
