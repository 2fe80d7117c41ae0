"""Write ``tests/data/onnx_of_torch.zip``: small networks exported by PyTorch's two exporters.

Needs PyTorch, onnx and onnxscript: ``python tests/data/make_onnx_of_torch.py``. Networks have
random parameters; the zip holds their inputs and PyTorch's outputs along with the models.
"""

import io
import os
import sys
import tempfile
import zipfile

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F


class SE(nn.Module):
    def __init__(s, c):
        super().__init__()
        s.a = nn.Conv2d(c, c // 4, 1)
        s.b = nn.Conv2d(c // 4, c, 1)

    def forward(s, x):
        return x * torch.sigmoid(s.b(F.relu(s.a(F.adaptive_avg_pool2d(x, 1)))))


class MB(nn.Module):
    def __init__(s, i, o, st, act=nn.ReLU6):
        super().__init__()
        h = i * 4
        s.res = st == 1 and i == o
        s.f = nn.Sequential(
            nn.Conv2d(i, h, 1, bias=False),
            nn.BatchNorm2d(h),
            act(),
            nn.Conv2d(h, h, 3, st, 1, groups=h, bias=False),
            nn.BatchNorm2d(h),
            act(),
            SE(h),
            nn.Conv2d(h, o, 1, bias=False),
            nn.BatchNorm2d(o),
        )

    def forward(s, x):
        return x + s.f(x) if s.res else s.f(x)


class Mobile(nn.Module):
    def __init__(s, act=nn.ReLU6):
        super().__init__()
        s.f = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), act(), MB(8, 8, 1, act), MB(8, 16, 2, act)
        )
        s.c = nn.Linear(16, 10)

    def forward(s, x):
        return s.c(torch.flatten(F.adaptive_avg_pool2d(s.f(x), 1), 1))


class Res(nn.Module):
    def __init__(s):
        super().__init__()
        s.c0 = nn.Conv2d(3, 8, 7, 2, 3, bias=False)
        s.b0 = nn.BatchNorm2d(8)
        s.c1 = nn.Conv2d(8, 8, 3, 1, 1, bias=False)
        s.b1 = nn.BatchNorm2d(8)
        s.c2 = nn.Conv2d(8, 8, 3, 1, 1, bias=False)
        s.b2 = nn.BatchNorm2d(8)
        s.fc = nn.Linear(8, 10)

    def forward(s, x):
        x = F.max_pool2d(F.relu(s.b0(s.c0(x))), 3, 2, 1)
        y = F.relu(s.b1(s.c1(x)))
        y = s.b2(s.c2(y))
        x = F.relu(x + y)
        return s.fc(F.adaptive_avg_pool2d(x, (1, 1)).view(x.size(0), -1))


class Dense(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 4, 3, padding=1)
        s.b = nn.Conv2d(7, 4, 3, padding=1)
        s.c = nn.Conv2d(11, 4, 3, padding=1)

    def forward(s, x):
        y = torch.cat([x, F.elu(s.a(x))], 1)
        z = torch.cat([y, F.gelu(s.b(y))], 1)
        return F.avg_pool2d(s.c(z), 2, ceil_mode=True).mean((2, 3))


