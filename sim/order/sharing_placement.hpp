// SPDX-License-Identifier: Apache-2.0
// The tiles that an order by sharing has placed, what is live after them, and which tile that makes the one
// to go on with. What the words mean and which rule comes first: sharing.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/make_set.hpp"
#include "base/random.hpp"
#include "order/sharing_graph.hpp"

namespace l2lens {

// Does a step that keeps old pieces in use pay for it?
enum class Rent { Free, Paid };

// The tiles placed so far, what is live, and which tiles that makes good ones to go on with.
class Placement {
public:
    Placement(const SharingGraph& graph, std::int64_t wave)
        : graph_(graph),
          wave_(static_cast<std::size_t>(wave)),
          tiles_(graph.tiles()),
          pieces_(graph.pieces()) {
        for (Vertex t = 0; t < graph.tiles(); ++t) {
            for (const Vertex p : graph.pieces_of(t)) {
                ++pieces_[p].waiting;
                ++tiles_[t].missing;
                tiles_[t].missing_sum ^= p;
                tiles_[t].bytes += graph.bytes(p);
            }
        }
    }

    const std::vector<Vertex>& placed() const { return placed_; }
    bool waits(Vertex tile) const { return !tiles_[tile].placed; }

    // kNone when no tile that waits shares anything that is live.
    Vertex next(Rent rent) {
        if (!ready_.empty()) return *ready_.begin();
        if (!completing_.empty()) return first_completed_by(best_piece(rent));
        return partly_live_.empty() ? kNone : partly_live_.begin()->tile;
    }
    Vertex first_waiting() {
        while (scanned_ < graph_.tiles() && !waits(scanned_)) ++scanned_;
        return scanned_ < graph_.tiles() ? scanned_ : kNone;
    }

    void place(Vertex tile) {
        count(tile, false);
        tiles_[tile].placed = true;
        placed_.push_back(tile);
        const std::size_t now = placed_.size();
        for (const Vertex p : graph_.pieces_of(tile)) {
            if (pieces_[p].live) by_use_.erase({pieces_[p].last_use, p});
            pieces_[p].last_use = now;
            if (pieces_[p].live)
                by_use_.insert({now, p});
            else
                set_live(p, true);
        }
        while (!by_use_.empty() && by_use_.begin()->first < now &&
               (by_use_.begin()->first + wave_ <= now || live_bytes_ > most_live_))
            set_live(by_use_.begin()->second, false);
        for (const Vertex p : graph_.pieces_of(tile))
            if (--pieces_[p].waiting == 0) set_live(p, false);
    }
    void allow_live(std::int64_t bytes) { most_live_ = bytes; }

    // Takes the last `count` tiles back, before which nothing was live.
    std::vector<Vertex> take_back(std::size_t count) {
        std::vector<Vertex> taken(placed_.end() - static_cast<std::ptrdiff_t>(count), placed_.end());
        placed_.resize(placed_.size() - count);
        for (const Vertex t : taken)
            for (const Vertex p : graph_.pieces_of(t))
                if (pieces_[p].live) set_live(p, false);
        for (const Vertex t : taken) {
            tiles_[t].placed = false;
            for (const Vertex p : graph_.pieces_of(t)) ++pieces_[p].waiting;
            scanned_ = std::min(scanned_, t);
        }
        return taken;
    }

private:
    struct Tile {
        Vertex missing = 0;            // pieces that are not live
        Vertex missing_sum = 0;        // these xored: the one, where it is one
        std::uint64_t live_names = 0;  // a sum of hashes that names those that are
        std::int64_t live_bytes = 0;
        std::int64_t bytes = 0;
        bool placed = false;
    };
    struct Piece {
        bool live = false;
        std::size_t last_use = 0;
        std::int64_t waiting = 0;    // readers
        std::int64_t completes = 0;  // tiles that wait, lack this piece alone, and have others live
        std::uint64_t kept = 0;      // the names of what those keep in use
    };
    // Pieces that complete most tiles per byte first; those that cost the same stand side by side.
    struct Completing {
        double per_byte;
        std::uint64_t kept;
        Vertex piece;
        friend bool operator<(const Completing& a, const Completing& b) {
            if (a.per_byte != b.per_byte) return a.per_byte > b.per_byte;
            return std::pair(a.kept, a.piece) < std::pair(b.kept, b.piece);
        }
    };
    struct PartlyLive {
        double share;
        Vertex tile;
        friend bool operator<(const PartlyLive& a, const PartlyLive& b) {
            return a.share != b.share ? a.share > b.share : a.tile < b.tile;
        }
    };

