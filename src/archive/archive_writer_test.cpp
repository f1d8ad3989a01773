// The writers of all formats, checked with the readers of this folder and with common programs.
#include "archive/archive_writer.hpp"

#include <sys/stat.h>

#include <cstdio>
#include <functional>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archive/archive_builder.hpp"
#include "archive/decompressor.hpp"
#include "archive/error_of.hpp"
#include "archive/gzip_sink.hpp"
#include "archive/tar_reader.hpp"
#include "archive/tar_writer.hpp"
#include "archive/zip_builder.hpp"
#include "archive/zip_reader.hpp"
#include "archive/zip_writer.hpp"
#include "support/temporary_directory.hpp"

namespace skerry::archive {
namespace {

using testing::HasSubstr;

// The output of a command, with its exit status in the last line.
std::string OutputOf(const std::string& command) {
  FILE* pipe = ::popen(("LC_ALL=C.UTF-8 " + command + " 2>&1; echo status=$?").c_str(), "r");
  std::string text;
  std::string buffer(4096, '\0');
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer, 0, count);
  ::pclose(pipe);
  return text;
}

bool Has(const std::string& program) {
  return OutputOf("command -v " + program).ends_with("status=0\n");
}

std::string Text(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size() * 7919 % 10'007);
  text.resize(size);
  return text;
}

// As many 'x' as are read.
class EndlessSource : public ByteSource {
 public:
  base::Result<std::size_t> Read(std::span<char> buffer) override {
    std::ranges::fill(buffer, 'x');
    return buffer.size();
  }
};

// Drops the bytes, and counts them.
class CountingSink : public ByteSink {
 public:
  base::Status Write(std::string_view bytes) override {
    count += bytes.size();
    return {};
  }
  std::uint64_t count = 0;
};

const std::string kLong = std::string(90, 'd') + "/" + std::string(200, 'f');
const std::string kBinary = "bytes\xFF\xFE";
const std::string kUmlaut =
    "gr\xC3\xBC\xC3\x9F"
    "e";

base::Status AddFile(ArchiveWriter& writer, const std::string& path, const std::string& content,
                     std::uint32_t mode = 0644) {
  MemorySource source(content);
  const timespec mtime{.tv_sec = 1'600'000'001, .tv_nsec = 250'000'000};
  return writer.AddFile({.path = path, .mode = mode, .mtime = mtime}, content.size(), source);
}

base::Status AddSamples(ArchiveWriter& writer) {
  SKERRY_RETURN_IF_ERROR(writer.AddDirectory({.path = "d", .mode = 0755, .mtime = {.tv_sec = 1'600'000'000}}));
  SKERRY_RETURN_IF_ERROR(AddFile(writer, "d/small", "small"));
  SKERRY_RETURN_IF_ERROR(AddFile(writer, "d/tool", Text(200'000), 0755));
  SKERRY_RETURN_IF_ERROR(AddFile(writer, "empty", ""));
  SKERRY_RETURN_IF_ERROR(AddFile(writer, kLong, "long"));
  SKERRY_RETURN_IF_ERROR(AddFile(writer, kUmlaut, "umlaut"));
  SKERRY_RETURN_IF_ERROR(AddFile(writer, kBinary, "binary"));
  SKERRY_RETURN_IF_ERROR(writer.AddLink({.path = "l", .mode = 0777}, "/etc"));
  return writer.Finish();
}

std::string TarOfSamples() {
  MemorySink sink;
  TarWriter writer(sink);
  EXPECT_EQ(MessageOf(AddSamples(writer)), "");
  return sink.bytes();
}

std::string ZipOfSamples() {
  MemorySink sink;
  ZipWriter writer(sink);
  EXPECT_EQ(MessageOf(AddSamples(writer)), "");
  return sink.bytes();
}

TEST(TarWriterTest, OurReaderFindsEverythingAgain) {
  const std::string tar = TarOfSamples();
  MemorySource source(tar);
  TarReader reader(source);
  std::vector<TarEntry> entries;
  for (;;) {
    auto entry = reader.Next();
    ASSERT_TRUE(entry) << MessageOf(entry);
    if (!*entry) break;
    entries.push_back(**entry);
  }
  ASSERT_EQ(entries.size(), 8U);
  EXPECT_EQ(entries[0].path, "d/");
  EXPECT_EQ(entries[0].kind, EntryKind::kDirectory);
  EXPECT_EQ(entries[0].mode, 0755U);
  EXPECT_EQ(entries[2].size, 200'000U);
  EXPECT_EQ(entries[2].mode, 0755U);
  EXPECT_EQ(entries[2].mtime.tv_sec, 1'600'000'001);
  EXPECT_EQ(entries[2].mtime.tv_nsec, 250'000'000);
  EXPECT_EQ(entries[4].path, kLong);
  EXPECT_EQ(entries[5].path, kUmlaut);
  EXPECT_EQ(entries[6].path, kBinary);
  EXPECT_EQ(entries[7].kind, EntryKind::kSymbolicLink);
  EXPECT_EQ(entries[7].link_target, "/etc");
}

TEST(TarWriterTest, KeepsTimesBefore1970) {
  for (const timespec mtime : {timespec{-2, 500'000'000}, timespec{-1, 500'000'000}, timespec{-7, 0}, timespec{7, 1}}) {
    MemorySink sink;
    TarWriter writer(sink);
    ASSERT_TRUE(writer.AddDirectory({.path = "d", .mode = 0755, .mtime = mtime}) && writer.Finish());
    MemorySource source(sink.bytes());
    TarReader reader(source);
    const auto entry = reader.Next();
    ASSERT_TRUE(entry && *entry) << MessageOf(entry);
    EXPECT_EQ((*entry)->mtime.tv_sec, mtime.tv_sec);
    EXPECT_EQ((*entry)->mtime.tv_nsec, mtime.tv_nsec);
  }
}

TEST(TarWriterTest, SizesAbove8GigabytesStandInAPaxHeader) {
  // Only the headers: the content would take minutes.
  class Headers : public ByteSink {
   public:
    base::Status Write(std::string_view bytes) override {
      if (headers.size() > 4096) return base::Err(base::Code::kUnavailable, "enough");
      headers += bytes;
      return {};
    }
    std::string headers;
  } sink;
  TarWriter writer(sink);
  EndlessSource endless;
  const std::uint64_t size = std::uint64_t{9} << 30U;
  EXPECT_EQ(MessageOf(writer.AddFile({.path = "big"}, size, endless)), "enough");
  MemorySource source(sink.headers);
  TarReader reader(source);
  const auto entry = reader.Next();
  ASSERT_TRUE(entry && *entry) << MessageOf(entry);
  EXPECT_EQ((*entry)->size, size);
}

TEST(GzipSinkTest, OurReaderFindsTheSameBytes) {
  const std::string tar = TarOfSamples();
  MemorySink sink;
  const auto gzip = GzipSink::Open(sink);
  ASSERT_TRUE(gzip);
  for (std::size_t at = 0; at < tar.size(); at += 777)
    ASSERT_TRUE((*gzip)->Write(std::string_view(tar).substr(at, 777)));
  ASSERT_TRUE((*gzip)->Finish());
  MemorySource compressed(sink.bytes());
  const auto source = OpenDecompressed(compressed);
  ASSERT_TRUE(source);
  std::string back(tar.size() + 1, '\0');
  const auto count = ReadFull(**source, back);
  ASSERT_TRUE(count) << MessageOf(count);
  back.resize(*count);
  EXPECT_EQ(back, tar);
  EXPECT_LT(sink.bytes().size(), tar.size() / 2);
}

TEST(ZipWriterTest, OurReaderFindsEverythingAgain) {
  const base::UniqueFd fd = InMemory(ZipOfSamples());
  const auto reader = ZipReader::Open(fd.get(), 100);
  ASSERT_TRUE(reader) << MessageOf(reader);
  const auto& entries = reader->entries();
  ASSERT_EQ(entries.size(), 8U);
  EXPECT_EQ(entries[0].kind, EntryKind::kDirectory);
  EXPECT_EQ(entries[2].mode, 0755U);
  EXPECT_EQ(entries[4].path, kLong);
  EXPECT_EQ(entries[5].path, kUmlaut);
  EXPECT_NE(entries[5].flags & zip::kUtf8Name, 0U);
  EXPECT_EQ(entries[6].path, kBinary);
  EXPECT_EQ(entries[6].flags & zip::kUtf8Name, 0U);
  EXPECT_EQ(entries[1].flags & zip::kUtf8Name, 0U);
  EXPECT_EQ(*reader->Target(entries[7]), "/etc");
  const auto content = reader->Content(entries[2]);
  ASSERT_TRUE(content);
  std::string text(200'001, '\0');
  EXPECT_EQ(*ReadFull(**content, text), 200'000U);
  EXPECT_EQ(text.substr(0, 200'000), Text(200'000));
}

TEST(ZipWriterTest, ManyEntriesUseThe64BitEnd) {
  MemorySink sink;
  ZipWriter writer(sink);
  for (int i = 0; i < 66'000; ++i) ASSERT_TRUE(writer.AddDirectory({.path = std::to_string(i), .mode = 0755}));
  ASSERT_TRUE(writer.Finish());
  const base::UniqueFd fd = InMemory(sink.bytes());
  const auto reader = ZipReader::Open(fd.get(), 100'000);
  ASSERT_TRUE(reader) << MessageOf(reader);
  EXPECT_EQ(reader->entries().size(), 66'000U);
}

// A writer of each format on a sink.
struct Format {
  std::string name;
  std::function<std::unique_ptr<ArchiveWriter>(ByteSink&)> open;
};
const std::vector<Format>& Formats() {
  static const std::vector<Format> formats = {
      {"tar", [](ByteSink& sink) { return std::make_unique<TarWriter>(sink); }},
      {"zip", [](ByteSink& sink) { return std::make_unique<ZipWriter>(sink); }}};
  return formats;
}

TEST(ArchiveWriterTest, AFileThatBecameShorterIsAnError) {
  for (const Format& format : Formats()) {
    CountingSink sink;
    MemorySource source("short");
    EXPECT_EQ(CodeOf(format.open(sink)->AddFile({.path = "f"}, 6, source)), base::Code::kConflict) << format.name;
  }
}

TEST(ArchiveWriterTest, AFileThatBecameLongerIsCut) {
  for (const Format& format : Formats()) {
    MemorySink sink;
    const auto writer = format.open(sink);
    EndlessSource endless;
    ASSERT_TRUE(writer->AddFile({.path = "f"}, 1'000'000, endless)) << format.name;
    ASSERT_TRUE(writer->Finish());
    EXPECT_LT(sink.bytes().size(), 1'100'000U);
  }
}

TEST(ArchiveWriterTest, TarAndPythonReadOurTar) {
  const support::TemporaryDirectory directory;
  const std::string path = directory.path() / "a.tgz";
  MemorySink sink;
  const auto gzip = GzipSink::Open(sink);
  ASSERT_TRUE((*gzip)->Write(TarOfSamples()) && (*gzip)->Finish());
  WriteFile(path, sink.bytes());
  if (Has("tar")) {
    const std::string list = OutputOf("tar tzvf " + path);
    EXPECT_THAT(list, HasSubstr("status=0\n"));
    EXPECT_THAT(list, HasSubstr("l -> /etc"));
    EXPECT_THAT(list, HasSubstr(kLong));
    const std::string into = directory.path() / "out";
    EXPECT_THAT(OutputOf("mkdir " + into + " && tar xzf " + path + " -C " + into), HasSubstr("status=0\n"));
    EXPECT_TRUE(std::filesystem::exists(into + "/" + kBinary));
    EXPECT_EQ(std::filesystem::file_size(into + "/d/tool"), 200'000U);
  }
  if (Has("python3")) {
    const std::string list = OutputOf("python3 -m tarfile -l " + path);
    EXPECT_THAT(list, HasSubstr("status=0\n"));
    EXPECT_THAT(list, HasSubstr(kUmlaut));
  }
}

TEST(ArchiveWriterTest, UnzipAndPythonReadOurZip) {
  const support::TemporaryDirectory directory;
  const std::string path = directory.path() / "a.zip";
  WriteFile(path, ZipOfSamples());
  if (Has("unzip")) {
    EXPECT_THAT(OutputOf("unzip -t " + path), HasSubstr("No errors detected"));
    const std::string into = directory.path() / "out";
    OutputOf("unzip -q " + path + " -d " + into);
    struct stat facts{};
    EXPECT_EQ(::stat((into + "/d/tool").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0755U);
    EXPECT_EQ(facts.st_mtim.tv_sec, 1'600'000'001);
    EXPECT_EQ(std::filesystem::read_symlink(into + "/l"), "/etc");
    EXPECT_TRUE(std::filesystem::exists(into + "/" + kUmlaut));
  }
  if (Has("python3")) {
    const std::string test = OutputOf("python3 -m zipfile -t " + path);
    EXPECT_THAT(test, HasSubstr("status=0\n"));
    EXPECT_THAT(test, testing::Not(HasSubstr("corrupt")));
  }
}

TEST(ArchiveWriterTest, PythonReadsAZipOfMoreThan4Gigabytes) {
  if (std::getenv("SKERRY_SOAK") == nullptr) GTEST_SKIP() << "takes a minute; set SKERRY_SOAK to run it";
  const support::TemporaryDirectory directory;
  const std::string path = directory.path() / "a.zip";
  {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
    FileSink sink(::fileno(file.get()));
    ZipWriter writer(sink);
    EndlessSource endless;
    ASSERT_TRUE(writer.AddFile({.path = "big"}, std::uint64_t{5} << 30U, endless));
    ASSERT_TRUE(AddFile(writer, "small", "small") && writer.Finish());
  }
  EXPECT_THAT(OutputOf("python3 -m zipfile -t " + path), HasSubstr("status=0\n"));
  EXPECT_THAT(OutputOf("python3 -m zipfile -l " + path), HasSubstr("5368709120"));
}

}  // namespace
}  // namespace skerry::archive
