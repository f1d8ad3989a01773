// Mount: where a dialect is found on a server.
//
// A mount names any of a listening socket, a host, a header and the beginning of a path; a request is the mount's when
// all that it names is so. Of several mounts that a request has, the one that says more is meant. They are compared by
//   1. the listener: one that is named before any;
//   2. the host: a name before a pattern, a pattern with more fixed letters before one with fewer, any host last;
//   3. the header: a name with a value before a name, no header last;
//   4. the path: a longer beginning before a shorter one;
// the first difference decides. So what is mounted on a listener of its own has that listener to itself, and a path
// prefix counts for the hosts and headers that nobody else has taken.
#pragma once

#include <string>

namespace skerry::transport::http {

// "" in each place: it does not matter.
struct Mount {
  std::string listener;  // ListeningSocket::name
  std::string host;      // HostPattern: "api.example.test", "*.example.test", "{port}-{id}.example.test"
  std::string header;    // a header that has to be there, once
  std::string value;     // and its value, if that matters
  std::string prefix;    // "/v1": this path and all below it
};

}  // namespace skerry::transport::http
