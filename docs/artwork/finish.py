#!/usr/bin/python3
"""From linear EXRs to the site's files: denoise, tone, melt the backdrop into its CSS colour and cut it away, encode."""
import glob
import os
import subprocess
import sys
import tempfile

os.environ["OPENCV_IO_ENABLE_OPENEXR"] = "1"
import cv2  # noqa: E402
import numpy as np  # noqa: E402

from pictures import PICTURES  # noqa: E402

WORK = os.environ.get("ARTWORK_WORK", os.path.join(tempfile.gettempdir(), "artwork"))
IMAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "client", "images")
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

    def read(path):
        """One take; the part behind glass from the take with more samples, which is empty elsewhere."""
        whole, part = (cv2.imread(os.path.join(os.path.dirname(path), prefix + os.path.basename(path)), cv2.IMREAD_UNCHANGED) for prefix in ("", "glass-"))
        if part is not None:
            left, top, right, bottom = (round(share * size) for share, size in zip(PICTURES[name]["glass"], whole.shape[1::-1] * 2))
            inside = (slice(top + 2, bottom - 2), slice(left + 2, right - 2))
            whole[inside] = part[inside]
        return whole[..., 2::-1].astype(np.float32)

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


def bare_ground(name, percent):
    """How much of each pixel is ground, 0 to 1."""
    takes = [cv2.imread(f, cv2.IMREAD_UNCHANGED) for f in sorted(glob.glob(f"{WORK}/exr/{name}/bare-{percent}-*.exr"))]
    return np.clip(np.mean([t if t.ndim == 2 else t[..., 2] for t in takes], axis=0), 0, 1)[..., None].astype(np.float32)


def melt(name, image, bare, ground):
    """Divides out the backdrop's own shading, known from a take without objects: what is left of it is shadow.

    Towards the picture's border the shadows end too."""
    h, w = image.shape[:2]
    target = untone(linear(ground)).astype(np.float32)
    plate = cv2.imread(glob.glob(f"{WORK}/exr/{name}/plate-*.exr")[0], cv2.IMREAD_UNCHANGED)[..., 2::-1].astype(np.float32)
    plate = cv2.resize(cv2.GaussianBlur(cv2.medianBlur(plate, 5), (0, 0), 2), (w, h), interpolation=cv2.INTER_CUBIC)
    gain = np.log(target / np.maximum(plate, 1e-4))
    print("  backdrop was off by", np.exp(gain.mean((0, 1))).round(3))
    share = cv2.GaussianBlur(bare, (0, 0), 0.5)[..., None]
    flat = image * np.exp(gain * share + gain.mean() * (1 - share))  # objects get one neutral gain
    ratio = flat / target  # shadows on the backdrop: never cooler than the backdrop itself
    cool = np.clip(ratio[..., 1:] - ratio[..., :1] - 0.008, 0, None) * share
    ratio[..., 1:] -= cool
    flat = ratio * target
    mask = 1 - share + ramp(h, w, 0.27) * share
    return np.exp(np.log(np.maximum(flat, 1e-4)) * mask + np.log(target) * (1 - mask))


def cut(out, bare, ground):
    """Takes the ground out of a picture (both in sRGB, 0 to 1): colour and alpha that give the same picture on it.

    Objects stay opaque. A shadow gets the smallest alpha that can darken the ground so much, and its colours blurred a
    little, for where alpha is small they are mostly noise. Under alpha 0 the colours around are drawn on, for the codec."""
    base = np.array([int(ground[i : i + 2], 16) / 255 for i in (1, 3, 5)], np.float32)
    solid = np.clip(((1 - bare) - 0.004) / 0.992, 0, 1)
    open_ = np.clip(bare * 4 - 3, 0, 1)  # 1 where a pixel is nothing but ground
    delta, wide = out - base, out.shape[1] / 200
    calm = cv2.GaussianBlur(delta * open_, (0, 0), wide) / np.maximum(cv2.GaussianBlur(open_, (0, 0), wide), 1e-3)[..., None]
    faint = 255 * np.abs(calm).max(-1, keepdims=True)  # in a shadow's last levels there is more noise than shadow
    share = open_ * np.clip(2 - faint / 4, 0, 1)
    delta = delta * (1 - share) + calm * share
    least = np.where(delta < 0, -delta / base, delta / (1 - base)).max(-1, keepdims=True)
    quiet = np.clip((faint - 0.8) / 3.2, 0, 1)
    quiet = quiet * quiet * (3 - 2 * quiet)
    shade = np.clip(least * 1.02, 0, 1) * quiet
    beside = cv2.GaussianBlur(shade * open_, (0, 0), 1.5) / np.maximum(cv2.GaussianBlur(open_, (0, 0), 1.5), 1e-3)
    alpha = shade * open_ + np.maximum(solid + (1 - solid) * np.clip(beside[..., None], 0, 1), np.clip(least, 0, 1)) * (1 - open_)
    paint = np.clip(base + delta / np.maximum(alpha, 1e-3), 0, 1)
    fill = paint * alpha
    soft, weight = cv2.GaussianBlur(fill * open_, (0, 0), 3), cv2.GaussianBlur(alpha * open_, (0, 0), 3)[..., None]
    soft = soft / np.maximum(weight, 1e-5)
    few = open_ * np.clip(1.5 - alpha / 0.2, 0, 1)
    paint = paint * (1 - few) + soft * few
    known = (alpha > 0.008).astype(np.float32)
    spread, total = np.zeros_like(paint), np.zeros_like(alpha)
    for size in (4, 16, 64, 256):  # ever wider, ever weaker
        weak = 10.0 ** -np.log2(size)
        total += weak * cv2.GaussianBlur(known, (0, 0), size)[..., None]
        spread += weak * cv2.GaussianBlur(paint * known, (0, 0), size)
    spread /= np.maximum(total, 1e-12)
    fade = np.clip((alpha * 255 - 3) / 37, 0, 1)  # the faintest shadow would show as a patch of floor
    return np.where(known > 0, paint, spread), alpha * fade * fade * (3 - 2 * fade)


