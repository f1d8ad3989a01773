// A drawing as SVG text, with a white background, so that it looks the same on a light and on a dark page.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace skerry::bench {

struct SvgPoint {
  double x = 0;
  double y = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

struct SvgText {
  SvgPoint at;
  std::string text;
  Anchor anchor = Anchor::kStart;
  int size = 12;
  std::string_view color = "#1f2933";
  std::string_view weight = "normal";
};

class SvgDrawing {
 public:
  SvgDrawing(double width, double height, std::string_view title);

  void Text(const SvgText& text);
  void Line(SvgPoint from, SvgPoint to, std::string_view color, double width = 1);
  void Box(SvgPoint corner, double width, double height, std::string_view color);
  void Polyline(std::span<const SvgPoint> points, std::string_view color);

  // The whole file.
  [[nodiscard]] std::string Finish() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

// The text for XML content and attributes: markup characters as entities, control characters dropped, valid UTF-8.
std::string XmlText(std::string_view text);

}  // namespace skerry::bench
