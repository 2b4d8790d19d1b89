#!/usr/bin/env python3
"""What `ako explore` takes and spares, beside the same runs started one after another by hand.

    measure.py grid | kills | resumed | shared | asha | overhead | units | slurm
    measure.py table        # of results.jsonl, nothing is run

    grid      27 configurations: makespan beside max(sum / slots, longest), digests beside those of
              27 runs by hand
    kills     the same with a worker killed every so many seconds
    resumed   the same with the driver killed in mid-run, and gone on with
    shared    24 branches of a shared beginning, beside 24 runs of the whole
    asha      200 random configurations, losers dropped early, beside random search for as long
    overhead  trials that do next to nothing, beside such runs by hand
    units     the grid with one and with two cores a trial
    slurm     the grid with workers that are jobs of a Slurm, one of which loses its node (root)

Each adds a line to results.jsonl. AKO_PYTHON names a Python with Dask and Optuna.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(REPOSITORY / "src/python")]
import runs  # noqa: E402

AKO = os.environ.get("AKO", str(REPOSITORY / "build/release/ako"))
KILL_EVERY_S = 20
EACH_BY_HAND = 3  # so manieth of the shared branches is made by hand
GRID_OPTIMIZERS = {"sgd, nesterov": ["training.optimizer=sgd", "training.nesterov=true"],
                   "sgd": ["training.optimizer=sgd", "training.nesterov=false"],
                   "lars": ["training.optimizer=lars", "training.learning_rate=2"]}


def start(plan, folder, *words, slots):
    """`ako explore` as a process; its results are in FOLDER/search."""
    return subprocess.Popen([AKO, "explore", plan, "--plain", "--slots", str(slots), "--output-dir",
                             folder / "search", "--store", folder / "store", *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, start_new_session=True)


def results_of(process, folder):
    said, _ = process.communicate()
    if process.returncode != 0:
        sys.exit(f"exit {process.returncode}: {said}")
    return json.loads((folder / "search/results.json").read_text())


def explore(plan, folder, *words, slots):
    return results_of(start(plan, folder, *words, slots=slots), folder)


def launched(folder, settings, *words, processor=0):
    """One run by hand, pinned and limited as a trial is: seconds, accuracy, digest."""
    began = time.monotonic()
    command = ["taskset", "--cpu-list", str(processor), AKO, "launch", HERE / "cluster.yaml",
               "--free-ports", "--plain", "--output-dir", folder, *words]
    for setting in ("data.validation=0.1", *settings):
        command += ["--set", setting]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True,
                   env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    result = json.loads((folder / "result-p1.json").read_text())
    return {"seconds": time.monotonic() - began, "accuracy": result["accuracy"],
            "digest": result["digest"]}


def by_hand(folder, settings, epochs):
    return launched(folder, [*settings, f"training.epochs={epochs}"])


def grid_by_hand(folder):
    """Digests and accuracies of the 27, as (batch, optimizer, epochs); the seconds of each."""
    path = HERE / "grid_by_hand.json"
    if path.exists():
        return json.loads(path.read_text())
    found = []
    for batch in (32, 64, 128):
        for optimizer, settings in GRID_OPTIMIZERS.items():
            for epochs in (1, 2, 4):
                done = by_hand(folder / f"hand-{len(found)}", [
                    *settings, f"training.batch.local={batch}", "data.subset=0.25"], epochs)
                found.append({"batch": batch, "optimizer": optimizer, "epochs": epochs, **done})
    path.write_text(json.dumps(found, indent=1))
    return found


def compared(found, hand):
    """How many trials came to the accuracy, bit for bit, of the run by hand."""
    same = sum(trial["score"] == one["accuracy"] and trial["digest"] == one["digest"]
               for trial, one in zip(found["trials"], hand))
    return {"trials": len(found["trials"]), "same": same,
            "done": sum(trial["state"] == "done" for trial in found["trials"])}


def bound_of(hand, slots):
    """max(sum / slots, longest) of the runs by hand, on as many cores as slots at most."""
    seconds = [one["seconds"] for one in hand]
    return max(sum(seconds) / min(slots, len(os.sched_getaffinity(0))), max(seconds))


def grid(folder, slots):
    hand = grid_by_hand(folder)
    found = explore(HERE / "explore-grid.yaml", folder, slots=slots)
    return {**compared(found, hand), "seconds": found["seconds"], "bound_s": bound_of(hand, slots),
            "sum_by_hand_s": sum(one["seconds"] for one in hand),
            "stages": found["stages_computed"]}


def kills(folder, slots):
    hand = grid_by_hand(folder)
    process = start(HERE / "explore-grid.yaml", folder, slots=slots)
    killed = 0
    while True:
        try:
            process.wait(KILL_EVERY_S)
            break
        except subprocess.TimeoutExpired:
            workers = subprocess.run(["pgrep", "--session", str(process.pid), "--full",
                                      "multiprocessing.*spawn_main"], capture_output=True,
                                     text=True, check=False).stdout.split()
            if workers:
                os.kill(int(workers[killed % len(workers)]), signal.SIGKILL)
                killed += 1
    found = results_of(process, folder)
    return {**compared(found, hand), "seconds": found["seconds"], "killed": killed,
            "bound_s": bound_of(hand, slots), "lost": found["lost_with_workers"],
            "stages": found["stages_computed"]}


def resumed(folder, slots):
    hand = grid_by_hand(folder)
    process = start(HERE / "explore-grid.yaml", folder, slots=slots)
    journal = folder / "search/journal.jsonl"
    while not journal.exists() or journal.read_text().count('"stage"') < 8:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = [line["stage"] for line in map(json.loads, journal.read_text().splitlines())
              if "stage" in line]
    found = explore(HERE / "explore-grid.yaml", folder, "--resume", slots=slots)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    made = [line["stage"] for line in lines if "stage" in line]
    return {**compared(found, hand), "made_before": len(before),
            "made_twice": len(made) - len(set(made)), "stages": len(set(made)),
            "seconds": found["seconds"]}


def shared_by_hand(folder, slots, configs):
    """Seconds and digest of every third branch, as many at once as the search may; and of all."""
    path = HERE / "shared_by_hand.json"
    if path.exists():
        return json.loads(path.read_text())
    free = queue.Queue()
    for processor in range(slots):
        free.put(processor)

    def one(number):
        processor = free.get()
        done = by_hand_stages(folder / f"alone-{number}", configs[number], processor)
        free.put(processor)
        return done

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(slots) as pool:
        branches = list(pool.map(one, range(0, len(configs), EACH_BY_HAND)))
    path.write_text(json.dumps({"branches": branches, "seconds": time.monotonic() - began},
                               indent=1))
    return json.loads(path.read_text())


def shared(folder, slots):
    found = explore(HERE / "explore-shared.yaml", folder, slots=slots)
    hand = shared_by_hand(folder, slots, [dict(trial["config"]) for trial in found["trials"]])
    seconds = EACH_BY_HAND * sum(done["seconds"] for done in hand["branches"])
    same = sum(done["digest"] == trial["digest"]
               for done, trial in zip(hand["branches"], found["trials"][::EACH_BY_HAND]))
    best = max(found["trials"], key=lambda trial: (trial["score"], -trial["trial"]))
    return {"trials": len(found["trials"]), "by_hand": len(hand["branches"]), "same": same,
            "machine_s": found["computed_seconds"],
            "machine_s_alone": seconds, "ratio": seconds / found["computed_seconds"],
            "makespan_s": found["seconds"], "makespan_alone_s": EACH_BY_HAND * hand["seconds"],
            "winner": best["config"], "score": best["score"], "stages": found["stages_computed"],
            "dropped_mb": found["dropped_mb"]}


def by_hand_stages(place, config, processor):
    """The whole way of one branch: the beginning, and on from there by other settings."""
    common = ["data.subset=0.5", "training.evaluate_every=0", "training.epochs=7",
              "training.must_learn=false"]
    place.mkdir()
    first = launched(place / "0", [*common, "training.learning_rate=0.05"], "--until", "6",
                     processor=processor)
    second = launched(place / "1", [*common, *(f"{key}={value}" for key, value in config.items())],
                      "--until", "7", "--from", place / "0", processor=processor)
    return {**second, "seconds": first["seconds"] + second["seconds"]}


def asha(folder, slots, seed=1):
    """Both choose on data kept back; what they chose is judged on the test set."""
    text = (HERE / "explore-random.yaml").read_text().replace("cluster: cluster.yaml",
                                                      f"cluster: {HERE / 'cluster.yaml'}")
    early = folder / "early.yaml"
    early.write_text(f"{text}seed: {seed}\n")
    found = explore(early, folder / "early", slots=slots)
    whole = folder / "whole.yaml"
    hours = found["seconds"] / 3600
    whole.write_text(early.read_text().replace(", stop: {asha: {eta: 3, grace_epochs: 0.1}}", "")
                     .replace("trials: 200}", f"trials: 200, hours: {hours}}}"))
    other = explore(whole, folder / "whole", slots=slots)

    def best(result):
        return max((t for t in result["trials"] if t["state"] == "done"), key=lambda t: t["score"])

    def judged(name):
        done = subprocess.run([AKO, "launch", folder / name / "search/best.yaml", "--free-ports",
                               "--plain", "--output-dir", folder / name / "judged"], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        result = folder / name / "judged/result-p1.json"
        return json.loads(result.read_text())["accuracy"] if done.returncode == 0 else None

    return {"seed": seed, "seconds": found["seconds"], "early_trials": len(found["trials"]),
            "early_best": best(found)["score"], "early_test": judged("early"),
            "whole_trials": sum(t["state"] == "done" for t in other["trials"]),
            "whole_best": best(other)["score"], "whole_test": judged("whole")}


def overhead(folder, slots):
    """Of trials that do next to nothing, one after another: 20 of them."""
    plan = folder / "overhead.yaml"
    plan.write_text(f"name: overhead\ncluster: {HERE / 'cluster.yaml'}\nstages:\n"
                    "  - train: {epochs: 0.02, explore: {training.weight_decay: "
                    f"{[k / 1e6 for k in range(20)]}}}}}\n")
    found = explore(plan, folder, slots=1)
    hand = [by_hand(folder / f"hand-{k}", [f"training.weight_decay={k / 1e6}"], 0.02)["seconds"]
            for k in range(20)]
    return {"trials": 20, "each_s": found["seconds"] / 20, "by_hand_s": statistics.median(hand),
            "overhead_s": found["seconds"] / 20 - statistics.median(hand)}


def units(folder, slots):
    """Cores a trial may have: fewer at once, each faster."""
    text = (HERE / "explore-grid.yaml").read_text().replace("cluster: cluster.yaml",
                                                    f"cluster: {HERE / 'cluster.yaml'}")
    line = {}
    for cores in (1, 2):
        plan = folder / f"units-{cores}.yaml"
        plan.write_text(f"{text}units: {{cores: {cores}}}\n")
        line[f"seconds_{cores}"] = explore(plan, folder / str(cores), slots=2)["seconds"]
    return line


def slurm(folder, slots):
    """A worker a job; in mid-run a node is drained, and its job ended."""
    hand = grid_by_hand(folder)
    local = [REPOSITORY / "deploy/engines/local-slurm", "--name", "explore"]
    subprocess.run([*local, "up", "--nodes", str(slots)], check=True)
    said = subprocess.run([*local, "env"], check=True, capture_output=True, text=True).stdout
    os.environ["SLURM_CONF"] = said.strip().split("=", 1)[1]
    python = os.environ.get("AKO_PYTHON", "/usr/bin/python3")
    os.environ["PYTHONPATH"] = str(REPOSITORY / "src/python")
    scheduler = subprocess.Popen([python, "-m", "distributed.cli.dask_scheduler", "--host",
                                  "127.0.0.1", "--port", "8786", "--no-dashboard"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        worker = (f"{python} -m distributed.cli.dask_worker tcp://127.0.0.1:8786 --nthreads 1 "
                  f"--no-nanny --resources slots=1 --memory-limit 0 --local-directory {folder}")
        jobs = [subprocess.run(["sbatch", "--parsable", "--ntasks=1", "--output=/dev/null",
                                f"--nodelist=n{k + 1}", "--wrap", worker], check=True,
                               capture_output=True, text=True).stdout.strip()
                for k in range(slots)]
        process = start(HERE / "explore-grid.yaml", folder, "--scheduler", "tcp://127.0.0.1:8786",
                        slots=slots)
        journal = folder / "search/journal.jsonl"
        while not journal.exists() or journal.read_text().count('"stage"') < 6:
            time.sleep(0.2)
        subprocess.run(["scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test"],
                       check=True)
        subprocess.run(["scancel", jobs[1]], check=True)
        found = results_of(process, folder)
    finally:
        scheduler.kill()
        subprocess.run([*local, "down"], check=True)
    return {**compared(found, hand), "seconds": found["seconds"],
            "lost": found["lost_with_workers"], "stages": found["stages_computed"]}


WHAT = {"slurm": slurm, "grid": grid, "kills": kills, "resumed": resumed, "shared": shared,
        "asha": asha,
        "overhead": overhead, "units": units}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*WHAT, "table"])
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of asha")
    arguments = parser.parse_args()
    found = runs.Runs(HERE / "results.jsonl")
    if arguments.what == "table":
        for line in found.lines:
            print(json.dumps(line))
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ako-explore-"))
    more = {"seed": arguments.seed} if arguments.what == "asha" else {}
    line = WHAT[arguments.what](folder, arguments.slots, **more)
    found.add({"what": arguments.what, "slots": arguments.slots, **line})
    print(json.dumps(found.lines[-1]))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
