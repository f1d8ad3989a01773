// A client for tests that sends exactly the given bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace skerry::transport::http {

struct Answer {
  int status = 0;  // 0: no answer came
  std::string head;
  std::string body;
  // The value of a header, as it came.
  [[nodiscard]] std::optional<std::string> Find(std::string_view name) const;
};

// Blocks, for each piece at most `patience_`.
class TestClient {
 public:
  static TestClient Unix(const std::string& path);
  static TestClient Tcp(std::uint16_t port, const std::string& from = "127.0.0.1");
  explicit TestClient(base::UniqueFd fd) : fd_(std::move(fd)) {}

  // False: the other end does not take it.
  bool Send(std::string_view bytes);
  // One answer: its head, and its body by length, by chunks or until the end. An answer to HEAD has no body.
  enum class Expect { kBody, kNoBody };
  Answer Receive(Expect expect = Expect::kBody);
  Answer Ask(std::string_view bytes) {
    Send(bytes);
    return Receive();
  }
  // `size` bytes, or what came before the end.
  std::string Read(std::size_t size);
  // The content of a body in chunks; a body that is cut off ends with "<cut>".
  std::string ReadChunks();
  // The next line, with its end.
  std::string ReadLine();
  // True when the other end closes within that time; bytes before the end are dropped.
  bool Ends(std::chrono::milliseconds within);
  void Close() { fd_.Reset(); }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  bool Fill();

  base::UniqueFd fd_;
  std::string buffer_;
  std::chrono::milliseconds patience_{5000};
};

}  // namespace skerry::transport::http
