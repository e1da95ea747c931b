"""The one studio every picture is taken in: ground, lights, lens, materials, bottles, capsules, rendering."""
import math
import os
import random
import tempfile

import bmesh
import bpy
from mathutils import Matrix, Vector

WORK = os.environ.get("ARTWORK_WORK", os.path.join(tempfile.gettempdir(), "artwork"))
PAPER, SAND, INK = "#FBF7F0", "#F0E6D6", "#1F1A17"
ORANGE, AMBER, LYCOPENE, LEAF = "#D9601A", "#E9A63C", "#A92B1D", "#24483F"


def rgb(colour):
    """A CSS hex as a linear colour with alpha."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts) + (1.0,)


# ---------------------------------------------------------------- materials


def material(name, colour=PAPER, rough=0.5, **inputs):
    """A principled material; inputs are named as in Blender with underscores for spaces."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = rgb(colour) if isinstance(colour, str) else (*colour, 1.0)
    shader.inputs["Roughness"].default_value = rough
    for key, value in inputs.items():
        shader.inputs[key.replace("_", " ")].default_value = value
    return made


def glass(name, colour, rough=0.0, ior=1.45, shadow=None):
    """Tinted glass whose shadow is light that passed through it (no caustics, so no noise)."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    nodes, links = made.node_tree.nodes, made.node_tree.links
    nodes.clear()
    out, mix = nodes.new("ShaderNodeOutputMaterial"), nodes.new("ShaderNodeMixShader")
    body, clear, path = nodes.new("ShaderNodeBsdfGlass"), nodes.new("ShaderNodeBsdfTransparent"), nodes.new("ShaderNodeLightPath")
    body.inputs["Color"].default_value = (*colour, 1.0)
    body.inputs["Roughness"].default_value = rough
    body.inputs["IOR"].default_value = ior
    clear.inputs["Color"].default_value = (*(shadow or colour), 1.0)
    links.new(path.outputs["Is Shadow Ray"], mix.inputs[0])
    links.new(body.outputs[0], mix.inputs[1])
    links.new(clear.outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], out.inputs[0])
    return made


def grain(made, scale=40.0, strength=0.1, distance=0.02, detail=4.0):
    """Adds a fine bump, so that no surface is mathematically smooth."""
    nodes, links = made.node_tree.nodes, made.node_tree.links
    tex, bump, where = nodes.new("ShaderNodeTexNoise"), nodes.new("ShaderNodeBump"), nodes.new("ShaderNodeTexCoord")
    tex.inputs["Scale"].default_value, tex.inputs["Detail"].default_value = scale, detail
    bump.inputs["Strength"].default_value, bump.inputs["Distance"].default_value = strength, distance
    links.new(where.outputs["Object"], tex.inputs["Vector"])
    links.new(tex.outputs["Fac"], bump.inputs["Height"])
    links.new(bump.outputs[0], nodes["Principled BSDF"].inputs["Normal"])
    return made


def mottle(made, colours, scale=4.0, stretch=(1, 1, 1), contrast=0.25):
    """Lets the base colour wander between given colours."""
    nodes, links = made.node_tree.nodes, made.node_tree.links
    tex, ramp = nodes.new("ShaderNodeTexNoise"), nodes.new("ShaderNodeValToRGB")
    where, place = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeMapping")
    place.inputs["Scale"].default_value = stretch
    tex.inputs["Scale"].default_value, tex.inputs["Detail"].default_value = scale, 5
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[1].position = 0.5 - contrast, 0.5 + contrast
    for i, colour in enumerate(colours[:2]):
        ramp.color_ramp.elements[i].color = rgb(colour)
    links.new(where.outputs["Object"], place.inputs[0])
    links.new(place.outputs[0], tex.inputs["Vector"])
    links.new(tex.outputs["Fac"], ramp.inputs[0])
    links.new(ramp.outputs[0], nodes["Principled BSDF"].inputs["Base Color"])
    return made


def pictured(name, path, rough=0.5, **inputs):
    """A material whose colour is a picture, laid on by UV."""
    made = material(name, PAPER, rough, **inputs)
    tex = made.node_tree.nodes.new("ShaderNodeTexImage")
    tex.image = bpy.data.images.load(path)
    tex.interpolation, tex.extension = "Cubic", "EXTEND"
    made.node_tree.links.new(tex.outputs["Color"], made.node_tree.nodes["Principled BSDF"].inputs["Base Color"])
    return made


def tinted(name, colours, rough=0.5, vary=0.0, **inputs):
    """A material coloured by the vertices' tint (see paint) through (place, colour) pairs; vary: how much objects differ."""
    made = material(name, PAPER, rough, **inputs)
    nodes, links = made.node_tree.nodes, made.node_tree.links
    tint, ramp = nodes.new("ShaderNodeAttribute"), nodes.new("ShaderNodeValToRGB")
    tint.attribute_name = "tint"
    for i, (at, colour) in enumerate(colours):
        stop = ramp.color_ramp.elements[i] if i < 2 else ramp.color_ramp.elements.new(at)
        stop.position, stop.color = at, rgb(colour)
    links.new(tint.outputs["Fac"], ramp.inputs[0])
    last = ramp.outputs[0]
    if vary:
        who, span, turn = nodes.new("ShaderNodeObjectInfo"), nodes.new("ShaderNodeMapRange"), nodes.new("ShaderNodeHueSaturation")
        span.inputs["To Min"].default_value, span.inputs["To Max"].default_value = 1 - vary, 1 + vary
        links.new(who.outputs["Random"], span.inputs["Value"])
        links.new(span.outputs[0], turn.inputs["Value"])
        links.new(last, turn.inputs["Color"])
        last = turn.outputs[0]
    links.new(last, nodes["Principled BSDF"].inputs["Base Color"])
    return made


