// How LocalCode finds what JavaScript loads: by paths and URLs, by the names of packages and by their descriptions.
#include <algorithm>
#include <array>
#include <charconv>

#include "engine/inside_path.hpp"
#include "engine/local_code.hpp"
#include "workspace/beneath.hpp"

namespace skerry::engine {
namespace {

using core::Language;
using workspace::JoinPath;

constexpr std::size_t kLargestDescription = std::size_t{256} << 10U;
constexpr auto kEndings =
    std::to_array<std::string_view>({"", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"});

bool IsPath(std::string_view name) {
  return name.starts_with("./") || name.starts_with("../") || name.starts_with('/') || name == "." || name == "..";
}

// A specifier of `import` is a URL: without query and fragment, and with its %xx as bytes.
std::string AsUrl(std::string_view name) {
  std::string path;
  const std::size_t end = std::min(name.find_first_of("?#", 1), name.size());
  for (std::size_t at = 0; at < end; ++at) {
    unsigned char byte = 0;
    const bool is_hex =
        name[at] == '%' && at + 2 < end && std::from_chars(&name[at + 1], &name[at] + 3, byte, 16).ptr == &name[at] + 3;
    path += is_hex ? static_cast<char>(byte) : name[at];
    if (is_hex) at += 2;
  }
  return path;
}

// The path of a file: URL without its host; nothing for other names.
std::optional<std::string_view> PathOfFileUrl(std::string_view name) {
  constexpr std::string_view kScheme = "file:";
  const auto same = [](char left, char right) { return (left | 0x20) == right || left == right; };
  if (name.size() < kScheme.size() || !std::ranges::equal(name.substr(0, kScheme.size()), kScheme, same)) return {};
  name.remove_prefix(kScheme.size());
  if (name.starts_with("//")) name.remove_prefix(std::min(name.find('/', 2), name.size()));
  return name;
}

// "@a/b/c/d" is the package "@a/b" and "c/d" of it.
std::string_view PackageOf(std::string_view name) {
  const std::size_t scope = name.starts_with('@') ? std::min(name.find('/'), name.size() - 1) + 1 : 0;
  return name.substr(0, name.find('/', scope));
}

// The rest of the name as a package.json writes it: "." for the package itself.
std::string SubPathOf(std::string_view name) {
  return "." + std::string(name.substr(PackageOf(name).size()));
}

}  // namespace

void LocalCode::FindJavaScript(std::string_view name, const CodePlace& from) {
  if (name.empty() || name.starts_with("node:") || name.starts_with("data:")) return;
  FindSpecifier(name, from);
  if (const std::string plain = AsUrl(name); plain != name) FindSpecifier(plain, from);
}

void LocalCode::FindSpecifier(std::string_view name, const CodePlace& from) {
  const auto of_url = PathOfFileUrl(name);
  if (!of_url && name.starts_with('#')) return FindImport(name, from);
  if (!of_url && !IsPath(name)) return FindPackage(name, from);
  std::string path;
  if (TakeInside(of_url ? "" : from.directory, of_url.value_or(name), path)) TakeJavaScript(path, from);
}

void LocalCode::FindPackage(std::string_view name, const CodePlace& from) {
  // A package may import itself by its own name.
  if (const auto own = PackageAround(from.directory); own && DescriptionIn(*own).name == PackageOf(name))
    TakeTargets(*own, TargetsOf(DescriptionIn(*own).exports, SubPathOf(name)), from);
  for (std::string_view directory = from.directory;; directory = workspace::ParentOf(directory)) {
    const std::string packages = JoinPath(directory, "node_modules");
    if (files_.HasDirectory(packages) && TakeFromPackages(packages, name, from)) return;
    if (directory.empty() || budget().IsOver()) break;
  }
  for (const std::string& directory : packages_)
    if (TakeFromPackages(directory, name, from)) return;
}

bool LocalCode::TakeFromPackages(const std::string& packages, std::string_view name, const CodePlace& from) {
  std::string path;
  if (!TakeInside(packages, name, path)) return false;
  if (PackageOf(name) == name) return TakeJavaScript(path, from);
  const std::string package = JoinPath(packages, PackageOf(name));
  const bool any = files_.HasDirectory(package) &&
                   TakeTargets(package, TargetsOf(DescriptionIn(package).exports, SubPathOf(name)), from);
  return TakeJavaScript(path, from) || any;
}

void LocalCode::FindImport(std::string_view name, const CodePlace& from) {
  const auto own = PackageAround(from.directory);
  if (!own) return;
  const std::vector<std::string> targets = TargetsOf(DescriptionIn(*own).imports, name);
  for (const std::string& target : targets)
    if (!target.empty() && !IsPath(target)) FindPackage(target, from);
  TakeTargets(*own, targets, from);
}

bool LocalCode::TakeTargets(const std::string& directory, const std::vector<std::string>& targets,
                            const CodePlace& from) {
  bool any = false;
  std::string path;
  for (const std::string& target : targets)
    if (TakeInside(directory, AsUrl(target), path) && path != directory) any = TakeJavaScript(path, from) || any;
  return any;
}

bool LocalCode::TakeJavaScript(const std::string& path, const CodePlace& from) {
  for (const std::string_view ending : kEndings) {
    const std::string file = path + std::string(ending);
    if (!files_.HasFile(file) || file.ends_with(".json")) continue;
    // Node resolves the imports of a linked file from where the file itself lies.
    const std::string parent(workspace::ParentOf(files_.RealPath(file)));
    return Take(file, Language::kJavaScript, false, {parent, from.root});
  }
  if (files_.HasFile(path + ".node")) {
    Note(CodePiece::Form::kBinary, path + ".node");
    return true;
  }
  return files_.HasDirectory(path) && TakePackage(path, from);
}

// Takes every beginning that the package's description names, under any condition.
bool LocalCode::TakePackage(const std::string& directory, const CodePlace& from) {
  if (!packages_met_.insert(directory).second) return true;
  const PackageDescription& description = DescriptionIn(directory);
  const bool main = TakeTargets(directory, description.mains, from);
  const bool exported = TakeTargets(directory, TargetsOf(description.exports, "."), from);
  return TakeJavaScript(JoinPath(directory, "index"), from) || main || exported;
}

std::optional<std::string> LocalCode::PackageAround(std::string_view directory) {
  for (;; directory = workspace::ParentOf(directory)) {
    if (files_.HasFile(JoinPath(directory, "package.json"))) return std::string(directory);
    if (directory.empty() || budget().IsOver()) return std::nullopt;
  }
}

const PackageDescription& LocalCode::DescriptionIn(const std::string& directory) {
  const auto [known, is_new] = descriptions_.try_emplace(directory);
  const std::string path = JoinPath(directory, "package.json");
  if (!is_new || !files_.HasFile(path)) return known->second;
  const auto text = files_.Read(path, kLargestDescription);
  if (text) known->second = ReadPackageDescription(*text);
  if (!text || !known->second.is_whole) Note(CodePiece::Form::kTooMuch, path);
  return known->second;
}

}  // namespace skerry::engine
