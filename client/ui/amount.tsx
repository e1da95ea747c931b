/** "300 mg" or "EPA 90 mg" as on a label: the figure large, the words small, never apart. Each line is an amount. */
export function Amount({ children }: { children: string }) {
  return children.split('\n').map((line) => {
    const words = line.split(' ')
    const figure = words.findIndex((word) => /^\d/.test(word))
    return (
      <span key={line} className="amount">
        {figure > 0 && <small>{words.slice(0, figure).join(' ')} </small>}
        {words[figure] ?? line} <small>{words.slice(figure + 1).join(' ')}</small>
      </span>
    )
  })
}
