"""The machine and the versions of everything, as the page tells them."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from typing import Any

PACKAGES = ("numpy", "torch", "cupy", "jax", "jaxlib", "matplotlib", "opt_einsum", "scipy")


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    for name in metadata.distributions():  # CuPy has a package for each version of CUDA
        label = (name.metadata["Name"] or "").lower()
        if label.startswith("cupy-cuda"):
            found["cupy"] = f"{name.version} ({label})"
    return found


def blas_of_numpy() -> str | None:
    """Which BLAS NumPy multiplies with, as far as it says."""
    import numpy as np

    try:
        held = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{held['name']} {held['version']}"
    except (TypeError, KeyError):
        return None


def describe(backend: str, threads: int, devices: dict[str, Any]) -> dict[str, Any]:
    """In the form that `cutt bench --json` has."""
    held = {one["name"]: one for one in devices.get("backends", [])}
    used = held.get(backend, {})
    cpu = held.get("cpu", {}).get("device", {}).get("name") or platform.processor()
    told: dict[str, Any] = {
        "backend": backend,
        "device": used.get("device"),
        "cpu": cpu,
        "isa": used.get("isa"),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "version": devices.get("version"),
        "versions": versions(),
        "load": os.getloadavg()[0],
        "source": "this report",
    }
    blas = blas_of_numpy()
    if blas:
        told["numpy_blas"] = blas
    providers = [one["name"] for one in devices.get("providers", []) if one.get("path") or one.get("usable")]
    if providers:
        told["blas_found"] = ", ".join(dict.fromkeys(providers))
    return told
