import { type ReactNode, useId, useRef, useState } from 'react'
import { ActionButton } from './buttons.tsx'

interface DialogButtonProps {
  label: string
  title?: string
  className?: string
  onOpen?: () => void
  children: (close: () => void) => ReactNode
}

/** A button and the dialog that it opens. What was typed there stays when it is closed and opened again. */
export function DialogButton({ label, title = label, className, onOpen, children }: DialogButtonProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [wasOpened, setWasOpened] = useState(false)
  const id = useId()
  const close = () => dialog.current?.close()
  function open() {
    setWasOpened(true)
    dialog.current?.showModal()
    onOpen?.()
  }
  return (
    <>
      <ActionButton className={className} onClick={open}>
        {label}
      </ActionButton>
      <dialog ref={dialog} aria-labelledby={id}>
        <div className="dialog-head">
          <h2 id={id}>{title}</h2>
          <ActionButton onClick={close}>Close</ActionButton>
        </div>
        {wasOpened && children(close)}
      </dialog>
    </>
  )
}
