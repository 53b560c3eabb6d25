"""Families of models of `transformers`, with tiny settings and random weights.

Nothing is downloaded: each model is made from its configuration. `transformers` is imported when a
model is made, so that the list can be read without it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

INPUTS, OUTPUTS, WORDS, LENGTH = 6, 3, 50, 7
PIXELS, COLOURS = 32, 3
Function = Callable[..., Tensor]


@dataclass(frozen=True)
class Family:
    """A family of models of one library.

    Attributes:
        library: its name.
        name: of the family in this library.
        group: of families in the table.
        make: returns a model.
        inputs: returns what it is called with, a tensor or a mapping of tensors.
        of: returns the function whose kernel is computed, or None for the model itself.
        mixes: why the output for an input depends on the others, so that it must be refused.
        images: whether it maps images to classes, as `finitewidth.study` needs.
    """

    library: str
    name: str
    group: str
    make: Callable[[], nn.Module]
    inputs: Callable[[], Tensor | dict[str, Tensor]]
    of: Callable[[nn.Module], Function | None]
    mixes: str = ""
    images: bool = False


def itself(network: nn.Module) -> None:
    """The model returns a tensor."""


def logits(network: nn.Module) -> Function:
    return lambda **x: network(**x).logits


def of_last_word(network: nn.Module) -> Function:
    return lambda **x: network(**x).logits[:, -1, :OUTPUTS]


def of_first_token(network: nn.Module) -> Function:
    return lambda **x: network(**x).last_hidden_state[:, 0, :OUTPUTS]


def of_pairs(network: nn.Module) -> Function:
    """The similarity of each text and its own image."""

    def similarity(**x: Tensor) -> Tensor:
        found = network(**x)
        return (found.text_embeds * found.image_embeds).sum(-1, keepdim=True)

    return similarity


def of_all_pairs(network: nn.Module) -> Function:
    return lambda **x: network(**x).logits_per_text


def text() -> dict[str, Tensor]:
    """A batch as a tokeniser returns it; word 0 fills up the shorter texts."""
    stream = torch.Generator().manual_seed(1)
    lengths = torch.tensor([LENGTH, LENGTH - 2, LENGTH, LENGTH - 3, LENGTH - 1, LENGTH])
    mask = (torch.arange(LENGTH) < lengths[:, None]).long()
    words = torch.randint(3, WORDS, (INPUTS, LENGTH), generator=stream)
    return {"input_ids": words * mask, "attention_mask": mask}


def text_in_boxes() -> dict[str, Tensor]:
    """Words and their places on a page."""
    stream = torch.Generator().manual_seed(2)
    corners = torch.randint(0, 40, (INPUTS, LENGTH, 4), generator=stream)
    return text() | {"bbox": corners.sort(-1).values}


def two_texts() -> dict[str, Tensor]:
    """A text, and the beginning of another one that is to follow from it."""
    stream = torch.Generator().manual_seed(3)
    return text() | {
        "decoder_input_ids": torch.randint(3, WORDS, (INPUTS, LENGTH - 2), generator=stream)
    }


def text_for_perceiver() -> dict[str, Tensor]:
    words = text()
    return {"inputs": words["input_ids"], "attention_mask": words["attention_mask"]}


def numbers(name: str, *shape: int) -> dict[str, Tensor]:
    stream = torch.Generator().manual_seed(4)
    return {name: torch.randn(INPUTS, *shape, generator=stream)}


def pixels() -> dict[str, Tensor]:
    return numbers("pixel_values", COLOURS, PIXELS, PIXELS)


def colours() -> dict[str, Tensor]:
    stream = torch.Generator().manual_seed(5)
    return {"input_ids": torch.randint(0, 16, (INPUTS, 16), generator=stream)}


def text_and_image() -> dict[str, Tensor]:
    return text() | pixels()


def made(name: str, kind: str, settings: Mapping[str, Any]) -> nn.Module:
    """Make the model of a family, such as ``kind`` "ForCausalLM"."""
    import transformers

    configuration = transformers.AutoConfig.for_model(name, **settings)
    return getattr(transformers, f"AutoModel{kind}").from_config(configuration)


SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "num_labels": OUTPUTS,
}
TEXT = SMALL | {
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": WORDS,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}
PAIR = {
    "vocab_size": WORDS,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "num_attention_heads": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
    "decoder_start_token_id": 1,
    "num_labels": OUTPUTS,
}
T5 = {
    "vocab_size": WORDS,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 24,
    "num_layers": 2,
    "num_decoder_layers": 1,
    "num_heads": 2,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}
EXPERTS = {"num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}
WAVE = SMALL | {
    "conv_dim": [8, 8],
    "conv_stride": [5, 4],
    "conv_kernel": [10, 4],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
    "classifier_proj_size": 8,
}
VISION = SMALL | {"image_size": PIXELS, "patch_size": 8}
STAGES = {"depths": [1, 1], "hidden_sizes": [8, 16], "num_stages": 2, "num_labels": OUTPUTS}
WINDOWS = {
    "image_size": PIXELS,
    "patch_size": 4,
    "embed_dim": 8,
    "depths": [2, 1],
    "num_heads": [2, 2],
    "window_size": 4,
    "num_labels": OUTPUTS,
}
PYRAMID = {
    "image_size": PIXELS,
    "num_encoder_blocks": 2,
    "depths": [1, 1],
    "sr_ratios": [2, 1],
    "sequence_reduction_ratios": [2, 1],
    "hidden_sizes": [8, 16],
    "patch_sizes": [7, 3],
    "strides": [4, 2],
    "num_attention_heads": [1, 2],
    "mlp_ratios": [2, 2],
    "num_labels": OUTPUTS,
}
XL = {
    "vocab_size": WORDS,
    "d_model": 16,
    "n_layer": 2,
    "n_head": 2,
    "d_inner": 24,
    "num_labels": OUTPUTS,
}
DEEPSEEK = TEXT | {
    "head_dim": 4,
    "q_lora_rank": 8,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    "n_routed_experts": 8,
    "moe_intermediate_size": 12,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
    "num_experts_per_tok": 2,
}
# With the usual .02 the gradients of these deep stacks of convolutions fall below float32.
MOBILE = {
    "depth_multiplier": 0.25,
    "min_depth": 4,
    "initializer_range": 0.1,
    "num_labels": OUTPUTS,
}

ENCODERS = {
    "bert": TEXT,
    "roberta": TEXT,
    "distilbert": TEXT | {"dim": 16, "hidden_dim": 24},
    "albert": TEXT | {"embedding_size": 12},
    "electra": TEXT | {"embedding_size": 12},
    "deberta": TEXT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "deberta-v2": TEXT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "mpnet": TEXT,
    "xlm-roberta": TEXT,
    "xlm-roberta-xl": TEXT,
    "xlm": TEXT | {"emb_dim": 16, "n_layers": 2, "n_heads": 2},
    "xlnet": XL,
    "funnel": {**XL, "block_sizes": [1, 1], "d_head": 8},
    "squeezebert": TEXT | {"embedding_size": 16},
    "mobilebert": TEXT | {"intra_bottleneck_size": 12, "embedding_size": 12},
    "convbert": TEXT | {"embedding_size": 12},
    "fnet": TEXT,
    "longformer": TEXT | {"attention_window": 4},
    "big_bird": TEXT | {"attention_type": "original_full"},
    "nystromformer": TEXT | {"num_landmarks": 4, "segment_means_seq_len": 4},
    "roformer": TEXT,
    "rembert": TEXT | {"input_embedding_size": 12, "output_embedding_size": 12},
    "ibert": TEXT,
    "megatron-bert": TEXT,
    "ernie": TEXT,
    "data2vec-text": TEXT,
    "esm": TEXT,
    "modernbert": TEXT,
    "luke": TEXT | {"entity_vocab_size": 10, "entity_emb_size": 8},
    "roc_bert": TEXT
    | {
        "pronunciation_vocab_size": 20,
        "shape_vocab_size": 20,
        "pronunciation_embed_dim": 8,
        "shape_embed_dim": 8,
    },
    "xmod": TEXT | {"default_language": "en_XX", "languages": ["en_XX"]},
    "eurobert": TEXT,
}
DECODERS = {
    "gpt2": TEXT,
    "gpt_neo": TEXT | {"num_layers": 2, "attention_types": [[["global", "local"], 1]]},
    "gpt_neox": TEXT,
    "gptj": TEXT | {"rotary_dim": 4},
    "opt": TEXT | {"ffn_dim": 24, "word_embed_proj_dim": 12},
    "bloom": TEXT,
    "llama": TEXT | {"num_key_value_heads": 1},
    "mistral": TEXT,
    "mixtral": TEXT | {"num_local_experts": 4},
    "qwen2": TEXT,
    "qwen3": TEXT,
    "qwen2_moe": TEXT
    | {"num_experts": 4, "moe_intermediate_size": 12, "shared_expert_intermediate_size": 12},
    "gemma": TEXT,
    "gemma2": TEXT,
    "gemma3_text": TEXT,
    "phi": TEXT,
    "phi3": TEXT,
    "falcon": {name: value for name, value in TEXT.items() if name != "head_dim"},
    "mpt": TEXT,
    "stablelm": TEXT,
    "starcoder2": TEXT,
    "olmo2": TEXT,
    "persimmon": TEXT,
    "biogpt": TEXT,
    "openai-gpt": TEXT,
    "ctrl": TEXT | {"n_embd": 16, "dff": 24, "n_layer": 2, "n_head": 2},
    "nemotron": TEXT,
    "smollm3": TEXT,
    "helium": TEXT,
    "jetmoe": TEXT | {"num_local_experts": 4, "kv_channels": 8},
    "deepseek_v3": DEEPSEEK,
}
LANGUAGE_MODELS = {
    "cohere": TEXT,
    "granite": TEXT,
    "granitemoe": TEXT,
    "exaone4": TEXT,
    "mamba": TEXT | {"state_size": 4},
    "mamba2": TEXT | {"expand": 2, "num_heads": 4, "state_size": 8, "n_groups": 2, "chunk_size": 4},
    "falcon_mamba": TEXT | {"state_size": 4},
}
PAIRS = {
    **dict.fromkeys(("bart", "mbart", "pegasus", "marian", "blenderbot"), PAIR),
    **dict.fromkeys(("m2m_100", "plbart", "bigbird_pegasus"), PAIR),
    **dict.fromkeys(("t5", "mt5", "umt5"), T5),
    "longt5": T5 | {"local_radius": 3},
    "switch_transformers": T5 | EXPERTS,
}
IMAGES = {
    **dict.fromkeys(("vit", "beit", "dinov2", "vit_msn", "data2vec-vision", "ijepa"), VISION),
    **dict.fromkeys(("swin", "swinv2"), WINDOWS),
    **dict.fromkeys(("convnext", "convnextv2"), STAGES),
    "resnet": {"embedding_size": 8, "depths": [1, 1], "hidden_sizes": [16, 32], "num_labels": 3},
    "regnet": {
        "embedding_size": 8,
        "depths": [1, 1],
        "hidden_sizes": [16, 32],
        "groups_width": 8,
        "num_labels": OUTPUTS,
    },
    "poolformer": PYRAMID | {"padding": [2, 1]},
    "segformer": PYRAMID,
    "pvt": PYRAMID | {"patch_sizes": [4, 2]},
    "pvt_v2": PYRAMID,
    "mobilevit": {
        "initializer_range": 0.5,  # as of MOBILE
        "image_size": PIXELS,
        "patch_size": 2,
        "hidden_sizes": [8, 12, 16],
        "neck_hidden_sizes": [8, 8, 8, 8, 8, 8, 16],
        "num_attention_heads": 2,
        "num_labels": OUTPUTS,
    },
    "focalnet": {
        "image_size": PIXELS,
        "patch_size": 4,
        "embed_dim": 8,
        "depths": [1, 1],
        "focal_levels": [2, 2],
        "focal_windows": [3, 3],
        "hidden_sizes": [8, 16],
        "num_labels": OUTPUTS,
    },
    "bit": {
        "embedding_size": 8,
        "hidden_sizes": [16, 32],
        "depths": [1, 1],
        "num_groups": 2,
        "num_labels": OUTPUTS,
    },
    "mobilenet_v1": MOBILE,
    "mobilenet_v2": MOBILE,
}
WAVES = {
    **dict.fromkeys(("wav2vec2", "hubert", "wavlm", "sew", "unispeech"), WAVE),
    **dict.fromkeys(("unispeech-sat", "wav2vec2-conformer"), WAVE),
    "data2vec-audio": WAVE | {"conv_pos_kernel_size": 3, "num_conv_pos_embeddings": 2},
}
SPECTROGRAMS = {
    "audio-spectrogram-transformer": (
        SMALL
        | {"patch_size": 8, "frequency_stride": 8, "time_stride": 8}
        | {"max_length": 20, "num_mel_bins": 16},
        partial(numbers, "input_values", 20, 16),
    ),
    "whisper": (
        PAIR
        | {"num_mel_bins": 8, "max_source_positions": 10, "max_target_positions": 10}
        | {"classifier_proj_size": 8},
        partial(numbers, "input_features", 8, 20),
    ),
    "wav2vec2-bert": (
        WAVE | {"feature_projection_input_dim": 8, "conv_depthwise_kernel_size": 3},
        partial(numbers, "input_features", 20, 8),
    ),
}
TOWERS = {
    "text_config": TEXT | {"projection_dim": 8, "eos_token_id": 2},
    "vision_config": VISION | {"projection_dim": 8},
    "projection_dim": 8,
}
GROUPS: dict[str, tuple[Mapping[str, Mapping[str, Any]], str, Callable, Callable]] = {
    "encoders of text": (ENCODERS, "ForSequenceClassification", text, logits),
    "decoders": (DECODERS, "ForSequenceClassification", text, logits),
    "language models": (LANGUAGE_MODELS, "ForCausalLM", text, of_last_word),
    "encoders and decoders": (PAIRS, "ForSeq2SeqLM", two_texts, of_last_word),
    "images": (IMAGES, "ForImageClassification", pixels, logits),
    "audio": (
        WAVES,
        "ForAudioClassification",
        partial(numbers, "input_values", 400),
        logits,
    ),
}


def families() -> Iterator[Family]:
    """Yield all families of `transformers`."""
    one = partial(Family, "transformers")
    for group, (table, kind, inputs, of) in GROUPS.items():
        for name, settings in table.items():
            yield one(name, group, partial(made, name, kind, settings), inputs, of)
    for name, (settings, inputs) in SPECTROGRAMS.items():
        make = partial(made, name, "ForAudioClassification", settings)
        yield one(name, "audio", make, inputs, logits)
    classify = partial(made, kind="ForSequenceClassification")
    boxes = TEXT | {"max_2d_position_embeddings": 50}
    yield one(
        "layoutlm",
        "several inputs",
        partial(classify, "layoutlm", settings=boxes),
        text_in_boxes,
        logits,
    )
    boxes = boxes | {"hidden_size": 24, "head_dim": 12, "channel_shrink_ratio": 2}
    yield one(
        "lilt", "several inputs", partial(classify, "lilt", settings=boxes), text_in_boxes, logits
    )
    perceiver = {
        "vocab_size": WORDS,
        "num_latents": 5,
        "d_latents": 16,
        "d_model": 16,
        "num_blocks": 1,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 2,
        "num_cross_attention_heads": 2,
        "max_position_embeddings": LENGTH,
        "num_labels": OUTPUTS,
    }
    make = partial(classify, "perceiver", settings=perceiver)
    yield one("perceiver", "encoders of text", make, text_for_perceiver, logits)
    pixelwise = {
        "vocab_size": 17,
        "n_positions": 16,
        "n_embd": 16,
        "n_layer": 2,
        "n_head": 2,
        "num_labels": OUTPUTS,
    }
    make = partial(made, "imagegpt", "ForImageClassification", pixelwise)
    yield one("imagegpt", "images", make, colours, logits)
    for name in ("dinov3_vit",):
        yield one(name, "images", partial(made, name, "", VISION), pixels, of_first_token)
    for name in ("clip", "siglip"):
        make = partial(made, name, "", TOWERS)
        yield one(name, "several inputs", make, text_and_image, of_pairs)
    yield one(
        "clip, all pairs",
        "several inputs",
        partial(made, "clip", "", TOWERS),
        text_and_image,
        of_all_pairs,
        mixes="each output compares a text with the images of all inputs",
    )
