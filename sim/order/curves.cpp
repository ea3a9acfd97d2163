// SPDX-License-Identifier: Apache-2.0
// Space-filling curves. Hilbert and Morton live on squares whose side is a power of two: the grid takes the
// cells of the smallest such square that lie inside it, in the curve's order. Gilbert fits any rectangle.
#include <cstdlib>
#include <utility>

#include "order/families.hpp"

namespace l2lens {
namespace {

struct Cell {
    Index x;
    Index y;
};

// Walks the cells of a self-similar curve that lie inside the grid. cell_of(d, levels) places the d-th of the
// coarse cells `levels` digits deep; a coarse cell outside the grid is left out with all that is in it, so
// that a 1 x 1,000,000 grid costs no more than its tiles.
template <class CellOf>
class CurveWalk {
public:
    CurveWalk(GridShape grid, int side, CellOf cell_of) : grid_(grid), side_(side), cell_of_(cell_of) {
        for (Index reach = 1; reach < std::max(grid.rows, grid.columns); reach *= side) ++levels_;
    }

    TileSequence run() {
        sequence_.reserve(static_cast<std::size_t>(grid_.tiles()));
        visit(0, 0, size_at(levels_));
        return std::move(sequence_);
    }

private:
    void visit(Index d, int level, Index size) {
        const Cell cell = cell_of_(d, level);
        if (cell.x * size >= grid_.rows || cell.y * size >= grid_.columns) return;
        if (level == levels_) {
            sequence_.push_back(tile_at(cell.x, cell.y));
            return;
        }
        const Index children = Index{side_} * side_;
        for (Index child = 0; child < children; ++child) visit(d * children + child, level + 1, size / side_);
    }
    Index size_at(int levels) const {
        Index size = 1;
        for (int i = 0; i < levels; ++i) size *= side_;
        return size;
    }

    GridShape grid_;
    int side_;
    CellOf cell_of_;
    int levels_ = 0;
    TileSequence sequence_;
};

template <class CellOf>
TileSequence walk_curve(GridShape grid, int side, CellOf cell_of) {
    return CurveWalk<CellOf>(grid, side, cell_of).run();
}

// The d-th cell of Hilbert's curve on a 2^levels square: the usual d2xy (Warren, "Hacker's Delight", chapter
// 16).
Cell hilbert_cell(Index d, int levels) {
    Cell cell{0, 0};
    for (int level = 0; level < levels; ++level, d /= 4) {
        const Index size = Index{1} << level;
        const Index right = 1 & (d / 2);
        const Index up = 1 & (d ^ right);
        if (up == 0) {
            if (right == 1) cell = {size - 1 - cell.x, size - 1 - cell.y};
            std::swap(cell.x, cell.y);
        }
        cell.x += size * right;
        cell.y += size * up;
    }
    return cell;
}

// Bit 2b + 1 of d is bit b of x (the row), bit 2b bit b of y.
Cell morton_cell(Index d, int levels) {
    Cell cell{0, 0};
    for (int bit = 0; bit < levels; ++bit) {
        cell.x |= ((d >> (2 * bit + 1)) & 1) << bit;
        cell.y |= ((d >> (2 * bit)) & 1) << bit;
    }
    return cell;
}

// Peano's own formula: the base-3 digits of d are u1 v1 u2 v2 ...; u gives x, mirrored (t -> 2 - t) when the
// digits v before it add up to an odd number, and v gives y by the digits u up to its own.
Cell peano_cell(Index d, int levels) {
    Index weight = 1;
    for (int i = 1; i < levels; ++i) weight *= 9;
    Cell cell{0, 0};
    Index sum_u = 0;
    Index sum_v = 0;
    for (int level = 0; level < levels; ++level, weight /= 9) {
        const Index u = d / weight % 9 / 3;
        const Index v = d / weight % 3;
        cell.x = cell.x * 3 + (sum_v % 2 == 0 ? u : 2 - u);
        sum_u += u;
        cell.y = cell.y * 3 + (sum_u % 2 == 0 ? v : 2 - v);
        sum_v += v;
    }
    return cell;
}

// --- Gilbert
// -------------------------------------------------------------------------------------------------------

Index sign(Index value) {
    return (value > 0) - (value < 0);
}
// Rounds towards minus infinity, as the reference does: truncation gives another curve on many rectangles.
Index half(Index value) {
    return value >> 1;
}

struct Vector {
    Index x;
    Index y;
    Vector operator+(Vector o) const { return {x + o.x, y + o.y}; }
    Vector operator-(Vector o) const { return {x - o.x, y - o.y}; }
    Vector operator-() const { return {-x, -y}; }
    Index length() const { return std::abs(x + y); }  // axis-aligned: one of the two is 0
    Vector unit() const { return {sign(x), sign(y)}; }
    Vector halved() const { return {half(x), half(y)}; }
};

// The curve over the parallelogram at `at` spanned by `major` (walked along) and `minor`.
void gilbert_walk(Vector at, Vector major, Vector minor, TileSequence& out) {
    const Index width = major.length();
    const Index height = minor.length();
    const Vector along = major.unit();
    const Vector across = minor.unit();
    if (height == 1 || width == 1) {
        const Vector step = height == 1 ? along : across;
        for (Index i = 0; i < std::max(width, height); ++i, at = at + step)
            out.push_back(tile_at(at.x, at.y));
        return;
    }
    Vector half_major = major.halved();
    Vector half_minor = minor.halved();
    if (2 * width > 3 * height) {  // long: cut the walk in two; an even first part avoids a diagonal step
        if (half_major.length() % 2 == 1 && width > 2) half_major = half_major + along;
        gilbert_walk(at, half_major, minor, out);
        gilbert_walk(at + half_major, major - half_major, minor, out);
        return;
    }
    if (half_minor.length() % 2 == 1 && height > 2) half_minor = half_minor + across;
    gilbert_walk(at, half_minor, half_major, out);  // up, across, down
    gilbert_walk(at + half_minor, major, minor - half_minor, out);
    gilbert_walk(at + (major - along) + (half_minor - across), -half_minor, -(major - half_major), out);
}

}  // namespace

TileSequence hilbert(const OrderArgs&, GridShape grid, const OrderContext&) {
    return walk_curve(grid, 2, hilbert_cell);
}

TileSequence morton(const OrderArgs&, GridShape grid, const OrderContext&) {
    return walk_curve(grid, 2, morton_cell);
}

TileSequence peano(const OrderArgs&, GridShape grid, const OrderContext&) {
    return walk_curve(grid, 3, peano_cell);
}

// Cerveny's generalised Hilbert curve, x = row.
TileSequence gilbert(const OrderArgs&, GridShape grid, const OrderContext&) {
    TileSequence sequence;
    sequence.reserve(static_cast<std::size_t>(grid.tiles()));
    const Vector rows{grid.rows, 0};
    const Vector columns{0, grid.columns};
    if (grid.rows >= grid.columns)
        gilbert_walk({0, 0}, rows, columns, sequence);
    else
        gilbert_walk({0, 0}, columns, rows, sequence);
    return sequence;
}

}  // namespace l2lens
