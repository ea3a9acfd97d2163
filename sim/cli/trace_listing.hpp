// SPDX-License-Identifier: Apache-2.0
// Traces as tables: what `trace info` and `trace head` show.
#pragma once

#include <cstdint>
#include <string>

#include "report/listing.hpp"
#include "trace/reader.hpp"

namespace l2lens::cli {

// Reads all of it.
Listing trace_info(TraceReader& reader, const std::string& file);

// The first `count` records: boxes as boxes, requests as requests.
Listing trace_head(TraceReader& reader, std::uint64_t count);

}  // namespace l2lens::cli
