"""`torch.compile(model, backend="hone")` gives torch's own answers. Skipped where torch is not installed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def test_a_compiled_model_agrees_with_torch() -> None:
    import hone.torch_backend  # noqa: F401 - registers the backend

    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 5),
    ).eval()
    compiled = torch.compile(model, backend="hone")
    with torch.no_grad():
        for size in (8, 9, 11, 8):
            x = torch.randn(2, 3, size, size)
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)


def test_a_function_of_several_tensors_agrees_with_torch() -> None:
    import hone.torch_backend  # noqa: F401

    def function(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.softmax(a @ b, dim=-1), a.sum(dim=0)

    a, b = torch.randn(4, 6), torch.randn(6, 3)
    for mine, theirs in zip(torch.compile(function, backend="hone")(a, b), function(a, b)):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
