"""A small language model over characters: a transformer that sees what came before (Vaswani et al.,
"Attention Is All You Need", 2017), with the normalisation before each part and tied embeddings, as
in GPT-2 (Radford et al., 2019). 3.2 M parameters as it is called here."""

import torch
from torch import nn
from torch.nn import functional


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.mixed = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        parts = self.attention(self.norm1(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # each [batch, heads, length, width/heads]
        weights = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5 + mask
        seen = (weights.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width)
        x = x + self.mixed(seen)
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """[n, length] characters of a vocabulary to [n, length, vocabulary] scores of the next."""

    def __init__(self, vocabulary, length=128, width=256, layers=4, heads=4):
        super().__init__()
        self.characters = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1),
                             persistent=False)
        for name, value in self.named_parameters():
            if value.dim() > 1:
                nn.init.normal_(value, std=0.02)
            if name.endswith(("mixed.weight", "down.weight")):
                nn.init.normal_(value, std=0.02 / (2 * layers) ** 0.5)

    def forward(self, text):
        length = text.shape[1]
        x = self.characters(text) + self.places.weight[:length]
        for layer in self.layers:
            x = layer(x, self.mask[:length, :length])
        return functional.linear(self.norm(x), self.characters.weight)
