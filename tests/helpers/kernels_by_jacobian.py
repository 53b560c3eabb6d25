"""The kernel of any torch module from single backward passes, and what a kernel leaves as it is."""

import torch


def jacobian_kernel(network, x, of=None, parameters=None):
    """The full kernel from one backward pass for each input and each output.

    An input is given twice, since torch's gradient of a batch norm is wrong for some inputs alone.
    """
    of = of or network
    chosen = [p for name, p in network.named_parameters() if not parameters or parameters(name)]
    N = len(x)
    rows = []
    for sample in range(N):
        outputs = of(x[[sample, sample]])[0]
        for output in outputs:
            rows.append(_gradient(output, chosen))
    K = len(rows) // N
    jacobian = torch.stack(rows).view(N, K, -1).transpose(0, 1)  # (K, N, size)
    flat = jacobian.flatten(0, 1)
    return (flat @ flat.mT).view(K, N, K, N)


def _gradient(output, parameters):
    """The gradient of an output by all parameters, one after another, in float64."""
    gradients = torch.autograd.grad(output, parameters, retain_graph=True, allow_unused=True)
    parts = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        dense = torch.zeros_like(parameter) if gradient is None else gradient.to_dense()
        parts.append(dense.detach().double().flatten())
    return torch.cat(parts)


def made(make, dtype=torch.float64):
    torch.manual_seed(0)
    return make().to(dtype).eval()


def parameters_by_module(network):
    """Return what each module holds, to see whether a kernel leaves it as it is."""
    rows = []
    for module in network.modules():
        for name, p in module._parameters.items():
            rows.append((module, name, id(p)))
    return rows