    Completing completing(Vertex p) const {
        const Piece& piece = pieces_[p];
        return {static_cast<double>(piece.completes) / static_cast<double>(graph_.bytes(p)), piece.kept, p};
    }

    // What a waiting tile is good for, in the sets that next() chooses from.
    void count(Vertex t, bool in) {
        const Tile& tile = tiles_[t];
        if (tile.live_bytes == 0) return;
        if (tile.missing == 0) {
            put(ready_, t, in);
            return;
        }
        put(partly_live_, {share_of(tile), t}, in);
        if (tile.missing == 1) change_completes(tile, in ? +1 : -1);
    }
    template <class T>
    static void put(std::set<T>& set, const std::type_identity_t<T>& element, bool in) {
        if (in)
            set.insert(element);
        else
            set.erase(element);
    }
    static double share_of(const Tile& tile) {
        return static_cast<double>(tile.live_bytes) / static_cast<double>(tile.bytes);
    }
    void change_completes(const Tile& tile, int by) {
        Piece& piece = pieces_[tile.missing_sum];
        if (piece.completes > 0) completing_.erase(completing(tile.missing_sum));
        piece.completes += by;
        piece.kept += by > 0 ? tile.live_names : 0 - tile.live_names;
        if (piece.completes > 0) completing_.insert(completing(tile.missing_sum));
    }

    void set_live(Vertex p, bool live) {
        for (const Vertex t : graph_.readers(p)) {
            Tile& tile = tiles_[t];
            if (!tile.placed) count(t, false);
            tile.missing += live ? ~Vertex{0} : Vertex{1};
            tile.missing_sum ^= p;
            tile.live_names += live ? mix64(p + 1) : 0 - mix64(p + 1);
            tile.live_bytes += live ? graph_.bytes(p) : -graph_.bytes(p);
            if (!tile.placed) count(t, true);
        }
        pieces_[p].live = live;
        live_bytes_ += live ? graph_.bytes(p) : -graph_.bytes(p);
        put(by_use_, {pieces_[p].last_use, p}, live);
    }

    // The bytes of a piece, and rent for the live ones that the tiles it completes keep in use: their bytes
    // for the part of a wave by which that lengthens their stay. Over a launch the rents add up to the bytes
    // live in the mean, times the waves. A strip of tiles goes on the way it went, since the pieces it needs
    // were used just now; without rent it would grow to both sides, until a wave touches a row and a column
    // of everything.
    double cost_of(Vertex p) {
        used_.clear();
        for (const Vertex t : graph_.readers(p)) {
            if (!waits(t) || tiles_[t].missing != 1) continue;
            for (const Vertex q : graph_.pieces_of(t))
                if (q != p) used_.push_back(q);
        }
        make_set(used_);
        double rent = 0;
        for (const Vertex q : used_)
            rent += static_cast<double>(graph_.bytes(q)) *
                    static_cast<double>(placed_.size() - pieces_[q].last_use);
        return static_cast<double>(graph_.bytes(p)) + rent / static_cast<double>(wave_);
    }

    // The piece that completes most tiles for its cost, the first of several. A cost is at least the bytes,
    // so those that cannot be better than what was found are not looked at; nor are all of those alike.
    Vertex best_piece(Rent rent) {
        // So many kinds has only a plane without rhyme or reason; any will do there.
        constexpr int kMostTried = 256;
        double best = 0;
        Vertex chosen = kNone;
        auto at = completing_.begin();
        for (int tried = 0; at != completing_.end() && at->per_byte >= best && tried < kMostTried; ++tried) {
            const double good = rent == Rent::Free
                                    ? at->per_byte
                                    : static_cast<double>(pieces_[at->piece].completes) / cost_of(at->piece);
            if (good > best || (good == best && at->piece < chosen)) {
                best = good;
                chosen = at->piece;
            }
            at = completing_.upper_bound({at->per_byte, at->kept, kNone});
        }
        return chosen;
    }
    Vertex first_completed_by(Vertex p) const {
        for (const Vertex t : graph_.readers(p))
            if (waits(t) && tiles_[t].missing == 1) return t;
        return kNone;
    }

    const SharingGraph& graph_;
    std::size_t wave_;
    std::vector<Tile> tiles_;
    std::vector<Piece> pieces_;
    std::set<std::pair<std::size_t, Vertex>> by_use_;  // what is live, the longest unused first
    std::int64_t live_bytes_ = 0;
    std::int64_t most_live_ = std::numeric_limits<std::int64_t>::max();
    std::set<Vertex> ready_;
    std::set<Completing> completing_;
    std::set<PartlyLive> partly_live_;
    std::vector<Vertex> placed_;
    std::vector<Vertex> used_;
    Vertex scanned_ = 0;  // all before it are placed
};

}  // namespace l2lens
