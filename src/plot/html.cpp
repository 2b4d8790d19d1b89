#include "src/plot/html.h"

#include <fmt/format.h>

#include "src/plot/line_style.h"

namespace ako {

namespace {

constexpr const char* style = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --soft: #57606a;
  --faint: #d0d7de; --tint: #f6f8fa; --good: #116329; --bad: #a40e26; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181d; --ink: #e6e8eb; --soft: #a3abb5; --faint: #3a424c; --tint: #1e2329;
    --good: #6fdd8b; --bad: #ff9aa2; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .6rem;
  border-top: 1px solid var(--faint); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul, ol { max-width: 46rem; margin: .5rem 0; }
h1, h3, p, li { overflow-wrap: anywhere; }
.conclusion { font-size: 1.15rem; font-weight: 600; }
li { margin: .2rem 0; }
a { color: inherit; }
nav { color: var(--soft); margin: .5rem 0 0; }
nav a { margin-right: 1.1rem; white-space: nowrap; }
.soft { color: var(--soft); }
.scroll { overflow-x: auto; max-width: 100%; margin: .3rem 0 1.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .93rem; }
.caption { color: var(--soft); margin: 1rem 0 0; max-width: 60rem; }
th, td { padding: .32rem 1.1rem .32rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--faint); }
th { font-weight: 600; }
thead th { border-bottom: 2px solid var(--faint); vertical-align: bottom; }
td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
th.number { max-width: 9rem; }
tbody th { white-space: nowrap; }
.swatch { display: inline-block; width: .75em; height: .75em; border-radius: 2px;
  margin-right: .45em; }
.win { color: var(--good); font-weight: 600; }
.loss { color: var(--bad); font-weight: 600; }
.failed { color: var(--bad); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr));
  gap: 1rem 1.5rem; margin: 1rem 0; }
figure { margin: 0; }
figure svg { width: 100%; height: auto; display: block; }
.key { display: flex; flex-wrap: wrap; justify-content: center; gap: 0 1rem;
  font-size: .88rem; }
.key span { white-space: nowrap; }
.key svg { display: inline-block; width: 2rem; height: .75rem; margin-right: .35rem; }
pre { background: var(--tint); padding: .8rem 1rem; overflow-x: auto; border-radius: 6px;
  font: .86rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (max-width: 640px) {
  main { padding: 1rem .8rem 3rem; }
  nav a { display: inline-block; padding: .2rem 0; }
  /* A table keeps its width and is scrolled, rather than break every cell into many lines. */
  .scroll table { width: max-content; }
  td, th.number { max-width: 17rem; } }
@media print { nav { display: none; } .scroll { overflow: visible; } }
)css";

/// The colours of lines: those of the plots, lighter on a dark page.
std::string series_style() {
    std::string light, dark;
    for (std::size_t k = 0; k < series_colours(); ++k) {
        light += fmt::format("--series-{}: {}; ", k, series_colour(k));
        dark +=
            fmt::format("--series-{}: color-mix(in srgb, {} 65%, white); ", k, series_colour(k));
    }
    return fmt::format(":root {{ {}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {}}} }}\n",
                       light, dark);
}

}  // namespace

std::string html_text(const std::string& text) {
    std::string safe;
    for (const char letter : text) {
        if (letter == '&')
            safe += "&amp;";
        else if (letter == '<')
            safe += "&lt;";
        else if (letter == '>')
            safe += "&gt;";
        else if (letter == '"')
            safe += "&quot;";
        else
            safe += letter;
    }
    return safe;
}

std::string html_table(const std::string& caption, const std::vector<std::string>& heads,
                       const std::vector<std::vector<HtmlCell>>& rows) {
    std::string text;
    if (!caption.empty()) text += fmt::format("<p class=\"caption\">{}</p>\n", html_text(caption));
    text += fmt::format("<div class=\"scroll\" tabindex=\"0\"><table aria-label=\"{}\">\n",
                        html_text(caption));
    text += "<thead><tr>";
    for (std::size_t k = 0; k < heads.size(); ++k) {
        bool number = false;
        for (const std::vector<HtmlCell>& row : rows)
            number |= row.size() == heads.size() && row[k].number;
        text += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "",
                            html_text(heads[k]));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (const std::vector<HtmlCell>& row : rows) {
        text += "<tr>";
        for (const HtmlCell& cell : row) {
            const std::string span = cell.rows > 1 ? fmt::format(" rowspan=\"{}\"", cell.rows) : "";
            const std::string kind = cell.header ? "th scope=\"row\"" : "td";
            text += fmt::format("<{}{}{}>{}</{}>", kind, cell.number ? " class=\"number\"" : "",
                                span, cell.html, cell.header ? "th" : "td");
        }
        text += "</tr>\n";
    }
    return text + "</tbody></table></div>\n";
}

std::string html_page(const std::string& title, const std::string& body) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n"
        "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n"
        "</html>\n",
        html_text(title), series_style(), style, body);
}

}  // namespace ako
