#include "engine/assessment_memory.hpp"

#include <utility>

#include "base/sha256.hpp"

namespace skerry::engine {
namespace {

// About the memory that the assessment takes.
std::size_t SizeOf(const RememberedAssessment& assessment) {
  std::size_t bytes = 512 + assessment.risk.reason.size();
  for (const core::Finding& each : assessment.risk.findings)
    bytes += sizeof(each) + each.rule.size() + each.text.size() + each.explanation.size() + each.source.size();
  for (const std::string& each : assessment.risk.lowerings) bytes += sizeof(std::string) + each.size();
  for (const policy::CodeReference& each : assessment.references) bytes += sizeof(each) + each.name.size();
  return bytes;
}

}  // namespace

std::string AssessmentMemory::KeyOf(const std::string& tenant, core::Language language, std::string_view code) {
  return base::Sha256Hex(code) + " " + std::string(core::NameOf(language)) + " " + tenant;
}

std::optional<RememberedAssessment> AssessmentMemory::Find(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->assessment;
}

void AssessmentMemory::Keep(const std::string& key, RememberedAssessment assessment) {
  const std::size_t bytes = SizeOf(assessment);
  const std::scoped_lock lock(mutex_);
  if (bytes > most_bytes_ || by_key_.contains(key)) return;
  entries_.push_front({.key = key, .assessment = std::move(assessment), .bytes = bytes});
  by_key_.emplace(key, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > most_bytes_) {
    bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

}  // namespace skerry::engine
