#!/usr/bin/python3
"""From linear EXRs to the site's files: denoise, tone, melt the backdrop into its CSS colour, encode."""
import glob
import os
import subprocess
import sys
import tempfile

os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import cv2  # noqa: E402
import numpy as np  # noqa: E402

WORK = os.environ.get("ARTWORK_WORK", os.path.join(tempfile.gettempdir(), "artwork"))
IMAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "images")
KNEE, TOP = 0.75, 1.04


def linear(hexed):
    c = np.array([int(hexed[i : i + 2], 16) / 255 for i in (1, 3, 5)], np.float32)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def srgb(x):
    return np.where(x <= 0.0031308, x * 12.92, 1.055 * np.maximum(x, 1e-6) ** (1 / 2.4) - 0.055)


def tone(x):
    """Straight up to the knee, then a soft shoulder towards white."""
    room = TOP - KNEE
    return np.where(x < KNEE, x, KNEE + room * (1 - np.exp(-(np.maximum(x, KNEE) - KNEE) / room)))


def untone(y):
    room = TOP - KNEE
    return np.where(y < KNEE, y, KNEE - room * np.log(np.maximum(1 - (y - KNEE) / room, 1e-4)))


def load(name, percent):
    """Light, albedo and normal: each as mean over all seeds, with its noise as half the gap between two half means."""
    read = lambda p: cv2.imread(p, cv2.IMREAD_UNCHANGED)[..., 2::-1].astype(np.float32)  # noqa: E731
    files = sorted(glob.glob(f"{WORK}/exr/{name}/image-{percent}-*.exr"))
    layers = {}
    for kind in ("image", "albedo", "normal"):
        takes = [calm(read(f.replace("/image-", f"/{kind}-"))) if kind == "image" else read(f.replace("/image-", f"/{kind}-")) for f in files]
        layers[kind] = [np.mean(takes[k::2], axis=0) for k in (0, 1)]
    return layers


def calm(image):
    """Takes single bright specks down to their neighbours' level."""
    level = cv2.medianBlur(image.max(-1), 3)[..., None]
    return image * np.minimum(1, (level * 2.5 + 0.08) / np.maximum(image.max(-1, keepdims=True), 1e-6))


def noise(pair, size):
    """Variance of the mean of two halves."""
    return cv2.blur((pair[0] - pair[1]) ** 2 / 4, (size, size)).mean(-1)


