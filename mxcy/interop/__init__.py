"""Loading parameters of other frameworks: safetensors, PyTorch checkpoints, torchvision models."""

from mxcy.interop.safetensors import load_safetensors, save_safetensors
from mxcy.interop.torch_files import load_torch
from mxcy.interop.torchvision import from_torchvision, load_layers

__all__ = ["from_torchvision", "load_layers", "load_safetensors", "load_torch", "save_safetensors"]
