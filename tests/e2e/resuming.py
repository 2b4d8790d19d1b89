"""Cases of e2e_test.py: the power goes, and a second start of the whole file goes on from the
checkpoints of the first."""

import glob
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time

from bench import Skipped, check, check_all_identical, check_equal, newest_run, wait_for

LOCKSTEP = (["exchange.mode=ring"], ["exchange.mode=local-sgd", "exchange.local_rounds=5"],
            ["exchange.mode=sma", "training.learners=2"],
            ["exchange.mode=parameter-server", "exchange.servers=2"])


def sets(*overrides):
    return [word for override in overrides for word in ("--set", override)]


def rounds_of(folder, peer):
    """Of the checkpoints of this peer, oldest first."""
    names = [os.path.basename(path) for path in glob.glob(f"{folder}/state-{peer}-*.safetensors")]
    return sorted(int(re.search(r"-(\d+)\.safetensors$", name)[1]) for name in names)


def run_folder(bench):
    return newest_run(os.path.join(bench.folder, "runs"))


def cut_power(run):
    """Ends all processes of a launch at once, with no chance to say a word."""
    pids = [*run.peers().values(), run.process.pid]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    run.wait()


def launch_and_cut(bench, file, peers, *words, least=1):
    """A run of MNIST that is cut off when every peer has made a checkpoint beyond the one that it
    goes on from, and the fastest a random number of them: one each tenth of an epoch."""
    every = 0.1 * 60_000 / 64 / len(peers)
    before = run_folder(bench)
    run = bench.launch(file, *words)
    wait_for(lambda: run.process.poll() is not None or
             (run_folder(bench) != before and all(rounds_of(run_folder(bench), p) for p in peers)),
             "the first checkpoints")
    together = re.search(r"goes on from round (\d+)", run.output())
    since = dict.fromkeys(peers, int(together[1]) if together else 0)
    for peer, of_round in re.findall(r"(\w) +has its rows from a checkpoint of round (\d+)",
                                     run.output()):
        since[peer] = int(of_round)
    wanted = random.Random().randint(least, 3) * every - 1

    def made():
        return [rounds_of(run_folder(bench), peer)[-1] - since[peer] for peer in peers]

    wait_for(lambda: run.process.poll() is not None or
             (min(made()) > 0 and max(made()) >= wanted), "checkpoints")
    check(run.process.poll() is None, f"it had ended; it said:\n{run.output()}")
    cut_power(run)
    return run_folder(bench)


def case_resume_lockstep(bench):
    """Cut off at any moment and begun again, twice, a run of the modes in which all wait for each
    other ends with the very bits of one that nobody disturbed."""
    file = bench.file(3, training="epochs: 4, learning_rate: 0.05, evaluate_every: 0, "
                                  "schedule: cosine, checkpoint_every: 0.1")
    # The last of them ends when an evaluation says so, after half of the epochs or so.
    for mode in (*LOCKSTEP, [*LOCKSTEP[0], "training.epochs=6", "training.target_accuracy=0.975"]):
        words = sets(*mode)
        bench.launch(file, *words).expect(0)
        whole = check_all_identical(bench, 3)
        by_evaluation = mode not in LOCKSTEP
        check((whole["samples"] < (6 if by_evaluation else 4) * 60_000) == by_evaluation,
              f"{mode}: {whole['samples']} samples")
        launch_and_cut(bench, file, "abc", *words)
        first = run_folder(bench)
        launch_and_cut(bench, file, "abc", *words, "--resume", first)
        second = run_folder(bench)
        check(second != first, "a resumed run has a folder of its own")
        output = bench.launch(file, *words, "--resume").expect(0)
        check("goes on from round " in output and second in output, output)
        again = check_all_identical(bench, 3)
        check_equal(again["digest"], whole["digest"], f"{mode}: digest")
        check_equal(again["samples"], whole["samples"], f"{mode}: samples")
        check_equal([peer["rounds"] for peer in again["peers"]],
                    [peer["rounds"] for peer in whole["peers"]], f"{mode}: rounds")


