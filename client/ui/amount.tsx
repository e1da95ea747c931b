/** "300 mg" or "EPA 90 mg" as on a label: the figure large, the words small, never apart. Each line is an amount. */
export function Amount({ children }: { children: string }) {
  return children.split('\n').map((line) => {
    const [, before, figure, unit] = /^(\D*)(\d[\d.]*) (\w+)$/.exec(line) ?? []
    return (
      <span key={line} className="amount">
        {before && <small>{before}</small>}
        {figure ?? line} <small>{unit}</small>
      </span>
    )
  })
}
