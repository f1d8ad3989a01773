// Answers in the form that most dialects use.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/result.hpp"
#include "transport/http/dialect.hpp"
#include "transport/http/message.hpp"

namespace skerry::transport::kit {

using Json = nlohmann::ordered_json;

// One line of JSON. Bytes that are no UTF-8 become U+FFFD.
http::Response JsonAnswer(int status, const Json& body);
http::Response TextAnswer(int status, std::string text, const std::string& type);
http::Response NoContent();  // 204

// The error of a handler as an HTTP answer: with Retry-After where waiting helps, 507 where the disk is full.
http::Refusal RefusalFor(const base::Error& error);

// A handler that may fail: its error becomes the answer, as the dialect words it (Dialect::refuse), with the headers of
// the refusal (Retry-After).
using FallibleHandler = std::function<base::Result<http::Response>(const http::Request&)>;
using Wording = std::function<http::Response(const http::Refusal&, const std::string& request_id)>;
http::Handler Answering(FallibleHandler handler, Wording refuse = http::RefuseNeutrally);

}  // namespace skerry::transport::kit