class Shuffle(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(4, 8, 1, groups=2)
        s.b = nn.Conv2d(4, 4, 3, 1, 1, groups=4)

    def forward(s, x):
        x = s.a(x)
        b, c, h, w = x.shape
        x = x.view(b, 2, c // 2, h, w).transpose(1, 2).contiguous().view(b, c, h, w)
        left, right = x.chunk(2, 1)
        return torch.cat([left, F.hardswish(s.b(right))], 1)


class Unet(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 8, 3, padding=1)
        s.d = nn.Conv2d(8, 16, 3, 2, 1)
        s.u = nn.ConvTranspose2d(16, 8, 2, 2)
        s.o = nn.Conv2d(16, 2, 1)

    def forward(s, x):
        a = F.leaky_relu(s.a(x), 0.1)
        u = s.u(F.silu(s.d(a)))
        u = F.interpolate(u, size=a.shape[2:], mode="bilinear", align_corners=False)
        return s.o(torch.cat([a, u], 1)).softmax(1)


class FPN(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(3, 8, 3, 2, 1)
        s.b = nn.Conv2d(8, 8, 3, 2, 1)
        s.g = nn.GroupNorm(4, 8)
        s.i = nn.InstanceNorm2d(8, affine=True)

    def forward(s, x):
        a = s.g(s.a(x))
        b = s.i(s.b(F.relu(a)))
        return a + F.interpolate(b, scale_factor=2, mode="nearest"), F.pixel_shuffle(b, 2)


class Incep(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv2d(4, 4, 1)
        s.b = nn.Conv2d(4, 4, (1, 5), padding=(0, 2))
        s.c = nn.Conv2d(4, 4, (5, 1), padding=(2, 0))
        s.p = nn.PReLU(4)

    def forward(s, x):
        return torch.cat(
            [
                s.a(x),
                s.p(s.c(s.b(x))),
                F.max_pool2d(x, 3, 1, 1),
                F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
            ],
            1,
        )


class Conv3(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv3d(2, 4, 3, padding=1)
        s.p = nn.MaxPool3d(2)

    def forward(s, x):
        return s.p(torch.tanh(s.a(x))).flatten(1)


class Conv1(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Conv1d(3, 6, 5, dilation=2, padding=4)
        s.b = nn.ConvTranspose1d(6, 3, 4, stride=2, padding=1, output_padding=1)

    def forward(s, x):
        return s.b(F.softplus(s.a(x)))


class Trans(nn.Module):
    def __init__(s):
        super().__init__()
        s.e = nn.Embedding(50, 16)
        s.p = nn.Parameter(torch.randn(1, 64, 16))
        s.q = nn.Linear(16, 48)
        s.o = nn.Linear(16, 16)
        s.n1 = nn.LayerNorm(16)
        s.n2 = nn.LayerNorm(16)
        s.f = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        s.h = nn.Linear(16, 50, bias=False)

    def forward(s, t):
        b, n = t.shape
        x = s.e(t) + s.p[:, :n]
        q, k, v = s.q(s.n1(x)).view(b, n, 3, 4, 4).permute(2, 0, 3, 1, 4).unbind(0)
        m = torch.full((n, n), float("-inf")).triu(1)
        a = ((q @ k.transpose(-1, -2)) / 2 + m).softmax(-1) @ v
        x = x + s.o(a.transpose(1, 2).reshape(b, n, 16))
        x = x + s.f(s.n2(x))
        return s.h(x)


class Sdpa(nn.Module):
    def __init__(s):
        super().__init__()
        s.q = nn.Linear(8, 24)
        s.r = nn.Parameter(torch.ones(8))

    def forward(s, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * s.r
        q, k, v = (t.unflatten(-1, (2, 4)).transpose(1, 2) for t in s.q(x).chunk(3, -1))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class Enc(nn.Module):
    def __init__(s):
        super().__init__()
        s.l = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.1)

    def forward(s, x):
        return s.l(x)


class Lstm(nn.Module):
    def __init__(s):
        super().__init__()
        s.l = nn.LSTM(6, 8, 2, bidirectional=True, batch_first=True)
        s.o = nn.Linear(16, 4)

    def forward(s, x):
        y, (h, c) = s.l(x)
        return s.o(y), h, c


class Gru(nn.Module):
    def __init__(s):
        super().__init__()
        s.l = nn.GRU(6, 8, 2)
        s.r = nn.RNN(8, 5, nonlinearity="relu")

    def forward(s, x):
        y, h = s.l(x)
        z, g = s.r(y)
        return z, h, g


class Index(nn.Module):
    def forward(s, x, i):
        y = x.clone()
        y[:, 1:3] = 0
        v, k = x.topk(3, -1)
        return (
            y,
            v,
            k,
            torch.gather(x, 1, i),
            x[:, [2, 0]],
            torch.where(x > 0, x, -x).cumsum(1),
            F.one_hot(i, 6).float().sum(1),
            x.argmax(-1),
            torch.sort(x, -1)[0],
        )


class Math(nn.Module):
    def forward(s, x):
        return (
            torch.einsum("bij,bkj->bik", x, x),
            x.std(-1),
            x.norm(dim=-1),
            torch.logsumexp(x, -1),
            x.clamp(min=0.1),
            torch.erf(x) + torch.expm1(x) - torch.atan2(x, x + 3),
            (x * 10).to(torch.int32) // 3,
            (x * 10).to(torch.int32) % 3,
            x.masked_fill(x < 0, 0.5),
            x.unsqueeze(0).expand(2, -1, -1, -1),
            F.pad(x, (1, 2), mode="replicate"),
            x.flip(-1),
            x.roll(1, -1),
            x.tril(),
            x.amax((0, 1)),
        )


class Grid(nn.Module):
    def forward(s, x):
        t = torch.tensor([[[0.8, 0.2, 0.1], [-0.1, 0.9, 0.0]]]).expand(x.shape[0], -1, -1)
        g = F.affine_grid(t, x.shape, align_corners=False)
        return F.grid_sample(x, g, align_corners=False)


class Cond(nn.Module):
    def forward(s, x):
        return (
            F.log_softmax(x, -1),
            F.normalize(x, dim=1),
            F.local_response_norm(x, 3),
            F.unfold(x, 3, padding=1),
            F.celu(x)
            + F.selu(x)
            + F.mish(x)
            + F.hardsigmoid(x)
            + F.softsign(x)
            + F.hardtanh(x)
            + F.threshold(x, 0.1, 0.2)
            + F.softshrink(x),
        )


class Alex(nn.Module):
    def __init__(s):
        super().__init__()
        s.f = nn.Sequential(
            nn.Conv2d(3, 8, 11, 4, 2),
            nn.ReLU(True),
            nn.MaxPool2d(3, 2),
            nn.AdaptiveAvgPool2d((3, 3)),
            nn.Flatten(),
            nn.Dropout(),
            nn.Linear(72, 16),
            nn.ReLU(),
            nn.Linear(16, 4),
        )

    def forward(s, x):
        return s.f(x)


class Squeeze(nn.Module):
    def __init__(s):
        super().__init__()
        s.c = nn.Conv2d(3, 8, 3, 2)
        s.s = nn.Conv2d(8, 4, 1)
        s.a = nn.Conv2d(4, 8, 1)
        s.b = nn.Conv2d(4, 8, 3, padding=1)

    def forward(s, x):
        x = F.max_pool2d(F.relu(s.c(x)), 3, 2, ceil_mode=True)
        x = F.relu(s.s(x))
        return torch.cat([s.a(x), s.b(x)], 1).mean((2, 3))


def networks():
    """Name -> (network, inputs)."""
    R = torch.randn
    return dict(
        mobile=(Mobile(), (R(2, 3, 32, 32),)),
        mobile_v3=(Mobile(nn.Hardswish), (R(2, 3, 32, 32),)),
        efficient=(Mobile(nn.SiLU), (R(2, 3, 32, 32),)),
        resnet=(Res(), (R(2, 3, 32, 32),)),
        dense=(Dense(), (R(2, 3, 9, 9),)),
        shuffle=(Shuffle(), (R(2, 4, 8, 8),)),
        unet=(Unet(), (R(1, 3, 16, 16),)),
        fpn=(FPN(), (R(2, 3, 16, 16),)),
        inception=(Incep(), (R(2, 4, 7, 7),)),
        conv3=(Conv3(), (R(2, 2, 4, 6, 6),)),
        conv1=(Conv1(), (R(2, 3, 20),)),
        transformer=(Trans(), (torch.randint(0, 50, (2, 7)),)),
        sdpa=(Sdpa(), (R(2, 5, 8),)),
        encoder=(Enc(), (R(2, 5, 16),)),
        lstm=(Lstm(), (R(2, 5, 6),)),
        gru=(Gru(), (R(5, 2, 6),)),
        index=(Index(), (R(2, 6), torch.randint(0, 6, (2, 3)))),
        math=(Math(), (R(2, 3, 4),)),
        grid=(Grid(), (R(1, 2, 5, 6),)),
        functional=(Cond(), (R(2, 4, 6, 6),)),
        alex=(Alex(), (R(2, 3, 67, 67),)),
        squeeze=(Squeeze(), (R(2, 3, 33, 33),)),
    )


def stripped(path):
    """A model without the exporter's metadata, which would be most of it."""
    model = onnx.load(path)
    del model.metadata_props[:], model.graph.value_info[:], model.graph.metadata_props[:]
    model.doc_string = ""
    for node in (*model.graph.node, *(n for f in model.functions for n in f.node)):
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*model.graph.input, *model.graph.output, *model.graph.initializer):
        del value.metadata_props[:]
    return model.SerializeToString()


def exported(net, inputs, dynamo):
    """The model as bytes, or None if the exporter fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        given = {"opset_version": 20, "external_data": False} if dynamo else {"opset_version": 17}
        try:
            torch.onnx.export(net, inputs, path, dynamo=dynamo, **given)
        except Exception as error:
            print(type(error).__name__, "dynamo" if dynamo else "script", file=sys.stderr)
            return None
        return stripped(path)


def main():
    """Write the zip."""
    torch.manual_seed(0)
    target = os.path.join(os.path.dirname(__file__), "onnx_of_torch.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (net, inputs) in networks().items():
            net.eval()
            for part in net.modules():
                if isinstance(part, nn.BatchNorm2d):
                    part.running_mean.normal_()
                    part.running_var.uniform_(0.5, 2)
            with torch.no_grad():
                outputs = net(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            arrays = {f"in{i}": x.numpy() for i, x in enumerate(inputs)}
            arrays.update((f"out{i}", x.numpy()) for i, x in enumerate(outputs))
            buffer = io.BytesIO()
            np.savez(buffer, **arrays)
            archive.writestr(f"{name}.npz", buffer.getvalue())
            for kind in ("script", "dynamo"):
                data = exported(net, inputs, kind == "dynamo")
                if data is not None:
                    archive.writestr(f"{name}.{kind}.onnx", data)


if __name__ == "__main__":
    main()