def case_resume_other_peers(bench):
    """Three are cut off; two of them go on, and are cut off; then four do, of whom two come new.
    Where a checkpoint holds more of its peers, that is said."""
    def of(count, *mode):
        return bench.file(count, training="epochs: 4, learning_rate: 0.05, evaluate_every: 0, "
                                          "checkpoint_every: 0.1"), *sets(*mode)
    for mode in LOCKSTEP[:3]:
        first = launch_and_cut(bench, *of(3, *mode)[:1], "abc", *sets(*mode))
        second = launch_and_cut(bench, of(2)[0], "ab", *sets(*mode), "--resume", first)
        output = bench.launch(*of(4, *mode), "--resume", second).expect(0)
        # The second may have been cut off before it had made one of its own.
        check(re.search("made by the peers a, b(, c)?: here it is of round", output), output)
        check("goes on from round " in output, output)
        summary = check_all_identical(bench, 4)
        check(238_000 <= summary["samples"] < 242_000, f"{mode}: {summary['samples']} samples")
        check(summary["accuracy"] > 0.94, f"{mode}: accuracy {summary['accuracy']}")
        made = sum(peer["samples"] for peer in summary["peers"])
        check(made < 236_000, f"{mode}: {made} samples in the last start alone")
    for mode, text in ((LOCKSTEP[3], "each server keeps the momentum of its own part"),
                       (["exchange.mode=ako"], "it holds the rows of its own peers")):
        folder = launch_and_cut(bench, of(3)[0], "abc", *sets(*mode))
        output = bench.launch(*of(2, *mode), "--resume", folder).expect(2)
        check(f"names a, b; {text}" in output, output)


def case_resume_ako(bench):
    """In the mode ako each goes on from its own newest, and takes in what others have beyond it;
    who has lost its disk has its row from them."""
    # Many epochs, for on a slow disk the checkpoints of one peer may lie far behind another's.
    file = bench.file(3, training="epochs: 6, learning_rate: 0.05, evaluate_every: 0, "
                                  "checkpoint_every: 0.1")
    first = launch_and_cut(bench, file, "abc")
    second = launch_and_cut(bench, file, "abc", "--resume", first)
    kept = {name: rounds_of(second, name)[-1] for name in "abc"}
    for path in glob.glob(f"{second}/state-b-*"):
        os.remove(path)
    output = bench.launch("--resume", second).expect(0)
    for text in (f"has its rows from a checkpoint of round {kept['a']}",
                 "has no checkpoint to go on from: it has its row from the others",
                 "goes on with a run that is"):
        check(text in output, f"{text!r} in:\n{output}")
    summary = check_all_identical(bench, 3)
    check(summary["accuracy"] > 0.93, f"accuracy {summary['accuracy']} of mlp after six epochs")
    check(360_000 <= summary["samples"] < 370_000, f"{summary['samples']} samples of 360,000")
    check_equal(sum(peer["rounds"] for peer in summary["peers"]) * 64, summary["samples"],
                "rounds of all starts together")
    samples = sum(peer["samples"] for peer in summary["peers"])
    check(samples < 354_000, f"{samples} samples in the last start, which did not begin at zero")


def case_resume_mixed(bench):
    """Checkpoints of two runs of the same file do not go together, in no mode; nor do some that go
    on and some that begin anew."""
    # Many epochs: none of these runs comes to its end, however slow the disk is.
    file = bench.file(3, training="epochs: 200, evaluate_every: 0, checkpoint_every: 0.1",
                      exchange="start_wait_s: 10")
    for mode, text in (("ako", "that is of another run than this peer's checkpoint"),
                       ("ring", "no checkpoint is on the disks of all peers: a has round")):
        words = sets(f"exchange.mode={mode}")
        mixed = launch_and_cut(bench, file, "abc", *words)
        other = launch_and_cut(bench, file, "abc", *words)
        for path in glob.glob(f"{mixed}/state-b-*"):
            os.remove(path)
        for path in glob.glob(f"{other}/state-b-*"):
            shutil.copy(path, mixed)
        output = bench.launch(file, *words, "--resume", mixed).expect(2)
        check(text in output, f"{text!r} in:\n{output}")
        peers = [bench.start("train", file, "--peer", name, "--plain", *words, *resume)
                 for name, resume in (("a", ("--resume", mixed)), ("b", ()),
                                      ("c", ("--resume", mixed)))]
        outputs = [peer.expect(2) for peer in peers]
        check(any("a and c go on from a checkpoint, b begins anew" in output
                  for output in outputs), "\n".join(outputs))


def case_resume_words(bench):
    """The folder names its cluster file; each peer by hand; and what is said of wrong words."""
    file = bench.file(2, training="epochs: 8, evaluate_every: 0, checkpoint_every: 0.1",
                      exchange="mode: ring")
    launch_and_cut(bench, file, "ab")
    folder = run_folder(bench)
    bench.launch("--resume", folder).expect(0)
    digest = check_all_identical(bench, 2)["digest"]
    peers = [bench.start("train", file, "--peer", name, "--plain", "--resume", folder)
             for name in "ab"]
    for peer in peers:
        check(digest[:16] in peer.expect(0), f"the digest {digest[:16]} in:\n{peer.output()}")
    output = bench.start("launch", "--resume", file).expect(2)
    check("is a file, not the folder of a run" in output, output)
    output = bench.start("launch", "--resume").expect(2)
    check("FILE is required" in output, output)
    output = bench.start("launch", file, "--resume", bench.folder).expect(2)
    check("no checkpoint" in output, output)


