"""Every picture's scene, by its name. blender -b -P scenes.py -- PERCENT SAMPLES SEEDS NAME..."""
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bmesh  # noqa: E402
import bpy  # noqa: E402
from mathutils import Matrix, Vector, noise  # noqa: E402

from pictures import PICTURES  # noqa: E402
from studio import *  # noqa: E402, F403

SCENES = {}


def scene(function):
    SCENES[function.__name__.replace("_", "-")] = function
    return function


# ---------------------------------------------------------------- products


@scene
def home_pair():
    studio(AMBER, key=1.62, fill=1.5, world=0.42, glow=0.4, cloth=(0.76, 0.87, 0.92))
    bottle("300", (-0.31, 0.0, 0), 1)
    bottle("xt", (0.40, 0.24, 0), 0)
    scatter("300", [(-0.62, -0.40, 24), (-0.34, -0.56, -38), (-0.80, -0.18, 80), (-0.45, -0.47, 66, 0.088, 12)])
    scatter("xt", [(0.26, -0.42, 152), (0.56, -0.26, 35), (0.08, -0.60, 8), (0.80, 0.0, 100)])
    camera((0.02, 0, 0.56), 4.9, up=9, lens=85, fstop=0.95, focus=(0, -0.25, 0.4))


def alone(kind, ground, spots):
    studio(ground, world=0.26 if ground != LEAF else 0.36, fill=1.0 if ground != LEAF else 1.5, glow=0.0 if ground != LEAF else 0.26, cloth=(0.96, 1.0, 1.1) if ground != LEAF else (0.50, 0.78, 0.82))
    bottle(kind, (0, 0, 0), 3)
    scatter(kind, spots)
    camera((0.05, 0, 0.55), 5.5, up=8, lens=85, fstop=0.75, focus=(0, -0.33, 0.45))


@scene
def quvera_300():
    alone("300", SAND, [(0.36, -0.34, 150), (0.16, -0.52, 12), (0.52, -0.14, 75), (-0.40, -0.36, 38), (0.30, -0.40, 60, 0.09, 12)])


@scene
def quvera_xt():
    alone("xt", LEAF, [(-0.36, -0.36, 24), (-0.12, -0.54, 160), (0.40, -0.30, 118), (0.22, -0.50, 40)])


def macro(kind, ground):
    """A loose handful of capsules, close."""
    studio(ground, key=0.86 if kind == "300" else 1.15, fill=1.2, glow=0.12 if kind == "300" else 0.3)
    heap(piece(kind), 30, 0.34, seed=11, gap=0.09, frames=150, fence=0.50)
    camera((0.0, 0.02, 0.05), 1.72, up=23, turn=-12, lens=85, fstop=1.5, focus=(0.0, -0.12, 0.06))


@scene
def quvera_300_capsules():
    macro("300", SAND)


@scene
def quvera_xt_capsules():
    macro("xt", LEAF)


def close(kind, ground):
    """The print on the bottle, close and slightly from the side, from edge to edge of the label."""
    studio(ground, world=0.3, fill=1.0 if ground != LEAF else 1.7, key=1.0 if ground != LEAF else 1.15, glow=0.0 if ground != LEAF else 0.26)
    bottle(kind, (0, 0, 0), -4)
    scatter(kind, [(0.52, -0.16, 140), (-0.62, 0.16, 20)])
    camera((0.0, -R, 0.405), 2.27, up=3, turn=-5, lens=105, fstop=2.4, focus=(0, -R * 0.93, 0.38))


@scene
def quvera_300_label_wide():
    close("300", SAND)


@scene
def quvera_xt_label_wide():
    close("xt", LEAF)


@scene
def buy_now():
    """Both bottles beside a folded enquiry card."""
    studio(SAND, fill=1.15, cloth=(0.96, 1.0, 1.1))
    bottle("300", (0.02, 0.0, 0), 0)
    bottle("xt", (0.60, 0.34, 0), 0)
    blank = grain(material("card", "#F3EADA", 0.8, Specular=0.15), 130, 0.08, 0.004, 3)
    printed = grain(pictured("card print", os.path.join(WORK, "card.png"), 0.75, Specular=0.15), 130, 0.08, 0.004, 3)
    w, h = 0.70, 0.92
    fold = bpy.data.objects.new("card", None)
    bpy.context.collection.objects.link(fold)
    for side, mat in ((-1, printed), (1, blank)):
        leaf = mesh("leaf", [(-w / 2, 0, -h), (w / 2, 0, -h), (w / 2, 0, 0), (-w / 2, 0, 0)], [(0, 1, 2, 3)], mat, smooth=False)
        uv = leaf.data.uv_layers.new()
        for loop, at in zip(uv.data, ((0, 0), (1, 0), (1, 1), (0, 1))):
            loop.uv = at
        mod = leaf.modifiers.new("thick", "SOLIDIFY")
        mod.thickness = 0.007
        leaf.rotation_euler = (math.radians(13 * side), 0, 0)
        leaf.parent = fold
    place(fold, (-0.40, 0.46, h * math.cos(math.radians(13)) + 0.004), (0, 0, 10))
    scatter("300", [(-0.38, -0.30, 30), (-0.12, -0.50, 165), (-0.26, -0.38, 92, 0.088, 10)])
    scatter("xt", [(0.44, -0.34, 140), (0.66, -0.16, 20)])
    camera((0.05, 0.1, 0.52), 6.2, up=10, lens=85, fstop=0.9, focus=(0.02, -0.3, 0.4))


@scene
def not_found():
    """A bottle that fell over, its lid beside it, what was in it on the table."""
    studio(PAPER)
    tip = Matrix.Rotation(math.radians(-16), 3, "Z") @ Matrix.Rotation(math.radians(90), 3, "Y") @ Matrix.Rotation(math.radians(-24), 3, "Z")
    bottle("300", (-0.72, 0.30, R + 0.001), lid=False, tip=tip.to_euler())
    place(cap("300"), (0.98, 0.34, 0), (0, 0, 0))
    scatter("300", [(0.56, -0.06, -8), (0.64, -0.22, 48), (0.86, -0.10, 100), (0.72, 0.10, 20), (1.02, -0.30, -28), (0.44, -0.32, 66), (0.70, -0.14, 12, 0.098, 6)])
    camera((0.13, 0, 0.33), 6.5, up=15, lens=85, fstop=0.8, focus=(0.2, -0.05, 0.2))


