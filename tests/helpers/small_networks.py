"""Small networks whose kernels are compared with their Jacobians, in float64 and eval mode."""

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """A residual block with a shortcut of 1×1 convolutions, and activations in place."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        inner = functional.relu_(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(inner))
        out += self.shortcut(x)
        return functional.relu_(out)


class ResNet(nn.Module):
    def __init__(self, channels=(4, 6), blocks=1, inputs=3, outputs=3):
        super().__init__()
        layers = [nn.Conv2d(inputs, channels[0], 3, padding=1), nn.ReLU(inplace=True)]
        last = channels[0]
        for stage, width in enumerate(channels):
            for block in range(blocks):
                layers.append(Block(last, width, 2 if stage and not block else 1))
                last = width
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(last, outputs)

    def forward(self, x):
        return self.head(self.features(x))


class Convolutions(nn.Module):
    """Groups, strides, dilations, all kinds of padding, one and three axes."""

    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(4, 6, 3, padding=1, groups=2)
        self.depthwise = nn.Conv2d(6, 12, (3, 1), stride=(2, 1), padding=(0, 2), groups=6)
        self.dilated = nn.Conv2d(12, 4, 3, dilation=2, padding=2, bias=False)
        self.same = nn.Conv2d(4, 4, (2, 3), padding="same", dilation=(1, 2))
        self.circular = nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular")
        self.line = nn.Conv1d(4, 3, 4, stride=3, padding=1, padding_mode="reflect")
        self.solid = nn.Conv3d(1, 2, 2, stride=(1, 2, 1))
        self.head = nn.LazyLinear(2)

    def forward(self, x):
        x = functional.silu(self.grouped(x), inplace=True)
        x = torch.tanh(self.depthwise(x))
        x = functional.gelu(self.dilated(x))
        x = torch.tanh(self.circular(torch.tanh(self.same(x))))
        line = torch.tanh(self.line(x.flatten(2)))
        solid = torch.tanh(self.solid(x[:, None]))
        return self.head(torch.cat([line.flatten(1), solid.flatten(1)], dim=1))


class Norms(nn.Module):
    """All norm layers, over one and several positions."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3)
        self.batch = nn.BatchNorm2d(4)
        self.group = nn.GroupNorm(2, 4)
        self.instance = nn.InstanceNorm2d(4, affine=True)
        self.tracked = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        self.layer = nn.LayerNorm((4, 5))
        self.shift_only = nn.LayerNorm(4, bias=False)
        self.rms = nn.RMSNorm(4)
        self.flat = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = torch.tanh(self.group(self.batch(self.stem(x))))  # (N, 4, 6, 5)
        x = torch.tanh(self.tracked(self.instance(x) + x))
        x = x.movedim(2, 1)  # (N, 6, 4, 5)
        x = torch.tanh(self.layer(x)).mT  # (N, 6, 5, 4)
        x = torch.tanh(self.rms(self.shift_only(x) + x)).mean((1, 2))
        return self.head(self.flat(x))


class Reused(nn.Module):
    """Modules that are called several times, weights shared by modules, one unused module."""

    def __init__(self, outputs=2):
        super().__init__()
        self.inner = nn.Linear(5, 5)
        self.twin = nn.Linear(5, 5, bias=False)
        self.twin.weight = self.inner.weight
        self.conv = nn.Conv1d(1, 1, 3, padding=1)
        self.norm = nn.LayerNorm(5)
        self.unused = nn.Linear(5, 2)
        self.head = nn.Linear(5, outputs)

    def forward(self, x):
        self.unused(x)
        for _ in range(3):
            x = self.norm(x + torch.tanh(self.inner(x)))
            x = x + torch.tanh(self.conv(self.conv(x[:, None])))[:, 0]
        return self.head(torch.tanh(self.twin(x)))


class Unreachable(nn.Module):
    """Parameters outside the calls of modules: free, packed, reparametrised, in functions."""

    def __init__(self):
        super().__init__()
        self.position = nn.Parameter(torch.randn(3, 4))
        self.embed = nn.Linear(4, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.tied = nn.Linear(4, 4)
        self.mixer = nn.Linear(3, 3)  # its first axis is not that of the inputs
        self.normed = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = self.embed(x) + self.position
        x = x + self.attention(x, x, x, need_weights=False)[0]
        x = x + functional.linear(torch.tanh(self.tied(x)), self.tied.weight.mT)
        x = x + torch.tanh(self.mixer(x.movedim(2, 0))).movedim(0, 2)
        return self.head(torch.tanh(self.normed(x)).mean(1))


class DenseLayer(nn.Module):
    """Norm, activation and convolution, whose output is appended to the input."""

    def __init__(self, inputs, growth):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, 4, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, growth, 3, padding=1, bias=False)

    def forward(self, x):
        inner = self.conv1(functional.relu(self.norm1(x), inplace=True))
        inner = self.conv2(functional.relu(self.norm2(inner), inplace=True))
        return torch.cat([x, inner], dim=1)


def densenet():
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1, bias=False),
        DenseLayer(4, 2),
        DenseLayer(6, 2),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.Conv2d(8, 4, 1, bias=False),
        nn.AvgPool2d(2),
        DenseLayer(4, 2),
        DenseLayer(6, 2),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )


def vgg():
    layers = []
    last = 3
    for width in (4, 6, 6):
        layers += [nn.Conv2d(last, width, 3, padding=1), nn.BatchNorm2d(width)]
        layers += [nn.ReLU(inplace=True), nn.MaxPool2d(2)]
        last = width
    head = [nn.Linear(6, 5), nn.ReLU(inplace=True), nn.Dropout(0.5), nn.Linear(5, 3)]
    return nn.Sequential(nn.Sequential(*layers), nn.Flatten(), *head)


def transformer():
    layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, batch_first=True)
    return nn.Sequential(
        layer, nn.Flatten(), nn.Linear(12, 2), nn.Unflatten(1, (1, 2)), nn.Flatten()
    )


# name -> network, shape of one input
NETWORKS = {
    "vgg": (vgg, (3, 8, 8)),
    "resnet": (ResNet, (3, 7, 6)),
    "densenet": (densenet, (3, 7, 7)),
    "convolutions": (Convolutions, (4, 9, 7)),
    "norms": (Norms, (3, 8, 7)),
    "reused": (Reused, (5,)),
    "unreachable": (Unreachable, (3, 4)),
    "transformer": (transformer, (3, 4)),
}


def prepared(make, shape, samples=4, seed=0):
    """A network with random statistics and parameters, and inputs, in float64 and eval mode."""
    torch.manual_seed(seed)
    network = make().double().eval()
    x = torch.randn(samples, *shape, dtype=torch.float64)
    with torch.no_grad():
        network(x)  # lazy modules get their shapes
        for name, tensor in [*network.named_parameters(), *network.named_buffers()]:
            if "running_var" in name:
                tensor.uniform_(0.5, 2)
            elif tensor.is_floating_point() and tensor.dim() < 2:
                tensor.add_(0.3 * torch.randn_like(tensor))
    return network, x
