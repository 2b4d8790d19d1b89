"""Cases of e2e_test.py: `ako verify` trains a run once more from its checkpoints."""

import json
import os
import shutil
import struct

from bench import check
from resuming import LOCKSTEP, rounds_of, run_folder, sets


def crc32c(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def change(path, tensor):
    """One bit of the last value of a tensor, not so low that it may be rounded away in what
    follows; the checksum is right again afterwards."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    data[8 + length + header[tensor]["data_offsets"][1] - 2] ^= 0x20
    said = header["__metadata__"]["crc32c"].encode()
    at = data.index(b'"' + said + b'"') + 1
    data[at:at + 8] = b"00000000"
    data[at:at + 8] = f"{crc32c(data):08x}".encode()
    with open(path, "wb") as file:
        file.write(data)


def trained(bench, mode, peers=2):
    file = bench.file(peers, training="epochs: 1.5, learning_rate: 0.05, evaluate_every: 0.5, "
                                      "checkpoint_every: 0.2")
    bench.launch(file, *sets(*mode)).expect(0)
    return run_folder(bench)


def case_verify(bench):
    """In each mode that promises it what goes on from a checkpoint is the run itself."""
    paced = ["exchange.mode=ring", "training.checkpoint_every=auto", "training.mtbf_h=0.001"]
    for mode in (*LOCKSTEP, ["exchange.mode=local"], paced):
        output = bench.start("verify", trained(bench, mode)).expect(0, 120)
        check("to the end: the same bits" in output, output)
        check(output.count("the same bits") >= 2, output)
        check("verified" in output, output)


def case_verify_tampered(bench):
    """A file that is damaged, and one that is whole and not of this run."""
    run = trained(bench, LOCKSTEP[0])
    newest = f"{run}/state-b-{rounds_of(run, 'b')[-1]}.safetensors"
    shutil.copy(newest, bench.path("kept"))
    change(newest, "velocity")
    output = bench.start("verify", run).expect(4, 120)
    check("differs: peer b: 1 of " in output and "values of velocity" in output, output)
    check("to the end: differs: " in output, output)  # it begins at what is not of this run
    check("not verified" in output and "another kind of processor" in output, output)
    shutil.copy(bench.path("kept"), newest)
    with open(newest, "r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    output = bench.start("verify", run).expect(4, 120)
    check(newest in output, output)
    shutil.copy(bench.path("kept"), newest)
    bench.start("verify", run).expect(0, 120)
    # Of the newest round one peer alone has a checkpoint.
    change(newest, "velocity")
    newest_round = rounds_of(run, "b")[-1]
    os.remove(f"{run}/state-a-{newest_round}.safetensors")
    output = bench.start("verify", run).expect(4, 120)
    check(f"to {newest_round} of b: differs: peer b: " in output, output)
    check("to the end: the same bits" in output, output)


def case_verify_refused(bench):
    """What cannot be verified is said, with what to do, before anything is trained."""
    output = bench.start("verify", trained(bench, ["exchange.mode=ako"])).expect(2, 20)
    check("no two runs are the same" in output, output)
    run = trained(bench, [*LOCKSTEP[0], "training.checkpoint_every=0"])
    output = bench.start("verify", run).expect(2, 20)
    check("with training.checkpoint_every a run keeps some" in output, output)
    bench.start("verify", bench.path("nowhere")).expect(2, 20)
