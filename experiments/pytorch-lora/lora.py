"""Low-rank adapters (Hu et al., "LoRA", 2022): a frozen linear layer, and beside it the product of
two thin matrices, which alone are trained. It begins at zero, so at first nothing has changed."""

import torch
from torch import nn
from torch.nn import functional

RANK, SCALE = 8, 2.0


class Adapted(nn.Module):
    """[.., inputs] to [.., outputs], as the layer that it takes the place of."""

    def __init__(self, linear):
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(RANK, linear.in_features) / linear.in_features ** 0.5)
        self.up = nn.Parameter(torch.zeros(linear.out_features, RANK))

    def forward(self, x):
        return self.linear(x) + SCALE * functional.linear(functional.linear(x, self.down), self.up)


def adapt(model):
    """Freezes all of the model, and puts an adapter beside each of its linear layers."""
    for value in model.parameters():
        value.requires_grad_(False)
    found = [(module, name) for module in model.modules()
             for name, child in module.named_children() if isinstance(child, nn.Linear)]
    for module, name in found:
        setattr(module, name, Adapted(getattr(module, name)))
