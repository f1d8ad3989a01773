#include "transport/http/channel_stream.hpp"

#include <exception>

#include <boost/asio/co_spawn.hpp>

namespace skerry::transport::http {
namespace {

asio::awaitable<void> EndOfBothSides(Channel& channel) {
  co_await channel.Finish();
  std::array<char, 2048> ignored;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by Read
  // With TLS, Finish has waited for the other end.
  if (channel.tls() == nullptr) co_await channel.Read(ignored);
  channel.Close();
}

}  // namespace

void ChannelStream::Read(const Pieces<asio::mutable_buffer>& into, Moved moved) {
  if (TlsStream* tls = channel_.tls()) return tls->async_read_some(into, std::move(moved));
  channel_.socket().async_read_some(into, std::move(moved));
}

void ChannelStream::Write(const Pieces<asio::const_buffer>& from, Moved moved) {
  if (TlsStream* tls = channel_.tls()) return tls->async_write_some(from, std::move(moved));
  channel_.socket().async_write_some(from, std::move(moved));
}

void ChannelStream::TearDown(Ended ended) {
  auto ending = EndOfBothSides(channel_);
  asio::co_spawn(loop_, std::move(ending),
                 [told = std::move(ended)](const std::exception_ptr& /*none*/) mutable { told(ErrorCode()); });
}

}  // namespace skerry::transport::http