def case_resume_foreign(bench):
    """Checkpoints that are damaged, stale, foreign or not everybody's."""
    file = bench.file(3, training="epochs: 8, evaluate_every: 0, checkpoint_every: 0.1",
                      exchange="mode: ring, start_wait_s: 20")
    folder = launch_and_cut(bench, file, "abc", least=3)
    kept = {name: rounds_of(folder, name) for name in "abc"}

    def resume(*words, exit=2):
        return bench.launch(file, "--resume", folder, *words).expect(exit)

    output = resume("--set", "training.learning_rate=0.01")
    for text in ("is not used: it was made with other settings",
                 "training.learning_rate: 0.01 here, 0.05 there", "model.initial"):
        check(text in output, f"{text!r} in:\n{output}")
    check("it is of the run e2e, not another" in resume("--set", "run=another"), "another run")

    # The newest of one is damaged: all go on from the one before, if everybody has it.
    newest = f"{folder}/state-b-{kept['b'][-1]}.safetensors"
    whole = newest + ".whole"
    shutil.copy(newest, whole)
    with open(newest, "r+b") as damaged:
        damaged.seek(-1000, os.SEEK_END)
        damaged.write(b"\x55" * 100)
    common = sorted(set(kept["a"]) & set(kept["b"][:-1]) & set(kept["c"]))
    output = resume(exit=0 if common else 2)
    check("is not used: is damaged: it has the checksum" in output, output)
    check_equal("no checkpoint is on the disks of all peers" in output, not common, output)

    # One lost its disk, and goes on from another's; all did.
    for path in glob.glob(f"{folder}/state-b-*"):
        os.remove(path)
    check(re.search("b +its newest checkpoint is .*/state-[ac]-", resume(exit=0)), "b has none")
    for path in glob.glob(f"{folder}/state-*"):
        os.remove(path)
    check("no checkpoint" in resume(), "nobody has one")


def case_resume_one(bench):
    """In the mode ako one peer may die and go on with its run from its own checkpoint, while the
    others train; it may vote at the end, and so may they."""
    file = bench.file(3, training="epochs: 1, learning_rate: 0.01, evaluate_every: 0, "
                                  "checkpoint_every: 0.05",
                      model="{name: synthetic, parameters: 50000, compute_ms: 5, "
                            "samples: 288000}")
    peers = {name: bench.start("train", file, "--peer", name, "--plain") for name in "abc"}

    def of_b():
        return [path for path in glob.glob(f"{bench.folder}/runs/*/state-b-*.safetensors")]
    wait_for(of_b, "a checkpoint of b")
    peers["b"].process.kill()
    peers["b"].wait()
    folder = os.path.dirname(of_b()[0])
    peers["b"] = bench.start("train", file, "--peer", "b", "--plain", "--resume", folder)
    digests = set()
    for peer in peers.values():
        output = peer.expect(0)
        digests.update(re.findall(r"identical: yes \(([0-9a-f]+)\) on a, b, c", output))
        check("identical: yes" in output, output)
    check_equal(len(digests), 1, "digests")
    output = peers["b"].output()
    for text in ("has its rows from a checkpoint of round", "joins a run that is at"):
        check(text in output, f"{text!r} in:\n{output}")


def case_resume_if_any(bench):
    """All peers are gone at once, as where an engine moves them, and started again by the words of
    the first start: who has a checkpoint goes on from it, and who has none, with the others."""
    file = bench.file(3, training="epochs: 1, learning_rate: 0.01, evaluate_every: 0, "
                                  "checkpoint_every: 0.05",
                      model="{name: synthetic, parameters: 50000, compute_ms: 5, "
                            "samples: 96000}")

    def start():
        return {name: bench.start("train", file, "--peer", name, "--plain", "--resume-if-any",
                                  *sets(f"output={bench.folder}/runs-{name}")) for name in "abc"}
    peers = start()
    wait_for(lambda: all(glob.glob(f"{bench.folder}/runs-{name}/*/state-*.safetensors")
                         for name in "abc"), "a checkpoint of each")
    for peer in peers.values():
        peer.process.kill()
        peer.wait()
    shutil.rmtree(os.path.join(bench.folder, "runs-c"))
    peers = start()
    outputs = {name: peer.expect(0) for name, peer in peers.items()}
    for name, output in outputs.items():
        check("identical: yes" in output and " on a, b, c" in output, output)
        # Who comes a moment later than the others may find them in their rounds.
        check(re.search("(goes on with|joins) a run that is at", output), output)
        check_equal("has its rows from a checkpoint of round" in output, name != "c", output)


