"""Networks with batch normalisation: VGG, ResNet and DenseNet, one alone and in stacks.

`specs` describes the networks, `plain` builds one as a module of torch and draws its first weights,
and `stacked` computes many networks of equal shape at once. `plain` is the definition; `stacked` is
fast and is tested against it.
"""
