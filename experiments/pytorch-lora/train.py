#!/usr/bin/env python3
"""A worker that adapts a frozen transformer with LoRA: experiments/pytorch-shaped/run.py starts it.

    train.py --make-base base.pt [--seconds 300]    first: trains the base, alone

The base knows the Old Testament; what is learned is the New one. It is read from LORA_BASE.
"""

import argparse
import os
import pathlib
import sys
import time

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "pytorch-shaped"), str(HERE.parent / "pytorch-text")]

import methods  # noqa: E402
from language import BATCH, BETAS, DECAY, LENGTH, LanguageRun, loss_of  # noqa: E402
from lora import adapt  # noqa: E402
from text import VALIDATION_SHARE, Windows, characters  # noqa: E402
from transformer import Transformer  # noqa: E402

OLD, NEW = "gen1:1-mal4:6", "mat1:1-rev22:21"

def make_model():
    return Transformer(128, LENGTH)  # of ASCII


def make_base(path, seconds):
    torch.manual_seed(1)
    model, began = make_model(), time.monotonic()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=BETAS)
    for made, (x, y) in enumerate(Windows(characters(OLD), LENGTH, 16, 1)):
        share = (time.monotonic() - began) / seconds
        if share >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1, made / 50) * max(0.05, 1 - share)
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if made % 50 == 0:
            print(f"{made} steps, loss {loss.item():.3f}", file=sys.stderr)
    torch.save(model.state_dict(), path)


class LoraRun(LanguageRun):
    rate, warm_up = 3e-3, 0.05

    def __init__(self, options):
        super().__init__(options)
        text = characters(NEW)
        end = int(len(text) * (1 - VALIDATION_SHARE))
        self.validation = text[end:]
        self.model = make_model()
        self.model.load_state_dict(torch.load(os.environ["LORA_BASE"]))
        torch.manual_seed(options.seed)
        if options.variant == "full":
            self.rate = 1e-3
        else:
            adapt(self.model)
        trained = [it for it in self.model.parameters() if it.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=self.rate, weight_decay=DECAY, betas=BETAS)
        share = np.array_split(text[:end], options.workers)[options.worker]
        self.batches = Windows(share, LENGTH, BATCH, [2, options.worker, options.seed])


if __name__ == "__main__":
    if "--make-base" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("--make-base", required=True)
        parser.add_argument("--seconds", type=float, default=300)
        given = parser.parse_args()
        make_base(given.make_base, given.seconds)
    else:
        methods.main(LoraRun)
