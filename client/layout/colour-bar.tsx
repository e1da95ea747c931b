const HUES = ['lycopene', 'orange', 'amber', 'gold', 'wheat', 'rose', 'slate', 'leaf']

/** The strip of colours that printers put on the edge of a sheet; here in the colours of the ingredients. */
export function ColourBar() {
  return (
    <div className="colour-bar" aria-hidden="true">
      {HUES.map((hue) => (
        <i key={hue} data-hue={hue} />
      ))}
    </div>
  )
}
