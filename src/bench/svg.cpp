#include "bench/svg.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.hpp"

namespace skerry::bench {
namespace {

// One decimal is a tenth of a pixel.
std::string Number(double value) {
  std::array<char, 64> buffer{};
  const int size = std::snprintf(buffer.data(), buffer.size(), "%.1f", value);
  return std::string(buffer.data(), static_cast<std::size_t>(std::clamp(size, 0, 63)));
}

std::string Attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + Number(value) + "\"";
}

std::string Attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + XmlText(value) + "\"";
}

std::string_view NameOf(Anchor anchor) {
  if (anchor == Anchor::kStart) return "start";
  return anchor == Anchor::kMiddle ? "middle" : "end";
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string safe;
  for (const char letter : base::ToValidUtf8(text)) {
    if (letter == '&')
      safe += "&amp;";
    else if (letter == '<')
      safe += "&lt;";
    else if (letter == '>')
      safe += "&gt;";
    else if (letter == '"')
      safe += "&quot;";
    else if (static_cast<unsigned char>(letter) >= 0x20)
      safe += letter;
  }
  return safe;
}

SvgDrawing::SvgDrawing(double width, double height, std::string_view title) {
  body_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + Number(width) + " " + Number(height) + "\"" +
          Attribute("width", width) + Attribute("height", height) +
          " role=\"img\" font-family=\"system-ui, sans-serif\">\n<title>" + XmlText(title) + "</title>\n";
  Box({0, 0}, width, height, "#ffffff");
}

void SvgDrawing::Text(const SvgText& text) {
  body_ += "<text" + Attribute("x", text.at.x) + Attribute("y", text.at.y) +
           Attribute("text-anchor", NameOf(text.anchor)) + Attribute("font-size", std::to_string(text.size)) +
           Attribute("font-weight", text.weight) + Attribute("fill", text.color) + ">" + XmlText(text.text) +
           "</text>\n";
}

void SvgDrawing::Line(SvgPoint from, SvgPoint to, std::string_view color, double width) {
  body_ += "<line" + Attribute("x1", from.x) + Attribute("y1", from.y) + Attribute("x2", to.x) + Attribute("y2", to.y) +
           Attribute("stroke", color) + Attribute("stroke-width", width) + "/>\n";
}

void SvgDrawing::Box(SvgPoint corner, double width, double height, std::string_view color) {
  body_ += "<rect" + Attribute("x", corner.x) + Attribute("y", corner.y) + Attribute("width", width) +
           Attribute("height", height) + Attribute("fill", color) + "/>\n";
}

void SvgDrawing::Polyline(std::span<const SvgPoint> points, std::string_view color) {
  body_ += "<polyline fill=\"none\" stroke-width=\"1.5\" stroke-linejoin=\"round\"" + Attribute("stroke", color) +
           " points=\"";
  for (const SvgPoint& point : points) body_ += Number(point.x) + "," + Number(point.y) + " ";
  body_ += "\"/>\n";
}

}  // namespace skerry::bench
