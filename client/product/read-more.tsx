const READ_MORE_LETTERS = 100

interface ReadMoreProps {
  text: string
  /** What the text is about, for those who hear only the button. */
  of: string
  open: boolean
  onToggle: () => void
}

/** The whole text is in the page; where scripts run, CSS hides what goes beyond the limit until it is asked for. */
export function ReadMore({ text, of, open, onToggle }: ReadMoreProps) {
  const short = shortened(text)
  return (
    <p className="read-more" data-open={open}>
      {short}
      {short.length < text.length && (
        <>
          <span className="ellipsis" aria-hidden="true">
            …
          </span>
          <span className="rest">{text.slice(short.length)}</span>{' '}
          <button type="button" aria-expanded={open} onClick={onToggle}>
            {open ? 'read less' : 'read more'}
            <span className="visually-hidden"> about {of}</span>
          </button>
        </>
      )}
    </p>
  )
}

/** At most `READ_MORE_LETTERS` long, cut between two words. */
export function shortened(text: string) {
  if (text.length <= READ_MORE_LETTERS) return text
  return text.slice(0, text.lastIndexOf(' ', READ_MORE_LETTERS)).replace(/[,;:.]$/, '')
}
