import { joinWords, type LabelLine } from '../content/compositions.ts'
import { NoBreakSpaces } from '../ui/text.tsx'

const MILLIGRAMS: Record<string, number> = { mg: 1, mcg: 0.001 }
/** A square of side 1 with three round corners. */
const DROP = 'M-.5-.5H0A.5.5 0 0 1 .5 0 .5.5 0 0 1 0 .5.5.5 0 0 1-.5 0Z'
/** Width of the largest drop, and of the smallest that still looks like one. */
const LARGEST_PX = 76
const SMALLEST_PX = 8

interface Drop {
  name: string
  amount: string
  hue: string
  milligrams: number
}

/** A drop for each amount of the label, its area true to the mass. What is too small to draw is named. */
export function Drops({ lines }: { lines: LabelLine[] }) {
  const drops = lines.flatMap(dropsOf)
  const largest = Math.max(...drops.map(({ milligrams }) => milligrams))
  const size = ({ milligrams }: Drop) => LARGEST_PX * Math.sqrt(milligrams / largest)
  const small = drops.filter((drop) => size(drop) < SMALLEST_PX)
  return (
    <figure className="drops">
      <ul>
        {drops
          .filter((drop) => !small.includes(drop))
          .map((drop) => (
            <li key={drop.name}>
              <svg viewBox="-.71 -.71 1.42 1.21" width={size(drop).toFixed(1)} aria-hidden="true">
                <path data-hue={drop.hue} d={DROP} transform="rotate(45)" />
              </svg>
              {drop.name}{' '}
              <strong>
                <bdi dir="ltr">
                  <NoBreakSpaces>{drop.amount}</NoBreakSpaces>
                </bdi>
              </strong>
            </li>
          ))}
      </ul>
      <figcaption className="small">
        Drawn to scale: the area of each drop is true to its amount.
        {small.length > 0 && (
          <NoBreakSpaces>
            {` Too small to draw: ${joinWords(small.map(({ name, amount }) => `${name} ${amount}`))}.`}
          </NoBreakSpaces>
        )}
      </figcaption>
    </figure>
  )
}

/** Amounts such as "EPA 90 mg\nDHA 60 mg" are two drops, the second in the other hue. */
function dropsOf({ name, amount, hue, secondHue = hue }: LabelLine): Drop[] {
  return amount.split('\n').map((line, index) => {
    const words = line.split(' ')
    const [figure = '', unit = ''] = words.splice(-2)
    return {
      name: words[0] ?? name,
      amount: `${figure} ${unit}`,
      hue: index === 0 ? hue : secondHue,
      milligrams: Number(figure) * (MILLIGRAMS[unit] ?? 0),
    }
  })
}