def denoise(layers, reach=8, patch=2, strength=1.6):
    """Joint non-local means: pixels whose neighbourhoods are alike in light, albedo and normal share their mean.

    Light is averaged, not paint, so print stays sharp; differences that noise explains do not count."""
    loose_a, loose_n = noise(layers["albedo"], 3), noise(layers["normal"], 3)
    albedo, normal = (np.mean(layers[k], axis=0) for k in ("albedo", "normal"))
    albedo, normal = (share_alike(x, x, v + 1e-6, (), 3, 1, 2.0) for x, v in ((albedo, loose_a), (normal, loose_n)))
    matte = np.clip(albedo.max(-1, keepdims=True) / 0.25, 0, 1)
    paint = albedo * matte + 1 - matte
    light = np.mean(layers["image"], axis=0) / paint
    space = np.log1p(light * 4)
    spread = np.maximum(noise([np.log1p(h / paint * 4) for h in layers["image"]], 7), 2e-6)
    first = share_alike(light, space, spread, ((albedo, loose_a, 0.004), (normal, loose_n, 0.03)), reach, patch, strength)
    size = (light.shape[1] // 4, light.shape[0] // 4)
    small = lambda x: cv2.resize(x, size, interpolation=cv2.INTER_AREA)  # noqa: E731
    low = small(first)
    flat = share_alike(low, np.log1p(low * 4), np.full(low.shape[:2], 6e-5, np.float32), ((small(albedo), small(loose_a) / 8, 0.004), (small(normal), small(loose_n) / 8, 0.02)), 6, 1, 1.0)
    return (first + cv2.resize(flat - low, light.shape[1::-1], interpolation=cv2.INTER_CUBIC)) * paint


def share_alike(light, space, spread, guides, reach, patch, strength):
    total, weight = np.zeros_like(light), np.zeros(light.shape[:2], np.float32)
    h, w = light.shape[:2]
    pad = lambda x: np.pad(x, [(reach, reach)] * 2 + [(0, 0)] * (x.ndim - 2), "reflect")  # noqa: E731
    pl, ps, pv = pad(light), pad(space), pad(spread)
    guides = [(f, pad(f), v, pad(v), scale) for f, v, scale in guides]
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if dx * dx + dy * dy > reach * reach + 1:
                continue
            cut = (slice(reach + dy, reach + dy + h), slice(reach + dx, reach + dx + w))
            other = pv[cut]
            far = ((space - ps[cut]) ** 2).mean(-1) - (spread + np.minimum(spread, other))
            far = cv2.blur(far / (1e-7 + 0.45 * strength * (spread + other)), (2 * patch + 1,) * 2)
            for here, there, v, pv2, scale in guides:
                both = v + pv2[cut]
                far += np.maximum(((here - there[cut]) ** 2).sum(-1) - 3 * both, 0) / (scale + 2 * both)
            share = np.exp(-np.maximum(far, 0))
            total += pl[cut] * share[..., None]
            weight += share
    return total / weight[..., None]


def ramp(h, w, width, still=0.012):
    """0 on the outermost pixels, 1 inside, smooth between."""
    y = np.minimum(np.arange(h), np.arange(h)[::-1])[:, None] / min(h, w)
    x = np.minimum(np.arange(w), np.arange(w)[::-1])[None, :] / min(h, w)
    one = lambda t: np.clip((t - still) / (width - still), 0, 1)  # noqa: E731
    s = lambda t: t * t * t * (t * (6 * t - 15) + 10)  # noqa: E731
    return (s(one(x)) * s(one(y)))[..., None].astype(np.float32)


def melt(image, albedo, ground, feather=0.10, across=4, down=10):
    """Divides out the backdrop's slow shading so that it is the ground everywhere but in the shadows."""
    h, w = image.shape[:2]
    target = untone(linear(ground))
    y, x = np.mgrid[-1 : 1 : h * 1j, -1 : 1 : w * 1j].astype(np.float32)
    paint = np.median(np.concatenate([albedo[0], albedo[-1]]), axis=0)
    cloth = np.abs(albedo - paint).max(-1) < 0.004
    cloth = cv2.erode(cloth.astype(np.uint8), np.ones((9, 9))) > 0
    pick = (cloth | (np.maximum(abs(x), abs(y)) > 0.94)) & (np.random.default_rng(0).random((h, w)) < 60000 / (h * w))
    wave = np.polynomial.chebyshev.chebval
    terms = [wave(x, np.eye(across + 1)[i]) * wave(y, np.eye(down + 1)[j]) for i in range(across + 1) for j in range(down + 1 - 2 * i)]
    basis = np.stack([t[pick] for t in terms], -1)
    near = 1 + 3 * (np.maximum(abs(x), abs(y))[pick] > 0.8)
    gain, calm = np.empty_like(image), cv2.GaussianBlur(image, (0, 0), w / 130)
    for c in range(3):
        value = np.log(np.maximum(calm[..., c][pick], 1e-4))
        trust = near.copy()
        for _ in range(15):
            fit = np.linalg.lstsq(basis * trust[:, None], value * trust, rcond=None)[0]
            miss = value - basis @ fit
            trust = near * np.where(miss < 0, 1 / (1 + (miss / 0.03) ** 2), 1 / (1 + (miss / 0.08) ** 2))
        gain[..., c] = np.log(target[c]) - sum(t * f for t, f in zip(terms, fit))
    print("  backdrop was off by", np.exp(gain.mean((0, 1))).round(3))
    whole = gain.mean((0, 1))  # objects get one neutral gain, the backdrop its own everywhere
    share = cv2.GaussianBlur(np.clip(1 - np.abs(albedo - paint).max(-1) / 0.02, 0, 1), (0, 0), 0.8)[..., None]
    gain = np.clip(gain, -2.5, 2.5) * share + whole.mean() * (1 - share)
    flat = image * np.exp(gain)
    ratio = flat / target  # shadows on the backdrop: never cooler than the backdrop itself
    cool = np.clip(ratio[..., 1:] - ratio[..., :1] - 0.008, 0, None) * share
    ratio[..., 1:] -= cool
    flat = ratio * target
    mask = ramp(h, w, feather) * (1 - share) + ramp(h, w, 0.27) * share
    return np.exp(np.log(np.maximum(flat, 1e-4)) * mask + np.log(target) * (1 - mask))


def develop(name, spec, percent=100):
    """One picture as 8-bit sRGB in WORK/png."""
    layers = load(name, percent)
    image, albedo = denoise(layers, reach=8 if percent >= 60 else 5), np.mean(layers["albedo"], axis=0)
    ground = spec.get("ground")
    image = image * spec.get("exposure", 1.0)
    image = melt(image, albedo, ground, spec.get("feather", 0.10)) if ground else image
    out = srgb(tone(image))
    if spec.get("contrast"):
        out = out + spec["contrast"] * (out - 0.5) * out * (1 - out) * 4 * (1 if not ground else ramp(*out.shape[:2], 0.2))
    rng = np.random.default_rng(1)
    dither = (rng.random(out.shape[:2], np.float32)[..., None] - 0.5) * 0.8
    if ground:
        dither = dither * (ramp(*out.shape[:2], 0.14) > 0)
    out = np.clip(np.round(out * 255 + dither), 0, 255).astype(np.uint8)
    if ground:
        edge = np.concatenate([out[0], out[-1], out[:, 0], out[:, -1]]).astype(int)
        want = [int(ground[i : i + 2], 16) for i in (1, 3, 5)]
        assert abs(edge - want).max() <= 1, (name, edge.min(0), edge.max(0))
    os.makedirs(f"{WORK}/png", exist_ok=True)
    path = f"{WORK}/png/{name}{'' if percent == 100 else f'-{percent}'}.png"
    cv2.imwrite(path, out[..., ::-1])
    return path


def encode(name, path, spec):
    """AVIF and WebP in every width."""
    os.makedirs(IMAGES, exist_ok=True)
    whole = cv2.imread(path)
    ratio = whole.shape[0] / whole.shape[1]
    for width in spec["widths"]:
        size = (width, round(width * ratio))
        method = cv2.INTER_AREA if width < whole.shape[1] else cv2.INTER_LANCZOS4
        small = f"{WORK}/png/.{name}-{width}.png"
        cv2.imwrite(small, cv2.resize(whole, size, interpolation=method) if width != whole.shape[1] else whole)
        out = os.path.join(IMAGES, f"{name}-{width}")
        quiet = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        level = str(spec.get("cq", {}).get(width, 21))
        subprocess.run(["nice", "-n", "19", "avifenc", "-d", "10", "-y", "420", "-s", "1", "-j", "2", "--min", "0", "--max", "63", "-a", "end-usage=q", "-a", f"cq-level={level}", small, out + ".avif"], **quiet)
        subprocess.run(["nice", "-n", "19", "cwebp", "-q", str(spec.get("webp", 78)), "-m", "6", "-sharp_yuv", small, "-o", out + ".webp"], **quiet)
        os.remove(small)


if __name__ == "__main__":
    from pictures import PICTURES

    names, percent = sys.argv[2:], int(sys.argv[1])
    for name in names or PICTURES:
        png = develop(name, PICTURES[name], percent)
        if percent == 100 or os.environ.get("ARTWORK_ENCODE"):
            encode(name, png, PICTURES[name])
        print(name, "done")
