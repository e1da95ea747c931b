"""What is delivered: size, the ground a picture melts into (none: full-bleed), widths."""
PAPER, SAND, LEAF = "#FBF7F0", "#F0E6D6", "#24483F"
PORTRAIT, SQUARE = (960, 1200), (800, 800)
SHOP, TILE, CARD = (400, 640, 960), (240, 480, 800), (320, 640, 960)

PICTURES = {
    "home-pair": dict(size=(1200, 1200), ground=PAPER, widths=(480, 800, 1200), cq={800: 32, 1200: 28}),
    "quvera-300": dict(size=PORTRAIT, ground=SAND, widths=SHOP),
    "quvera-xt": dict(size=PORTRAIT, ground=LEAF, widths=SHOP),
    "buy-now": dict(size=PORTRAIT, ground=SAND, widths=SHOP),
    "not-found": dict(size=(960, 640), ground=PAPER, widths=(480, 960)),
}
for kind in ("300", "xt"):
    for what in ("capsules", "label"):
        PICTURES[f"quvera-{kind}-{what}"] = dict(size=PORTRAIT, widths=SHOP)
PICTURES["quvera-xt-label"]["exposure"] = 1.12
for name in ("coenzyme-q10", "omega-3", "lycopene", "mixed-carotene", "wheat-germ-oil", "calcium-ascorbate", "piperine", "vitamin-b12", "selenium", "zinc"):
    PICTURES[name] = dict(size=SQUARE, widths=TILE)
for name in ("cardiovascular", "oncological", "neurological", "gynaecological", "general-surgery", "ophthalmology"):
    PICTURES[name] = dict(size=PORTRAIT, widths=CARD)
