// See plot_command.h.
#include "src/commands/plot_command.h"

#include <fmt/format.h>

#include "src/plot/run_page.h"
#include "src/plot/run_record.h"
#include "src/plot/svg_plot.h"

namespace ako {

ExitStatus plot(const PlotOptions& options) {
    const RunRecord run = read_run(options.folder);
    require_gnuplot();
    const std::string page =
        write_run_page(run, options.output.empty() ? options.folder : options.output);
    fmt::print("page: {}\n", page);
    return exit_ok;
}

}  // namespace ako