# ---------------------------------------------------------------- ingredients: one plaster plinth, one light


def plinth(top=0.16, radius=0.62):
    """The round plaster plinth that every ingredient stands on; returns its height."""
    studio("#EDE0CB", key=1.06, world=0.27)
    plaster = grain(material("plaster", "#F6EEE1", 0.85, Specular=0.15), 60, 0.10, 0.006, 6)
    lathe("plinth", rounded([(0, 0), (radius, 0), (radius, top), (0, top)], 0.018, 5), plaster, 160)
    camera((0, 0, 0.215), 3.75, up=18, lens=85, fstop=0.75, focus=(0, -0.22, 0.28))
    return top


def dune(name, mat, radius, height, at, seed=1, rough=0.02, fine=0.006, sharp=1.6, rings=150, around=300):
    """A heap of powder: a cone that slumps, with lumps and grains."""
    shift = Vector((seed * 13.1, seed * 7.7, 0))
    verts, faces = [], []
    for j in range(rings + 1):
        for i in range(around):
            t, a = j / rings, 2 * math.pi * i / around
            p = Vector((math.cos(a), math.sin(a), 0)) * t
            wide = radius * (1 + 0.07 * noise.noise(Vector((math.cos(a), math.sin(a), seed)) * 1.7))
            z = height * (1 - t**1.4) ** sharp if t < 1 else 0
            lump = noise.fractal((p * 4 + shift), 1.0, 2.1, 5) * rough * (1 - t**4) + noise.noise((p * 70 + shift)) * fine * (1 - t**8)
            verts.append((p.x * wide, p.y * wide, max(z + lump, 0) if t < 1 else -0.002))
    for j in range(rings):
        for i in range(around):
            k = (i + 1) % around
            faces.append((j * around + i, (j + 1) * around + i, (j + 1) * around + k, j * around + k))
    return place(mesh(name, verts, faces, mat), at)


def grains(mat, count, inner, outer, z, size, seed=1, flat=1.0):
    """Single grains strewn around a heap."""
    dice = random.Random(seed)
    first = ball("grain", mat, 1, 2, lambda p: p * (1 + 0.35 * noise.noise(p * 2)))
    for i in range(count):
        a, d = dice.uniform(0, 2 * math.pi), inner + (outer - inner) * dice.random() ** 2.2
        s = size * dice.uniform(0.4, 1.2)
        one = first if i == 0 else again(first, (0, 0, 0))
        place(one, (d * math.cos(a), d * math.sin(a), z + s * 0.4 * flat), [dice.uniform(0, 360) for _ in range(3)], (s, s, s * flat))


def dish(z, radius=0.44, height=0.075, mat=None):
    """A shallow glazed dish; returns the height of its floor."""
    glaze = mat or material("glaze", "#F3E9DA", 0.25, Specular=0.45)
    shape = [(0, 0), (radius * 0.62, 0), (radius * 0.66, 0.012), (radius, height), (radius - 0.016, height), (radius * 0.64, 0.026), (0, 0.026)]
    return place(lathe("dish", rounded(shape, 0.03, 6), glaze, 160), (0, 0, z))


@scene
def coenzyme_q10():
    z = plinth()
    powder = grain(mottle(material("q10", "#E9A21C", 0.95, Specular=0.05), ("#E8930F", "#F2B42E"), 9), 190, 0.5, 0.006, 3)
    dish(z)
    dune("heap", powder, 0.30, 0.21, (0, 0, z + 0.026), seed=3, rough=0.032, fine=0.007, sharp=1.25)
    grains(powder, 40, 0.47, 0.56, z + 0.002, 0.008, 4)


@scene
def omega_3():
    z = plinth()
    bowl = dish(z, 0.46, 0.10)
    gold = softgel((0.99, 0.80, 0.27), "fish-oil", (0.99, 0.84, 0.5))
    place(gold, scale=1.2)
    heap(gold, 18, 0.20, seed=8, low=z + 0.2, gap=0.085, solids=[bowl, bpy.data.objects["plinth"]], frames=140, scales=(1.15, 1.15), fence=0.36)


def fruit(mat, radius, lobes=6, depth=0.05, squash=0.84, seed=0):
    """A tomato's body: lobed, dented where the stalk sits."""

    def bend(p):
        a, up = math.atan2(p.y, p.x), p.z
        side = math.sqrt(max(0, 1 - up * up))
        r = 1 + depth * (math.cos(lobes * a + seed) - 0.4) * side * max(0, up + 0.45) + 0.025 * noise.noise(p * 1.4 + Vector((seed, 0, 0)))
        dent = 0.30 * math.exp(-((side / 0.30) ** 2)) * (up > 0)
        return Vector((p.x * r, p.y * r, p.z * squash - dent + (0.06 * math.exp(-((side / 0.25) ** 2)) if up < 0 else 0)))

    return ball("tomato", mat, radius, 6, bend)


def calyx(radius, seed=0):
    """Five narrow leaves and a stalk."""
    green = mottle(material("calyx", "#4C6B34", 0.6), ("#3E5E2E", "#6C8443"), 12)
    dice, parts = random.Random(seed), []
    for k in range(6):
        a, long = 2 * math.pi * k / 6 + dice.uniform(-0.2, 0.2), radius * dice.uniform(0.5, 0.72)
        verts, faces, n = [], [], 14
        for i in range(n + 1):
            t = i / n
            wide = radius * 0.105 * math.sin(math.pi * (0.12 + 0.88 * t)) ** 0.9 * (1 - t * 0.5)
            z = radius * (0.66 + 0.16 * math.sin(math.pi * t * 0.9) - 0.13 * t + dice.uniform(0, 0.012) + 0.12 * t**3)
            for s, lift in ((-1, 0.018), (0, 0), (1, 0.018)):
                x, y = long * t + 0.03 * radius, s * wide
                verts.append((x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a), z + lift * radius))
        for i in range(n):
            for j in range(2):
                faces.append((3 * i + j, 3 * i + j + 1, 3 * i + j + 4, 3 * i + j + 3))
        leaf = mesh("sepal", verts, faces, green, subdivide=1)
        mod = leaf.modifiers.new("thick", "SOLIDIFY")
        mod.thickness = radius * 0.02
        parts.append(leaf)
    parts.append(tube("stalk", [(0, 0, radius * 0.6), (0, 0, radius * 0.8), (radius * 0.05, 0.02 * radius, radius * 0.95), (radius * 0.16, 0.05 * radius, radius * 1.08)], radius * 0.05, green, lambda t: 1.1 - 0.25 * t + 0.5 * t**8))
    return parts