def develop(name, spec, percent=100):
    """One picture as 16-bit sRGB in WORK/png, with alpha if it has a ground."""
    layers = load(name, percent)
    image, albedo = denoise(layers, 5 if percent < 60 else 6 if spec["size"][0] > 1200 else 8), np.mean(layers["albedo"], axis=0)
    ground = spec.get("ground")
    image = image * spec.get("exposure", 1.0)
    if ground:
        bare = bare_ground(name, percent)
        image = melt(name, image, bare, ground)
    out = np.clip(srgb(tone(image)), 0, 1)
    if spec.get("contrast"):
        out = out + spec["contrast"] * (out - 0.5) * out * (1 - out) * 4
    os.makedirs(f"{WORK}/png", exist_ok=True)
    path = f"{WORK}/png/{name}{'' if percent == 100 else f'-{percent}'}.png"
    if ground:
        out = np.concatenate([np.clip(c, 0, 1) for c in cut(out, bare, ground)], -1)
        rim = np.concatenate([out[:9].reshape(-1, 4), out[-9:].reshape(-1, 4), out[:, :9].reshape(-1, 4), out[:, -9:].reshape(-1, 4)])
        assert rim[:, 3].max() == 0, (name, "the border is not clear")
        out = out[..., [2, 1, 0, 3]]
    else:
        dither = (np.random.default_rng(1).random(out.shape[:2], np.float32)[..., None] - 0.5) * 0.8 / 255
        out = np.clip(out + dither, 0, 1)[..., ::-1]
    cv2.imwrite(path, np.round(out * 65535).astype(np.uint16))
    return path


def shrink(whole, size):
    """Another size; colour is weighed by alpha."""
    method = cv2.INTER_AREA if size[0] < whole.shape[1] else cv2.INTER_LANCZOS4
    if whole.shape[1] == size[0]:
        return whole
    if whole.shape[2] == 3:
        return cv2.resize(whole, size, interpolation=method)
    whole = whole.astype(np.float64)
    weight = np.maximum(whole[..., 3:], 1)  # not 0, so that the colour under alpha 0 stays
    small, total = cv2.resize(whole[..., :3] * weight, size, interpolation=method), cv2.resize(weight, size, interpolation=method)[..., None]
    alpha = cv2.resize(whole[..., 3], size, interpolation=method)[..., None]
    return np.clip(np.round(np.concatenate([small / total, alpha], -1)), 0, 65535).astype(np.uint16)


def encode(name, path, spec):
    """AVIF in every width, WebP in the second (client/ui/picture.tsx asks for no other)."""
    os.makedirs(IMAGES, exist_ok=True)
    whole = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    ratio = whole.shape[0] / whole.shape[1]
    for width in spec["widths"]:
        small = f"{WORK}/png/.{name}-{width}.png"
        made = shrink(whole, (width, round(width * ratio)))
        cv2.imwrite(small, made)
        out = os.path.join(IMAGES, f"{name}-{width}")
        quiet = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        level = str(spec.get("cq", {}).get(width, 21))
        shadow = str(spec.get("alpha", {}).get(width, 14))
        clear = ["--minalpha", "0", "--maxalpha", "63", "-a", "a:end-usage=q", "-a", f"a:cq-level={shadow}"] if made.shape[2] == 4 else []
        subprocess.run(["nice", "-n", "19", "avifenc", "-d", "10", "-y", "420", "-s", "1", "-j", "2", "--min", "0", "--max", "63", *clear, "-a", "c:end-usage=q", "-a", f"c:cq-level={level}", small, out + ".avif"], **quiet)
        if width == spec["widths"][1]:
            cv2.imwrite(small, np.round(made / 257).astype(np.uint8))
            subprocess.run(["nice", "-n", "19", "cwebp", "-q", str(spec.get("webp", 78)), "-m", "6", "-sharp_yuv", "-alpha_q", "95", small, "-o", out + ".webp"], **quiet)
        os.remove(small)


if __name__ == "__main__":
    names, percent = sys.argv[2:], int(sys.argv[1])
    for name in names or PICTURES:
        png = develop(name, PICTURES[name], percent)
        if percent == 100 or os.environ.get("ARTWORK_ENCODE"):
            encode(name, png, PICTURES[name])
        print(name, "done")
