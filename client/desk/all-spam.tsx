import { useState } from 'react'
import { AT_ONCE_MAX } from '../../shared/desk.ts'
import { ActionButton } from './buttons.tsx'
import { createChange, type Seen, submit } from './changes.tsx'
import { belongsTo } from './tabs.ts'

/** Closes all that is shown, or as many as may be at once, when it is pressed twice. */
export function AllSpam({ seen, today }: { seen: Seen[]; today: string }) {
  const [isAsked, setIsAsked] = useState(false)
  const all = seen.flatMap(({ row }) => (belongsTo('spam', row, today) ? row.reference : []))
  const spam = all.slice(0, AT_ONCE_MAX)
  if (spam.length < 2) return null
  function close() {
    setIsAsked(false)
    const input = { references: spam, status: 'Closed', was: 'New' }
    submit(createChange('setStatus', spam, input)).catch(() => {}) // refuse() has told it
  }
  return (
    <p className="buttons">
      <ActionButton onClick={() => (isAsked ? close() : setIsAsked(true))}>
        {isAsked
          ? `Yes, close ${spam.length} as spam`
          : `Surely spam: ${all.length > spam.length ? 'the first' : 'all'} ${spam.length} shown`}
      </ActionButton>
      {isAsked && <ActionButton onClick={() => setIsAsked(false)}>Keep them</ActionButton>}
    </p>
  )
}