def paint(made, values):
    """Gives an object's vertices their tint."""
    made.data.attributes.new("tint", "FLOAT", "POINT").data.foreach_set("value", values)
    return made


# ---------------------------------------------------------------- meshes


def mesh(name, verts, faces, mat=None, smooth=True, bevel=0.0, subdivide=0):
    """An object from vertices and faces; bevel and subdivision as modifiers."""
    data = bpy.data.meshes.new(name)
    data.from_pydata(verts, [], faces)
    data.update()
    made = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(made)
    for face in data.polygons:
        face.use_smooth = smooth
    for m in mat if isinstance(mat, (list, tuple)) else [mat]:
        if m:
            data.materials.append(m)
    if bevel:
        mod = made.modifiers.new("bevel", "BEVEL")
        mod.width, mod.segments, mod.limit_method = bevel, 3, "ANGLE"
        data.use_auto_smooth, data.auto_smooth_angle = True, math.radians(40)
        mod.harden_normals = True
    if subdivide:
        mod = made.modifiers.new("subdivide", "SUBSURF")
        mod.levels = mod.render_levels = subdivide
    return made


def rounded(points, radius=0.02, steps=5):
    """A profile (r, z) with every inner corner rounded off."""
    out = [Vector(points[0])]
    for a, b, c in zip(points, points[1:], points[2:]):
        a, b, c = Vector(a), Vector(b), Vector(c)
        cut = min(radius, (a - b).length * 0.45, (c - b).length * 0.45)
        p, q = b + (a - b).normalized() * cut, b + (c - b).normalized() * cut
        out += [(1 - t) ** 2 * p + 2 * t * (1 - t) * b + t * t * q for t in (i / steps for i in range(steps + 1))]
    return out + [Vector(points[-1])]


def lathe(name, profile, mat, around=96, bend=None):
    """Turns a profile (r, z) around z; bend(point) may deform it."""
    verts, faces = [], []
    for r, z in profile:
        for i in range(around):
            a = 2 * math.pi * i / around
            p = Vector((r * math.cos(a), r * math.sin(a), z))
            verts.append(bend(p) if bend else p)
    for j in range(len(profile) - 1):
        for i in range(around):
            k = (i + 1) % around
            faces.append((j * around + i, j * around + k, (j + 1) * around + k, (j + 1) * around + i))
    made = mesh(name, verts, faces, mat)
    weld = bmesh.new()
    weld.from_mesh(made.data)
    bmesh.ops.remove_doubles(weld, verts=weld.verts, dist=1e-6)
    bmesh.ops.recalc_face_normals(weld, faces=weld.faces)
    weld.to_mesh(made.data)
    weld.free()
    return made


