"""The cases of ONNX's backend suite that mxcy fails, with reasons."""

import re

__all__ = ["SKIPS", "reason"]

_TYPES = "mxcy has no arrays of this type"
_RANDOM = "random numbers without a seed that both could share"
_SEQUENCES = "sequences and optional values are no inputs or outputs of symbols"
_ROUNDED = "other roundings of 16-bit results on the way"

#: (pattern of whole names, reason)
SKIPS = (
    (r".*(float8|FLOAT8|E4M3|E5M2|e4m3|e5m2|E8M0|e8m0).*", _TYPES + ": 8-bit floats"),
    (r".*(FLOAT4|float4|(U?INT|u?int)[24](?!\d)).*", _TYPES + ": 2 and 4 bits"),
    (r"test_(cast|castlike|equal|identity|loop).*(STRING|string).*", _TYPES + ": text"),
    (r"test_(string|strnorm|regex|tfidf).*", _TYPES + ": text"),
    (r"test_ai_onnx_ml_.*", "classic machine learning (ai.onnx.ml) is not implemented"),
    (r"test_(adagrad|adam|momentum|nesterov|gradient).*", "training operators of ONNX"),
    (r"test_image_decoder_.*", "decoders give other pixels, and are no operators"),
    (r"test_bernoulli.*|test_training_dropout(_default)?(_mask)?", _RANDOM),
    (r"test_(sequence_(insert|map)|split_to_sequence|identity_(sequence|opt)).*", _SEQUENCES),
    (r"test_(if_seq|if_opt|loop13_seq|loop16_seq_none)", _SEQUENCES),
    (r"test_optional_get_element_(optional_.*|sequence)", _SEQUENCES),
    (r"test_optional_has_element_((empty_)?optional|tensor)_input", _SEQUENCES),
    (r"test_attention_.*_bf16(_expanded)?|test_attention_4d_causal_fp16(_expanded)?", _ROUNDED),
    (r"test_dft_inverse(_opset19)?", "the expected values are float32 noise where 0 is right"),
    (r"test_roialign_mode_max", "ROIAlign takes averages only"),
)


def reason(name):
    """Why a case is skipped, or None."""
    name = re.sub(r"_(cpu|cuda)$", "", name)
    return next((why for pattern, why in SKIPS if re.fullmatch(pattern, name)), None)
