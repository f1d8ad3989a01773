// Endpoint: the address of a server, which certificates prove it, and what proves the client to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace skerry::net {

struct Endpoint {
  enum class Kind { kUnix, kPlain, kTls };
  Kind kind = Kind::kUnix;
  std::string path;  // of a unix socket
  std::string host;
  std::uint16_t port = 0;
  std::string token;  // sent as "Authorization: Bearer"; "" for none

  // For TLS; files are PEM.
  std::string certificates;  // a file of roots that prove the server; "" for the system's only
  enum class Trust { kSystemToo, kCertificatesOnly };
  Trust trust = Trust::kSystemToo;
  std::string own_certificate;  // a file with the client's certificate and its chain; "" for none
  std::string own_key;          // the file of that certificate's key, which has no password

  // For error messages: what the server is called, and what to do when it is not there.
  // "no daemon at unix:/path; start one with: skerry serve".
  std::string called = "server";
  std::string advice;

  // "unix:/path", "http://host:port", "https://host[:port]".
  static base::Result<Endpoint> Parse(const std::string& url);
  [[nodiscard]] std::string Describe() const;
};

// A part of a request's target: everything but letters, digits and -._~ is escaped.
std::string Escape(std::string_view text);

}  // namespace skerry::net