def ball(name, mat, radius=1.0, detail=4, bend=None):
    """An icosphere; bend(unit vector) gives each point's place."""
    made = bmesh.new()
    bmesh.ops.create_icosphere(made, subdivisions=detail, radius=1)
    for v in made.verts:
        v.co = (bend(v.co.copy()) if bend else v.co) * radius
    data = bpy.data.meshes.new(name)
    made.to_mesh(data)
    made.free()
    for face in data.polygons:
        face.use_smooth = True
    data.materials.append(mat)
    out = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(out)
    return out


def tube(name, points, radius, mat, taper=None, cyclic=False):
    """A round thread along points."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution, curve.resolution_u = "3D", radius, 4, 12
    line = curve.splines.new("NURBS")
    line.points.add(len(points) - 1)
    for i, p in enumerate(points):
        line.points[i].co = (*p, 1)
        line.points[i].radius = taper(i / (len(points) - 1)) if taper else 1
    line.use_endpoint_u, line.order_u, line.use_cyclic_u = not cyclic, 4, cyclic
    curve.materials.append(mat)
    curve.use_fill_caps = True
    made = bpy.data.objects.new(name, curve)
    bpy.context.collection.objects.link(made)
    return made


def place(made, at=(0, 0, 0), turn=(0, 0, 0), scale=1.0):
    """Puts an object somewhere; turn in degrees."""
    made.location, made.rotation_euler = at, [math.radians(t) for t in turn]
    made.scale = (scale,) * 3 if isinstance(scale, (int, float)) else scale
    return made


def again(made, at, turn=(0, 0, 0), scale=1.0):
    """Another object of the same mesh."""
    twin = made.copy()
    bpy.context.collection.objects.link(twin)
    return place(twin, at, turn, scale)


# ---------------------------------------------------------------- studio


def studio(ground=PAPER, key=1.0, fill=1.0, world=0.26, wall=6.0, glow=0.0, cloth=(1, 1, 1)):
    """An empty scene: seamless ground, big soft key from upper left, warm fill, a strip behind for edges.

    Key and fill are round and brightest in their middles, so that glass mirrors them without hard edges.
    cloth corrects the ground's paint so that under this light it already looks nearly like its CSS colour."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    sky = scene.world.node_tree.nodes["Background"].inputs
    sky["Color"].default_value, sky["Strength"].default_value = (1.0, 0.955, 0.9, 1), world

    fabric = material("ground", tuple(c * k for c, k in zip(rgb(ground), cloth)), 0.85, Specular=0.1)
    bare = fabric.node_tree.nodes.new("ShaderNodeOutputAOV")  # how much of a pixel is ground: finish.py cuts it away
    bare.name, bare.inputs["Value"].default_value = "bare", 1.0
    profile = [(-12, 0), (wall - 3, 0)] + [(wall - 3 + 3 * math.sin(a), 3 - 3 * math.cos(a)) for a in (math.pi / 2 * i / 24 for i in range(1, 25))] + [(wall, 20)]
    verts = [(x, y, z) for y, z in profile for x in (-30, 30)]
    mesh("ground", verts, [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(profile) - 1)], fabric)

    def light(name, at, size, power, colour, to=(0, 0, 0.5)):
        lamp = bpy.data.lights.new(name, "AREA")
        lamp.shape, lamp.size, lamp.size_y = "RECTANGLE", *size
        lamp.energy, lamp.color = power, colour
        made = bpy.data.objects.new(name, lamp)
        bpy.context.collection.objects.link(made)
        made.location = at
        made.rotation_euler = (Vector(to) - Vector(at)).to_track_quat("-Z", "Y").to_euler()
        made.visible_camera = False
        if size[0] == size[1]:
            soften(lamp, at)

    light("key", (-3.4, -1.6, 4.2), (1.9, 1.9), 290 * key, (1.0, 0.945, 0.87))
    light("fill", (4.6, -3.0, 2.4), (3.0, 3.0), 62 * fill, (1.0, 0.90, 0.78))
    light("edge", (2.2, 3.2, 2.6), (0.8, 2.6), 58 * fill, (1.0, 0.97, 0.93))
    if glow:
        light("glow", (0.5, 2.4, 0.9), (1.6, 1.2), 40 * glow, (1.0, 0.9, 0.76), (0, 0, 0.6))
        light("rim", (-2.6, 2.6, 1.6), (0.7, 2.4), 70 * glow, (1.0, 0.97, 0.93))
    return scene


