"""Families of models of `timm` with random weights, the smallest ones and small images.

Each family is a module of `timm.models`. A name in a table is that of a model or of a class, and
what stands behind it are the settings that make it small.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from benchmarks.family_models import COLOURS, INPUTS, OUTPUTS, PIXELS, Family, itself
from torch import Tensor, nn

VIT = {"img_size": PIXELS, "patch_size": 8, "embed_dim": 16, "depth": 2, "num_heads": 2}
WINDOWS = {
    "img_size": PIXELS,
    "window_size": 4,
    "embed_dim": 8,
    "depths": (2, 1),
    "num_heads": (1, 2),
}
MIXER = {"img_size": PIXELS, "patch_size": 8, "embed_dim": 16, "num_blocks": 2}
RESNET = {"layers": (1, 1, 1, 1), "channels": (8, 8, 16, 16)}
STAGES = {"depths": (1, 1, 1, 1), "dims": (4, 8, 8, 16)}
PYRAMID = {
    "img_size": PIXELS,
    "embed_dims": [8, 16],
    "num_heads": [1, 2],
    "mlp_ratios": [2, 2],
    "sr_ratios": [2, 1],
}
MODELS: dict[str, dict[str, Any]] = {
    "vit_tiny_patch16_224": VIT,
    "deit_tiny_distilled_patch16_224": VIT,
    "beit_base_patch16_224": VIT,
    "eva02_tiny_patch14_224": VIT,
    "cait_xxs24_224": VIT,
    "xcit_nano_12_p8_224": VIT | {"patch_size": 8},
    "vit_relpos_small_patch16_224": VIT,
    "convit_tiny": VIT,
    "swin_tiny_patch4_window7_224": WINDOWS,
    "swinv2_tiny_window8_256": WINDOWS,
    "swinv2_cr_tiny_224": WINDOWS,
    "twins_pcpvt_small": PYRAMID | {"depths": [1, 1], "wss": None},
    "twins_svt_small": PYRAMID | {"depths": [2, 2], "wss": [4, 4]},
    "pit_ti_224": {
        "img_size": PIXELS,
        "patch_size": 8,
        "stride": 4,
        "base_dims": [8, 8],
        "depth": [1, 1],
        "heads": [1, 2],
        "mlp_ratio": 2,
    },
    "convnext_tiny": STAGES,
    "convnextv2_atto": STAGES,
    "resnet18": RESNET,
    "seresnet18": RESNET,
    "resnetblur18": RESNET,
    "densenet121": {"growth_rate": 4, "block_config": (2, 1), "bn_size": 2},
    "densenetblur121d": {"growth_rate": 4, "block_config": (2, 1), "bn_size": 2},
    "dla34": {"channels": (4, 8, 8, 8, 16, 16), "levels": (1, 1, 1, 1, 1, 1)},
    "dpn48b": {
        "k_r": 8,
        "groups": 4,
        "k_sec": (1, 1, 1, 1),
        "inc_sec": (4, 4, 4, 4),
        "num_init_features": 8,
    },
    "res2net50_26w_4s": RESNET,
    "resnest14d": RESNET,
    "skresnet18": RESNET,
    "ecaresnet26t": RESNET,
    "naflexvit_base_patch16_gap": {"embed_dim": 16, "depth": 2, "num_heads": 2},
    **{
        f"test_{name}": {}
        for name in (
            "byobnet",
            "efficientnet_evos",
            "efficientnet_gn",
            "mambaout",
            "nfnet",
        )
    },
    **{
        name: {}
        for name in (
            "edgenext_xx_small",
            "mobilenetv2_035",
            "mobilenetv3_small_050",
            "mobilenetv4_conv_small_035",
            "mobilevit_xxs",
        )
    },
}
# module, class and settings, where the builders of timm do not take small ones
CLASSES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("convmixer", "ConvMixer", {"dim": 8, "depth": 2, "kernel_size": 3, "patch_size": 4}),
    (
        "crossvit",
        "CrossVit",
        {
            "img_size": PIXELS,
            "img_scale": (1.0, 1.0),
            "patch_size": (8, 16),
            "embed_dim": (8, 16),
            "depth": ((1, 1, 0),),
            "num_heads": (2, 2),
            "mlp_ratio": (2.0, 2.0, 1.0),
        },
    ),
    (
        "davit",
        "DaVit",
        {"depths": (1, 1), "embed_dims": (8, 16), "num_heads": (2, 2), "window_size": 4},
    ),
    (
        "focalnet",
        "FocalNet",
        {"depths": (1, 1), "embed_dim": 8, "focal_levels": (2, 2), "focal_windows": (3, 3)},
    ),
    (
        "hiera",
        "Hiera",
        {
            "img_size": (PIXELS, PIXELS),
            "embed_dim": 8,
            "num_heads": 1,
            "stages": (1, 1),
            "q_pool": 1,
            "mask_unit_size": (4, 4),
        },
    ),
    ("inception_next", "MetaNeXt", {"depths": (1, 1, 1, 1), "dims": (16, 16, 16, 16)}),
    (
        "levit",
        "Levit",
        {
            "img_size": PIXELS,
            "embed_dim": (8, 16),
            "key_dim": 4,
            "depth": (1, 1),
            "num_heads": (2, 2),
            "attn_ratio": 2,
            "mlp_ratio": 2,
            "stem_type": "s8",
        },
    ),
    ("metaformer", "MetaFormer", {"depths": (1, 1), "dims": (8, 16)}),
    ("mlp_mixer", "MlpMixer", MIXER),
    (
        "nest",
        "Nest",
        {
            "img_size": PIXELS,
            "patch_size": 4,
            "num_levels": 2,
            "embed_dims": (8, 16),
            "num_heads": (1, 2),
            "depths": (1, 1),
        },
    ),
    (
        "rdnet",
        "RDNet",
        {
            "growth_rates": (8, 8),
            "num_init_features": 16,
            "num_blocks_list": (1, 1),
            "block_type": ("Block", "BlockESE"),
            "is_downsample_block": (None, True),
            "patch_size": 4,
        },
    ),
    ("repvit", "RepVit", {"embed_dim": (8, 8, 16, 16), "depth": (1, 1, 1, 1)}),
    ("rexnet", "RexNet", {"initial_chs": 4, "final_chs": 16, "width_mult": 0.2}),
    (
        "sequencer",
        "Sequencer2d",
        {
            "img_size": PIXELS,
            "layers": (1, 1),
            "patch_sizes": (8, 1),
            "embed_dims": (16, 16),
            "hidden_sizes": (4, 8),
            "mlp_ratios": (2.0, 2.0),
        },
    ),
    (
        "tiny_vit",
        "TinyVit",
        {
            "embed_dims": (8, 8, 16, 16),
            "depths": (1, 1, 1, 1),
            "num_heads": (2, 2, 2, 2),
            "window_sizes": (4, 4, 4, 4),
        },
    ),
    (
        "tnt",
        "TNT",
        {
            "img_size": PIXELS,
            "patch_size": 16,
            "embed_dim": 16,
            "inner_dim": 8,
            "depth": 2,
            "num_heads_inner": 2,
            "num_heads_outer": 2,
        },
    ),
    (
        "visformer",
        "Visformer",
        {
            "img_size": PIXELS,
            "init_channels": 8,
            "embed_dim": 16,
            "depth": (1, 1, 1),
            "num_heads": 2,
            "group": 2,
            "attn_stage": "011",
            "spatial_conv": "100",
            "conv_init": False,
        },
    ),
    (
        "volo",
        "VOLO",
        {
            "img_size": PIXELS,
            "layers": (1, 1),
            "embed_dims": (8, 16),
            "num_heads": (2, 2),
            "downsamples": (True, False),
            "outlook_attention": (True, False),
            "stem_hidden_dim": 8,
            "patch_size": 8,
        },
    ),
    (
        "vovnet",
        "VovNet",
        {
            "cfg": {
                "stem_chs": [8, 8, 8],
                "stage_conv_chs": [8, 8, 8, 8],
                "stage_out_chs": [8, 16, 16, 16],
                "layer_per_block": 2,
                "block_per_stage": [1, 1, 1, 1],
                "residual": True,
                "depthwise": False,
                "attn": "ese",
            }
        },
    ),
)


def drawn(images: int = PIXELS) -> Tensor:
    stream = torch.Generator().manual_seed(6)
    return torch.randn(INPUTS, COLOURS, images, images, generator=stream)


def made(name: str, settings: dict[str, Any]) -> nn.Module:
    import timm

    return timm.create_model(name, pretrained=False, num_classes=OUTPUTS, **settings)


def made_of_class(module: str, name: str, settings: dict[str, Any]) -> nn.Module:
    from importlib import import_module

    return getattr(import_module(f"timm.models.{module}"), name)(num_classes=OUTPUTS, **settings)


def families() -> Iterator[Family]:
    """Yield all families of `timm`."""
    for name, settings in MODELS.items():
        yield Family(
            "timm", name, "images", partial(made, name, settings), drawn, itself, images=True
        )
    for module, name, settings in CLASSES:
        make = partial(made_of_class, module, name, settings)
        yield Family("timm", module, "images", make, drawn, itself, images=True)
