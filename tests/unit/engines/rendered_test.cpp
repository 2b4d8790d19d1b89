// What the engines are given, against golden texts: AKO_WRITE_GOLDEN=1 writes them anew.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ako/error.h"
#include "src/config/cluster_file.h"
#include "src/engines/engine_table.h"
#include "src/system/whole_file.h"

namespace ako::rendered_test {

namespace {

Settings settings_of(const std::string& more) {
    return read_cluster_text(
        "run: mnist-lenet\n"
        "model: lenet\n"
        "data: {path: /data/mnist}\n"
        "cluster_key_file: /srv/u/cluster.key\n" +
            more,
        "/srv/u/cluster.yaml", {});
}

Submission submission_of(const Settings& settings) {
    Submission submission;
    submission.settings = settings;
    submission.folder = "/srv/u/runs/mnist-lenet-20261129-120000";
    submission.ako = "/opt/ako/bin/ako";
    submission.restarts = 3;
    return submission;
}

const char* const four_listed =
    "peers:\n"
    "  - {name: a, address: 127.0.0.1:7701}\n"
    "  - {name: b, address: 127.0.0.1:7702}\n"
    "  - {name: c, address: 127.0.0.1:7703}\n"
    "  - {name: d, address: 127.0.0.1:7704}\n";

void check_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(AKO_TEST_FOLDER) + "/engines/golden/" + name;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no test has a second thread
    if (std::getenv("AKO_WRITE_GOLDEN") != nullptr) write_whole_file(path, text);
    INFO(path);
    CHECK(text == whole_text(path));
}

std::string file_of(const std::vector<EngineFile>& files, const std::string& name) {
    for (const EngineFile& file : files)
        if (file.name == name) return file.text;
    FAIL("no file ", name);
    return "";
}

}  // namespace

TEST_CASE("a job of Slurm with all that can be asked for") {
    Submission submission = submission_of(settings_of("peers: {count: 4}\n"));
    submission.resources.cpus = 2;
    submission.resources.memory_mb = 3001;
    submission.resources.spare = 1;
    submission.resources.time = "2:00:00";
    submission.resources.partition = "short";
    submission.resources.array = "1-5";
    submission.resources.broadcast = true;
    const auto files = engine_named("slurm").render(submission);
    REQUIRE(files.size() == 1);
    check_golden("slurm-all.sh", files[0].text);
}

TEST_CASE("a job of Slurm with what must be, for a program, of a mode that waits for all") {
    Submission submission = submission_of(
        read_cluster_text("run: own\nmodel: external\npeers: {count: 2}\n"
                          "exchange: {mode: local-sgd}\ncluster_key_file: /srv/u/cluster.key\n",
                          "/srv/u/cluster.yaml", {}));
    submission.program = {"python3", "train.py", "--name", "{name}", "it's"};
    check_golden("slurm-program.sh", engine_named("slurm").render(submission)[0].text);
}

TEST_CASE("peers that may be fewer are a range of nodes") {
    const Submission submission = submission_of(settings_of("peers: {min: 2, count: 8}\n"));
    const std::string text = engine_named("slurm").render(submission)[0].text;
    CHECK(text.find("#SBATCH --nodes=2-8\n#SBATCH --cpus-per-task=1\n") != std::string::npos);
    CHECK(text.find("#SBATCH --ntasks=") == std::string::npos);
}

TEST_CASE("parts of a processor are given by Swarm and Kubernetes, and not by Slurm") {
    Submission submission = submission_of(settings_of("peers: {count: 3}\n"));
    submission.resources.cpus = 0.5;
    const std::string stack = file_of(engine_named("swarm").render(submission), "stack.yml");
    CHECK(stack.find("limits: {cpus: \"0.5\"}") != std::string::npos);
    CHECK(stack.find("OMP_NUM_THREADS: \"1\"") != std::string::npos);
    CHECK_THROWS_AS(engine_named("slurm").render(submission), StartupError);
}

