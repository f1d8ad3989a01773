// Mount: where a dialect is found on a server.
//
// A mount names any of a listening socket, a host, a header and the beginning of a path; a request matches the mount
// when all that the mount names is so. Of several mounts that match, the most specific one wins. They are compared by
//   1. the listener: a named one before any;
//   2. the host: a name before a pattern, a pattern with more fixed letters before one with fewer, any host last;
//   3. the header: a name with a value before a name, no header last;
//   4. the path: a longer beginning before a shorter one;
// the first difference decides. So a dialect that is mounted on a listener of its own has that listener to itself, and
// a path prefix counts for the hosts and headers that no other mount names.
#pragma once

#include <string>

namespace skerry::transport::http {

// "" in each place: any.
struct Mount {
  std::string listener;  // ListeningSocket::name
  std::string host;      // HostPattern: "api.example.test", "*.example.test", "{port}-{id}.example.test"
  std::string header;    // a header that the request must have, once
  std::string value;     // the value that the header must have; "" for any
  std::string prefix;    // "/v1": this path and all below it
};

}  // namespace skerry::transport::http
