"""What src/predict/strategies.h predicts from the lines of calibration.json. Its code is built and
asked, so that no formula stands here. Standard library, g++ and nlohmann-json."""

import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
GOODPUT = 0.957  # of a link's rate, what TCP gets through beside its headers and those below
MBIT = 1e6 / 8   # bytes
SOURCES = ("strategies.cpp", "strategy_costs.cpp", "strategy_findings.cpp")


class Predictor:
    """Built into `folder`, which stays with the caller."""

    def __init__(self, folder):
        self.program = pathlib.Path(folder) / "predictor"
        sources = [REPOSITORY / "src/predict" / name for name in SOURCES]
        subprocess.run(["g++", "-std=c++20", "-O1", "-I", REPOSITORY, "-I", REPOSITORY / "common",
                        HERE / "predictor.cpp", *sources, "-o", self.program], check=True)

    def answers(self, calibration, point, speed=1.0):
        """{strategy: answer} of a point {network, machines, rate, cpus, group, segments}, with the
        stages of a pipeline where they are given. `speed`: how long the machine's processor takes
        now, by how long it took in the calibration."""
        done = subprocess.run([self.program], input=json.dumps(question(calibration, point, speed)),
                              capture_output=True, text=True, check=True)
        return {answer["strategy"]: answer for answer in json.loads(done.stdout)}


def question(calibration, point, speed):
    profile = calibration["profiles"][point["network"]]
    exchange = calibration["exchange"]
    of_processor = speed / point["cpus"]  # seconds of the day for one of processor

    def timed(one):
        return {"whole_s": one["whole_s"] * of_processor,
                "parts": [[(share, seconds * of_processor) for share, seconds in along]
                          for along in one["parts"]]}

    layers = [{**layer, "forward": timed(layer["forward"]), "backward": timed(layer["backward"])}
              for layer in profile["layers"]]
    half = exchange["cpu_s_per_byte"] * of_processor / 2
    return {"layers": layers, "machines": point["machines"], "batch": profile["batch"],
            "segments": point["segments"], "group": point["group"],
            "stages": point.get("stages", []),
            "system": {"link_bytes_per_s": point["rate"] * MBIT * GOODPUT,
                       "latency_s": exchange["latency_s"], "call_s": exchange["call_s"],
                       "send_s_per_byte": half, "take_s_per_byte": half,
                       "add_s_per_byte": exchange["cpu_s_per_added_byte"] * of_processor,
                       "copy_s_per_byte": exchange["cpu_s_per_copied_byte"] * of_processor,
                       "update_s_per_byte": profile["update_s_per_byte"] * of_processor}}