def soften(lamp, at):
    """Makes a lamp round and lets it fade from its middle to its rim; it gives as much light as before."""
    lamp.shape, lamp.size, lamp.use_nodes = "DISK", lamp.size * 1.25, True
    nodes, links = lamp.node_tree.nodes, lamp.node_tree.links
    where, away, fade = nodes.new("ShaderNodeNewGeometry"), nodes.new("ShaderNodeVectorMath"), nodes.new("ShaderNodeMapRange")
    away.operation, away.inputs[1].default_value = "DISTANCE", at
    fade.interpolation_type = "SMOOTHSTEP"
    for name, value in (("From Min", 0.0), ("From Max", lamp.size / 2), ("To Min", 10 / 3), ("To Max", 0.0)):
        fade.inputs[name].default_value = value  # a smooth step over a disk has three tenths of its volume
    links.new(where.outputs["Position"], away.inputs[0])
    links.new(away.outputs["Value"], fade.inputs["Value"])
    links.new(fade.outputs[0], nodes["Emission"].inputs["Strength"])


def camera(to=(0, 0, 0.6), away=6.0, up=8.0, turn=0.0, lens=85.0, fstop=2.8, focus=None):
    """Looks at a point from a distance; up and turn in degrees; fstop in a world where a bottle is 1.3 high."""
    data = bpy.data.cameras.new("camera")
    made = bpy.data.objects.new("camera", data)
    bpy.context.collection.objects.link(made)
    e, a = math.radians(up), math.radians(turn)
    to = Vector(to)
    made.location = to + away * Vector((math.sin(a) * math.cos(e), -math.cos(a) * math.cos(e), math.sin(e)))
    made.rotation_euler = (to - made.location).to_track_quat("-Z", "Y").to_euler()
    data.lens = lens
    data.dof.use_dof = True
    near = made.location - Vector(focus if focus else to)
    data.dof.focus_distance = abs(near.dot((made.location - to).normalized()))
    data.dof.aperture_fstop = fstop
    bpy.context.scene.camera = made
    return made


