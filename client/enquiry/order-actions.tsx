import type { ReactNode } from 'react'
import type { OrderState } from './order-state.ts'

interface OrderActionsProps {
  state: OrderState
  label: string
  isQuiet?: boolean
  /** Without it the button submits its form. */
  onSend?: () => void
  onStop: () => void
  /** Another button, while nothing is sent. */
  children?: ReactNode
}

/** A button that sends an order, and what becomes of it. */
export function OrderActions({ state, label, isQuiet, onSend, onStop, children }: OrderActionsProps) {
  const isSending = state.is === 'sending'
  const progress = isSending ? state.progress : undefined
  return (
    <div className="submit-row">
      <button
        type={onSend ? 'button' : 'submit'}
        className={isQuiet ? 'pill' : 'button send'}
        aria-disabled={isSending}
        onClick={onSend}
      >
        {isSending ? 'Sending…' : label}
      </button>
      {progress && (
        <button type="button" className="pill" onClick={onStop}>
          Stop
        </button>
      )}
      {!isSending && children}
      <p role="status" className="submit-progress">
        {progress}
      </p>
    </div>
  )
}