def tomato(mat, radius, at, turn, seed, **shape):
    parent = bpy.data.objects.new("tomato", None)
    bpy.context.collection.objects.link(parent)
    for part in [fruit(mat, radius, seed=seed, **shape), *calyx(radius, seed)]:
        part.parent = parent
    return place(parent, at, turn)


@scene
def lycopene():
    z = plinth()
    skin = material("tomato", "#B0200F", 0.16, Specular=0.5, Subsurface=0.12, Subsurface_Radius=(0.12, 0.03, 0.015), Subsurface_Color=rgb("#C42A12"), Clearcoat=0.5, Clearcoat_Roughness=0.06)
    mottle(skin, ("#A81C0E", "#C2300F"), 2.2)
    tomato(skin, 0.27, (-0.17, 0.06, z + 0.215), (12, -8, 20), 1)
    tomato(skin, 0.21, (0.25, 0.0, z + 0.172), (34, 24, 80), 4, lobes=5)
    tomato(skin, 0.135, (0.06, -0.31, z + 0.112), (22, -30, 10), 7, depth=0.02, squash=0.9)


def carrot(skin, long, thick, seed, cut=0.0):
    """A carrot lying along x from its crown at 0, with rings and a blunt tip."""
    profile, n = [], 120
    for i in range(n + 1):
        t = cut + (1 - cut) * i / n
        r = thick * (1 - 0.68 * t**1.15) * (1 - max(0, (t - 0.93) / 0.07) ** 2.4 * 0.96) * (1 if cut else min(1, 0.45 + (t / 0.035) ** 0.6 * 0.55))
        ring = 0.012 * noise.noise(Vector((t * 42, seed, 0))) + 0.010 * min(0, noise.noise(Vector((t * 95, seed + 9, 0)))) * 3
        profile.append((r * (1 + ring * 2), t * long))
    profile = [(0, cut * long), (profile[0][0] * 0.97, cut * long)] + profile + [(0, long)]

    def bend(p):
        a = math.atan2(p.y, p.x)
        w = 1 + 0.025 * noise.noise(Vector((math.cos(a) * 1.3, math.sin(a) * 1.3, p.z * 3 + seed)))
        return Vector((p.z, p.x * w + 0.03 * math.sin(p.z * 2.2 + seed), p.y * w))

    return lathe("carrot", profile, skin, 96, bend)


@scene
def mixed_carotene():
    z = plinth()
    skin = material("carrot", "#DD6412", 0.42, Specular=0.4, Subsurface=0.1, Subsurface_Radius=(0.06, 0.025, 0.01), Subsurface_Color=rgb("#E8761A"))
    grain(mottle(skin, ("#D4590D", "#E77A20"), 7, (0.5, 1, 1)), 60, 0.12, 0.006)
    core = pictured("cut", cut_carrot(), 0.35, Specular=0.5)
    green = mottle(material("tops", "#6B8A3A", 0.6), ("#4F7030", "#8FA64C"), 14)
    for long, thick, at, turn, seed in ((0.98, 0.098, (-0.46, 0.16, z + 0.09), (0, 3, 4), 2), (0.90, 0.09, (-0.40, -0.03, z + 0.082), (0, 3, -7), 6)):
        place(carrot(skin, long, thick, seed), at, turn)
        dice = random.Random(seed)
        for k in range(6):
            a, up = dice.uniform(-0.5, 0.5), dice.uniform(0.0, 0.6)
            reach = dice.uniform(0.07, 0.15)
            base = Vector(at) + Vector((0.012, 0, 0))
            tube("top", [base + Vector((0, a * 0.03, up * 0.03)), base + Vector((-reach * 0.5, a * 0.06, up * 0.05 + 0.01)), base + Vector((-reach, a * 0.12, up * 0.10 + 0.02))], 0.012, green, lambda t: 1 - 0.35 * t)
    coin = lathe("coin", rounded([(0, 0), (0.105, 0), (0.108, 0.045), (0, 0.045)], 0.004, 3), skin, 96)
    face = mesh("face", [(0.103 * math.cos(a), 0.103 * math.sin(a), 0.0456) for a in (2 * math.pi * i / 64 for i in range(64))], [tuple(range(64))], core, smooth=False)
    uv = face.data.uv_layers.new()
    for loop, v in zip(uv.data, face.data.vertices):
        loop.uv = (0.5 + v.co.x / 0.216, 0.5 + v.co.y / 0.216)
    face.parent = coin
    stack = [((0.10, -0.30, z), (0, 0, 0)), ((0.115, -0.295, z + 0.047), (0, 0, 70)), ((0.095, -0.305, z + 0.094), (0, 0, 130)), ((0.31, -0.27, z + 0.030), (24, 10, 20)), ((-0.16, -0.36, z), (0, 0, 200))]
    for i, (at, turn) in enumerate(stack):
        if i:
            twin, cover = again(coin, at, turn), again(face, (0, 0, 0))
            cover.parent = twin
        else:
            place(coin, at, turn)


def cut_carrot():
    """Draws the cut face of a carrot; returns its path."""
    import numpy as np

    n = 900
    y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]
    r, a = np.hypot(x, y), np.arctan2(y, x)
    dice = np.random.default_rng(3)
    wave = sum(np.sin(a * k + dice.uniform(0, 6)) * dice.uniform(0.2, 1) for k in range(5, 40, 3)) / 8
    mix = lambda c, d, t: np.array(rgb(c)[:3]) * (1 - t[..., None]) + np.array(rgb(d)[:3]) * t[..., None]  # noqa: E731
    step = lambda e, w: np.clip((r - e) / w, 0, 1)  # noqa: E731
    out = mix("#F0A03C", "#E9882A", step(0.10, 0.3))
    edge = 0.46 + 0.025 * wave
    out = out * (1 - step(edge, 0.03))[..., None] + mix("#E4711A", "#DB620F", step(0.5, 0.5)) * step(edge, 0.03)[..., None]
    ring = np.exp(-(((r - edge) / 0.018) ** 2))
    out = out * (1 - 0.5 * ring[..., None]) + np.array(rgb("#F2B25C")[:3]) * 0.5 * ring[..., None]
    out *= (1 + 0.05 * np.sin(a * 46 + 3 * wave) * step(0.2, 0.2))[..., None]
    return save_picture("carrot", out)


