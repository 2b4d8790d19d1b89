#include "src/compare/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/compare/charts.h"
#include "src/compare/figure_text.h"
#include "src/compare/lead.h"
#include "src/plot/html.h"
#include "src/plot/line_style.h"

namespace ako {

namespace {

/// Ratios nearer to 1 than this are neither a win nor a loss, however little the seeds differ.
constexpr double even_margin = 0.02;

HtmlCell text_cell(const std::string& text) { return {html_text(text)}; }
HtmlCell contender_cell(const Plan& plan, const std::string& contender) {
    HtmlCell cell;
    cell.html =
        fmt::format("<span class=\"swatch\" style=\"background: var(--series-{})\"></span>{}",
                    colour_of(plan, contender) % series_colours(), html_text(contender));
    cell.header = true;
    return cell;
}

/// The time beside that of a baseline; it stands out where runs of the two can be told apart.
HtmlCell ratio_cell(const Outcome* baseline, const Outcome& outcome, std::size_t target_index) {
    if (baseline == &outcome && outcome.targets[target_index].seconds) return number_cell("1");
    const std::optional<double> ratio = ratio_to(baseline, outcome, target_index);
    if (!ratio) return number_cell(no_figure);
    const bool even =
        std::abs(*ratio - 1) <= even_margin || !told_apart(*baseline, outcome, target_index);
    const char* kind = even ? "soft" : *ratio < 1 ? "win" : "loss";
    return {fmt::format("<span class=\"{}\">{:.2f}</span>", kind, *ratio), true};
}

/// "3.41 x", of one machine alone "1".
HtmlCell speed_up_cell(const std::vector<Outcome>& outcomes, const Outcome& outcome,
                       std::size_t target_index) {
    const std::optional<double> ratio = speed_up(outcomes, outcome, target_index);
    if (!ratio) return number_cell(no_figure);
    return number_cell(outcome.candidate.alone() ? "1" : fmt::format("{:.2f} \u00d7", *ratio));
}

bool has_alone(const Plan& plan) {
    return std::any_of(plan.modes.begin(), plan.modes.end(),
                       [](const Contender& contender) { return contender.alone(); });
}

std::vector<std::string> baselines_here(const Plan& plan) {
    std::vector<std::string> names = plan.baselines;
    std::erase_if(names, [&](const std::string& name) {
        return std::none_of(plan.modes.begin(), plan.modes.end(), [&](const Contender& one) {
            return one.name == name || one.mode == name;
        });
    });
    return names;
}

/// The cell of the rate, in the first of its rows only.
void add_rate(std::vector<HtmlCell>& row, const Rate& rate, std::size_t place, std::size_t rows) {
    if (place > 0) return;
    HtmlCell cell = text_cell(rate.text());
    cell.header = true;
    cell.rows = rows;
    row.push_back(cell);
}

std::string words_or_dash(const Variant& variant) {
    const std::string words = variant_text(variant);
    return words.empty() ? no_figure : words;
}

std::vector<HtmlCell> figures_of(const Outcome& outcome) {
    constexpr double to_kilobytes = 1e-3;
    const auto number = [&](std::optional<double> RunFigures::*which, int digits,
                            double scale = 1) {
        return number_cell(figure_text(outcome.figure(which), digits, scale));
    };
    const auto figure = [&](std::optional<double> RunFigures::*which) {
        return figure_text(outcome.figure(which), 1);
    };
    const std::optional<double> mean = outcome.egress_share_mean();
    const std::optional<double> busiest = outcome.egress_share_busiest();
    const auto two = [&](std::optional<double> RunFigures::*one,
                         std::optional<double> RunFigures::*other, double scale = 1) {
        return number_cell(fmt::format("{} ({})", figure_text(outcome.figure(one), 0, scale),
                                       figure_text(outcome.figure(other), 0, scale)));
    };
    const auto paces = [&] {
        const auto pace = [&](std::optional<double> RunFigures::*which) {
            return figure_text(outcome.figure(which), 0);
        };
        return number_cell(fmt::format("{} ({} to {})", pace(&RunFigures::samples_per_s_median),
                                       pace(&RunFigures::samples_per_s_slowest),
                                       pace(&RunFigures::samples_per_s_fastest)));
    };
    return {number(&RunFigures::samples_per_s, 0),
            paces(),
            number_cell(percent_text(outcome.figure(&RunFigures::compute_share), 0)),
            number(&RunFigures::gradient_ms, 1),
            number(&RunFigures::wait_ms, 1),
            number(&RunFigures::cpu_ms_per_round, 1),
            two(&RunFigures::egress_bytes_per_round, &RunFigures::egress_bytes_per_round_busiest,
                to_kilobytes),
            number(&RunFigures::ingress_bytes_per_round, 0, to_kilobytes),
            number_cell(fmt::format("{} ({})", percent_text(mean, 0), percent_text(busiest, 0))),
            number(&RunFigures::partitions, 1),
            number(&RunFigures::staleness_rounds, 1),
            number_cell(fmt::format("{} / {} / {} / {}", figure(&RunFigures::round_ms_p10),
                                    figure(&RunFigures::round_ms_p50),
                                    figure(&RunFigures::round_ms_p90),
                                    figure(&RunFigures::round_ms_p99))),
            text_cell(outcome.bottleneck().empty() ? no_figure : outcome.bottleneck())};
}

HtmlCell screening_cell(const ScreeningRow& row) {
    if (row.result == nullptr) return text_cell(no_figure);
    std::string text = row.result->failed
                           ? std::string("<span class=\"failed\">failed</span>")
                           : html_text(fmt::format(
                                 "{} after {:.3g}",
                                 percent_text(row.result->curve.best_accuracy(), 2), row.epochs));
    if (row.finalist) text = fmt::format("<strong>{}</strong> (chosen)", text);
    return {text};
}

}  // namespace

std::string glance_table(const Plan& plan, const std::vector<Outcome>& outcomes,
                         const Setting& setting, std::size_t target_index) {
    const bool alone = has_alone(plan);
    std::vector<std::string> heads = {"mode"};
    for (const Rate& rate : plan.rates) {
        heads.push_back(rate.text());
        if (alone) heads.emplace_back("speed-up");
    }
    std::vector<std::vector<HtmlCell>> rows;
    for (const Contender& contender : plan.modes) {
        std::vector<HtmlCell> row = {contender_cell(plan, contender.name)};
        for (const Rate& rate : plan.rates) {
            const std::vector<const Outcome*> here = best_at(outcomes, setting, rate, target_index);
            const auto found = std::find_if(here.begin(), here.end(), [&](const Outcome* one) {
                return one->candidate.contender == contender.name;
            });
            if (found == here.end()) {
                row.insert(row.end(), alone ? 2 : 1, number_cell(no_figure));
                continue;
            }
            const Outcome& outcome = **found;
            std::string text =
                html_text(reach_text(outcome.targets[target_index]) + mark_of(outcome));
            const Lead lead = lead_at(outcomes, setting, rate, target_index);
            if (lead.clear() && lead.first == &outcome)
                text = fmt::format("<strong>{}</strong>", text);
            row.push_back({text, true});
            if (alone) row.push_back(speed_up_cell(outcomes, outcome, target_index));
        }
        rows.push_back(std::move(row));
    }
    return html_table(
        fmt::format("Time to {:g} % test accuracy: median over seeds (range). The shortest of a "
                    "rate is bold if its range overlaps with no other; of one seed there is no "
                    "range.{}",
                    plan.target_accuracy[target_index] * 100,
                    alone ? " Speed-up: how many times as fast as one machine alone." : ""),
        heads, rows);
}

std::string target_table(const Plan& plan, const std::vector<Outcome>& outcomes,
                         const Setting& setting, std::size_t target_index) {
    const std::vector<std::string> baselines = baselines_here(plan);
    std::vector<std::string> heads = {"rate",           "mode",    "variant",
                                      "learning rate",  "time",    "lost at the end, points",
                                      "final accuracy", "speed-up"};
    for (const std::string& name : baselines) heads.push_back("time / best " + name);
    heads.emplace_back("rounds");
    std::vector<std::vector<HtmlCell>> rows;
    for (const Rate& rate : plan.rates) {
        const std::vector<const Outcome*> here = best_at(outcomes, setting, rate, target_index);
        for (std::size_t k = 0; k < here.size(); ++k) {
            const Outcome& outcome = *here[k];
            const TargetReach& reach = outcome.targets[target_index];
            std::vector<HtmlCell> row;
            add_rate(row, rate, k, here.size());
            row.push_back(contender_cell(plan, outcome.candidate.contender));
            row.push_back(text_cell(words_or_dash(outcome.candidate.variant)));
            row.push_back(number_cell(fmt::format("{}", outcome.candidate.learning_rate)));
            row.push_back(number_cell(reach_text(reach) + mark_of(outcome)));
            constexpr double to_points = 100;
            row.push_back(number_cell(figure_text(accuracy_lost(outcomes, outcome), 2, to_points)));
            row.push_back(number_cell(outcome.final_accuracy
                                          ? percent_text(outcome.final_accuracy->median, 2)
                                          : no_figure));
            row.push_back(speed_up_cell(outcomes, outcome, target_index));
            for (const std::string& name : baselines)
                row.push_back(ratio_cell(baseline_of(outcomes, name, outcome, target_index),
                                         outcome, target_index));
            row.push_back(number_cell(reach.rounds ? fmt::format("{:.0f}", reach.rounds->median)
                                                   : no_figure));
            rows.push_back(std::move(row));
        }
    }
    return html_table(
        fmt::format("To {:g} % test accuracy. Lost at the end: the highest final accuracy at that "
                    "rate less the own, in points of a percent.",
                    plan.target_accuracy[target_index] * 100),
        heads, rows);
}

std::string figures_table(const Plan& plan, const std::vector<Outcome>& outcomes,
                          const Setting& setting) {
    const std::vector<std::string> heads = {"rate",
                                            "mode",
                                            "samples/s of all",
                                            "of a peer: median (range)",
                                            "compute share",
                                            "gradient ms",
                                            "wait ms",
                                            "CPU ms per round",
                                            "sent kB per round (busiest)",
                                            "received kB per round",
                                            "egress / achievable (busiest)",
                                            "P",
                                            "staleness",
                                            "round ms: 10 / 50 / 90 / 99 %",
                                            "bottleneck"};
    std::vector<std::vector<HtmlCell>> rows;
    for (const Rate& rate : plan.rates) {
        const std::vector<const Outcome*> here = best_at(outcomes, setting, rate);
        for (std::size_t k = 0; k < here.size(); ++k) {
            std::vector<HtmlCell> row;
            add_rate(row, rate, k, here.size());
            row.push_back(contender_cell(plan, here[k]->candidate.contender));
            row.back().html += mark_of(*here[k]);
            for (HtmlCell& cell : figures_of(*here[k])) row.push_back(std::move(cell));
            rows.push_back(std::move(row));
        }
    }
    return html_table(
        "Samples are of all peers together, and of one that trains: the median peer, and from the "
        "slowest to the fastest. The rest is of one peer, in the mean; the busiest is the machine "
        "that sends "
        "most, or comes nearest to what its own link carries, be it a peer or a server. P is "
        "the observed number of rounds in which one cycle over the parameters is sent; "
        "staleness is in rounds. The bottleneck is that of most runs, of one none if its peers are "
        "alike. Medians over seeds; where marked *, of one run of the first "
        "seed that measured the round time alone.",
        heads, rows);
}

std::string screening_table(const Plan& plan, const Screening& screening) {
    std::vector<std::string> heads = {"variant"};
    for (const double rate : plan.learning_rates) heads.push_back(fmt::format("{}", rate));
    std::vector<Variant> variants;
    for (const ScreeningRow& row : screening.rows) {
        if (std::find(variants.begin(), variants.end(), row.candidate.variant) == variants.end())
            variants.push_back(row.candidate.variant);
    }
    std::vector<std::vector<HtmlCell>> rows;
    for (const Variant& variant : variants) {
        HtmlCell head = text_cell(words_or_dash(variant));
        head.header = true;
        std::vector<HtmlCell> row = {head};
        for (const double rate : plan.learning_rates) {
            const auto found = std::find_if(
                screening.rows.begin(), screening.rows.end(), [&](const ScreeningRow& one) {
                    return one.candidate.variant == variant && one.candidate.learning_rate == rate;
                });
            row.push_back(screening_cell(*found));
        }
        rows.push_back(std::move(row));
    }
    return html_table(
        fmt::format("{}, {}: best test accuracy and the epochs of its last run, by "
                    "learning rate{}",
                    screening.contender,
                    setting_of(screening.rows.front().candidate, screening.setting).text(),
                    screening.cut_off ? " (cut off: the time was over)" : ""),
        heads, rows);
}

std::string checks_table(const std::vector<CompositionCheck>& checks) {
    std::vector<std::vector<HtmlCell>> rows;
    rows.reserve(checks.size());
    for (const CompositionCheck& check : checks)
        rows.push_back(
            {text_cell(check.candidate.text()), text_cell(check.setting.text()),
             text_cell(check.rate.text()), number_cell(fmt::format("{:g} %", check.target * 100)),
             number_cell(seconds_text(check.composed_seconds)),
             number_cell(seconds_text(check.measured_seconds)),
             number_cell(fmt::format("{:.3f}", check.composed_seconds / check.measured_seconds))});
    return html_table(
        "Full runs of one seed beside what was composed for it",
        {"what", "setting", "rate", "target", "composed", "measured", "composed / measured"}, rows);
}

std::string failures_table(const std::vector<FailedCell>& failed) {
    std::vector<std::vector<HtmlCell>> rows;
    rows.reserve(failed.size());
    for (const FailedCell& one : failed)
        rows.push_back({text_cell(one.cell.text()), text_cell(one.why)});
    return html_table("Kept as failed; --retry-failed runs them again", {"cell", "why"}, rows);
}

}  // namespace ako