def render(name, size, samples=64, percent=100, seeds=(1,), bounces=10, plate=False, behind_glass=None):
    """Renders each seed to its own linear EXR, with the albedo and normals that the denoiser reads.

    plate: also the empty ground, small, so that finish.py can divide its slow shading out. behind_glass: left, top, right and
    bottom of the part where things are seen through glass, as shares of the picture; it gets eight times the samples."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    c = scene.cycles
    c.filter_width, c.device, c.samples, c.use_denoising = 1.7, "CPU", samples, False
    c.use_adaptive_sampling, c.adaptive_threshold = True, 0.012
    c.sample_clamp_indirect, c.sample_clamp_direct, c.blur_glossy = 3.0, 0.0, 1.0
    c.caustics_reflective = c.caustics_refractive = False
    c.max_bounces, c.transmission_bounces, c.transparent_max_bounces = bounces, bounces, 10
    c.diffuse_bounces, c.glossy_bounces = 3, 4
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = percent
    scene.render.use_persistent_data = False
    scene.render.threads_mode, scene.render.threads = "FIXED", int(os.environ.get("THREADS") or os.cpu_count())
    layer = scene.view_layers[0]
    layer.use_pass_normal = layer.use_pass_diffuse_color = True
    bare = layer.aovs.add()
    bare.name, bare.type = "bare", "VALUE"
    scene.use_nodes = True
    tree = scene.node_tree
    tree.nodes.clear()
    source = tree.nodes.new("CompositorNodeRLayers")

    def take(labels, percent, seed, prefix=""):
        c.seed = seed
        for old in [n for n in tree.nodes if n != source]:
            tree.nodes.remove(old)
        files = tree.nodes.new("CompositorNodeOutputFile")
        files.base_path = os.path.join(WORK, "exr", name)
        files.format.file_format, files.format.color_depth = "OPEN_EXR", "32"
        files.file_slots.clear()
        for label, socket in labels:
            files.file_slots.new(f"{prefix}{label}-{percent}-{seed}-")
            tree.links.new(source.outputs[socket], files.inputs[-1])
        bpy.ops.render.render(write_still=False)

    passes = (("image", "Image"), ("normal", "Normal"), ("albedo", "DiffCol"), ("bare", "bare"))
    for seed in seeds:
        take(passes, percent, seed)
    if behind_glass:
        r, (left, top, right, bottom) = scene.render, behind_glass
        r.use_border, r.border_min_x, r.border_max_x, r.border_min_y, r.border_max_y = True, left, right, 1 - bottom, 1 - top
        c.samples, c.adaptive_threshold = samples * 8, 0.005
        for seed in seeds:
            take(passes, percent, seed, "glass-")
        r.use_border = False
    if plate:
        for made in scene.objects:
            made.hide_render = made.type not in ("LIGHT", "CAMERA") and made.name != "ground"
        c.use_adaptive_sampling, c.samples, scene.render.resolution_percentage = False, 160, 20
        take((("plate", "Image"),), 20, 1)


# ---------------------------------------------------------------- products

LID = {"300": "#B04208", "xt": "#2C5548"}
R, LABEL_LOW, LABEL_HIGH = 0.33, 0.10, 0.70
BORE = R - 0.028


def contents(kind, parent, count, down=(0, 0, -1)):
    """What a bottle holds: pieces that fell into it; the ones the shoulder has no room for are taken out.

    down is where things fall to, seen from the bottle."""
    first = piece(kind)
    if kind == "300":  # behind glass a piece of solid colour reads better than glass in glass
        first.data.materials[0] = material("softgel in glass", "#F99A26", 0.22, Specular=0.5, Subsurface=0.25, Subsurface_Radius=(0.06, 0.03, 0.01), Subsurface_Color=rgb("#F79A2A"))
    else:
        first.data.materials[1] = material("capsule cap in glass", "#5C9A74", 0.26, Specular=0.5)
    for made in heap(first, count, 0.15, seed=5 if kind == "300" else 8, low=0.1, gap=0.045 if count > 50 else 0.02, frames=190, fence=BORE - 0.002, down=down):
        made.location.z += 0.056
        bpy.context.view_layer.update()
        spots = [made.matrix_world @ v.co for v in made.data.vertices]
        if any(math.hypot(p.x, p.y) > min(BORE, BORE - (p.z - 0.785) * 0.60) or p.z > 0.95 for p in spots):
            bpy.data.objects.remove(made)
        else:
            made.parent = parent
    # what many bounces in amber glass would do, without their noise: a little light from above and below on what is inside
    for z, turn, power in ((0.955, 0, 0.8), (0.035, math.pi, 0.16)):
        lamp = bpy.data.lights.new("inside", "SPOT")
        lamp.energy, lamp.color, lamp.shadow_soft_size, lamp.spot_size, lamp.spot_blend = power, (1.0, 0.88, 0.66), 0.10, math.radians(115), 0.6
        glow = bpy.data.objects.new("inside", lamp)
        bpy.context.collection.objects.link(glow)
        glow.location, glow.rotation_euler, glow.parent = (0, 0, z), (turn, 0, 0), parent
        glow.visible_camera = glow.visible_transmission = glow.visible_glossy = False


def bottle(kind, at=(0, 0, 0), turn=0.0, lid=True, tip=None):
    """An amber glass bottle 1.24 high with its label, lid and contents; turn in degrees, or tip: its whole rotation."""
    parent = bpy.data.objects.new(f"bottle-{kind}", None)
    bpy.context.collection.objects.link(parent)
    parts = []
    if tip:  # fallen over: half of it is left inside, along the wall
        contents(kind, parent, 34, tip.to_matrix().transposed() @ Vector((0, 0, -1)))
    else:
        contents(kind, parent, 128 if kind == "300" else 150)
    wall = glass("amber glass", (0.92, 0.70, 0.36), ior=1.5, shadow=(0.94, 0.78, 0.52))
    outer = [(0, 0.022), (0.2, 0.022), (0.24, 0.0), (R, 0.0), (R, 0.80), (0.245, 0.93), (0.235, 0.95), (0.235, 1.13)]
    inner = [(0.205, 1.13), (0.205, 0.945), (0.225, 0.91), (R - 0.028, 0.79), (R - 0.028, 0.045), (0.2, 0.055), (0, 0.055)]
    shell = rounded(outer, 0.05) + rounded(inner, 0.05)
    parts.append(lathe("glass", shell, wall, 128))

    arc, steps = math.radians(300), 160
    verts, faces, uvs = [], [], []
    for i in range(steps + 1):
        a = -math.pi / 2 - arc / 2 + arc * i / steps
        verts += [((R + 0.0016) * math.cos(a), (R + 0.0016) * math.sin(a), z) for z in (LABEL_LOW, LABEL_HIGH)]
    for i in range(steps):
        faces.append((2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1))
        uvs += [(i / steps, 0), ((i + 1) / steps, 0), ((i + 1) / steps, 1), (i / steps, 1)]
    printed = pictured(f"label {kind}", os.path.join(WORK, f"label-{kind}.png"), 0.5, Specular=0.2)
    label = mesh("label", verts, faces, printed)
    layer = label.data.uv_layers.new()
    for loop, uv in zip(layer.data, uvs):
        loop.uv = uv
    grain_on_paper(printed)
    if tip:
        shine_through(printed)
    parts.append(label)

    if lid:
        parts.append(cap(kind))
        parts[-1].location.z = 0.96
    foot = lathe("foot", [(0, 0.03), (R - 0.04, 0.03)], material("foot", INK, 0.9), 48)
    foot.visible_camera = foot.visible_glossy = foot.visible_transmission = False  # only its shadow: glass alone hardly touches the ground
    parts.append(foot)
    for part in parts:
        part.parent = parent
    parent.location = at
    parent.rotation_euler = tip or (0, 0, math.radians(turn))
    return parent


def shine_through(printed):
    """Gives the back of a label the light that falls through its paper: an empty bottle would show it black."""
    nodes, links = printed.node_tree.nodes, printed.node_tree.links
    side, lit, mix = nodes.new("ShaderNodeNewGeometry"), nodes.new("ShaderNodeEmission"), nodes.new("ShaderNodeMixShader")
    lit.inputs["Color"].default_value, lit.inputs["Strength"].default_value = (1.0, 0.86, 0.62, 1), 1.0
    links.new(side.outputs["Backfacing"], mix.inputs[0])
    links.new(nodes["Principled BSDF"].outputs[0], mix.inputs[1])
    links.new(lit.outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], nodes["Material Output"].inputs["Surface"])


def grain_on_paper(made):
    """The faint tooth of uncoated paper. More of it and the denoiser takes it for light: blotches."""
    grain(made, 160, 0.02, 0.002, 2)


def cap(kind):
    """A wide matte lid, 0.235 high, standing on its rim: a groove near the foot, and above it ribs to hold it by."""
    coat = grain(material(f"lid {kind}", LID[kind], 0.40, Specular=0.45), 220, 0.05, 0.003, 2)
    shape = [(0.262, 0.0), (0.282, 0.0), (0.282, 0.045), (0.276, 0.049), (0.276, 0.055), (0.282, 0.059), *((0.282, 0.066 + 0.008 * i) for i in range(16)), (0.282, 0.235), (0.0, 0.235)]
    inside = [(0.0, 0.21), (0.255, 0.21), (0.255, 0.0), (0.262, 0.0)]
    turns = 90

    def ribs(p):
        """Deep in the middle of the wall, gone at its ends, so that no edge shows where they begin."""
        r, rise = math.hypot(p.x, p.y), min(p.z - 0.066, 0.186 - p.z)
        if r < 0.27 or rise <= 0:
            return p
        cut = 0.0036 * min(1, rise / 0.012) * (0.5 - 0.5 * math.cos(turns * math.atan2(p.y, p.x))) ** 2
        return Vector((p.x * (1 - cut / r), p.y * (1 - cut / r), p.z))

    return lathe(f"lid-{kind}", rounded(inside, 0.01, 3) + rounded(shape, 0.022, 6), coat, turns * 12, ribs)


def softgel(colour=(0.97, 0.45, 0.07), name="softgel", shadow=(0.96, 0.56, 0.24)):
    """An oblong translucent softgel 0.25 long, lying along x, with its seam."""
    half, r, count = 0.125, 0.052, 40
    profile = []
    for i in range(count + 1):
        t = math.pi * i / count
        x = -math.cos(t)
        profile.append((r * max(0.0, 1 - abs(x) ** 2.9) ** (1 / 2.25), half * x))

    def seam(p):
        lift = 1 + 0.035 * math.exp(-((p.y / 0.005) ** 2))
        return Vector((p.z, p.y, p.x * lift))

    gel = bpy.data.materials.get(name) or glass(name, colour, rough=0.02, ior=1.42, shadow=shadow)
    return lathe(name, profile, gel, 72, seam)


def capsule():
    """A two-tone hard capsule 0.25 long, lying along x: leaf green cap, warm cream body."""
    mats = bpy.data.materials
    green = mats.get("capsule cap") or material("capsule cap", "#1F5345", 0.26, Specular=0.5, Clearcoat=0.3, Clearcoat_Roughness=0.12)
    cream = mats.get("capsule body") or material("capsule body", "#F0DDBB", 0.28, Specular=0.5, Subsurface=0.06, Subsurface_Radius=(0.03, 0.02, 0.01), Subsurface_Color=rgb("#F2DDB5"), Clearcoat=0.3, Clearcoat_Roughness=0.12)
    r, R2, half = 0.0455, 0.0485, 0.125
    dome = [(math.pi / 2 * i / 14) for i in range(15)]
    body = [(r * math.sin(a), -half + r - r * math.cos(a)) for a in dome] + [(r, 0.0)]
    over = [(r * 0.99, -0.012), (R2 - 0.0012, -0.012), (R2, -0.0105), (R2, 0.028), (R2 - 0.0014, 0.031), (R2 - 0.0014, 0.036), (R2, 0.039)] + [(R2 * math.cos(a), half - R2 + R2 * math.sin(a)) for a in dome]
    made = lathe("capsule", body, cream, 64)
    top = lathe("capsule-cap", over, green, 64)
    made.data.materials.append(green)
    joined = bmesh.new()
    joined.from_mesh(made.data)
    start = len(joined.faces)
    joined.from_mesh(top.data)
    joined.faces.ensure_lookup_table()
    for face in joined.faces[start:]:
        face.material_index = 1
    bmesh.ops.rotate(joined, verts=joined.verts, cent=(0, 0, 0), matrix=Matrix.Rotation(math.pi / 2, 3, "Y"))
    joined.to_mesh(made.data)
    joined.free()
    bpy.data.objects.remove(top)
    return made


def piece(kind):
    """The one kind of capsule each product has."""
    return softgel() if kind == "300" else capsule()


def scatter(kind, spots):
    """Capsules lying at (x, y, degrees) or (x, y, degrees, height, tilt)."""
    first = piece(kind)
    for i, spot in enumerate(spots):
        x, y, turn, z, tilt = (*spot, 0, 0)[:5] if len(spot) < 5 else spot
        one = first if i == 0 else again(first, (0, 0, 0))
        roll = random.Random(i * 7 + 1).uniform(-35, 35)
        place(one, (x, y, z + (0.0525 if kind == "300" else 0.0485)))
        one.rotation_euler = (Matrix.Rotation(math.radians(turn), 3, "Z") @ Matrix.Rotation(math.radians(-tilt), 3, "Y") @ Matrix.Rotation(math.radians(roll), 3, "X")).to_euler()


def settle(pieces, solids=(), frames=150, floor=True, down=(0, 0, -1)):
    """Lets pieces fall and come to rest (rigid bodies, by simple stand-ins), then freezes them."""
    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.point_cache.frame_end = frames
    scene.rigidbody_world.substeps_per_frame = 8
    scene.rigidbody_world.solver_iterations = 20
    scene.gravity = Vector(down) * 2.5

    def body(made, kind, form):
        bpy.context.view_layer.objects.active = made
        bpy.ops.rigidbody.object_add()
        b = made.rigid_body
        b.type, b.collision_shape, b.friction, b.restitution = kind, form, 0.55, 0.05
        b.linear_damping, b.angular_damping = 0.12, 0.3
        b.use_margin, b.collision_margin = True, 0.0008

    if floor:
        slab = mesh("slab", [(x, y, z) for x in (-6, 6) for y in (-6, 6) for z in (-0.25, 0.25)], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
        slab.location.z = -0.25
        bpy.context.view_layer.update()
        body(slab, "PASSIVE", "BOX")
    for made in solids:
        body(made, "PASSIVE", "MESH")
    proxies = {}
    stand_ins = []
    for made in pieces:
        if made.data.name not in proxies:
            points = made.data.vertices
            data = bpy.data.meshes.new("proxy")
            data.from_pydata([points[i].co for i in range(0, len(points), max(1, len(points) // 90))], [], [])
            proxies[made.data.name] = data
        stand_in = bpy.data.objects.new("proxy", proxies[made.data.name])
        bpy.context.collection.objects.link(stand_in)
        stand_in.location, stand_in.rotation_euler, stand_in.scale = made.location, made.rotation_euler, made.scale
        stand_ins.append(stand_in)
    bpy.context.view_layer.update()
    for stand_in in stand_ins:
        body(stand_in, "ACTIVE", "CONVEX_HULL")
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    rest = [p.evaluated_get(graph).matrix_world.copy() for p in stand_ins]
    for p in list(solids):
        bpy.context.view_layer.objects.active = p
        bpy.ops.rigidbody.object_remove()
    bpy.ops.rigidbody.world_remove()
    for p in stand_ins:
        bpy.data.objects.remove(p)
    if floor:
        bpy.data.objects.remove(slab)
    scene.frame_set(1)
    for p, matrix in zip(pieces, rest):
        p.matrix_world = matrix


def heap(first, count, spread, seed=1, low=0.1, gap=0.06, solids=(), frames=150, floor=True, scales=(1, 1), fence=0.0, down=(0, 0, -1)):
    """Drops copies of an object (or given pieces) on one heap and lets them rest; a fence keeps them together meanwhile."""
    if fence:
        ring = [(fence * math.cos(a), fence * math.sin(a), z) for z in (0, 6) for a in (2 * math.pi * i / 48 for i in range(48))]
        solids = [*solids, mesh("fence", ring, [(i, (i + 1) % 48, 48 + (i + 1) % 48, 48 + i) for i in range(48)])]
    dice = random.Random(seed)
    pieces = first if isinstance(first, list) else [first] + [again(first, (0, 0, 0)) for _ in range(count - 1)]
    for i, p in enumerate(pieces):
        a, d = i * 2.39996, spread * dice.uniform(0.6, 1)
        place(p, (d * math.cos(a), d * math.sin(a), low + gap * i), [dice.uniform(0, 360) for _ in range(3)], dice.uniform(*scales))
    settle(pieces, solids, frames, floor, down)
    if fence:
        bpy.data.objects.remove(solids[-1])
    return pieces