TEST_CASE("a stack of a Swarm") {
    Submission submission = submission_of(
        settings_of(std::string(four_listed) + "observe: {address: 127.0.0.1:9470}\n"));
    submission.resources.cpus = 2;
    submission.resources.memory_mb = 2000;
    submission.resources.partition = "node.labels.ako==yes";
    check_golden("swarm.yml", file_of(engine_named("swarm").render(submission), "stack.yml"));
    const Settings there = engine_named("swarm").settings_there(submission);
    CHECK(there.peers[2].address == "c:7701");
    CHECK(there.peers[2].listen == "0.0.0.0:7701");
    CHECK(there.data.path == "/ako/data");
    CHECK(there.observe.address == "0.0.0.0:9470");
}

TEST_CASE("a program of a Swarm has the names of its peers in its words") {
    Submission submission = submission_of(settings_of("peers: {count: 2}\n"));
    submission.program = {"python3", "train.py", "{name}"};
    const std::string text = file_of(engine_named("swarm").render(submission), "stack.yml");
    CHECK(text.find("command: [\"python3\", \"train.py\", \"p2\"]") != std::string::npos);
    CHECK(text.find("entrypoint: []") != std::string::npos);
}

TEST_CASE("what an engine does not have is refused, and so are names that would be one") {
    Submission submission = submission_of(settings_of("peers: {count: 2}\n"));
    submission.resources.array = "1-5";
    CHECK_THROWS_AS(engine_named("swarm").render(submission), StartupError);
    CHECK_THROWS_AS(engine_named("kubernetes").render(submission), StartupError);
    submission.resources = {};
    submission.resources.time = "90";
    CHECK_THROWS_AS(engine_named("swarm").render(submission), StartupError);
    submission = submission_of(
        settings_of("peers: [{name: a_b, address: 'h:1'}, {name: A-B, address: 'h:2'}]\n"));
    CHECK_THROWS_AS(engine_named("swarm").render(submission), StartupError);
    submission = submission_of(settings_of("peers: {count: 2}\n"));
    submission.folder = "/srv/u/runs/a*b";
    CHECK_THROWS_AS(engine_named("slurm").render(submission), StartupError);
}

TEST_CASE("a percent sign in the folder is none of Slurm's patterns") {
    Submission submission = submission_of(settings_of("peers: {count: 2}\n"));
    submission.folder = "/srv/50 %/run-1";
    const std::string text = engine_named("slurm").render(submission)[0].text;
    CHECK(text.find("#SBATCH --output=\"/srv/50 %%/run-1/log.txt\"\n") != std::string::npos);
    CHECK(text.find("folder='/srv/50 %/run-1'$") != std::string::npos);
}

TEST_CASE("a Job of Kubernetes") {
    const std::filesystem::path key =
        std::filesystem::temp_directory_path() / "ako-rendered-test.key";
    write_whole_file(key.string(), "0123456789abcdef0123456789abcdef\n");
    Settings settings = settings_of(four_listed);
    settings.cluster_key_file = key.string();
    Submission submission = submission_of(settings);
    submission.resources.time = "1-2:00";
    submission.resources.memory_mb = 2000;
    submission.resources.image = "registry.example/ako:1";
    submission.resources.partition = "pool=training";
    const auto files = engine_named("kubernetes").render(submission);
    std::filesystem::remove(key);
    check_golden("kubernetes.yaml", file_of(files, "kubernetes/base/run.yaml"));
    check_golden("kubernetes-base.yaml", file_of(files, "kubernetes/base/kustomization.yaml"));
    check_golden("kubernetes-overlay.yaml", file_of(files, "kubernetes/kustomization.yaml"));
    const std::string cluster = file_of(files, "kubernetes/base/cluster.yaml");
    CHECK(cluster.find("mnist-lenet-20261129-120000-3.mnist-lenet-20261129-120000:7701") !=
          std::string::npos);
    for (const EngineFile& file : files) CHECK(file.secret == file.name.ends_with(".key"));

    submission.resources.partition = "pool";
    CHECK_THROWS_AS(engine_named("kubernetes").render(submission), StartupError);
}

TEST_CASE("an engine that there is not") {
    CHECK_THROWS_WITH_AS(engine_named("slrum"),
                         "there is no engine slrum: they are slurm, swarm, kubernetes",
                         StartupError);
}

}  // namespace ako::rendered_test