def save_picture(name, out):
    """Writes a linear picture as sRGB; returns its path."""
    import numpy as np

    n = len(out)
    out = np.where(out <= 0.0031308, out * 12.92, 1.055 * np.maximum(out, 1e-6) ** (1 / 2.4) - 0.055)
    image = bpy.data.images.new(name, n, n)
    image.pixels[:] = np.concatenate([out, np.ones((n, n, 1))], -1).astype(np.float32).ravel()
    path = os.path.join(WORK, f"{name}-cut.png")
    image.filepath_raw, image.file_format = path, "PNG"
    image.save()
    return path


def cut_orange(n=1500):
    """Draws the cut face of an orange: segments full of juice cells between thin walls. Returns its path and its relief."""
    import numpy as np

    dice = np.random.default_rng(11)
    y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]
    r = np.hypot(x, y)
    hx, hy = x - 0.025, y + 0.02  # the core is never quite in the middle
    h, a = np.hypot(hx, hy), np.arctan2(hy, hx)
    wave = sum(np.sin(a * k + dice.uniform(0, 6)) * dice.uniform(0.3, 1) / k for k in range(2, 14))
    soft = lambda t, lo, hi: (lambda q: q * q * (3 - 2 * q))(np.clip((t - lo) / (hi - lo), 0, 1))  # noqa: E731

    parts = 10
    share = dice.uniform(0.75, 1.3, parts)
    ends = np.concatenate([[0], np.cumsum(share / share.sum() * 2 * np.pi)]) - np.pi
    off = np.full_like(a, 9.0)
    for e in ends[:-1]:
        gap = (a - e - 0.05 * np.sin(h * 6 + e * 3) + np.pi) % (2 * np.pi) - np.pi
        off = np.minimum(off, np.abs(gap))
    wall = np.sin(np.minimum(off, np.pi / 2)) * h - 0.006 - 0.004 * (1 + np.sin(a * 7 + 2))
    out_r = 0.855 + 0.012 * wave
    sides = [wall, out_r - r, h - 0.075 - 0.02 * wave]
    k = 0.028
    inside = -k * np.log(sum(np.exp(-np.clip(s, -0.3, 0.5) / k) for s in sides))  # rounds the corners
    flesh = soft(inside, -0.004, 0.014)

    cells, deep = 86, 5.2  # juice cells: long drops that point to the core
    u, v = a / (2 * np.pi) * cells + 0.5 * np.sin(h * 9 + a * 5), h * deep + 0.35 * np.sin(a * 31) + 0.2 * np.sin(a * 17 + 1)
    iu, iv = np.floor(u).astype(int), np.floor(v).astype(int)
    hashed = dice.random((cells, 12, 3))
    f1, f2, tone = np.full_like(a, 9.0), np.full_like(a, 9.0), np.zeros_like(a)
    for du in (-1, 0, 1):
        for dv in (-1, 0, 1):
            spot = hashed[(iu + du) % cells, np.clip(iv + dv, 0, 11)]
            d = np.hypot(u - (iu + du + spot[..., 0]), (v - (iv + dv + spot[..., 1])) * 1.25)
            near = d < f1
            f2 = np.where(near, f1, np.minimum(f2, d))
            tone = np.where(near, spot[..., 2], tone)
            f1 = np.where(near, d, f1)
    seam = np.clip((f2 - f1) / 0.38, 0, 1)
    bulge = np.sqrt(seam) * soft(h, 0.1, 0.35)

    colour = lambda c: np.array(rgb(c)[:3])  # noqa: E731
    blend = lambda c, d, t: c * (1 - t[..., None]) + d * t[..., None]  # noqa: E731
    juice = blend(colour("#E06A06"), colour("#F39A22"), np.clip(0.25 + 0.55 * tone * seam + 0.25 * bulge - 0.15, 0, 1))
    juice = blend(juice, colour("#F6B548"), 0.35 * (1 - soft(inside, 0.0, 0.07)))
    pith = blend(colour("#F3D9A2"), colour("#F8EBD0"), np.clip(0.5 + 0.4 * np.sin(a * 53 + 7 * np.sin(r * 21)) + 0.3 * wave, 0, 1))
    thin = soft(r, 0.80, 0.86) + (1 - soft(h, 0.08, 0.16))
    pith = blend(colour("#F2BE6C"), pith, np.clip(thin, 0, 1))
    out = blend(pith, juice, flesh)
    rim = soft(r, 0.945 + 0.004 * wave, 0.965 + 0.004 * wave)
    glands = np.clip(np.sin(a * 150 + 3 * np.sin(a * 23)) * 0.5 + 0.5, 0, 1)
    out = blend(out, blend(colour("#E27405"), colour("#F0950F"), glands), rim)
    relief = 0.030 * soft(inside, -0.004, 0.09) + 0.0085 * bulge * flesh + 0.004 * (1 - flesh) * dice.random((n, n)) - 0.01 * soft(h, 0.10, 0.0)
    return save_picture("orange", out), relief * (1 - rim)


