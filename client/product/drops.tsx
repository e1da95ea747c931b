import type { LabelLine } from '../content/compositions.ts'
import { NoBreakSpaces } from '../ui/text.tsx'

const MILLIGRAMS: Record<string, number> = { mg: 1, mcg: 0.001 }
/** Area of the drop below, a square of side 1 with three round corners. */
const UNIT_AREA = 0.25 + (3 * Math.PI) / 16
const DROP = 'M-.5-.5H0A.5.5 0 0 1 .5 0 .5.5 0 0 1 0 .5.5.5 0 0 1-.5 0Z'
const GAP = 1.5

interface Drop {
  amount: string
  hue: string
  milligrams: number
  /** Side of the square. */
  side: number
}

/** One drop for each amount of the label, its area true to the mass. For the eye only: the table says the same. */
export function Drops({ lines }: { lines: LabelLine[] }) {
  const drops = lines.flatMap(dropsOf)
  const byMass = [...drops].sort((a, b) => b.milligrams - a.milligrams)
  const largest = byMass[0]?.side ?? 0
  let right = -GAP
  const height = largest * (0.5 + Math.SQRT1_2) // turned: half a side below the centre, half a diagonal above
  const shapes = drops.map(({ amount, hue, side }) => {
    const x = right + GAP + side / 2
    right = x + side / 2
    return (
      <path
        key={`${hue}${amount}`}
        data-hue={hue}
        fill="currentColor"
        d={DROP}
        transform={`translate(${round(x)} ${round(height - side / 2)}) rotate(45) scale(${round(side)})`}
      />
    )
  })
  return (
    <figure>
      {/* The drops end at its edges, which are not on whole pixels. */}
      <svg viewBox={`0 0 ${round(right)} ${round(height)}`} overflow="visible" aria-hidden="true">
        {shapes}
      </svg>
      <figcaption className="panel-class">
        <NoBreakSpaces>
          {`Drawn to scale: the area of each drop is true to its amount, from ${byMass[0]?.amount} to ${byMass.at(-1)?.amount}. The smallest are hardly seen.`}
        </NoBreakSpaces>
      </figcaption>
    </figure>
  )
}

/** Amounts such as "EPA 90 mg\nDHA 60 mg" are two drops. */
function dropsOf({ amount, hue }: LabelLine): Drop[] {
  return [...amount.matchAll(/\b(\d{1,6}(?:\.\d{1,4})?) (mc?g)\b/g)].map(([printed, figure, unit = '']) => {
    const milligrams = Number(figure) * (MILLIGRAMS[unit] ?? 0)
    return { amount: printed, hue, milligrams, side: Math.sqrt(milligrams / UNIT_AREA) }
  })
}

function round(length: number) {
  return Number(length.toFixed(3))
}
