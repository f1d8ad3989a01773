// A WebSocket at a running command: its output, its input, its window.
#pragma once

#include <memory>

#include "engine/views/run_attachment.hpp"
#include "transport/http/message.hpp"
#include "transport/v1/api.hpp"

namespace skerry::transport::v1 {

// Messages as api/openapi.yaml says. `api` is borrowed.
http::Response AttachmentAnswer(Api& api, std::shared_ptr<engine::RunAttachment> attached);

}  // namespace skerry::transport::v1
