import type { Composition } from '../content/product.ts'

const HUES = ['lycopene', 'orange', 'amber', 'gold', 'wheat', 'rose', 'slate', 'zinc']

/** The strip of colours that printers put on the edge of a sheet; here the ingredients', with their names where they are a product's. */
export function ColourBar({ rows }: { rows: Composition['rows'] | undefined }) {
  return (
    <div className={rows ? 'colour-bar named' : 'colour-bar'} aria-hidden="true">
      {rows
        ? rows.map(({ name, hue }) => (
            <i key={name} data-hue={hue}>
              {name}
            </i>
          ))
        : HUES.map((hue) => <i key={hue} data-hue={hue} />)}
    </div>
  )
}