def half_orange(r=0.25):
    """Half an orange, cut face up: pored peel, and the face as relief."""
    peel = mottle(material("peel", "#EE8A14", 0.34, Specular=0.5, Subsurface=0.08, Subsurface_Radius=(0.05, 0.02, 0.005), Subsurface_Color=rgb("#F29A20")), ("#E77E0C", "#F39A1E"), 3)
    path, relief = cut_orange()
    n = len(relief)
    flesh = pictured("flesh", path, 0.17, Specular=0.5, Subsurface=0.22, Subsurface_Radius=(0.05, 0.02, 0.006), Clearcoat=0.5, Clearcoat_Roughness=0.08)
    shader = flesh.node_tree.nodes["Principled BSDF"].inputs
    flesh.node_tree.links.new(shader["Base Color"].links[0].from_socket, shader["Subsurface Color"])

    def pores(p):
        q = p.normalized() if p.length else p
        pit = noise.voronoi(q * 17)[0][0]
        deep = math.exp(-((pit / 0.30) ** 2)) * min(1, max(0, -p.z / (0.04 * r)))
        return p * (1 - 0.012 * deep + 0.012 * noise.noise(q * 1.6 + Vector((4, 0, 0))))

    made = lathe("orange", [(r * math.sin(a), -r * 0.95 * math.cos(a)) for a in (math.pi / 2 * i / 170 for i in range(171))], peel, 560, pores)
    around, rings = 640, 110
    verts, faces = [(0, 0, r * float(relief[n // 2, n // 2]))], []
    for j in range(1, rings + 1):
        q = j / rings
        for i in range(around):
            a = 2 * math.pi * i / around
            x, y = q * math.cos(a), q * math.sin(a)
            high = float(relief[min(n - 1, int((y + 1) / 2 * n)), min(n - 1, int((x + 1) / 2 * n))])
            grow = (1 + 0.012 * noise.noise(Vector((x, y, 0)) * 1.6 + Vector((4, 0, 0)))) if j == rings else 1
            verts.append((r * x * grow, r * y * grow, r * high - (0.006 * r if j == rings else 0)))
    faces += [(0, 1 + i, 1 + (i + 1) % around) for i in range(around)]
    for j in range(rings - 1):
        for i in range(around):
            k, base = (i + 1) % around, 1 + j * around
            faces.append((base + i, base + around + i, base + around + k, base + k))
    face = mesh("face", verts, faces, flesh)
    uv = face.data.uv_layers.new()
    for loop, at in zip(face.data.loops, uv.data):
        v = face.data.vertices[loop.vertex_index].co
        at.uv = (0.5 + v.x / (2 * r), 0.5 + v.y / (2 * r))
    face.parent = made
    return made


def ear(at, turn, seed=0, rows=11):
    """A wheat ear lying along x: grains in two interlocking rows with awns, and its straw."""
    straw = mottle(material("straw", "#D9B26A", 0.55, Specular=0.35), ("#C99C50", "#E6C685"), 10, (0.3, 2, 2))
    husk = mottle(material("husk", "#DDB36A", 0.5, Specular=0.4), ("#C8984A", "#E9CB8C"), 18, (0.4, 2, 2))
    parent = bpy.data.objects.new("ear", None)
    bpy.context.collection.objects.link(parent)
    dice = random.Random(seed)

    def bend(p):
        t = (p.x + 1) / 2
        return Vector((p.x, p.y * (1.15 - 0.5 * t) * (1 - 0.12 * math.exp(-((p.y / 0.12) ** 2))), p.z * (1.1 - 0.45 * t)))

    kernel = ball("kernel", husk, 1, 4, bend)
    parts, step = [], 0.054
    for i in range(rows * 2):
        x, side = i * step / 2, 1 if i % 2 else -1
        size = 1 - 0.35 * max(0, (i - rows) / rows) ** 2
        for up in (-0.9, 0, 0.9):
            one = kernel if not parts else again(kernel, (0, 0, 0))
            at_y, at_z = side * 0.026 * size * math.cos(up * 0.75), 0.023 * size * math.sin(up * 1.1) + 0.010 * (up == 0)
            place(one, (x + dice.uniform(-0.004, 0.004), at_y, at_z), (up * 40 * side, -9 * up, side * 19), (0.052 * size, 0.0185 * size, 0.0165 * size))
            parts.append(one)
            if up == 0 or dice.random() < 0.35:
                long, fan = dice.uniform(0.22, 0.34) * (0.8 + 0.2 * size), side * dice.uniform(0.05, 0.11)
                base = Vector((x + 0.045, at_y * 1.5, at_z))
                parts.append(tube("awn", [base, base + Vector((long * 0.4, fan * 0.5, 0.012 * up + 0.008)), base + Vector((long, fan, 0.03 * up + dice.uniform(-0.004, 0.03)))], 0.0026, straw, lambda t: 1 - 0.8 * t))
    parts.append(tube("straw", [(rows * step, 0, 0), (0, 0, 0), (-0.10, 0.005, -0.008), (-0.24, -0.02, -0.015)], 0.0095, straw))
    for part in parts:
        part.parent = parent
    return place(parent, at, turn, 1.3)


def oil_glass(at, radius=0.13, height=0.25, level=0.14, oil=(0.93, 0.58, 0.08)):
    """A small heavy glass with oil in it (the oil overlaps the wall a little, as it must to look wet)."""
    clear = glass("tumbler", (0.985, 0.98, 0.965), ior=1.45, shadow=(0.95, 0.93, 0.90))
    wall = 0.012
    shape = [(0, 0), (radius, 0), (radius, height), (radius - wall, height), (radius - wall, 0.03), (0, 0.03)]
    place(lathe("tumbler", rounded(shape, 0.012, 5), clear, 128), at)
    fill = [(0, 0.0295), (radius - wall + 0.0006, 0.0295), (radius - wall + 0.0006, level + 0.004), (radius - wall - 0.012, level), (0, level)]
    place(lathe("oil", rounded(fill, 0.006, 4), glass("oil", oil, ior=1.47, shadow=(0.97, 0.74, 0.32)), 128), at)


@scene
def wheat_germ_oil():
    z = plinth()
    oil_glass((0.10, 0.36, z), 0.14, 0.29, 0.17)
    ear((-0.42, 0.11, z + 0.066), (6, 0, 18), 1)
    ear((-0.36, -0.19, z + 0.06), (-8, 0, 3), 2)
    ear((-0.42, -0.02, z + 0.066), (10, 0, 10), 5, 10)
    kernel = ball("grain", mottle(material("grain", "#C9924A", 0.45), ("#B9803A", "#D9A860"), 9), 1, 4, lambda p: Vector((p.x, p.y * (1 - 0.25 * math.exp(-((p.y / 0.25) ** 2)) * (p.z > 0)), p.z)))
    for i, (x, y, t) in enumerate(((0.36, -0.28, 30), (0.22, -0.40, 110), (0.46, -0.20, 75), (-0.06, -0.44, 10))):
        place(kernel if i == 0 else again(kernel, (0, 0, 0)), (x, y, z + 0.0185), (0, 0, t), (0.047, 0.0215, 0.0195))


@scene
def calcium_ascorbate():
    z = plinth()
    white = grain(material("ascorbate", "#FAF6EE", 0.55, Specular=0.4, Subsurface=0.1, Subsurface_Radius=(0.02, 0.02, 0.015), Subsurface_Color=rgb("#FFFDF8")), 150, 0.5, 0.006, 4)
    dune("heap", white, 0.30, 0.19, (-0.12, -0.10, z), seed=5, rough=0.022, fine=0.011)
    first, dice = shard(white, 6, 2.0, 4), random.Random(4)
    for i in range(260):
        a, d = dice.uniform(0, 2 * math.pi), 0.36 * dice.random() ** 0.6
        s = dice.uniform(0.004, 0.010)
        h = 0.19 * max(0, 1 - (d / 0.30) ** 1.15) ** 1.6 if d < 0.3 else 0
        place(first if i == 0 else again(first, (0, 0, 0)), (-0.12 + d * math.cos(a), -0.10 + d * math.sin(a), z + h + s * 0.5), [dice.uniform(0, 360) for _ in range(3)], s)
    place(half_orange(), (0.25, 0.10, z + 0.239), (50, 0, -26))


def shard(mat, sides=6, long=2.4, seed=0, point=0.55):
    """A crystal: a prism of unequal sides with a pointed end, flat faces."""
    dice = random.Random(seed)
    ring = [(a + dice.uniform(-0.12, 0.12), dice.uniform(0.86, 1.1)) for a in (2 * math.pi * i / sides for i in range(sides))]
    verts = [(r * math.cos(a), r * math.sin(a), z) for z, s in ((-long, 1), (long * point, 0.96)) for a, r in ring for r in (r * s,)]
    verts += [(dice.uniform(-0.2, 0.2), dice.uniform(-0.2, 0.2), long), (0, 0, -long * 1.2)]
    n = sides
    faces = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)] + [(n + i, n + (i + 1) % n, 2 * n) for i in range(n)] + [((i + 1) % n, i, 2 * n + 1) for i in range(n)]
    return mesh("shard", verts, faces, mat, smooth=False, bevel=0.035)


def cluster(mats, count, z, spread, size, seed, lean=62, sides=6, long=2.6):
    """Crystals that grow from one root, the tallest in the middle."""
    dice = random.Random(seed)
    kinds = [shard(m, sides, long, k) for k, m in enumerate(mats * 3)]
    for i in range(count):
        t = math.sqrt((i + 0.5) / count)
        a = i * 2.39996 + dice.uniform(-0.3, 0.3)
        s = size * (1.15 - 0.62 * t) * dice.uniform(0.75, 1.25)
        tilt = lean * t + dice.uniform(-9, 9)
        one = kinds[i] if i < len(kinds) else again(kinds[i % len(kinds)], (0, 0, 0))
        way = Vector((math.sin(math.radians(tilt)) * math.cos(a), math.sin(math.radians(tilt)) * math.sin(a), math.cos(math.radians(tilt))))
        thin = dice.uniform(0.75, 1.15)
        place(one, Vector((spread * t * math.cos(a), spread * t * math.sin(a), z)) + way * s * long * 0.55, scale=(s * thin, s * thin, s))
        one.rotation_euler = way.to_track_quat("Z", "Y").to_euler()


@scene
def vitamin_b12():
    z = plinth()
    deep = glass("b12", (0.80, 0.035, 0.075), ior=1.5, shadow=(0.85, 0.2, 0.25))
    solid = material("b12 root", "#96102A", 0.25, Specular=0.5)
    cluster([deep, deep, solid], 46, z, 0.24, 0.068, 5, lean=66)
    loose = shard(deep, 6, 2.4, 9)
    for i, (x, y, t, s) in enumerate(((0.42, -0.24, 30, 0.036), (-0.40, -0.28, 120, 0.03), (0.22, -0.45, 75, 0.026), (-0.16, -0.47, 10, 0.02))):
        place(loose if i == 0 else again(loose, (0, 0, 0)), (x, y, z + s * 0.88), (90, 0, t), s)


def white_powder(name, z, at, seed):
    """A heap of the white salt, with single grains around it."""
    white = grain(material(name, "#FAF6EE", 0.6, Specular=0.35, Subsurface=0.1, Subsurface_Radius=(0.02, 0.02, 0.015), Subsurface_Color=rgb("#FFFDF8")), 150, 0.5, 0.006, 4)
    dune("heap", white, 0.30, 0.20, (*at, z), seed=seed, rough=0.024, fine=0.010)
    grains(white, 30, 0.31, 0.40, z + 0.002, 0.008, seed)


@scene
def selenium():
    z = plinth()
    white_powder("selenium", z, (0, 0.08), 7)
    shell = grain(tinted("shell", ((0.0, "#33241C"), (1.0, "#BFA98F"), (0.40, "#6B5140"), (0.72, "#927862")), 0.72, Specular=0.25), 60, 0.5, 0.008, 8)
    kernel = tinted("kernel", ((0.0, "#EBDDBE"), (1.0, "#5E3E28"), (0.30, "#E6D3AB"), (0.46, "#C79E6C"), (0.64, "#855B3B")), 0.42, Specular=0.4, Subsurface=0.12, Subsurface_Radius=(0.04, 0.03, 0.02), Subsurface_Color=rgb("#EBDDBE"))
    grain(kernel, 70, 0.22, 0.006, 6)

    def brazil(peeled, seed):
        """A Brazil nut: an orange-segment shape with three edges, in its rough shell or out of it."""
        tints, shift = [], Vector((seed * 5.3, seed, 0))

        def bend(p):
            a, end = math.atan2(p.z, p.y) + 0.12 * p.x, abs(p.x)
            side = math.cos(((a + math.pi / 2) % (2 * math.pi / 3)) - math.pi / 3)  # 1 amid a face, 1/2 at an edge
            keen = (0.62 if peeled else 1.0) * (1 - 0.45 * end)
            tri = (0.60 / (side + 0.10)) ** keen * (1.04 if peeled else 1.02)
            edge = max(0, 1 - (side - 0.5) / 0.16)
            along = Vector((p.x * 3.2, math.cos(a) * 2.2, math.sin(a) * 2.2))
            lump = noise.noise(p * 1.8 + shift)
            rill = noise.fractal(Vector((p.x * 1.6, math.cos(a) * 6, math.sin(a) * 6)) + shift, 1.0, 2.0, 4)  # runs lengthwise
            ring = noise.fractal(Vector((p.x * 9, math.cos(a) * 1.6, math.sin(a) * 1.6)) + shift, 1.0, 2.0, 4)  # runs round
            if peeled:
                patch = 0.34 * noise.fractal(along * 0.55 + shift, 1.0, 2.0, 5) + 0.12 * rill + 0.42 * edge - 0.20 + 1.1 * max(0, end - 0.66)
                skin = min(1, max(0, patch / 0.16 + 0.5))
                r = tri * (1 + 0.05 * lump + 0.016 * rill + 0.012 * skin)
                tints.append(0.18 + 0.10 * ring + 0.14 * rill + (0.42 + 0.18 * rill) * skin)
            else:
                r = tri * (1 + 0.06 * lump + 0.030 * rill + 0.020 * ring + 0.03 * edge * noise.noise(Vector((p.x * 16, seed, 0))))
                tints.append(0.48 + 0.26 * ring + 0.30 * rill + 0.24 * edge)
            tints[-1] = min(max(tints[-1], 0), 1)
            return Vector((p.x * 1.78 * (1 + 0.04 * lump), p.y * r, p.z * r + 0.17 * p.x * p.x))

        return paint(ball("nut", kernel if peeled else shell, 0.098, 7, bend), tints)

    place(brazil(True, 1), (0.34, -0.27, z + 0.082), (14, -4, 24))
    place(brazil(False, 2), (-0.36, -0.25, z + 0.088), (-28, 4, -32), 1.06)


@scene
def zinc():
    """The salt and legumes: red beans and chickpeas."""
    z = plinth()
    white_powder("zinc", z, (-0.16, 0.08), 9)
    red = mottle(material("bean", "#7A2A1E", 0.24, Specular=0.5, Clearcoat=0.3), ("#6B2018", "#8F3A28"), 3)
    pale = grain(mottle(material("chickpea", "#D9B77E", 0.45, Specular=0.35), ("#CFA96C", "#E3C795"), 4), 40, 0.25, 0.006, 4)

    def bean(kind):
        """A kidney: an ellipsoid bent around its navel."""
        return ball("bean", red, 0.062, 6, lambda p: Vector((p.x * 1.55, p.y * 0.86 + 0.34 * p.x * p.x - 0.16 * math.exp(-((p.x / 0.3) ** 2)) * (p.y < 0), p.z * 0.80)) * (1 + 0.04 * noise.noise(p * 1.5 + Vector((kind * 3.7, 0, 0)))))

    def chickpea(kind):
        """A ball with a beak and a furrow."""

        def bend(p):
            beak = 0.42 * max(0, p.x) ** 7
            furrow = 0.10 * math.exp(-((p.y / 0.16) ** 2)) * max(0, -p.x + 0.4)
            return p * (1 + beak - furrow + 0.06 * noise.noise(p * 2.3 + Vector((kind * 5.1, 0, 0))))

        return ball("chickpea", pale, 0.060, 6, bend)

    kinds, dice = [bean(0), chickpea(0), bean(1), chickpea(1)], random.Random(5)
    pieces = kinds + [again(kinds[i % 4], (0, 0, 0)) for i in range(20)]
    for i, p in enumerate(pieces):
        place(p, (0.24 + 0.10 * math.cos(i * 2.4), -0.20 + 0.10 * math.sin(i * 2.4), z + 0.07 + 0.055 * i), [dice.uniform(0, 360) for _ in range(3)], dice.uniform(0.85, 1.05))
    settle(pieces, [bpy.data.objects["plinth"], bpy.data.objects["heap"]], 170)
    for p in pieces:  # what fell off the plinth is not in the picture
        if p.location.z < z or p.location.xy.length > 0.56:
            bpy.data.objects.remove(p)


# ---------------------------------------------------------------- indications: paper and glass, each on another ground


def card_stage(ground, **light):
    studio(ground, **light)
    camera((0, 0, 0.60), 5.5, up=10, lens=85, fstop=0.7, focus=(0, -0.1, 0.6))


def sheet(name, colour, rough=0.75):
    return grain(material(name, colour, rough, Specular=0.2), 120, 0.03, 0.002, 2)


def ribbon(name, points, width, mat, thick=0.008, across=Vector((0, 1, 0))):
    """A paper strip that follows points (x, z), standing on edge."""
    verts, faces = [], []
    for p in points:
        p = Vector((p[0], 0, p[1]))
        verts += [p - across * width / 2, p + across * width / 2]
    for i in range(len(points) - 1):
        faces.append((2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2))
    made = mesh(name, verts, faces, mat)
    mod = made.modifiers.new("thick", "SOLIDIFY")
    mod.thickness, mod.offset = thick, 0
    return made


@scene
def cardiovascular():
    """Circulation: one paper strip that runs round and round, without end."""
    card_stage(LYCOPENE)
    tones = ["#B9331F", "#C9462A", "#D9601A", "#E3813A", "#F0C9A0"]
    for k, tone in enumerate(tones):
        r = 0.56 - k * 0.095
        pts = [(r * math.cos(t), r * math.sin(t)) for t in (2 * math.pi * i / 180 - math.pi / 2 for i in range(181))]
        place(ribbon("ring", pts, 0.62 - 0.06 * k, sheet(f"ring{k}", tone)), (0, 0.0, r + 0.006 + 0.014 * k), (0, 0, 18 - 11 * k))
    bead = ball("bead", material("bead", "#E9A63C", 0.18, Specular=0.5, Clearcoat=0.6), 0.085, 6)
    place(bead, (0.30, -0.46, 0.085))


@scene
def oncological():
    """Shelter: shells of paper that close around one bright sphere."""
    card_stage("#E7C9A4")
    tones = ["#F6EBDA", "#F3DDBF", "#EDC592", "#E3A55A"]
    for k, tone in enumerate(tones):
        r = 0.62 - k * 0.115
        open_ = math.radians(64 + 9 * k)
        profile = [(r * math.sin(t), -r * math.cos(t)) for t in (open_ + (math.pi - open_) * i / 60 for i in range(61))]
        shell = lathe("shell", profile, sheet(f"shell{k}", tone), 128)
        mod = shell.modifiers.new("thick", "SOLIDIFY")
        mod.thickness = 0.012
        place(shell, (0, 0.10, 0.62), (-66, 0, 14))
    place(ball("pearl", material("pearl", "#D9601A", 0.16, Specular=0.5, Clearcoat=0.7, Clearcoat_Roughness=0.05), 0.15, 6), (0.02, -0.06, 0.60))


@scene
def neurological():
    """Connection: a fan of folds, every fold touching the next."""
    card_stage("#E2A23E")
    n = 22
    for layer, (r, tone, y) in enumerate(((0.60, "#F7DDA8", 0.12), (0.42, "#EDB04C", 0.0), (0.26, "#D97B22", -0.12))):
        verts, faces = [(0, 0, 0)], []
        for i in range(2 * n):
            a = 2 * math.pi * i / (2 * n)
            verts.append((r * math.cos(a), -0.085 * (i % 2) * (r / 0.6) - 0.02, r * math.sin(a)))
            verts.append((0.10 * r * math.cos(a), -0.04 * (i % 2) * (r / 0.6) - 0.02, 0.10 * r * math.sin(a)))
        for i in range(2 * n):
            j = (i + 1) % (2 * n)
            faces.append((1 + 2 * i, 1 + 2 * j, 2 + 2 * j, 2 + 2 * i))
        fan = mesh("fan", verts[:], faces, sheet(f"fan{layer}", tone), smooth=False)
        mod = fan.modifiers.new("thick", "SOLIDIFY")
        mod.thickness = 0.005
        place(fan, (0, y, 0.62), (0, 8 * layer, 0))
    place(ball("node", glass("node", (0.96, 0.5, 0.1), ior=1.45, shadow=(0.95, 0.6, 0.3)), 0.075, 6), (0, -0.25, 0.62))


@scene
def gynaecological():
    """Unfolding: petals of paper, one within the other."""
    card_stage("#D79C82")
    tones = ["#F8E9DC", "#F3CFB8", "#E6A182", "#CF6444", "#A92B1D"]
    for k, tone in enumerate(tones):
        mat, many = sheet(f"petal{k}", tone), 7 - k if k < 4 else 3
        for i in range(many):
            a = 2 * math.pi * (i + 0.5 * (k % 2)) / many + 0.2 * k
            verts, faces, n, m = [], [], 20, 12
            long, wide, open_ = 0.66 - 0.11 * k, 0.30 - 0.045 * k, math.radians(74 - 13 * k)
            for u in range(n + 1):
                t = u / n
                w = wide * math.sin(math.pi * min(1, 0.06 + 0.94 * t) ** 0.8) ** 0.75
                for v in range(m + 1):
                    s = v / m * 2 - 1
                    lean = open_ * (0.35 + 0.65 * t)
                    out, up = long * t * math.sin(lean) + 0.03, long * t * math.cos(lean)
                    cup = 0.30 * s * s * w
                    verts.append((s * w, out - cup * math.cos(lean), up + cup * math.sin(lean)))
            for u in range(n):
                for v in range(m):
                    q = u * (m + 1) + v
                    faces.append((q, q + 1, q + m + 2, q + m + 1))
            petal = mesh("petal", verts, faces, mat, subdivide=1)
            mod = petal.modifiers.new("thick", "SOLIDIFY")
            mod.thickness = 0.006
            petal.matrix_world = Matrix.Translation((0, 0.15, 0.53)) @ Matrix.Rotation(math.radians(72), 4, "X") @ Matrix.Rotation(a, 4, "Z")
    place(ball("pearl", glass("heart", (0.97, 0.72, 0.55), ior=1.45, shadow=(0.97, 0.8, 0.68)), 0.08, 6), (0, -0.02, 0.57))


@scene
def general_surgery():
    """Joining: two sheets brought together by one thread."""
    card_stage("#2C5248", world=0.34, fill=1.4)
    paper = sheet("paper", "#F6EEE1")
    thread = material("thread", "#D9601A", 0.55, Specular=0.3)
    for side in (-1, 1):
        verts, faces, n, m = [], [], 40, 24
        for u in range(n + 1):
            for v in range(m + 1):
                t, s = u / n, v / m
                x = side * (0.018 + 0.46 * s + 0.0 * t)
                curl = 0.16 * (s**2) + 0.02 * math.sin(3 * t)
                verts.append((x, curl, 0.02 + 1.14 * t))
        for u in range(n):
            for v in range(m):
                q = u * (m + 1) + v
                faces.append((q, q + 1, q + m + 2, q + m + 1))
        flap = mesh("flap", verts, faces, paper)
        mod = flap.modifiers.new("thick", "SOLIDIFY")
        mod.thickness = 0.010
    n = 9
    for i in range(n):
        z = 0.16 + 0.84 * i / (n - 1)
        z2 = z + 0.84 / (n - 1) * 0.5
        tube("stitch", [(-0.085, 0.012, z), (-0.085, -0.016, z), (-0.03, -0.026, z + 0.01), (0.03, -0.026, z2 - 0.01), (0.085, -0.016, z2), (0.085, 0.012, z2)], 0.0085, thread)
    tube("tail", [(0.085, 0.012, z2), (0.09, -0.03, z2), (0.16, -0.10, z2 - 0.05), (0.14, -0.14, z2 - 0.30), (0.26, -0.18, 0.30), (0.20, -0.26, 0.02), (0.34, -0.34, 0.010), (0.50, -0.28, 0.010)], 0.0085, thread)


@scene
def ophthalmology():
    """Clarity: a clear sphere before fine lines, which it gathers."""
    card_stage("#CC6526", fill=1.5)
    board = material("board", "#F6EFE3", 0.8, Specular=0.15)
    place(mesh("board", [(x, 0, z) for z in (0, 1.22) for x in (-0.48, 0.48)], [(0, 1, 3, 2)], board, smooth=False), (0, 0.42, 0.0))
    ink = material("line", "#24483F", 0.8)
    for i in range(25):
        z = 0.10 + 1.02 * i / 24
        line = material(f"line{i}", (ORANGE if i == 12 else "#24483F"), 0.8, Specular=0.1)
        place(mesh("rule", [(x, 0, y) for y in (-0.006, 0.006) for x in (-0.40, 0.40)], [(0, 1, 3, 2)], line if i == 12 else ink, smooth=False), (0, 0.418, z))
    bow, r, thick = 1.5, 0.40, 0.03
    edge = bow - math.sqrt(bow * bow - r * r)
    side = [(bow * math.sin(t), bow - bow * math.cos(t) - edge - thick) for t in (math.asin(r / bow) * i / 40 for i in range(41))]
    profile = side + [(q, -z) for q, z in reversed(side)]
    lens = lathe("lens", profile, glass("lens", (0.985, 0.99, 0.98), ior=1.5, shadow=(0.90, 0.90, 0.87)), 192)
    place(lens, (0.06, 0.02, r + 0.002), (84, 0, 8))


if __name__ == "__main__":
    percent, samples, seeds, *names = sys.argv[sys.argv.index("--") + 1 :]
    for name in names or SCENES:
        random.seed(7)
        SCENES[name]()
        render(name, PICTURES[name]["size"], int(samples), int(percent), [int(s) for s in seeds.split(",")], plate="ground" in PICTURES[name], behind_glass=PICTURES[name].get("glass"))