def case_resume_killed(bench):
    """Killed a hundred times while it writes a checkpoint: each start goes on from one at least as
    new as the newest that was whole before."""
    file = bench.file(1, model="{name: synthetic, parameters: 2000000, compute_ms: 1, "
                               "samples: 100000000}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0, "
                               "checkpoint_every: 0.000002", exchange="mode: local")
    chance = random.Random(7)
    folder = os.path.join(bench.folder, "run")
    os.mkdir(folder)
    unfinished = f"{folder}/state-a.partial"
    newest, halves = 0, 0
    for kill in range(100):
        words = ("--resume", folder) if kill else ()
        peer = bench.start("train", file, "--peer", "a", "--plain", "--output-dir", folder, *words)
        if kill:  # its lines come on a thread of their own, which a kill may be ahead of
            wait_for(lambda: peer.process.poll() is not None or
                     peer.line_with("goes on from round"), "that it goes on", poll_s=0.001)
        wait_for(lambda: peer.process.poll() is not None or
                 rounds_of(folder, "a")[-1:] > [newest], "a checkpoint")
        if kill % 2:  # the others at any moment
            wait_for(lambda: peer.process.poll() is not None or os.path.exists(unfinished),
                     "that it writes", poll_s=0)
        time.sleep(chance.uniform(0, 0.01))  # the moment of the fault, not a synchronisation
        check(peer.process.poll() is None, f"it had ended; it said:\n{peer.output()}")
        peer.process.kill()
        peer.wait()
        went_on = peer.line_with("goes on from round")
        if kill:
            check(went_on and int(re.search(r"round (\d+)", went_on[1])[1]) >= newest,
                  f"from round {newest} or later; it said:\n{peer.output()}")
        check("is not used" not in peer.output(), peer.output())
        newest = rounds_of(folder, "a")[-1]
        halves += os.path.exists(unfinished)
        if kill % 2 == 0 and os.path.exists(unfinished):
            os.remove(unfinished)  # what is seen next is the next process's
    check(halves >= 20, f"only {halves} of 100 were killed while they wrote")


def case_resume_disk_refuses(bench):
    """A disk that takes no more is said once; training goes on, and so does what resumes later."""
    # Ten thousand rounds of two milliseconds or more, so that it can be looked at.
    every = 200
    file = bench.file(2, model="{name: synthetic, parameters: 50000, compute_ms: 2, "
                               "samples: 1280000}",
                      training="epochs: 1, learning_rate: 0.01, evaluate_every: 0, "
                               "checkpoint_every: 0.02", exchange="mode: ring")
    run = bench.launch(file)
    folder = wait_for(lambda: rounds_of(run_folder(bench), "b") and run_folder(bench),
                      "the first checkpoint")
    resource.prlimit(run.peers()["b"], resource.RLIMIT_FSIZE, (100_000, 100_000))
    wait_for(lambda: run.line_with("is not written, training goes on", "File too large"),
             "that the disk is full is said")
    wait_for(lambda: len(rounds_of(folder, "a")) >= 3, "a keeps the one that b has")
    wait_for(lambda: rounds_of(folder, "a")[-1] > rounds_of(folder, "a")[0] + 4 * every,
             "more checkpoints of a")
    check_equal(run.output().count("is not written, training goes on"), 1, "said once")
    kept = rounds_of(folder, "b")
    check(kept and kept[-1] in rounds_of(folder, "a"),
          f"b has {kept}, a has {rounds_of(folder, 'a')}")
    check_equal(glob.glob(f"{folder}/state-b.partial"), [], "half a file")
    cut_power(run)
    output = bench.launch(file, "--resume").expect(0)
    check_all_identical(bench, 2)
    check(f"goes on from round {kept[-1]}," in output, output)


def case_resume_full_disk(bench):
    """The same on a disk of its own that has no room, where this user may mount one."""
    private = ("unshare", "--user", "--map-root-user", "--mount")
    folder = os.path.join(bench.folder, "small")
    os.mkdir(folder)
    mount = 'mount -t tmpfs -o size=2800k none "$0" && '
    if subprocess.run([*private, "sh", "-c", mount + "true", folder], check=False,
                      capture_output=True).returncode != 0:
        raise Skipped("this user may not mount a disk of memory (unshare --mount)")
    # A checkpoint has 0.8 MB, and 1.5 stay free for the end: one finds room, and no second.
    run = bench.start("train", bench.file(1, training="epochs: 1, checkpoint_every: 0.1, "
                                                      "evaluate_every: 0, evaluate: after",
                                          exchange="mode: local"),
                      "--peer", "a", "--plain", "--output-dir", folder,
                      before=(*private, "sh", "-c", mount + '{ "$@"; ls "$0"; }', folder))
    output = run.expect(0)
    check_equal(output.count("is not written, training goes on: "), 1, f"said once in:\n{output}")
    check("the disk has room for " in output, output)
    check("\nmodel.safetensors\n" in output and "\nresult-a.json\n" in output, output)
    check(re.search(r"^state-a-\d+\.safetensors$", output, re.MULTILINE), output)
    check("state-a.partial" not in output, output)
