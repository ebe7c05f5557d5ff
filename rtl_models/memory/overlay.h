// Bytes over the images of a job that shares them with others (rtl_models/README.md): put there before the first cycle, and what
// the design wrote, page by page, when the job is over.
#pragma once

#include <string>

namespace fleet {

class Memory;

/// Puts the file's bytes over the images, which must be this process's own. Returns what is wrong.
std::string lay_overlay(Memory& memory, const std::string& path);

/// Writes the pages that the design wrote since the images were mapped. Returns what is wrong.
std::string keep_overlay(Memory& memory, const std::string& path);

}  // namespace fleet
