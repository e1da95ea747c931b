/** What a line must not end in the middle of. */
const WHOLE = /(omega-3|\+\d[\d ]+\d)/i

export function Prose({ children }: { children: string }) {
  return children.split(WHOLE).map((part, index) =>
    index % 2 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
      <span key={index} className="whole">
        {part}
      </span>
    ) : (
      part
    ),
  )
}
