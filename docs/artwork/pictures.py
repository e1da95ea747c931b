"""What is delivered: size, the ground a picture stands on and is cut from (none: full-bleed), widths."""
PAPER, SAND, LEAF, AMBER = "#FBF7F0", "#F0E6D6", "#24483F", "#E9A63C"
PORTRAIT, SQUARE = (960, 1200), (800, 800)
SHOP, TILE, CARD, WIDE = (400, 640, 960), (240, 480, 800), (320, 640, 960), (640, 1280)
BOTTLE = (0.28, 0.32, 0.67, 0.47)  # of one that stands alone: the glass above its label
HERO = (480, 640, 960, 1600)

PICTURES = {
    "home-pair": dict(size=(2000, 2000), ground=AMBER, glass=(0.16, 0.28, 0.85, 0.52), widths=(480, 720, 1200, 2000), cq={480: 33, 720: 42, 1200: 23, 2000: 24}, alpha={720: 26}),
    "quvera-300": dict(size=(1600, 2000), ground=SAND, glass=BOTTLE, widths=HERO, cq={480: 24, 640: 26, 960: 23}),
    "quvera-xt": dict(size=(1600, 2000), ground=LEAF, glass=BOTTLE, widths=HERO, cq={480: 24, 640: 26}),
    "buy-now": dict(size=(1280, 1600), ground=SAND, widths=(*SHOP, 1280)),
    "not-found": dict(size=(960, 640), ground=PAPER, widths=(480, 960)),
}
for kind in ("300", "xt"):
    PICTURES[f"quvera-{kind}-capsules"] = dict(size=PORTRAIT, widths=HERO[:3])
    PICTURES[f"quvera-{kind}-label-wide"] = dict(size=(1280, 1067), widths=WIDE)
PICTURES["quvera-xt-label-wide"]["exposure"] = 1.12
for name in ("coenzyme-q10", "omega-3", "lycopene", "mixed-carotene", "wheat-germ-oil", "calcium-ascorbate", "vitamin-b12", "selenium", "zinc"):
    PICTURES[name] = dict(size=SQUARE, widths=TILE)
for name in ("cardiovascular", "oncological", "neurological", "gynaecological", "general-surgery", "ophthalmology"):
    PICTURES[name] = dict(size=PORTRAIT, widths=CARD)
