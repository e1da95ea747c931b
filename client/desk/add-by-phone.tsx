import { useRef, useState } from 'react'
import { DESK_PATH } from '../../shared/desk.ts'
import { type Change, createChange, submit } from './changes.tsx'
import { DialogButton } from './dialog-button.tsx'
import { FieldsForm } from './fields-form.tsx'
import type { Fields } from './queries.ts'
import { open } from './route.ts'

/** An enquiry that somebody makes by phone. The form stays until it is stored; the same fields again have the same key. */
export function AddByPhone() {
  const [isStoring, setIsStoring] = useState(false)
  const [filling, setFilling] = useState(0)
  const sent = useRef<{ text: string; change: Change }>(undefined)
  async function add(fields: Fields, note: string, close: () => void) {
    const input = { ...fields, ...(note && { note }) }
    const text = JSON.stringify(input)
    if (sent.current?.text !== text) sent.current = { text, change: createChange('add', [], input) }
    setIsStoring(true)
    try {
      const [row] = await submit({ ...sent.current.change, at: Date.now() })
      close()
      sent.current = undefined
      setFilling(filling + 1)
      if (row) open(`${DESK_PATH}/${row.reference}`)
    } catch {
      // refuse() has told it
    } finally {
      setIsStoring(false)
    }
  }
  return (
    <DialogButton label="Add one by phone" title="An enquiry by phone">
      {(close) => (
        <FieldsForm
          key={filling}
          mayLackEmail
          mayHaveNote
          isStoring={isStoring}
          submitLabel="Store"
          onSubmit={(fields, note) => add(fields, note, close)}
        />
      )}
    </DialogButton>
  )
}
