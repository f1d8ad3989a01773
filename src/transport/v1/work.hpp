// What is to be run, from the words of a request; and the answer.
#pragma once

#include "engine/host.hpp"
#include "transport/v1/api.hpp"
#include "transport/v1/run_stream.hpp"

namespace skerry::transport::v1 {

// The fields of a piece of code.
base::Status ReadCode(const Api& api, const http::Request& asked, json::Fields& fields,
                      const engine::SessionSettings& settings, engine::Work& work);
// The fields that code and commands have in common.
base::Status ReadSurroundings(const Api& api, const http::Request& asked, json::Fields& fields,
                              const engine::SessionSettings& settings, engine::Work& work);
// `max_output_mb`: what the request says, as far as its caller may have that.
std::uint64_t ReadMaxOutput(const Api& api, const http::Request& asked, json::Fields& fields);
// `approve`: only for those who may.
base::Status ReadConsent(json::Fields& fields, const http::Request& request, engine::Consent& consent);
OnDisconnect ReadOnDisconnect(json::Fields& fields);

// Runs it and answers when it is over, or with its events from the beginning.
base::Result<http::Response> Answer(Api& api, const http::Request& request, engine::Work work,
                                    OnDisconnect on_disconnect);
// The same for what has begun already.
base::Result<http::Response> AnswerBegun(Api& api, const http::Request& request, const engine::Begun& begun,
                                         OnDisconnect on_disconnect);

// All that is known of a run, with what it has written.
base::Result<http::Response> WholeAnswer(const Api& api, const http::Request& request, const engine::Run& run);

}  // namespace skerry::transport::v1
