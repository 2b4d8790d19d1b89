#include "src/compare/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "ako/error.h"
#include "src/compare/cell_network.h"
#include "src/compare/charts.h"
#include "src/compare/conclusion.h"
#include "src/compare/csv.h"
#include "src/compare/figure_text.h"
#include "src/compare/lead.h"
#include "src/compare/provenance.h"
#include "src/compare/report_tables.h"
#include "src/plot/html.h"
#include "src/system/whole_file.h"

namespace ako {

namespace {

namespace fs = std::filesystem;

/// What the pages are made of.
struct Material {
    const Plan& plan;
    const ResultSet& results;
    const std::vector<Screening> screenings;
    const std::vector<Outcome> outcomes;
    const std::vector<CompositionCheck> checks;
    const std::vector<FailedCell> failed;
    const std::string network;
    const std::string commit;
};

std::string paragraph(const std::string& text) {
    return fmt::format("<p>{}</p>\n", html_text(text));
}

template <class List, class Write>
std::string joined(const List& list, Write write) {
    std::string text;
    for (const auto& one : list) text += (text.empty() ? "" : ", ") + write(one);
    return text;
}

bool any_composed(const Material& material) {
    for (const Outcome& outcome : material.outcomes) {
        if (outcome.composed) return true;
    }
    return false;
}

/// Whether one machine alone was run, without which nobody knows what the others are worth.
std::string alone_text(const Material& material) {
    const Plan& plan = material.plan;
    const bool asked = std::any_of(plan.modes.begin(), plan.modes.end(),
                                   [](const Contender& contender) { return contender.alone(); });
    if (!asked)
        return "One machine alone was not run (alone: false in the plan), so there is no speed-up.";
    const bool run = std::any_of(material.outcomes.begin(), material.outcomes.end(),
                                 [](const Outcome& outcome) { return outcome.candidate.alone(); });
    if (!run) return "One machine alone has not been run yet, so there is no speed-up so far.";
    const bool shares = material.network.find(share_words) != std::string::npos;
    return std::string(
               "Speed-ups are over one machine alone, which trains on all data with one machine's "
               "share of the processors and the best of the same learning rates; it sends "
               "nothing, so that it ran once for all rates.") +
           (shares ? ""
                   : " Nobody's processor time was limited: peers share the cores of this machine, "
                     "of which the one had as many threads as any peer, so that no speed-up can "
                     "be larger than cores are.");
}

std::string opening(const Material& material) {
    const Plan& plan = material.plan;
    const std::string modes = joined(plan.modes, [](const auto& one) { return one.name; });
    const std::string rates = joined(plan.rates, [](const auto& one) { return one.text(); });
    const std::string seeds = joined(plan.seeds, [](auto one) { return fmt::to_string(one); });
    std::string text = fmt::format("<h1>{}</h1>\n", html_text(plan.name));
    text += fmt::format(
        "<p class=\"soft\">{} at {}; seeds {}; {:g} {}. {} cells run, {} of them failed.</p>\n",
        html_text(modes), html_text(rates), seeds, plan.epochs,
        plan.epochs == 1 ? "epoch" : "epochs", material.results.all().size(),
        material.failed.size());
    text +=
        "<nav aria-label=\"Sections\"><a href=\"#times\">Times</a><a href=\"#figures\">Figures</a>"
        "<a href=\"#screening\">How the best were found</a><a href=\"#rules\">Rules</a>"
        "<a href=\"#failed\">Failed cells</a><a href=\"#repeat\">To repeat it</a></nav>\n";
    for (const Setting& setting : settings_of(plan))
        text += fmt::format("<p class=\"conclusion\">{}</p>\n",
                            html_text(conclusion(plan, material.outcomes, setting)));
    text += paragraph("Network: " + material.network + ".");
    text += paragraph(alone_text(material));
    text += fmt::format("<p class=\"soft\">ako {}, commit {}</p>\n", AKO_VERSION,
                        html_text(material.commit));
    return text;
}

std::string charts(const Material& material, const Setting& setting) {
    const Plan& plan = material.plan;
    std::string text = "<div class=\"plots\">\n";
    for (const Chart& chart : charts_of(plan, material.outcomes, setting))
        text += draw_chart(chart, plan.output + "/plots");
    return text + "</div>\n";
}

std::string times(const Material& material) {
    const Plan& plan = material.plan;
    std::string text = "<h2 id=\"times\">Time to a test accuracy</h2>\n";
    const std::vector<Setting> settings = settings_of(plan);
    for (const Setting& setting : settings) {
        text += fmt::format("<h3>{}</h3>\n", html_text(setting.text()));
        for (std::size_t k = 0; k < plan.target_accuracy.size(); ++k)
            text += glance_table(plan, material.outcomes, setting, k);
        if (any_composed(material))
            text += paragraph(fmt::format(
                "* composed: the rounds of full runs at another rate times the time a round took "
                "in one run at this one. Where ranges are compared, such a time is taken to be "
                "off by up to {:g} %; see the rules.",
                composed_margin * 100));
        text += charts(material, setting);
        for (std::size_t k = 0; k < plan.target_accuracy.size(); ++k)
            text += target_table(plan, material.outcomes, setting, k);
    }
    return text + paragraph(
                      "Ratios are times: below 1 this contender is the faster one, above 1 the "
                      "slower; they stand out where the ranges over the seeds lie apart. Lines are "
                      "medians over seeds, bands and whiskers their range; "
                      "dashed lines are composed. The vertical axis of an accuracy is its "
                      "distance from 100 %, logarithmic; so is that of time.");
}

std::string figures(const Material& material) {
    std::string text = "<h2 id=\"figures\">What the machines did</h2>\n";
    for (const Setting& setting : settings_of(material.plan)) {
        text += fmt::format("<h3>{}</h3>\n", html_text(setting.text()));
        text += figures_table(material.plan, material.outcomes, setting);
    }
    return text;
}

std::string screening(const Material& material) {
    const Plan& plan = material.plan;
    std::string text = "<h2 id=\"screening\">How the best of each mode was found</h2>\n";
    if (!plan.screening) {
        text += paragraph(
            "There was no screening: every variant ran with every learning rate, seed "
            "and rate of the network, and the best of each mode at each rate is shown.");
    } else {
        text += paragraph(fmt::format(
            "Successive halving at {} with seed {}: all candidates ran {:g} epochs, the better "
            "half twice as many, and so on, until {} of each mode were left, for each target by "
            "itself and for all together; at most {:g} minutes in all. Better is who reaches the "
            "higher target, of those who reaches it earlier; where "
            "none is reached, who is more accurate at the moment at which the first of them ends.",
            plan.screening->rate.text(), plan.seeds.front(), plan.screening->epochs,
            plan.screening->finalists, plan.screening->minutes_max));
    }
    for (const Screening& one : material.screenings) {
        if (one.rows.size() > 1 && plan.screening) text += screening_table(plan, one);
    }
    return text;
}

/// What the cells that are shown have in one of these: the commits that ran them, or the machines.
std::set<std::string> all_of(const ResultSet& results, std::string CellResult::*which) {
    std::set<std::string> found;
    for (const auto& [text, done] : results.all()) found.insert(done.result.*which);
    return found;
}

std::vector<HtmlCell> provenance_row(const std::string& what, const std::string& value) {
    HtmlCell head{html_text(what)};
    head.header = true;
    return {head, {html_text(value)}};
}

/// What the cells ran on; of several networks how many on each, for they do not compare.
std::string networks_text(const ResultSet& results) {
    std::map<std::string, std::size_t> cells;
    for (const auto& [text, done] : results.all()) cells[done.result.network] += 1;
    if (cells.size() == 1) return cells.begin()->first;
    return joined(cells, [](const auto& one) {
        return fmt::format("{} {} on {}", one.second, one.second == 1 ? "cell" : "cells",
                           one.first);
    });
}

/// What holds in every comparison.
std::vector<std::string> general_rules(const Material& material) {
    std::vector<std::string> list;
    const auto add = [&list](std::string rule) { list.push_back(std::move(rule)); };
    add("Every mode has the same number of machines. A machine that is a parameter server and "
        "nothing else counts as one, so that one fewer trains.");
    add(fmt::format(
        "The learning rate was chosen for every mode from the same grid: {}.",
        joined(material.plan.learning_rates, [](double rate) { return fmt::format("{}", rate); })));
    add("Parameter servers, where `best` is asked for, are the best of 1 to n servers, dedicated "
        "and co-located, each with BSP, SSP 1, SSP 3 and async.");
    add("All modes start from equal parameters: they come from the seed alone.");
    add("The clock of a run begins with the first round of whichever of its peers is first.");
    add("Test accuracy is measured the same way for all, on snapshots that are evaluated after the "
        "run, so that nobody computes less because it evaluates. A time to a target is "
        "interpolated between two snapshots. A snapshot is what a peer has agreed on with the "
        "others at that moment: Ako's anchor, local SGD's newest average.");
    add("Figures are medians over seeds, with their range. A seed that failed or never reached the "
        "target counts as later than all others.");
    add(fmt::format("Network: {}.", material.network));
    add("What a machine can send (egress / achievable) is what plain TCP carried from it with all "
        "sending to all, measured when the links were set to another rate, not before every run; "
        "where peers pace themselves it is the rate, of which they may send 15 ms at once, which "
        "shows where a run is over in a second. What it sent is counted from its first round to "
        "the end of its last.");
    return list;
}

std::string rules(const Material& material) {
    const Plan& plan = material.plan;
    std::vector<std::string> list = general_rules(material);
    if (plan.screening)
        list.push_back(
            "A warm-up of the learning rate is a share of the run. In the screening's shorter runs "
            "it is a larger share, up to half of the run, so that it has as many rounds as in a "
            "whole run: otherwise high learning rates would diverge there alone.");
    if (plan.loss)
        list.push_back(
            fmt::format("In every run of the comparison proper but those of one machine alone, "
                        "peer {} is killed {:g} s after the start.",
                        peer_name(plan.loss->machine), plan.loss->after_s));
    if (plan.composition)
        list.push_back(
            "Synchronous modes (ring, BSP parameter server, local SGD) take the same rounds to a "
            "target at every rate. Where there are several rates they ran to the end at the "
            "fastest one, and figures marked * are those rounds times the time of a round, "
            "measured at the rate in a shorter run, in which the last exchange is not waited for; "
            "with local SGD that run is a whole number of averagings and the round that waits for "
            "the last of them.");
    std::string text = "<h2 id=\"rules\">Rules</h2>\n<ul>\n";
    for (const std::string& rule : list) text += fmt::format("<li>{}</li>\n", html_text(rule));
    text += "</ul>\n";
    if (!material.checks.empty()) text += checks_table(material.checks);
    return text;
}

std::string failures(const Material& material) {
    std::string text = "<h2 id=\"failed\">Failed cells</h2>\n";
    if (material.failed.empty()) return text + paragraph("None.");
    return text + failures_table(material.failed);
}

std::string command_of(const Plan& plan) {
    std::string command = "ako compare " + plan.file;
    for (const std::string& override_text : plan.overrides)
        command += fmt::format(" --set '{}'", override_text);
    return command;
}

std::string repetition(const Material& material) {
    const Plan& plan = material.plan;
    std::vector<std::vector<HtmlCell>> rows;
    for (const std::string& machine : all_of(material.results, &CellResult::machine))
        rows.push_back(provenance_row("cells ran on", machine));
    for (const ProvenanceLine& line : provenance(material.commit))
        rows.push_back(provenance_row(line.what, line.value));
    std::string text = "<h2 id=\"repeat\">To repeat it</h2>\n";
    text += fmt::format("<pre>{}</pre>\n", html_text(command_of(plan)));
    text += paragraph(
        "Every cell has a folder below cells/, in which cluster.yaml repeats it alone "
        "with `ako launch`. The figures of this page are in the CSV files beside it.");
    const std::set<std::string> all = all_of(material.results, &CellResult::commit);
    if (all.size() > 1)
        text += paragraph("The cells were run by different commits: " +
                          joined(all, [](const std::string& one) { return one; }) + ".");
    text += html_table("", {"machines and versions", ""}, rows);
    text += fmt::format("<h3>The plan</h3>\n<pre>{}</pre>\n", html_text(plan.text));
    if (plan.cluster_file != plan.file) text += paragraph("Its cluster file: " + plan.cluster_file);
    return text;
}

}  // namespace

std::string write_report(const Plan& plan, const ResultSet& results, const std::string& commit) {
    if (results.all().empty())
        throw StartupError(fmt::format("{}: no cell of this plan has been run, so there is nothing "
                                       "to report",
                                       plan.output),
                           "run it without --report; or is it another folder (--set output=), or "
                           "has the plan been changed since?");
    const Material material{plan,
                            results,
                            screenings(plan, results),
                            outcomes_of(plan, results),
                            composition_checks(plan, results),
                            failed_cells(results),
                            networks_text(results),
                            commit};
    std::error_code error;
    fs::remove_all(plan.output + "/plots", error);  // those of a plan that was changed
    fs::create_directories(plan.output + "/plots", error);
    const std::string body = opening(material) + times(material) + figures(material) +
                             screening(material) + rules(material) + failures(material) +
                             repetition(material);
    write_whole_file(plan.output + "/targets.csv", targets_csv(plan, material.outcomes));
    write_whole_file(plan.output + "/figures.csv", figures_csv(material.outcomes));
    write_whole_file(plan.output + "/curves.csv", curves_csv(material.outcomes));
    write_whole_file(plan.output + "/cells.csv", cells_csv(results));
    std::string file = plan.output + "/report.html";
    write_whole_file(file, html_page(plan.name, body));
    return file;
}

}  // namespace ako
