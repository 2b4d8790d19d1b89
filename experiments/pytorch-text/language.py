"""What runs that train the transformer on text have in common: see Run in pytorch-shaped."""

import torch
from torch.nn import functional

import methods
from text import Windows

LENGTH, BATCH = 128, 8
DECAY, BETAS = 0.01, (0.9, 0.95)


def loss_of(model, x, y):
    """The mean over all characters, in nats."""
    return functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


class LanguageRun(methods.Run):
    validation: object  # characters, as numbers

    def loss(self, model, x, y):
        return loss_of(model, x, y)

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def judge(self):
        """The mean loss of 12 batches of the validation text, in nats of a character."""
        batches = iter(Windows(self.validation, LENGTH, 16, 3))
        losses = [self.loss(self.model, *next(batches)).item() for _ in range(12)]
        return [sum(losses) / len(losses)]
