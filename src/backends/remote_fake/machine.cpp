#include "backends/remote_fake/machine.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "archive/byte_sink.hpp"
#include "archive/byte_source.hpp"
#include "archive/entry_path.hpp"
#include "archive/tar_reader.hpp"
#include "archive/tar_writer.hpp"

namespace skerry::backends::remote_fake {

using Kind = core::FileState::Kind;

bool MemoryFiles::HasParent(const std::string& path) const {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return true;
  const auto parent = nodes_.find(path.substr(0, slash));
  return parent != nodes_.end() && parent->second.kind == Kind::kDirectory;
}

void MemoryFiles::Put(const std::string& path, Node node) {
  node.version = ++versions_;
  nodes_.insert_or_assign(path, std::move(node));
}

std::optional<std::string> MemoryFiles::Read(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const auto found = nodes_.find(path);
  return found != nodes_.end() && found->second.kind == Kind::kFile ? std::optional(found->second.content)
                                                                    : std::nullopt;
}

bool MemoryFiles::Write(const std::string& path, std::string_view text, How how) {
  const std::scoped_lock lock(mutex_);
  if (!HasParent(path)) return false;
  const auto found = nodes_.find(path);
  Node node = found != nodes_.end() ? found->second : Node{};
  if (node.kind == Kind::kDirectory) return false;
  node.kind = Kind::kFile;
  node.content = (how == How::kAppend ? node.content : std::string()).append(text);
  Put(path, std::move(node));
  return true;
}

bool MemoryFiles::MakeDirectory(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  if (!HasParent(path) || nodes_.contains(path)) return false;
  Put(path, {.kind = Kind::kDirectory, .content = {}, .mode = 0755});
  return true;
}

bool MemoryFiles::Remove(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  return std::erase_if(nodes_,
                       [&](const auto& node) { return node.first == path || node.first.starts_with(path + "/"); }) > 0;
}

std::vector<std::string> MemoryFiles::Names() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [path, node] : nodes_)
    if (!path.contains('/')) names.push_back(path);
  return names;
}

core::FileMark MemoryFiles::Mark() const {
  const std::scoped_lock lock(mutex_);
  core::FileMark mark;
  for (const auto& [path, node] : nodes_)
    mark.emplace(path, core::FileState{.kind = node.kind,
                                       .size = node.kind == Kind::kFile ? node.content.size() : 0,
                                       .mode = node.mode,
                                       .version = node.kind == Kind::kDirectory ? "" : std::to_string(node.version)});
  return mark;
}

base::Status MemoryFiles::Import(base::ByteSource& tar) {
  archive::TarReader reader(tar);
  for (;;) {
    SKERRY_ASSIGN_OR_RETURN(const auto entry, reader.Next());
    if (!entry) return {};
    SKERRY_ASSIGN_OR_RETURN(const archive::EntryPath path, archive::ParseEntryPath(entry->path));
    Node node{.kind = Kind::kDirectory, .content = {}, .mode = entry->mode & 0777U};
    if (entry->kind == archive::EntryKind::kSymbolicLink) {
      node.kind = Kind::kLink;
      node.content = entry->link_target;
    } else if (entry->kind == archive::EntryKind::kFile) {
      node.kind = Kind::kFile;
      std::array<char, 65536> piece{};
      for (;;) {
        SKERRY_ASSIGN_OR_RETURN(const std::size_t count, reader.ReadContent(piece));
        if (count == 0) break;
        node.content.append(piece.data(), count);
      }
    }
    const std::string name = path.Joined();
    if (node.kind != Kind::kDirectory) Remove(name);
    const std::scoped_lock lock(mutex_);
    const auto there = nodes_.find(name);
    const bool stays = node.kind == Kind::kDirectory && there != nodes_.end() && there->second.kind == Kind::kDirectory;
    if (!name.empty() && !stays) Put(name, std::move(node));
  }
}

base::Result<std::string> MemoryFiles::Export(std::span<const std::string> paths) const {
  const std::scoped_lock lock(mutex_);
  archive::MemorySink sink;
  archive::TarWriter writer(sink);
  for (const std::string& path : paths) {
    const auto found = nodes_.find(path);
    if (found == nodes_.end()) continue;
    const Node& node = found->second;
    const archive::Member member{.path = path, .mode = node.mode};
    archive::MemorySource content(node.content);
    SKERRY_RETURN_IF_ERROR(node.kind == Kind::kDirectory ? writer.AddDirectory(member)
                           : node.kind == Kind::kLink    ? writer.AddLink(member, node.content)
                                                         : writer.AddFile(member, node.content.size(), content));
  }
  SKERRY_RETURN_IF_ERROR(writer.Finish());
  return sink.bytes();
}

Program::Program(MemoryFiles& files, core::Command command)
    : command_(std::move(command)),
      input_(std::move(command_.input), command_.input_end),
      thread_([this, &files](const std::stop_token& stop) { Run(stop, files); }) {}

Program::~Program() {
  thread_.request_stop();
}

std::optional<std::string> Program::ReadInput(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kStep{1};
  while (!stop.stop_requested())
    if (auto bytes = input_.Take(base::Deadline::After(kStep))) return bytes;
  return std::nullopt;
}

void Program::Run(const std::stop_token& stop, MemoryFiles& files) {
  constexpr std::chrono::milliseconds kStep{1};
  std::map<std::string, std::string> variables = command_.environment;
  const auto sleep = [&](std::chrono::milliseconds time) -> std::optional<core::Outcome> {
    for (const auto end = base::Deadline::After(time); !end.Expired(); std::this_thread::sleep_for(kStep))
      if (stop.stop_requested()) return core::EndedByStop();
    return stop.stop_requested() ? std::optional(core::EndedByStop()) : std::nullopt;
  };
  const auto write = [this](core::Stream stream, std::string_view bytes) {
    const std::scoped_lock lock(mutex_);
    pieces_.push_back({stream, std::string(bytes)});
    changed_.notify_all();
  };
  auto outcome = fake::RunTinyProgram(command_.program, {.files = files,
                                                         .variables = variables,
                                                         .write = write,
                                                         .read = [&] { return ReadInput(stop); },
                                                         .sleep = sleep});
  input_.End();
  const std::scoped_lock lock(mutex_);
  end_ = std::move(outcome);
  changed_.notify_all();
}

Program::Heard Program::Poll(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  (void)changed_.wait_for(lock, longest, [&] { return end_.has_value() || !pieces_.empty(); });
  return {.pieces = std::exchange(pieces_, {}), .end = end_};
}

bool Program::IsOver() {
  const std::scoped_lock lock(mutex_);
  return end_.has_value();
}

void Machine::End() {
  alive_ = false;
  const std::scoped_lock lock(mutex_);
  for (const auto& program : programs_) program->Kill();
  programs_.clear();
}

void Machine::LiveFor(std::chrono::milliseconds lifetime) {
  if (lifetime.count() == 0) return;
  lifetime_ = std::jthread([this, end = base::Deadline::After(lifetime)](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kStep{1};
    while (!stop.stop_requested() && !end.Expired()) std::this_thread::sleep_for(kStep);
    if (!stop.stop_requested()) End();
  });
}

base::Result<std::shared_ptr<Program>> Machine::Launch(core::Command command) {
  LiveFor(command.lifetime);
  const std::scoped_lock lock(mutex_);
  programs_.push_back(std::make_shared<Program>(files_, std::move(command)));
  return programs_.back();
}

std::size_t Machine::CountPrograms() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(programs_, [](const auto& program) { return program->IsOver(); });
  return programs_.size();
}

}  // namespace skerry::backends::remote_fake
