"""Many networks with batch normalisation of equal shape, computed at once on the same images."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812  (the usual name in torch code)
from torch import Tensor, nn

from finitewidth.networks.normalised import plain
from finitewidth.networks.normalised.specs import Network

COUNT = "num_batches_tracked"
Step = Callable[[Tensor], Tensor]  # activations -> activations


class StackedNetwork:
    """R = ``replicas`` networks of equal shape; all see the same images.

    Images are held as (b, R·C, H, W) in the memory order of channels last, so that convolutions
    have the replicas as groups and one normalisation covers all replicas. Vectors are held as
    (R, n, b), so that dense layers are products of R matrices. On a GPU and on a CPU the code is
    the same. A replica has the values it has alone up to rounding, not bit for bit.

    ``parameters`` maps names in the plain network's state to leaves (R, *shape) with gradients;
    change them in place. ``buffers`` are running means and variances and counts of batches,
    (R, *shape), which `forward` changes in place.
    """

    def __init__(
        self,
        network: Network,
        shape: tuple[int, int, int],
        classes: int,
        states: Sequence[dict[str, Tensor]],
    ) -> None:
        """Stack networks from copies of their states (`plain.build`, ``state_dict``).

        The states are on one device and in one precision, and images have the shape (C, H, W).
        """
        with torch.device("meta"):
            module = plain.build(network, shape, classes)
        stacks = {}
        for name in module.state_dict():
            stacks[name] = torch.stack([state[name].detach() for state in states])
        self.replicas = len(states)
        self._names = list(stacks)
        self.parameters = {}
        for name, _ in module.named_parameters():
            self.parameters[name] = stacks[name].requires_grad_()
        self.buffers = {name: stacks[name] for name, _ in module.named_buffers()}
        self._counts = [name for name in self.buffers if name.endswith(COUNT)]
        self._training = False  # in the present forward pass
        self._features = self._sequence(module.features, "features")

    def forward(self, x: Tensor, *, training: bool) -> tuple[Tensor, Tensor]:
        """Compute features (R, b, n) and outputs (R, b, classes) of all networks.

        They see the same images x, (b, C, H, W). In ``training``, normalisations take the
        statistics of the batch and update the buffers, otherwise they take those of the buffers.
        """
        if training and self._counts:
            torch._foreach_add_([self.buffers[name] for name in self._counts], 1)
        self._training = training
        features = self._features(_channels_last(x))
        outputs = self._dense(features, "head")
        return features.mT, outputs.mT

    def state(self, replica: int) -> dict[str, Tensor]:
        """Return a copy of the state of one network, for ``load_state_dict`` of the plain one."""
        tensors = {**self.parameters, **self.buffers}
        return {name: tensors[name].detach()[replica].clone() for name in self._names}

    def _step(self, module: nn.Module, name: str) -> Step:
        """Return the stacked form of one module."""
        simple: dict[type[nn.Module], Step] = {
            nn.ReLU: F.relu_,
            nn.Identity: lambda x: x,
            nn.MaxPool2d: lambda x: F.max_pool2d(x, 2),
            nn.AvgPool2d: lambda x: F.avg_pool2d(x, 2),
            nn.Flatten: self._vectors,
            plain.FlatImages: lambda x: x.flatten(1).T.expand(self.replicas, -1, -1),
            plain.GlobalMean: lambda x: self._vectors(x.mean((2, 3), keepdim=True)),
        }
        if type(module) in simple:
            return simple[type(module)]
        if isinstance(module, nn.Sequential):
            return self._sequence(module, name)
        if isinstance(module, plain.ResidualBlock):
            parts = self._parts(module, name)
            return lambda x: self._residual_block(x, **parts)
        if isinstance(module, plain.DenseLayer):
            parts = self._parts(module, name)
            return lambda x: self._dense_layer(x, **parts)
        layers: dict[type[nn.Module], Callable[..., Tensor]] = {
            nn.Conv2d: self._convolution,
            nn.Linear: self._dense,
        }
        layer = layers.get(type(module), self._normalised)
        return partial(layer, name=name, module=module)

    def _parts(self, block: nn.Module, name: str) -> dict[str, Step]:
        """Return the stacked forms of the parts of a block by their names."""
        return {key: self._step(part, f"{name}.{key}") for key, part in block.named_children()}

    def _sequence(self, modules: nn.Sequential, name: str) -> Step:
        """Return the stacked form of modules that follow one another."""
        parts = [(f"{name}.{key}", module) for key, module in modules.named_children()]
        for i in range(len(parts) - 1):
            _, module = parts[i]
            _, following = parts[i + 1]
            # the two commute, and there is less to do after the pool
            if isinstance(module, nn.ReLU) and isinstance(following, nn.MaxPool2d):
                parts[i], parts[i + 1] = parts[i + 1], parts[i]
        steps = [self._step(module, full_name) for full_name, module in parts]

        def carry_out(x: Tensor) -> Tensor:
            for step in steps:
                x = step(x)
            return x

        return carry_out

    def _residual_block(
        self, x: Tensor, *, conv1: Step, norm1: Step, conv2: Step, norm2: Step, shortcut: Step
    ) -> Tensor:
        """Compute `plain.ResidualBlock`; norms return new tensors, which are changed in place."""
        inner = F.relu_(norm1(conv1(x)))
        return F.relu_(norm2(conv2(inner)).add_(shortcut(x)))

    def _dense_layer(
        self, x: Tensor, *, norm1: Step, conv1: Step, norm2: Step, conv2: Step
    ) -> Tensor:
        """Append channels to those of each replica: (b, R·C, H, W) becomes (b, R·(C + D), H, W)."""
        inner = conv1(F.relu_(norm1(x)))
        new = conv2(F.relu_(norm2(inner)))
        old_by_replica = x.permute(0, 2, 3, 1).unflatten(3, (self.replicas, -1))  # (b, H, W, R, C)
        new_by_replica = new.permute(0, 2, 3, 1).unflatten(3, (self.replicas, -1))
        appended = torch.cat([old_by_replica, new_by_replica], dim=4)
        return appended.flatten(3).permute(0, 3, 1, 2)

    def _convolution(self, x: Tensor, name: str, module: nn.Conv2d) -> Tensor:
        """Convolve (b, R·C, H, W); the first convolution gets (b, C, H, W), equal for all."""
        weight = self.parameters[f"{name}.weight"]
        bias = self.parameters.get(f"{name}.bias")
        bias = None if bias is None else bias.flatten()
        groups = x.shape[1] // module.in_channels
        return F.conv2d(x, weight.flatten(0, 1), bias, module.stride, module.padding, groups=groups)

    def _normalised(self, x: Tensor, name: str, module: nn.BatchNorm1d | nn.BatchNorm2d) -> Tensor:
        """Normalise (b, R·C, H, W) over b, H, W, or (R, n, b) over b."""
        assert module.momentum is not None
        images = x.dim() == 4
        result = F.batch_norm(
            x if images else x.reshape(1, -1, x.shape[-1]),
            self.buffers[f"{name}.running_mean"].view(-1),
            self.buffers[f"{name}.running_var"].view(-1),
            self.parameters[f"{name}.weight"].view(-1),
            self.parameters[f"{name}.bias"].view(-1),
            self._training,
            module.momentum,
            module.eps,
        )
        return result if images else result.view(x.shape)

    def _dense(self, x: Tensor, name: str, module: nn.Linear | None = None) -> Tensor:
        """Compute W x + b for x (R, n, b), or W x if the layer has no bias."""
        weight = self.parameters[f"{name}.weight"]
        bias = self.parameters.get(f"{name}.bias")
        if bias is None:
            return torch.bmm(weight, x)
        return torch.baddbmm(bias[:, :, None], weight, x)

    def _vectors(self, x: Tensor) -> Tensor:
        """Return images (b, R·C, H, W) as vectors (R, C·H·W, b)."""
        return x.unflatten(1, (self.replicas, -1)).flatten(2).permute(1, 2, 0)


def _channels_last(x: Tensor) -> Tensor:
    """Return a copy of images with the strides of channels last.

    For one channel, ``contiguous`` leaves other strides, from which torch concludes that the
    results of the first convolution are wanted in another memory order.
    """
    return torch.empty_like(x, memory_format=torch.channels_last).copy_(x)
